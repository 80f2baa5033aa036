package plan

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/experiments/declared"
	"github.com/gpc-tune/gpc-tune/experiments/job"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/random"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/comparator"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/search"
	"github.com/gpc-tune/gpc-tune/search/schedule"
)

// candidate is a model on a data set from which a configuration is made.
type candidate struct {
	record.Configuration
	*loaded
	declared     spec.Model
	model, tuned objective.Model // model predicts; tuned may have another inference method
	starting     objective.Model // tuned first, to find the start; nil inference: none
	criterion    objective.Criterion
	caps         approx.Caps // capabilities of tuned
	objective    *objective.Objective
	space        search.Space
	// Hyperparameters of another run, per training set; nil: the initial values of the model.
	starts [][]param.Spec
	adjust *job.Adjust // adjustment of its predictions; nil: none
}

// newCandidate copies the declarations of the file for a configuration.
func newCandidate(src *loaded, m spec.Model) *candidate {
	return &candidate{loaded: src, declared: m, Configuration: record.Configuration{
		Dataset: src.Name, DataHash: src.Hash, Cases: len(src.Rows), Inputs: len(src.ColumnNames),
		Classes: src.Data.Classes, Ordered: src.Schema.Ordered,
		Label: m.Written.Label(src.sets[0].How.String()), Missing: src.sets[0].Imputes(),
		Tune: m.Tune.Method, Objective: m.Tune.Criterion,
		StartInference: m.Starts.Component, StartCases: m.Tune.StartCases,
	}}
}

// add makes one configuration from a data set and a model.
func (p *planner) add(ctx context.Context, src *loaded, m spec.Model) error {
	c := newCandidate(src, m)
	if m.Comparator != nil {
		return p.compare(c)
	}
	source, categories := src.Schema.Sources()
	on, err := m.OnColumns(source, categories)
	if err != nil {
		return p.tell(m.Written.Kernel.Place, "%s: %v", c.Dataset, err)
	}
	c.declared.Model = on
	if err := p.combines(c); err != nil {
		return err
	}
	// Initial length scales are computed from the whole training data, so they are the same for
	// every fold.
	whole := src.sets[0]
	of, again, err := p.settled(ctx, whole, c.String(), m, c.criterion, c.starting, c.model, c.tuned)
	if err != nil {
		return err
	}
	if again {
		return p.add(ctx, src, of)
	}
	defer whole.Use()()
	all, err := whole.Prepare()
	if err != nil {
		return err
	}
	if c.objective, err = objective.New(c.tuned, c.criterion, all.Data); err != nil {
		return err
	}
	if err := p.tunable(c); err != nil {
		return err
	}
	m.Tune = c.declared.Tune
	specs := c.objective.Layout.Specs
	for _, s := range specs {
		if _, err := json.Marshal(hyperparameterKeys([]param.Spec{s})); err != nil {
			return p.tell(m.Written.Kernel.Place, "%s: the start and the bounds of hyperparameter %s, and the options "+
				"of its prior, must be finite numbers: %v", c.Dataset, s.Name, err)
		}
	}
	c.Hyperparameters = recorded(specs)
	c.Versions = versionsOf(m, p.Spec.Average, whole.How.Method(), len(src.sets) > 1 || whole.Held() > 0)
	identity := identityOf(c.Configuration, specs, m.Tune, p.predicting(c.Data, p.Spec.Averaging.Text))
	origins := src.Schema.Origins()
	c.adjust = p.adjust(c.Data)
	for i, h := range specs { // names of columns do not affect results
		if h.Column > 0 {
			c.Hyperparameters[i].Column = origins[h.Column-1]
		}
	}
	if c.starts, err = p.starts(c); err != nil {
		return p.tell(m.Tune.StartPlace, "%s: %v", c.Dataset, err)
	}
	if c.starts != nil {
		for i, h := range c.starts[0] {
			c.Hyperparameters[i].Init = record.Number(h.Init)
		}
	}
	if p.known(c, startedAt(identity, c.starts...)) {
		return nil
	}
	return p.layOut(c, identity)
}

