package reports

import (
	"fmt"
	"math"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/record"
)

// builder makes one Configuration.
type builder struct {
	record     record.Configuration
	studies    []Study
	curves     []cv.Curve
	confidence cv.Confidence
	warnings   notes
	fault      error // first error of a score
}

// where names a job within a configuration: "trial 3" and "fit" are jobs of the study of all the
// training data.
func where(studies []Study, i int, trial *int) string {
	job := "fit"
	if trial != nil {
		job = fmt.Sprintf("trial %d", *trial)
	}
	if i == 0 {
		return job
	}
	return Folded(studies[i].Evaluation, studies[i].Repeat, studies[i].Fold) + " " + job
}

// evaluations pools the studies of each evaluation, in the order of the studies.
func (b *builder) evaluations() []Evaluation {
	out := []Evaluation{}
	parts := map[string][]*Study{}
	for i := range b.studies {
		if s := &b.studies[i]; s.Test > 0 && !s.Nested {
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

// HeldOut returns the conformal sets of new cases, which compare them with the recorded cases that
// the folds of Record.Calibrating held out. known is false without sets, or without recorded cases.
func (c Configuration) HeldOut() (of cv.Conformal, known bool) { return heldOut(c.Record, c.Studies) }

func heldOut(c record.Configuration, studies []Study) (of cv.Conformal, known bool) {
	var parts []cv.Predictions
	if c.Coverage != nil {
		for _, i := range c.Calibrating() {
			if p := studies[i].Predictions; p != nil {
				parts = append(parts, *p)
			}
		}
	}
	if len(parts) < 2 {
		return of, false
	}
	return cv.NewConformal(cv.Pool(parts...), float64(*c.Coverage)), true
}

// conform gives held-out predictions their conformal sets. A case of a fold is compared with the
// cases of other folds, a case of the test set with the cases of all folds.
func (b *builder) conform() {
	of, known := heldOut(b.record, b.studies)
	if !known {
		return
	}
	b.warnings.add(b.studies[b.record.Calibrating()[0]].Evaluation, of.Warnings(b.record.Classes)...)
	for i := range b.studies {
		s := &b.studies[i]
		if s.Predictions == nil || s.Nested || s.Evaluation == "training" {
			continue
		}
		others := of
		if s.Evaluation != "test" { // whose cases have numbers of their own
			others = of.Without(s.Predictions.Cases)
		}
		s.Predictions.Sets = others.Sets(*s.Predictions)
	}
}

// pool makes an Evaluation from its studies; a nil study is missing.
func (b *builder) pool(name string, studies []*Study) Evaluation {
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
		if s != nil && s.Predictions != nil {
			e.Scored++
			parts = append(parts, *s.Predictions)
		}
	}
	if e.Scored == 0 {
		return e
	}
	p := cv.Pool(parts...)
	results, warnings, err := cv.Evaluate(p)
	if err != nil && b.fault == nil {
		b.fault = fmt.Errorf("%s: %w", name, err)
	}
	e.Scores = Scores{len(p.Cases), p.Total(), results, partial(e.Scored, failed, e.Folds)}
	b.warnings.add(e.Name, warnings...)
	if p.Numeric() {
		return e // numbers have neither a confusion table nor curves
	}
	e.Confusion, e.Decisions = p.Confusion(), decided(b.record.Costs, p)
	e.extremes[0], e.extremes[1] = p.Extremes()
	for _, curve := range b.curves {
		e.Curves = append(e.Curves, Curve{curve, curve.Func(p, b.confidence)})
	}
	return e
}

// costsOf are the costs of decisions; nil without costs.
func costsOf(of *record.Costs) *cv.Costs {
	if of == nil {
		return nil
	}
	costs := cv.Costs{Reject: (*float64)(of.Reject)}
	for _, row := range of.Loss {
		costs.Loss = append(costs.Loss, record.Floats(row))
	}
	return &costs
}

// Decide returns the decision for a held-out case: with a threshold the class by it, with costs the
// decision of least expected cost, else the class of the largest probability. expected is the
// expected cost of the decision; NaN without costs.
func (c Configuration) Decide(p cv.Predictions, k int) (decision string, expected Number) {
	costs := costsOf(c.Record.Costs)
	if costs == nil {
		return c.Classes[p.Decision(k)], Number(math.NaN())
	}
	var threshold []float64
	if p.Threshold != nil {
		threshold = p.Threshold[k : k+1]
	}
	class, cost := costs.Decide(p.Proba.RawRowView(k), threshold...)
	if decision = record.Rejected; class != cv.Rejected {
		decision = c.Classes[class]
	}
	return decision, Number(cost)
}

// decided computes the decisions under costs; nil without costs.
func decided(of *record.Costs, p cv.Predictions) *Decisions {
	costs := costsOf(of)
	if costs == nil {
		return nil
	}
	d := costs.Decisions(p)
	return &Decisions{Loss: Number(d.Loss.Value), CI95: interval(d.Loss.Lo, d.Loss.Hi), Expected: Number(d.Expected),
		Likeliest: Number(d.Likeliest), Rejected: d.Rejected, Table: d.Table}
}

func (b *builder) fold(s *Study) Fold {
	f := Fold{
		Evaluation: s.Evaluation, Repeat: s.Repeat, Fold: s.Fold, Train: s.Train, Test: s.Test, Status: s.status(),
		Hyperparameters: Values{}, LogEvidence: Number(math.NaN()),
	}
	if f.Status == Done {
		f.Hyperparameters, f.LogEvidence, f.Converged = natural(b.record, s.Fit.Natural), s.Fit.LogEvidence,
			marked(s.Fit)
		f.Threshold = s.Fit.Threshold
	}
	if s.Predictions != nil {
		results, _, err := cv.Evaluate(*s.Predictions) // warnings come with the pooled scores
		if err != nil && b.fault == nil {
			b.fault = fmt.Errorf("%s fold %d: %w", s.Evaluation, s.Fold, err)
		}
		f.Scores = Scores{N: len(s.Predictions.Cases), Weight: s.Predictions.Total(), Results: results}
	}
	return f
}

func (b *builder) failures(s *Study) (out []Failure) {
	output, asked := "", Values{}
	add := func(trial *int, point, theta Values, why cause.Notice, job bool) {
		if !why.IsZero() {
			out = append(out, Failure{s.Evaluation, s.Repeat, s.Fold, trial, point, theta, why.Kind, why.String(),
				output, why.Text, job, asked})
		}
	}
	for _, t := range s.Trials {
		output = t.Output
		for _, p := range t.Points {
			add(&t.Index, natural(b.record, p.Natural), inForce(b.record, onTheta(b.record, p.Theta)), p.Failure, false)
		}
		theta := Values{}
		if asked = nil; len(t.Asked) == 1 {
			if b.record.Program != nil {
				asked = unmeasured(b.record, t.Asked[0])
			}
			theta = inForce(b.record, onTheta(b.record, t.Asked[0]))
		}
		add(&t.Index, natural(b.record, t.Start), theta, t.Failure, true)
	}
	if s.Fit != nil && b.record.Program == nil { // the fit of a program fails with all its trials
		add(nil, natural(b.record, s.Fit.Natural), Values{}, s.Fit.Failure, true)
	}
	return out
}

// notes collects warnings. A repeated warning is listed once, with its first position.
type notes struct {
	notices []Notice
	index   map[cause.Notice]int
}

func (n *notes) add(where string, warnings ...cause.Notice) {
	if n.index == nil {
		n.index = map[cause.Notice]int{}
	}
	for _, w := range warnings {
		i, known := n.index[w]
		if !known {
			i = len(n.notices)
			n.index[w], n.notices = i, append(n.notices, Notice{-1, where, w.Kind, w.String(), 0})
		}
		n.notices[i].Count++
	}
}

// list returns the warnings, each once.
func (n *notes) list() []Notice {
	out := append([]Notice{}, n.notices...)
	for i, notice := range out {
		if notice.Count > 1 {
			out[i].Where = fmt.Sprintf("%s and %d more", notice.Where, notice.Count-1)
		}
	}
	return out
}
