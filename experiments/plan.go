package experiments

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/internal/journal"
	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/objective/param"
	"github.com/gpc-tune/gpc-tune/search"
)

// Plan is a checked experiment with its data: what will run, resolved. Only a Plan can run.
type Plan struct {
	Manifest   record.Manifest
	spec       *Spec
	studies    []search.Study
	jobs       []*job                       // of each
	costs      []func(*Rates) (Costs, bool) // of each
	first      []int                        // of each, the trials that it asks for at once, if those are all; else 0
	configured []configured
	size       planSize
	tooMany    bool // that was told
}

// Limits on a plan, beyond which it is refused before it is laid out.
const (
	maxStudies = 1_000_000
	maxJobs    = 10_000_000
)

// planSize counts what a plan holds.
type planSize struct{ studies, jobs, folded int }

// grow counts studies with so many jobs each, and the cases of further folds, and tells once if that is too much.
func (p *Plan) grow(d *decoder, n *strictyaml.Node, studies, jobs, folded int) bool {
	p.size.studies, p.size.jobs, p.size.folded = p.size.studies+studies, p.size.jobs+studies*jobs, p.size.folded+folded
	for _, of := range []struct {
		what    string
		n, most int
	}{{"trainings (configurations × folds)", p.size.studies, maxStudies}, {"jobs", p.size.jobs, maxJobs}, {"cases in the folds of cross-validated objectives", p.size.folded, cv.MaxFolded}} {
		if of.n > of.most && !p.tooMany {
			d.at(n, "the experiment has more than %d %s; split it", of.most, of.what)
			p.tooMany = true
		}
	}
	return !p.tooMany
}

// LoadPlan reads a configuration file, or a bundled one, and its data, and makes the plan. The error is Problems: every mistake
// found, those of the file and those that only the data show, each with its place in the file.
func LoadPlan(ctx context.Context, path string, settings []string) (*Plan, error) {
	text, err := read(path)
	if err != nil {
		return nil, err
	}
	return ParsePlan(ctx, path, text, settings)
}

// ParsePlan is LoadPlan on text already read; file names it in messages, and its folder is where relative paths start.
func ParsePlan(ctx context.Context, file string, text []byte, settings []string) (*Plan, error) {
	d := newDecoder(file)
	s := d.spec(file, text, settings)
	if s == nil {
		return nil, d.err()
	}
	return d.plan(ctx, s)
}

// NewPlan reads the data of a spec, checks the rest of it against them, and lays out the studies.
func NewPlan(ctx context.Context, s *Spec) (*Plan, error) { return newDecoder(s.file).plan(ctx, s) }

// plan checks those parts of a spec against the data that are whole.
func (d *decoder) plan(ctx context.Context, s *Spec) (*Plan, error) {
	p := &Plan{spec: s, Manifest: record.Manifest{
		Schema:     journal.ManifestSchema,
		Experiment: s.Name,
		Source:     s.file,
		Settings:   s.settings,
		Seed:       s.Seed,
		Build:      thisBuild(),
		Tune:       strictyaml.Flow(s.tuneNode),
		Average:    s.averaging,
		Reject:     s.Reject,
		Curves:     s.Report.Curves,
		Formats:    s.Report.Formats,
		Figures:    s.Report.Figures,
	}}
	seen := map[string]bool{}
	for _, spec := range s.Data {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !spec.whole {
			continue
		}
		forms := map[bool]*loaded{} // of the labels: classes, or numbers; nil: cannot be read
		if !slices.ContainsFunc(s.Models, func(m Model) bool { return m.whole }) {
			p.load(d, s, spec, slices.ContainsFunc(s.Models, Model.numeric)) // which may have faults of its own
		}
		for _, m := range s.Models {
			if !m.whole {
				continue
			}
			src, met := forms[m.numeric()]
			if !met {
				src = p.load(d, s, spec, m.numeric())
				forms[m.numeric()] = src
			}
			if src == nil {
				continue
			}
			if err := p.add(d, s, spec, src.ds, src.sets, m, seen); err != nil {
				d.at(spec.node, "%v", err)
			}
			if p.tooMany {
				return nil, d.err()
			}
		}
	}
	if d.found.Found() == 0 {
		if err := p.illustrate(ctx, d, s); err != nil {
			return nil, err
		}
	}
	if err := p.contests(d); err != nil {
		return nil, errors.Join(err, d.err())
	}
	if err := d.err(); err != nil {
		return nil, err
	}
	for _, f := range s.published {
		if !slices.ContainsFunc(p.Manifest.Configurations, f.matches) {
			p.Manifest.Warnings = append(p.Manifest.Warnings, fmt.Sprintf("%s:%d: no configuration is that of these published figures", s.file, f.node.Line))
		}
	}
	p.Manifest.Key, p.Manifest.KeyForm = p.key(), keyForm
	return p, nil
}