// labelled names the data set of a candidate, and its label if the file declares several.
func (p *planner) labelled(c *candidate) string {
	if !slices.ContainsFunc(p.Spec.Data, func(of spec.DataSpec) bool { return of.Label != p.Spec.Data[0].Label }) {
		return c.Dataset
	}
	return fmt.Sprintf("%s, label %q", c.Dataset, c.Data.Schema.Label.Name)
}

// combines checks that the parts of a model are compatible with each other and with the data.
func (p *planner) combines(c *candidate) (err error) {
	m, classes := c.declared, len(c.Classes)
	if c.criterion, err = m.Tune.Maximised(); err != nil {
		return err
	}
	if m.Tune.Strategy == nil {
		c.criterion = nil // nothing is maximised, so no ability is required
	}
	if m.Ordered() {
		if err := c.Data.CheckOrder(); err != nil {
			return p.tell(m.Written.Likelihood.Place, "%s: %v", c.Dataset, err)
		}
	}
	c.model, c.tuned = m.On(classes), m.Tuned(classes)
	if m.Tuning != nil {
		c.model.Inference = approx.ForPredictions(c.model.Inference)
	}
	if _, err := c.model.Check(classes); err != nil {
		return p.tell(m.Written.Inference.Place, "%s: %v", p.labelled(c), err)
	}
	c.caps, err = c.tuned.Check(classes)
	if err == nil && c.criterion != nil {
		_, err = c.criterion.Uses(c.caps)
	}
	if err != nil {
		return p.tell(m.Written.Tuning.Place, "%s: %v", p.labelled(c), err)
	}
	if c.starting = m.Starting(classes); m.Start != nil {
		caps, err := c.starting.Check(classes)
		if err == nil && c.criterion != nil {
			_, err = c.criterion.Uses(caps)
		}
		if err != nil {
			return p.tell(m.Starts.Place, "%s: %v", c.Dataset, err)
		}
	}
	if err := tunesInputs(m); err != nil {
		return p.tell(m.Written.Tuning.Place, "%v", err)
	}
	if x := m.Tune.Cross; x != nil && x.Score.Numeric != m.Numeric() {
		return p.tell(x.Place, "%s: likelihood %s has no %s", c.Dataset, c.Likelihood, x.Score.Name)
	}
	return p.checkDim(c)
}

// tunesInputs returns an error if inducing inputs are to be tuned and cannot be.
func tunesInputs(m spec.Model) error {
	methods := []approx.Approximation{m.Inference, m.Tuning}
	for _, method := range methods {
		option := objective.InducingOf(method)
		switch t := m.Tune; {
		case method == nil || !option.TuneInputs:
		case option.Rechoose:
			return errors.New("inducing: rechoose and tune_inputs exclude each other; leave one out")
		case t.Strategy == nil || t.Strategy.Optimizer() == "":
			return errors.New("inducing: tune_inputs needs a local optimiser, as tune: {method: bfgs}")
		case t.Gradients() != objective.Exact || t.Ascent().TraceScores || t.StandardErrors:
			return errors.New("inducing: tune_inputs needs exact gradients, and excludes trace_scores and " +
				"standard_errors")
		case m.Tuning != nil && objective.InducingOf(m.Tuning) != objective.InducingOf(m.Inference):
			return errors.New("inducing: with tune_inputs the inference that tunes and the one that predicts need " +
				"the same inducing inputs")
		}
	}
	return nil
}

// checkDim checks that kernels and structures of the covariance accept the number of inputs.
func (p *planner) checkDim(c *candidate) error {
	for _, k := range c.declared.Kernels {
		if err := kernel.CheckDim(k, c.Inputs); err != nil {
			return p.tell(c.declared.Written.Kernel.Place, "%s: %v", c.Dataset, err)
		}
	}
	written := c.declared.Written
	for _, of := range []struct {
		objective.Model
		at strictyaml.Place
	}{{c.model, written.Inference.Place}, {c.tuned, written.Tuning.Place}, {c.starting, c.declared.Starts.Place}} {
		if err := of.CheckDim(c.Inputs); err != nil {
			return p.tell(of.at, "%s: %v", c.Dataset, err)
		}
	}
	return nil
}

