package reports

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/internal/record"
)

// Build makes the Report of a run from its manifest and the lines of its journal, in any order. What is not on record
// yet is counted as missing and marked so. Lines that contradict the manifest or each other are an error.
func Build(m record.Manifest, lines []record.Line) (*Report, error) {
	studies, contests, err := arrange(m, lines)
	if err != nil {
		return nil, err
	}
	curves, confidence, err := drawings(m)
	if err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	r := &Report{Schema: Schema, Experiment: m.Experiment, Configurations: []Configuration{}, Warnings: append([]string{}, m.Warnings...), Illustrations: m.Illustrations, manifest: m}
	if err := r.addIllustrations(); err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	for c, configuration := range m.Configurations {
		b := builder{record: configuration, studies: studies[c], curves: curves, confidence: confidence}
		r.Configurations = append(r.Configurations, b.build())
		r.Missing += r.Configurations[c].Missing
	}
	r.Warnings = append(r.Warnings, mixed(m, lines)...)
	r.compete(m, contests, builder{curves: curves, confidence: confidence})
	if len(m.Figures) > 0 && r.Missing == 0 {
		_, lacking := r.drawn()
		for _, name := range lacking {
			r.Warnings = append(r.Warnings, fmt.Sprintf("report: figures: there is no %q on record, nor a figure of that kind", name))
		}
	}
	return r, nil
}

// mixed warns of jobs that different builds, or one on different instructions, have computed: the results are then those of no one
// of them.
func mixed(m record.Manifest, lines []record.Line) []string {
	jobs := map[string]map[string]bool{}
	for _, line := range lines {
		by := cmp.Or(line.Build, m.Build.String())
		if jobs[by] == nil {
			jobs[by] = map[string]bool{}
		}
		jobs[by][line.Key] = true
	}
	if len(jobs) < 2 {
		return nil
	}
	var all []string
	for _, by := range slices.Sorted(maps.Keys(jobs)) {
		all = append(all, fmt.Sprintf("%s (%d jobs)", by, len(jobs[by])))
	}
	return []string{"computed by more than one build or instruction set, which may differ in the last digits, and in what follows from these: " + strings.Join(all, ", ")}
}

// drawings finds the curves that a run asks for, and the confidence by which they reject.
func drawings(m record.Manifest) (curves []cv.Curve, confidence cv.Confidence, err error) {
	confidence = cv.Confidences[0]
	if m.Reject != "" {
		if confidence, err = cv.ConfidenceNamed(m.Reject); err != nil {
			return nil, confidence, err
		}
	}
	for _, name := range m.Curves {
		curve, err := cv.CurveNamed(name)
		if err != nil {
			return nil, confidence, err
		}
		curves = append(curves, curve)
	}
	return curves, confidence, nil
}

// builder makes one Configuration.
type builder struct {
	record     record.Configuration
	studies    []study
	curves     []cv.Curve
	confidence cv.Confidence
	warnings   notes
}

func (b *builder) build() Configuration {
	c, whole := b.record, &b.studies[0]
	out := Configuration{
		Dataset: c.Dataset, Cases: c.Cases, Inputs: c.Inputs, Label: c.Label,
		Classes: append([]string{}, c.Classes...), Tune: c.Tune, Objective: c.Objective,
		Status: whole.status(), LogEvidence: Number(math.NaN()), Hyperparameters: Values{},
		Evaluations: b.evaluations(), Folds: []Fold{}, Curves: Curves{}, Failures: []Failure{},
		record:  c,
		studies: b.studies,
	}
	if out.TuneInference.IsZero() {
		out.TuneInference = out.Inference
	}
	if out.Objective == "" {
		out.Objective = "log_evidence"
	}
	if f := whole.fit; f != nil && f.Failure == "" {
		out.Hyperparameters, out.LogEvidence, out.Converged = values(names(c), f.Natural), f.LogEvidence, marked(f)
		if f.LeaveOneOut != nil {
			out.LeaveOneOut = &LeaveOneOut{*f.LeaveOneOut}
		}
		if k := f.Curvature; k != nil {
			out.StandardErrors = values(k.Names, k.StandardErrors)
			out.Correlations = k.Correlations
		}
		out.Posterior = f.Posterior
	}
	out.Restarts = b.restarts()
	out.Grid = b.grid(out.Objective)
	out.Best = best(out.Objective, out.Grid)
	if len(out.Evaluations) > 0 {
		out.Scores, out.Curves = out.Evaluations[0].Scores, out.Evaluations[0].Curves
	}
	for i := range b.studies {
		s := &b.studies[i]
		out.Missing += s.missing()
		out.Failures = append(out.Failures, b.failures(s)...)
		if i > 0 && !s.cut {
			out.Folds = append(out.Folds, b.fold(s))
		}
		for _, t := range s.trials {
			b.warnings.add(where(b.studies, i, &t.Index), t.Warnings...)
		}
		if s.fit != nil {
			b.warnings.add(where(b.studies, i, nil), s.fit.Warnings...)
		}
	}
	out.Warnings = b.warnings.list()
	for _, p := range c.Published {
		shown := Published{Source: p.Source, Note: p.Note}
		for _, f := range p.Figures {
			here, of := out.figure(p.Evaluation, f.Name)
			shown.Figures = append(shown.Figures, Figure{f.Name, f.Value, f.Uncertainty, here, of})
		}
		out.Published = append(out.Published, shown)
	}
	return out
}

