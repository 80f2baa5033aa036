package reports

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/record"
)

// Build makes the Report of a run from its manifest and the lines of its journal, in any order.
// Results that are not on record are counted and marked as missing. Lines that contradict the
// manifest or each other are an error, and so is a score of another program with an invalid result.
func Build(m record.Manifest, lines []record.Line) (*Report, error) {
	studies, contests, err := arrange(m, lines)
	if err != nil {
		return nil, err
	}
	curves, confidence, err := drawings(m)
	if err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	r := &Report{Schema: Schema, Experiment: m.Experiment, Configurations: []Configuration{},
		Warnings: []Notice{}, Illustrations: m.Illustrations, Manifest: m}
	for _, w := range m.Warnings {
		r.Warn(w)
	}
	for _, k := range m.Dropped {
		r.Warn(cause.ByHand.New("#%d was dropped by hand: it has no result, and is not compared; "+
			"gpc-tune resume DIR %d takes it back", k, k))
	}
	if err := r.addIllustrations(); err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	for c, configuration := range m.Configurations {
		b := builder{record: configuration, studies: studies[c], curves: curves, confidence: confidence}
		r.Configurations = append(r.Configurations, b.build())
		if b.fault != nil {
			return nil, fmt.Errorf("configuration %d, %w", c, b.fault)
		}
		r.Missing += r.Configurations[c].Missing
	}
	r.mixed(lines)
	if err := r.compete(contests, builder{curves: curves, confidence: confidence}); err != nil {
		return nil, err
	}
	if answers := r.decide(); len(answers) > 0 {
		if r.Answer = &answers[0]; len(answers) > 1 {
			r.Answers = answers
		}
	}
	return r, nil
}

// mixed warns if jobs were computed by different builds, or by one build with different instruction
// sets: no single build then gives these results.
func (r *Report) mixed(lines []record.Line) {
	jobs := map[string]map[string]bool{}
	for _, line := range lines {
		by := cmp.Or(line.Build, r.Manifest.Build.String())
		if jobs[by] == nil {
			jobs[by] = map[string]bool{}
		}
		jobs[by][line.Key] = true
	}
	if len(jobs) < 2 {
		return
	}
	var all []string
	for _, by := range slices.Sorted(maps.Keys(jobs)) {
		all = append(all, fmt.Sprintf("%s (jobs: %d)", by, len(jobs[by])))
	}
	r.Warn(cause.Builds.New("computed by more than one build or instruction set, which may differ in the last digits, "+
		"and in what follows from these: %s", strings.Join(all, ", ")))
}

// drawings returns the curves of a run, and the measure of confidence for rejection.
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

func (b *builder) build() Configuration {
	b.conform()
	c, whole := b.record, &b.studies[0]
	out := Configuration{
		Dataset: c.Dataset, Cases: c.Cases, Inputs: c.Inputs, Label: c.Label,
		Classes: append([]string{}, c.Classes...), Tune: c.Tune, Objective: c.Objective,
		Program: c.Program, Status: whole.status(), LogEvidence: Number(math.NaN()), Hyperparameters: Values{},
		Evaluations: b.evaluations(), Folds: []Fold{}, Curves: Curves{}, Failures: []Failure{},
		Record:  c,
		Studies: b.studies,
	}
	if out.TuneInference.IsZero() {
		out.TuneInference = out.Inference
	}
	if out.Objective == "" {
		out.Objective = "log_evidence"
	}
	if f := whole.Fit; f != nil && f.Failure.IsZero() {
		out.Hyperparameters, out.LogEvidence, out.Converged = natural(c, f.Natural), f.LogEvidence, marked(f)
		out.Inducing = f.Inducing
		if f.LeaveOneOut != nil {
			out.LeaveOneOut = &LeaveOneOut{*f.LeaveOneOut}
		}
		if k := f.Curvature; k != nil {
			out.StandardErrors = values(k.Names, k.StandardErrors)
			out.Correlations = k.Correlations
		}
		out.Posterior, out.Coefficients = f.Posterior, f.Coefficients
	}
	out.Restarts = b.restarts()
	out.Grid = b.grid(out.Objective)
	out.Best = out.BestPoints()
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
		for _, t := range s.Trials {
			if !t.Preliminary {
				b.warnings.add(where(b.studies, i, &t.Index), t.Warnings...)
			}
		}
		if s.Fit != nil {
			b.warnings.add(where(b.studies, i, nil), s.Fit.Warnings...)
		}
	}
	out.Warnings = b.warnings.list()
	return out
}

func (b *builder) restarts() []Restart {
	out := []Restart{}
	whole := &b.studies[0]
	if !whole.local() {
		return out
	}
	for _, t := range whole.Trials {
		r := Restart{
			Trial: t.Index, Start: natural(b.record, t.Start), End: Values{}, Value: Number(math.NaN()),
			Gradient: Number(math.NaN()),
			Status:   t.Status, Evaluations: t.Evaluations,
			Chosen: whole.Chose(t), Own: t.Enqueued > 0,
		}
		if len(t.Points) > 0 {
			end := t.Points[len(t.Points)-1]
			r.End, r.Value, r.Gradient = natural(b.record, end.Natural), end.Value, end.Gradient
		}
		if t.Preliminary {
			r.Preliminary = b.record.Start()
		}
		out = append(out, r)
	}
	return out
}