// tunable checks that the model can be tuned as the file declares, at its initial hyperparameters.
func (p *planner) tunable(c *candidate) error {
	t, layout := c.declared.Tune, c.objective.Layout
	c.space = layout.FreeSpecs()
	if g, is := t.Strategy.(search.Guided); is && t.Cross == nil && c.objective.HasGradient() {
		t.Strategy = cmp.Or(g.WithGradient(c.space), t.Strategy)
		c.declared.Tune.Strategy = t.Strategy
	}
	for _, w := range []string{meanWarning(c.model, layout), priorWarning(t, c.criterion, layout)} {
		if w != "" {
			p.warn(cause.NoEffect.New("%s", w).In(c.String()))
		}
	}
	place := c.declared.Written.Tuning.Place
	if needs := t.NeedsGradient(); needs != "" && len(layout.Free) > 0 && !c.objective.HasGradient() {
		return p.tell(place, "%s: tune: {%s} needs the gradient of %s, which %s does not have here; %s",
			c.Dataset, needs, c.Objective, c.TuneInference, without(t, c.caps))
	}
	if c.declared.Start != nil && len(layout.Free) > 0 && t.NeedsGradient() != "" {
		all, err := c.sets[0].Prepare()
		if err != nil {
			return err
		}
		if o, err := objective.New(c.starting, c.criterion, all.Data); err != nil || !o.HasGradient() {
			return p.tell(c.declared.Starts.Place, "%s: start_inference needs the gradient of %s, which %s does not "+
				"have here; take another method, such as laplace", c.Dataset, c.Objective, c.StartInference)
		}
	}
	if t.Gradients() == objective.Differences && c.caps.Sampled {
		return p.tell(t.Place, "%s: gradient: the log evidence of %s is a Monte Carlo estimate, and its "+
			"differences are mostly noise; use a method without gradients, such as method: bayes",
			c.Dataset, c.TuneInference)
	}
	if t.Strategy == nil {
		return nil
	}
	if lacksBudget(c) {
		return p.tell(t.Place, "%s: a budget of inducing inputs needs a number of them, such as "+
			"inference: {laplace: {inducing: 500}}", c.Dataset)
	}
	p.settleStart(c)
	for _, h := range c.space {
		switch {
		case h.Init < h.Lo || h.Init > h.Hi:
			part, _, _ := strings.Cut(h.Name, ".")
			place := c.declared.Written.Kernel.Place
			if of := c.declared.Written.Part(part); !of.IsZero() {
				place = of.Place
			}
			return p.tell(place, "%s: %s starts at %.6g, outside its bounds [%.6g, %.6g]; start it inside, fix "+
				"it with {fixed: %.6g}, or give it bounds: [lo, hi]",
				c.Dataset, h.Name, h.Init, h.Lo, h.Hi, h.Init)
		case !h.Map.Discrete() && (h.Init == h.Lo || h.Init == h.Hi):
			p.warn(cause.StartsAtBound.New("%s starts at its bound %.6g; standardise the inputs, or give it an init "+
				"and bounds", h.Name, h.Init).In(c.Dataset))
		}
	}
	errs := declared.Unjoin(t.Strategy.Check(c.space))
	for _, err := range errs {
		p.AtPlace(t.Place, "%v", err)
	}
	if len(errs) > 0 {
		return errTold
	}
	return nil
}

// settleStart sets StartCases to 0 if it covers all cases. It removes the first search if there is
// nothing to tune, or if the first search would equal the search.
func (p *planner) settleStart(c *candidate) {
	if c.StartCases >= len(c.sets[0].Train) {
		p.warn(cause.NoEffect.New("start_cases: %d are not fewer than the training cases, %d", c.StartCases,
			len(c.sets[0].Train)).In(c.Dataset))
		c.StartCases = 0
	}
	if len(c.space) == 0 || c.StartCases == 0 && c.declared.Start == nil {
		c.starting.Inference, c.StartInference, c.StartCases = nil, record.Component{}, 0
	}
}

// lacksBudget reports whether the budget is in inducing inputs, but the model has no number of
// them.
func lacksBudget(c *candidate) bool {
	i := objective.InducingOf(c.tuned.Inference)
	return len(c.space) > 0 && search.FidelityOf(c.declared.Tune.Strategy).Of == "inducing" &&
		(i.Points == 0 || i.Tolerance > 0)
}