// loaded is a data set and its training sets.
type loaded struct {
	ds   *data.Data
	sets []*trainingSet
}

// load reads a data set, its labels as classes or as numbers. It is nil if that is a mistake.
func (p *Plan) load(d *decoder, s *Spec, spec DataSpec, numeric bool) *loaded {
	spec.Regression = numeric
	ds, err := data.Load(spec.Spec, s.Dir, s.Seed)
	if err != nil {
		d.faults(spec.node, err)
		if strings.HasPrefix(s.file, bundled) && spec.Train != "" {
			d.at(spec.node, "gpc-tune explain %s says where these files come from", s.file)
		}
		return nil
	}
	for _, w := range ds.Warnings {
		if w = ds.Name + ": " + w; !slices.Contains(p.Manifest.Warnings, w) {
			p.Manifest.Warnings = append(p.Manifest.Warnings, w)
		}
	}
	p.identify(ds, ds.Hash, false)
	if ds.Test != nil {
		p.identify(ds.Test, ds.Hash, true)
	}
	return &loaded{ds, d.trainingSets(s, spec, ds)}
}

// identify puts the id columns of a file into the manifest, once.
func (p *Plan) identify(ds *data.Data, hash string, test bool) {
	if len(ds.IDs) == 0 || slices.ContainsFunc(p.Manifest.IDs, func(of record.IDs) bool { return of.DataHash == hash && of.Test == test }) {
		return
	}
	of := record.IDs{DataHash: hash, Test: test, Rows: ds.Rows}
	for _, c := range ds.IDs {
		of.Columns = append(of.Columns, record.IDColumn(c))
	}
	p.Manifest.IDs = append(p.Manifest.IDs, of)
}

// trainingSets splits a data set the ways the evaluate section says. The first has all of the training data.
func (d *decoder) trainingSets(s *Spec, spec DataSpec, ds *data.Data) []*trainingSet {
	first := wholeSet(ds, spec.Spec)
	sets := []*trainingSet{first}
	withTest, training := len(s.Evaluate) == 0 && ds.Test != nil, false
	for _, e := range s.Evaluate {
		if folded(sets) > cv.MaxFolded {
			d.at(e.node, "%s: the parts of all folds together have more than %d cases; take fewer folds, or data: {subsample: …}", ds.Name, cv.MaxFolded)
			return sets[:1]
		}
		if e.Nested != nil {
			sets = append(sets, d.nestedSets(s, e, first)...)
			continue
		}
		if e.Name == "training" {
			training = true
			continue
		}
		if e.Splitter == nil {
			if ds.Test == nil {
				d.at(e.node, "%s has no test data; add data: {test: FILE}, or evaluate with kfold", ds.Name)
			}
			withTest = true
			continue
		}
		// Folds depend on the experiment's seed and the kind of split only, so that all models meet the same ones.
		folds, err := first.split(e.Splitter, derive(s.Seed, "split", e.Name))
		if err != nil {
			d.at(e.node, "%s: %v", ds.Name, err)
			continue
		}
		for _, f := range folds {
			f.evaluation = e.Name
			sets = append(sets, f)
		}
	}
	if withTest && ds.Test != nil {
		first.evaluation = "test"
	}
	for _, set := range sets {
		set.seed = derive(s.Seed, "study", set.evaluation, fmt.Sprint(set.repeat), fmt.Sprint(set.fold))
	}
	if training { // the last, as its scores say least; the fit is that of the first
		set := wholeSet(ds, spec.Spec)
		set.evaluation, set.test, set.seed = "training", set.train, first.seed
		sets = append(sets, set)
	}
	return sets
}