// figure finds a number by the name it has in results; scores are those of an evaluation, or of the first, and with best_ before
// the name those of the best point of a grid, once all its points are there. NaN: there is none.
func (c Configuration) figure(evaluation, name string) (Number, *Partial) {
	switch name {
	case "log_evidence":
		return c.LogEvidence, nil
	case "leave_one_out":
		return c.leaveOneOut(), nil
	}
	if v, ok := c.Hyperparameters.Get(name); ok {
		return Number(v), nil
	}
	if by, best := strings.CutPrefix(name, "best_"); best && c.Status != Missing {
		if i := slices.IndexFunc(c.Best, func(b Best) bool { return b.By == by }); i >= 0 {
			return c.Best[i].Value, nil
		}
	}
	for _, e := range c.Evaluations {
		if evaluation != "" && e.Name != evaluation {
			continue
		}
		switch v, ok := e.Scores.Value(name); {
		case ok:
			return Number(v.Value), e.Scores.Partial
		case e.Scores.N == 0:
		case name == "min_probability":
			return Number(e.extremes[0]), e.Scores.Partial
		case name == "max_probability":
			return Number(e.extremes[1]), e.Scores.Partial
		case e.Decisions != nil && name == "mean_loss":
			return e.Decisions.Loss, e.Scores.Partial
		case e.Decisions != nil && name == "rejected":
			return Number(e.Decisions.Rejected), e.Scores.Partial
		}
		break
	}
	return Number(math.NaN()), nil
}

// where names a job within a configuration: "trial 3" and "fit" are those of the study of all the training data.
func where(studies []study, i int, trial *int) string {
	job := "fit"
	if trial != nil {
		job = fmt.Sprintf("trial %d", *trial)
	}
	s := studies[i]
	switch {
	case i == 0:
		return job
	case s.Repeat > 0:
		return fmt.Sprintf("%s repeat %d fold %d %s", s.Evaluation, s.Repeat, s.Fold, job)
	}
	return fmt.Sprintf("%s fold %d %s", s.Evaluation, s.Fold, job)
}

// local says if the study's trials are local optimisations, or chains, from start points.
func (s *study) local() bool {
	return slices.ContainsFunc(s.trials, func(t *record.Trial) bool { return len(t.Start) > 0 })
}

func (b *builder) restarts() []Restart {
	out := []Restart{}
	whole := &b.studies[0]
	if !whole.local() {
		return out
	}
	for _, t := range whole.trials {
		r := Restart{
			Trial: t.Index, Start: values(names(b.record), t.Start), End: Values{}, Value: Number(math.NaN()), Gradient: Number(math.NaN()),
			Status: t.Status, Evaluations: t.Evaluations, Chosen: whole.status() == Done && whole.fit.Chosen == t.Index,
		}
		if len(t.Points) > 0 {
			end := t.Points[len(t.Points)-1]
			r.End, r.Value, r.Gradient = values(names(b.record), end.Natural), end.Value, end.Gradient
		}
		out = append(out, r)
	}
	return out
}

// evaluations pools the studies of every evaluation, in the order of the studies.
func (b *builder) evaluations() []Evaluation {
	out := []Evaluation{}
	parts := map[string][]*study{}
	for i := range b.studies {
		if s := &b.studies[i]; s.Test > 0 && !s.nested {
			if parts[s.Evaluation] == nil {
				out = append(out, Evaluation{Name: s.Evaluation})
			}
			parts[s.Evaluation] = append(parts[s.Evaluation], s)
		}
	}
	for i, e := range out {
		out[i] = b.pool(e.Name, parts[e.Name])
	}
	return out
}