// recorded converts hyperparameters for the manifest.
func recorded(specs []param.Spec) (all []record.Hyperparameter) {
	for _, h := range specs {
		of := record.Hyperparameter{Name: h.Name, Theta: h.ThetaName(), Fixed: h.Fixed, Choices: h.Choices,
			When: h.When}
		for _, l := range h.Literals {
			of.Literals = append(of.Literals, json.RawMessage(l))
		}
		if !h.Fixed {
			of.Bounds, of.Init = record.Numbers([]float64{h.Lo, h.Hi}), record.Number(h.Init)
			of.Whole, of.Step, of.Log = h.Map == param.Whole, record.Number(h.Step), h.Log
		}
		all = append(all, of)
	}
	return all
}

// starts returns the hyperparameters at which the search of each training set starts; nil: the
// initial values of the model.
func (p *planner) starts(c *candidate) ([][]param.Spec, error) {
	t := c.declared.Tune
	if t.StartFrom == "" || t.Strategy == nil {
		return nil, nil
	}
	e, err := p.readEarlier(t.StartFrom)
	if err != nil {
		return nil, err
	}
	k, err := e.alike(c.Configuration)
	if err != nil {
		return nil, err
	}
	if len(c.sets) > 1 && e.Configurations[k].DataHash != c.DataHash {
		p.warn(cause.HeldOut.New("searches start at hyperparameters of other data, those of %s; scores are unbiased "+
			"only if no case that is held out here is among them", e.name).In(c.Dataset))
	}
	var all [][]param.Spec
	for _, set := range c.sets {
		f, err := e.fit(k, c.DataHash, set)
		if err != nil {
			return nil, err
		}
		specs, err := e.begun(k, c.objective.Layout.Specs, f)
		if err != nil {
			return nil, err
		}
		all = append(all, specs)
	}
	return all, nil
}

// known reports whether a configuration with this identity exists already, with a warning at the
// first repetition.
func (p *planner) known(c *candidate, identity []byte) bool {
	before := p.declared[string(identity)]
	after := before + 1 + c.declared.Repeats
	p.declared[string(identity)] = after
	if before < 2 && after > 1 {
		p.warn(cause.NoEffect.New("%s is declared more than once, and is run once", c.String()))
	}
	return before > 0
}

// layOut makes the studies of a configuration, one for each training set.
func (p *planner) layOut(c *candidate, identity []byte) error {
	t, specs := c.declared.Tune, c.objective.Layout.Specs
	at, perStudy := t.Place, 1
	if at.Line == 0 { // the file has no tune section
		at = c.place
	}
	of := schedule.Study{Space: c.space, Strategy: t.Strategy, Stop: t.Stop, Seed: c.sets[0].Seed,
		Preliminary: c.starting.Inference != nil}
	perStudy += of.Budget().Trials
	if !p.grow(at, len(c.sets), perStudy, 0) {
		return nil
	}
	merges := c.objective.MergesEqual()
	// Every study has the same number of trials.
	trials, first, budget := batches(of)
	laidOut := len(p.Studies)
	for i, set := range c.sets {
		specs, space, identity := specs, c.space, identity
		if c.starts != nil {
			layout := c.objective.Layout
			layout.Specs, specs = c.starts[i], c.starts[i]
			space, identity = layout.FreeSpecs(), startedAt(identity, specs)
		}
		if i == 0 {
			search.Record(c.Hyperparameters, t.Strategy, space)
		}
		j := p.job(c, i, set)
		if t.Cross != nil {
			var err error
			if j.Folds, err = set.Split(t.Cross.Splitter, random.Derive(set.Seed, "cv", t.Cross.Name), "cv "+
				t.Cross.Name); err != nil {
				p.AtPlace(t.Cross.Place, "%s: %s: %v", c.Dataset, j.Where(), err)
			}
			if err != nil || !p.grow(t.Cross.Place, 0, 0, job.Folded(j.Folds)) {
				p.Studies = p.Studies[:laidOut]
				return nil
			}
		}
		size := set.Size(merges)
		shared := schedule.Shared{Tuning: tuningKey(set, c.Configuration, specs, t), Paths: j.Whole}
		if i > 0 && set.Evaluation != "training" {
			shared.Fitting = fittingKey(set, identity, t)
		}
		if of.Preliminary {
			starting := c.Configuration
			if c.declared.Start != nil {
				starting.TuneInference = c.StartInference
			}
			shared.Starting = tuningKey(set, starting, specs, t)
			if c.StartCases > 0 && shared.Starting != "" {
				shared.Starting += fmt.Sprintf(", %d cases", c.StartCases)
			}
		}
		memory := j.Memory(size)
		p.addStudy(c, set, Study{Job: j, First: first,
			Study: schedule.Study{Key: studyKey(set, identity), Index: i, Space: space, Strategy: t.Strategy,
				Stop: t.Stop, Preliminary: of.Preliminary,
				Memory: memory, Less: less(j, size, memory), Trial: j.Trial, Assess: j.Assess, Shared: shared},
			Times: func(r *Rates) (Times, bool) { return studyTimes(r, j, size, len(c.space), trials) },
		}, budget)
	}
	p.finish(c)
	p.Configured = append(p.Configured, Configured{c.declared.Model, c.sets[0]})
	if c.declared.Tuning != nil {
		tuning := c.declared.Model
		tuning.Model = tuning.TunedBy(c.declared.Tuning, len(c.Classes))
		tuning.Written.Inference = tuning.Written.Tuning
		p.Configured = append(p.Configured, Configured{tuning, c.sets[0]})
	}
	return nil
}