// folded is the number of cases in the parts of training sets.
func folded(sets []*trainingSet) (n int) {
	for _, t := range sets {
		n += len(t.train) + len(t.test)
	}
	return n
}

// lostClass names the class that a split loses.
func lostClass(err error, classes []string) error {
	var lost *cv.LostClass
	if errors.As(err, &lost) {
		lost.Name = classes[lost.Class]
	}
	return err
}

// wholeSet is all of the training data.
func wholeSet(ds *data.Data, spec data.Spec) *trainingSet {
	t := &trainingSet{evaluation: "train", source: ds, how: cmp.Or(spec.Preprocess, "none"), missing: spec.Missing}
	for i := range ds.Rows {
		t.train = append(t.train, i)
	}
	return t
}

// add lays out one configuration: a data set and a model.
func (p *Plan) add(d *decoder, s *Spec, spec DataSpec, ds *data.Data, sets []*trainingSet, m Model, seen map[string]bool) error {
	if m.Comparator != nil {
		return p.compare(d, ds, sets, m, seen)
	}
	criterion, err := m.Tune.criterion()
	if err != nil {
		return err
	}
	if m.Tune.Strategy == nil {
		criterion = nil // nothing is maximised, so that nothing need have it
	}
	model, tuned := m.on(len(ds.Classes)), m.tuned(len(ds.Classes))
	if _, err := model.Check(len(ds.Classes)); err != nil {
		d.at(m.inferenceNode, "%s: %v", ds.Name, err)
		return nil
	}
	caps, err := tuned.Check(len(ds.Classes))
	if err == nil && criterion != nil {
		_, err = criterion.Uses(caps)
	}
	if err != nil {
		d.at(m.tuningNode, "%s: %v", ds.Name, err)
		return nil
	}
	if c := m.Tune.Cross; c != nil && c.score.Numeric != m.numeric() {
		d.at(c.node, "%s: likelihood %s has no %s", ds.Name, m.Label.Likelihood, c.score.Name)
		return nil
	}
	for _, k := range m.Kernels {
		if err := kernel.CheckDim(k, len(ds.ColumnNames)); err != nil {
			d.at(m.kernelNode, "%s: %v", ds.Name, err)
			return nil
		}
	}
	// Where length scales start is a fact of the whole training data, the same for every fold.
	defer sets[0].use()()
	all, err := sets[0].prepare()
	if err != nil {
		return err
	}
	o, err := objective.New(tuned, criterion, all.data)
	if err != nil {
		return err
	}
	layout := o.Layout
	c := record.Configuration{
		Dataset: ds.Name, DataHash: ds.Hash, Cases: len(ds.Rows), Inputs: len(ds.ColumnNames),
		Label: m.labelOn(sets[0]), Classes: ds.Classes, Tune: m.Tune.Method, Objective: m.Tune.Criterion,
	}
	for _, w := range []string{meanWarning(model), priorWarning(m.Tune, criterion, layout)} {
		if w != "" {
			p.Manifest.Warnings = append(p.Manifest.Warnings, fmt.Sprintf("%s: %s", Overview{Configuration: c}, w))
		}
	}
	if needs := m.Tune.needsGradient(); needs != "" && len(layout.Free) > 0 && !o.HasGradient() {
		d.at(m.tuningNode, "%s: tune: {%s} needs the gradient of %s, which %s does not have here; %s", ds.Name, needs, m.Tune.Criterion, m.Label.TuneInference, without(m.Tune, caps))
		return nil
	}
	if m.Tune.gradients() == objective.Differences && caps.Sampled {
		d.at(m.Tune.node, "%s: gradient: differences of a Monte Carlo estimate, as the log evidence of %s is, are differences of its errors; do without, as method: bayes does", ds.Name, m.Label.TuneInference)
		return nil
	}
	for _, h := range layout.FreeSpecs() {
		switch {
		case m.Tune.Strategy == nil:
		case h.Init < h.Lo || h.Init > h.Hi:
			place := m.kernelNode
			switch part, _, _ := strings.Cut(h.Name, "."); part {
			case "likelihood":
				place = m.likelihoodNode
			case "mean":
				place = m.meanNode
			}
			d.at(place, "%s: %s starts at %.6g, outside its bounds [%.6g, %.6g]; start it inside, hold it with {fixed: %.6g}, or give it bounds: [lo, hi]", ds.Name, h.Name, h.Init, h.Lo, h.Hi, h.Init)
			return nil
		case h.Init == h.Lo || h.Init == h.Hi:
			p.Manifest.Warnings = append(p.Manifest.Warnings, fmt.Sprintf("%s: %s starts at its bound %.6g; standardise the inputs, or give it an init and bounds", ds.Name, h.Name, h.Init))
		}
	}
	for _, h := range layout.Specs {
		c.Hyperparameters = append(c.Hyperparameters, record.Hyperparameter{Name: h.Name, Theta: h.ThetaName(), Fixed: h.Fixed})
	}
	space := search.Space(layout.FreeSpecs())
	if m.Tune.Strategy != nil {
		if err := m.Tune.Strategy.Check(space); err != nil {
			for _, e := range unjoin(err) {
				d.at(m.Tune.node, "%v", e)
			}
			return nil
		}
	}
	c.Missing, c.Versions = sets[0].imputes(), versionsOf(m, s.Average, sets[0].how, len(sets) > 1 || sets[0].held() > 0)
	identity := identityOf(c, layout.Specs, m.Tune, s.averaging.Text)
	if seen[string(identity)] {
		p.Manifest.Warnings = append(p.Manifest.Warnings, fmt.Sprintf("%s is declared twice and runs once", Overview{Configuration: c}))
		return nil
	}
	seen[string(identity)] = true
	for i, h := range layout.Specs { // what the columns are called changes no result
		if h.Column > 0 {
			c.Hyperparameters[i].Column = ds.ColumnNames[h.Column-1]
		}
	}
	merges := o.MergesEqual()
	perStudy := 1
	if m.Tune.Strategy != nil {
		perStudy += m.Tune.Strategy.Budget(space).Trials
	}
	if !p.grow(d, cmp.Or(m.Tune.node, spec.node), len(sets), perStudy, 0) {
		return nil
	}
	trials, first, budget := batches(search.Study{Space: space, Strategy: m.Tune.Strategy, Seed: sets[0].seed}) // as many for every study
	laidOut := len(p.studies)
	c.Costs = d.costsOf(s.costs, ds)
	c.Published = d.publishedOf(c, s.published)
	for i, set := range sets {
		set.studies++
		j := &job{declared: m, model: model, tuned: tuned, hybrid: m.Tuning != nil, criterion: criterion, curvature: m.Tune.StandardErrors && i == 0, whole: i == 0, set: set, average: s.Average}
		if j.cross = m.Tune.Cross; j.cross != nil {
			if j.folds, err = j.cross.folds(set); err != nil {
				d.at(j.cross.node, "%s: %s: %v", ds.Name, j.where(), err)
			} else {
				p.grow(d, j.cross.node, 0, 0, folded(j.folds))
			}
			if err != nil || p.tooMany {
				p.studies, p.jobs, p.first, p.costs = p.studies[:laidOut], p.jobs[:laidOut], p.first[:laidOut], p.costs[:laidOut]
				return nil
			}
		}
		key := set.key(identity)
		if m.Tune.Strategy != nil {
			j.optimizer, j.gradients = m.Tune.Strategy.Optimizer(), m.Tune.gradients()
		}
		if sampler, ok := m.Tune.Strategy.(search.Sampler); ok {
			j.chain = &objective.Chain{}
			j.chain.Burn, j.chain.Samples, j.chain.Thin = sampler.Length()
		}
		size := set.size(merges)
		study := search.Study{
			Key: key, Configuration: len(p.Manifest.Configurations), Index: i, Space: space, Strategy: m.Tune.Strategy, Seed: set.seed,
			Memory: j.memory(size), Trial: j.trial, Assess: j.assess,
		}
		c.Studies = append(c.Studies, record.Study{Key: key, Evaluation: set.evaluation, Repeat: set.repeat, Fold: set.fold, Train: len(set.train), Test: set.held(), Jobs: budget.Trials + 1, AtMost: budget.AtMost})
		p.studies, p.jobs = append(p.studies, study), append(p.jobs, j)
		p.first = append(p.first, first)
		p.costs = append(p.costs, func(r *Rates) (Costs, bool) { return r.costs(j, size, m.Tune.Criterion, len(space), trials) })
	}
	p.Manifest.Configurations = append(p.Manifest.Configurations, c)
	p.configured = append(p.configured, configured{m, sets[0]})
	if m.Tuning != nil {
		m.Inference, m.Label.Inference = m.Tuning, m.Label.TuneInference
		p.configured = append(p.configured, configured{m, sets[0]})
	}
	return nil
}