// pool makes an Evaluation of its studies; nil is one that is missing.
func (b *builder) pool(name string, studies []*study) Evaluation {
	e := Evaluation{Name: name, Folds: len(studies), Status: Done, Confusion: [][]int{}, Curves: Curves{}}
	var parts []cv.Predictions
	failed := 0
	for _, s := range studies {
		status := Missing
		if s != nil {
			status = s.status()
		}
		if status == Failed {
			failed++
		}
		e.Status = worse(e.Status, status)
		if s != nil && s.predictions != nil {
			e.Scored++
			parts = append(parts, *s.predictions)
		}
	}
	if e.Scored == 0 {
		return e
	}
	p := cv.Pool(parts...)
	results, warnings := cv.Evaluate(p)
	e.Scores = Scores{len(p.Cases), results, partial(e.Scored, failed, e.Folds)}
	b.warnings.add(e.Name, warnings...)
	if p.Numeric() {
		return e // numbers have no confusion, nor curves
	}
	e.Confusion, e.Decisions = p.Confusion(), decided(b.record.Costs, p)
	e.extremes[0], e.extremes[1] = p.Extremes()
	for _, curve := range b.curves {
		e.Curves = append(e.Curves, Curve{curve, curve.Func(p, b.confidence)})
	}
	return e
}

// decided are the decisions under costs, if there are any.
func decided(of *record.Costs, p cv.Predictions) *Decisions {
	if of == nil {
		return nil
	}
	costs := cv.Costs{Reject: (*float64)(of.Reject)}
	for _, row := range of.Loss {
		costs.Loss = append(costs.Loss, record.Floats(row))
	}
	d := costs.Decisions(p)
	out := &Decisions{Loss: Number(d.Loss.Value), Expected: Number(d.Expected), Likeliest: Number(d.Likeliest), Rejected: d.Rejected, Table: d.Table}
	if !math.IsNaN(d.Loss.Lo) {
		out.CI95 = &[2]Number{Number(d.Loss.Lo), Number(d.Loss.Hi)}
	}
	return out
}

func (b *builder) fold(s *study) Fold {
	f := Fold{
		Evaluation: s.Evaluation, Repeat: s.Repeat, Fold: s.Fold, Train: s.Train, Test: s.Test, Status: s.status(),
		Hyperparameters: Values{}, LogEvidence: Number(math.NaN()),
	}
	if f.Status == Done {
		f.Hyperparameters, f.LogEvidence, f.Converged = values(names(b.record), s.fit.Natural), s.fit.LogEvidence, marked(s.fit)
	}
	if s.predictions != nil {
		results, _ := cv.Evaluate(*s.predictions) // its warnings come with the pooled scores
		f.Scores = Scores{N: len(s.predictions.Cases), Results: results}
	}
	return f
}

func (b *builder) failures(s *study) (out []Failure) {
	add := func(trial *int, point, theta Values, message string) {
		if message != "" {
			out = append(out, Failure{s.Evaluation, s.Repeat, s.Fold, trial, point, theta, message})
		}
	}
	for _, t := range s.trials {
		for _, p := range t.Points {
			add(&t.Index, values(names(b.record), p.Natural), values(thetaNames(b.record), p.Theta), p.Failure)
		}
		theta := Values{}
		if len(t.Asked) == 1 {
			theta = values(thetaNames(b.record), t.Asked[0])
		}
		add(&t.Index, values(names(b.record), t.Start), theta, t.Failure)
	}
	if s.fit != nil {
		add(nil, values(names(b.record), s.fit.Natural), Values{}, s.fit.Failure)
	}
	return out
}

// notes collects warnings. One that was given several times is listed once, with the first place.
type notes struct {
	texts []string
	first map[string]string
	count map[string]int
}

func (n *notes) add(where string, texts ...string) {
	if n.first == nil {
		n.first, n.count = map[string]string{}, map[string]int{}
	}
	for _, text := range texts {
		if n.count[text]++; n.count[text] == 1 {
			n.texts = append(n.texts, text)
			n.first[text] = where
		}
	}
}

func (n *notes) list() []string {
	out := []string{}
	for _, text := range n.texts {
		where := n.first[text]
		if k := n.count[text]; k > 1 {
			where = fmt.Sprintf("%s and %d more", where, k-1)
		}
		out = append(out, where+": "+text)
	}
	return out
}