// job makes the job for a training set: its trials and its assessment.
func (p *planner) job(c *candidate, index int, set *job.Set) *job.Job {
	t, whole := c.declared.Tune, index == 0
	j := &job.Job{
		Model: c.model, Tuned: c.tuned, Starting: c.starting, StartCases: c.StartCases,
		Hybrid: c.declared.Tuning != nil, Criterion: c.criterion,
		Curvature: t.StandardErrors && whole, Whole: whole, Set: set, Average: p.Spec.Average,
		Adjust: c.adjust,
	}
	if t.Cross != nil {
		j.Score = &t.Cross.Score
	}
	if t.Strategy != nil {
		of := t.Ascent()
		j.Optimizer, j.Gradients, j.Evaluations = t.Strategy.Optimizer(), of.Gradient, of.Evaluations
		j.TraceScores = of.TraceScores && whole && set.Held() > 0
	}
	if sampler, ok := t.Strategy.(search.Sampler); ok {
		j.Chain = &objective.Chain{}
		j.Chain.Burn, j.Chain.Samples, j.Chain.Thin = sampler.Length()
	}
	j.Climbs = whole && t.Strategy != nil && t.Cross == nil && j.Optimizer == "" && j.Chain == nil &&
		c.objective.HasGradient()
	return j
}

// addStudy adds a study to the current configuration.
func (p *planner) addStudy(c *candidate, set *job.Set, s Study, budget search.Budget) {
	set.Studies++
	// the trials of two asynchronous searches end in different orders
	if set.Evaluation == "training" && search.UnderWay(s.Strategy) == 0 {
		// the cases of the first study, predicted with its fit
		first := &p.Studies[len(p.Studies)-s.Index]
		first.Job.SameTraining, s.SameAs = s.Job, first.Key
		first.Memory = max(first.Memory, s.Memory)
		if s.Tuning == "" { // trials of the first study must run to provide the scores of this one
			first.Tuning = ""
		}
	}
	s.Configuration, s.Seed = len(p.Manifest.Configurations), set.Seed
	c.Studies = append(c.Studies, record.Study{
		Key: s.Key, Evaluation: set.Evaluation, Repeat: set.Repeat, Fold: set.Fold,
		Train: len(set.Train), Test: set.Held(), Jobs: budget.Trials + 1, AtMost: budget.AtMost,
	})
	p.Studies = append(p.Studies, s)
}

// finish adds the configuration to the plan.
func (p *planner) finish(c *candidate) {
	c.Costs, c.Coverage = p.Spec.Costs.On(p.Findings, c.Data), p.coverage(c.Configuration)
	p.Manifest.Configurations = append(p.Manifest.Configurations, c.Configuration)
	p.Models = append(p.Models, c.declared.Model)
}