// meanWarning says where a prior mean is of no consequence.
func meanWarning(m objective.Model) string {
	if m.Likelihood.Domain() == likelihood.Categorical && m.Mean != nil && m.Mean != (objective.Zero{}) {
		return "the prior mean has no effect: all classes share it, and softmax sees differences between them only; use mean: zero"
	}
	return ""
}

// priorWarning says where priors and what is maximised do not go together.
func priorWarning(t Tune, c objective.Criterion, l objective.Layout) string {
	given := slices.ContainsFunc(l.FreeSpecs(), func(s param.Spec) bool { return s.Prior != nil })
	switch {
	case t.Strategy == nil:
	case given && (c == nil || !c.AddsPrior()):
		return "the priors have no effect; tune: {objective: log_posterior} uses them"
	case !given && c != nil && c.AddsPrior():
		return "no free hyperparameter has a prior, so that log_posterior is log_evidence; add {prior: …} to a hyperparameter"
	}
	return ""
}

// imputes is what stands in for missing values; "" if there are none.
func (t *trainingSet) imputes() string {
	lacks := func(d *data.Data) bool { return d != nil && floats.HasNaN(d.X.RawMatrix().Data) }
	if lacks(t.source) || lacks(t.source.Test) {
		return t.missing
	}
	return ""
}

// held is the number of held-out cases.
func (t *trainingSet) held() int {
	if t.evaluation == "test" {
		return len(t.source.Test.Rows)
	}
	return len(t.test)
}

// identity is all of the section that the result of a given trial, or of a fit at given hyperparameters, depends on. How
// many trials there are and where is not in it: an experiment that asks for more of them keeps those that it has.
func (t Tune) identity() any {
	var length [3]int
	if s, ok := t.Strategy.(search.Sampler); ok {
		length[0], length[1], length[2] = s.Length()
	}
	parts := []any{t.Method, strictyaml.Flow(strictyaml.Find(t.node, "objective")), t.StandardErrors, length}
	if g := t.gradients(); g != objective.Exact {
		parts = append(parts, g)
	}
	return parts
}

// climbs says whether a local optimiser follows gradients.
func (t Tune) climbs() bool { return t.Strategy != nil && t.Strategy.Optimizer() != "" }

// gradients is where it has them from.
func (t Tune) gradients() objective.Gradients {
	if a, ok := t.Strategy.(interface{ Gradients() objective.Gradients }); ok {
		return a.Gradients()
	}
	return objective.Exact
}

// without says how to tune what has no gradient.
func without(t Tune, c approx.Caps) string {
	if t.climbs() && !t.StandardErrors && !c.Sampled {
		return "write gradient: differences there, or do without, as method: nelder_mead or bayes does"
	}
	return "do without, as method: nelder_mead or bayes does"
}

// needsGradient names what needs an exact gradient, if anything does.
func (t Tune) needsGradient() string {
	switch {
	case t.climbs() && t.gradients() == objective.Exact:
		return "method: " + t.Method
	case t.StandardErrors:
		return "standard_errors: true"
	}
	return ""
}

// criterion is what is maximised; nil for cross-validation.
func (t Tune) criterion() (objective.Criterion, error) {
	if t.Cross != nil {
		return nil, nil
	}
	e, err := objective.Criteria.Lookup("objective", t.Criterion)
	if err != nil {
		return nil, err
	}
	return e.New(nil)
}

// derive makes an independent seed from another and a path of names.
func derive(seed uint64, path ...string) uint64 {
	h := sha256.New()
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], seed)
	h.Write(b[:])
	for _, p := range path {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return binary.LittleEndian.Uint64(h.Sum(nil))
}