// compare makes the configuration of a comparator: one study per training set, with an assessment
// only.
func (p *planner) compare(c *candidate) error {
	m, whole := c.declared, c.sets[0]
	c.Tune, c.Objective, c.StartCases = "none", "", 0
	_, categories := c.Schema.Sources()
	if _, blind := m.Comparator.(comparator.BaseRate); !blind && slices.Contains(categories, true) {
		return p.tell(m.Written.Inference.Place, "%s: %s would treat the categories as numbers; leave it out, or "+
			"set categorical: one_hot", c.Dataset, c.Inference.Text)
	}
	if err := p.checkDim(c); err != nil {
		return err
	}
	specs := m.Comparator.Params(c.Inputs, c.Classes)
	if slices.ContainsFunc(specs, func(s param.Spec) bool { return s.Prior != nil }) {
		p.warn(cause.NoEffect.New("the priors have no effect").In(c.String()))
	}
	c.Hyperparameters = recorded(specs)
	c.Versions = versionsOf(m, nil, whole.How.Method(), false)
	identity := mustMarshal(configurationKey(c.Configuration))
	if predicting := p.predicting(c.Data, ""); predicting != "" {
		identity = mustMarshal([]any{configurationKey(c.Configuration), predicting})
	}
	c.adjust = p.adjust(c.Data)
	if p.known(c, identity) || !p.grow(m.Written.Inference.Place, len(c.sets), 1, 0) {
		return nil
	}
	for i, set := range c.sets {
		j := &job.Job{Comparator: m.Comparator, Whole: i == 0, Set: set, Adjust: c.adjust}
		p.addStudy(c, set, Study{Job: j,
			Study: schedule.Study{Key: studyKey(set, identity), Index: i, Memory: j.Memory(set.Size(false)),
				Assess: j.Assess},
			Times: func(r *Rates) (Times, bool) {
				_, dim := set.Source.X.Dims()
				size := approx.Size{Cases: len(set.Train), Distinct: len(set.Train), Classes: len(c.Classes)}
				return Times{All: m.Comparator.Seconds(size, dim)}, r == Nominal
			},
		}, search.Budget{})
	}
	p.finish(c)
	return nil
}

// meanWarning returns a warning if a prior mean has no effect, or the same effect as another
// hyperparameter.
func meanWarning(m objective.Model, l objective.Layout) string {
	if m.Likelihood.Domain() == likelihood.Categorical && m.Mean != nil && m.Mean != (objective.Zero{}) {
		return "the prior mean has no effect: all classes share it, and softmax depends only on differences " +
			"between classes; use mean: zero"
	}
	free := func(name string) bool {
		return slices.ContainsFunc(l.FreeSpecs(), func(s param.Spec) bool { return s.Name == name })
	}
	if free("mean.constant") && free("likelihood.cut") {
		return "the prior mean and the first cut point matter through their difference alone, and both are free; " +
			"hold one, as in likelihood: {ordinal: {cut: {fixed: 0}}}"
	}
	return ""
}

// priorWarning returns a warning if priors and the tuning objective do not match.
func priorWarning(t spec.Tune, c objective.Criterion, l objective.Layout) string {
	given := slices.ContainsFunc(l.FreeSpecs(), func(s param.Spec) bool { return s.Prior != nil })
	switch {
	case t.Strategy == nil:
	case given && (c == nil || !c.AddsPrior()):
		return "the priors have no effect; tune: {objective: log_posterior} uses them"
	case !given && c != nil && c.AddsPrior():
		return "no free hyperparameter has a prior, so that log_posterior is log_evidence; add {prior: …} to a " +
			"hyperparameter"
	}
	return ""
}

// without returns advice on tuning a model without an exact gradient.
func without(t spec.Tune, c approx.Caps) string {
	if t.Climbs() && !t.StandardErrors && !c.Sampled {
		return "set gradient: differences, or use a method without gradients, such as nelder_mead or bayes"
	}
	return "use a method without gradients, such as nelder_mead or bayes"
}