// unjoin lists the errors of an errors.Join, and of those within it.
func unjoin(err error) []error {
	many, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, e := range many.Unwrap() {
		all = append(all, unjoin(e)...)
	}
	return all
}

// Spec is what the plan was made of.
func (p *Plan) Spec() *Spec { return p.spec }

// Name is the experiment's name.
func (p *Plan) Name() string { return p.Manifest.Experiment }

// Version is the module version that Go stamped into the program, "(devel)" in a checkout.
func Version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range append(info.Deps, &info.Main) {
			if strings.HasPrefix(m.Path, "github.com/gpc-tune/gpc-tune") && m.Version != "" {
				return m.Version
			}
		}
	}
	return "(devel)"
}

// labelOn is the label of the model on a training set.
func (m Model) labelOn(set *trainingSet) record.Label {
	label := m.Label
	label.Preprocess = set.how
	return label
}

// Overview is one line of `gpc-tune plan`.
type Overview struct {
	record.Configuration
	Free, Jobs int
	AtMost     bool  // Jobs and Costs.All are at most that
	Memory     int64 // bytes of its largest job
	Costs            // of its jobs, with the evaluation on all of the training data; 0 where they are not known
}

// Methods names the inference, and the one that tunes it if that is another.
func (o Overview) Methods() string {
	if o.TuneInference.Text != o.Inference.Text {
		return o.Inference.Text + ", tuned with " + o.TuneInference.Text
	}
	return o.Inference.Text
}

// String names the configuration.
func (o Overview) String() string {
	return strings.Join([]string{o.Dataset, o.Kernel.Text, o.Likelihood.Text, o.Methods()}, ", ")
}

// Overview says what would run, a row a configuration, and how long at these rates, which may be nil.
func (p *Plan) Overview(rates *Rates) []Overview {
	rows := make([]Overview, len(p.Manifest.Configurations))
	for i, c := range p.Manifest.Configurations {
		rows[i].Configuration = c
	}
	for i, s := range p.studies {
		r := &rows[s.Configuration]
		if rates != nil {
			c, _ := p.costs[i](rates)
			r.Evaluation = max(r.Evaluation, c.Evaluation)
			r.All += c.All
			r.Path = max(r.Path, c.Path)
			if c.Longest > r.Longest {
				r.Longest, r.Evaluations = c.Longest, c.Evaluations
			}
		}
		r.Free = len(s.Space)
		r.Jobs += r.Studies[s.Index].Jobs
		r.AtMost = r.AtMost || r.Studies[s.Index].AtMost
		r.Memory = max(r.Memory, s.Memory)
	}
	return rows
}

// batch is a number of trials of equally many points, and how many of them come one after another at least.
type batch struct{ trials, points, rounds int }

// batches are the trials of a study: those that it asks for first, and as many of one point each as its budget leaves. An
// assessment follows. once is their number, if it asks for all of them at once.
func batches(s search.Study) (b []batch, once int, budget search.Budget) {
	if s.Strategy == nil {
		return nil, 0, budget
	}
	first := s.Strategy.Ask(s.Space, nil, s.Seed)
	for _, p := range first {
		if k := len(b) - 1; k >= 0 && b[k].points == len(p.Points) {
			b[k].trials++
		} else {
			b = append(b, batch{1, len(p.Points), 1})
		}
	}
	budget = s.Strategy.Budget(s.Space)
	if more := budget.Trials - len(first); more > 0 {
		return append(b, batch{more, 1, (more + budget.AtOnce - 1) / budget.AtOnce}), 0, budget
	}
	return b, len(first), budget
}

// Jobs is the number of jobs, at most if a strategy may finish before it has used up its budget or if configurations must
// first prevail over others.
func (p *Plan) Jobs() (n int, atMost bool) {
	for _, c := range p.Manifest.Configurations {
		for _, s := range c.Studies {
			n, atMost = n+s.Jobs, atMost || s.AtMost
		}
	}
	return n, atMost || p.Contested() > 0
}

// Contested is the number of jobs of configurations that must first prevail over others.
func (p *Plan) Contested() (n int) {
	for _, s := range p.studies {
		if s.Stage != nil {
			n += p.Manifest.Configurations[s.Configuration].Studies[s.Index].Jobs
		}
	}
	return n
}
