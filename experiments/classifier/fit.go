package classifier

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/job"
	"github.com/gpc-tune/gpc-tune/experiments/plan"
	"github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/atomicfile"
	"github.com/gpc-tune/gpc-tune/internal/interrupt"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/search"
)

// FitOptions of Fit.
type FitOptions struct {
	Configuration int    // its number in the plan, from 0; negative: the one with the best tuning objective
	Dir           string // the run folder that has the trials, and keeps those that are made; "": none
	run.Options
}

// Fit tunes on all of the training data, as Run does, and writes the classifier to the model file
// name. The jobs are those of Run, so that what one of the two has left in the run folder is done
// for the other: after a finished run there is one fit to make. Stopped early, it writes no model.
func Fit(ctx context.Context, p *plan.Plan, name string, o FitOptions) (*ModelFile, search.Summary, error) {
	if err := atomicfile.Check(name); err != nil { // before hours of work
		return nil, search.Summary{}, fmt.Errorf("%w: the model file cannot be written: %w", spec.ErrInvalid, err)
	}
	studies, jobs, err := candidates(p, o.Configuration)
	if err != nil {
		return nil, search.Summary{}, err
	}
	journal, err := run.Begin(p, o.Dir, studies, o.Options)
	if err != nil {
		return nil, search.Summary{}, err
	}
	defer journal.Close() // every line is on disk already
	if lines := journal.Lines(); len(lines) > 0 && !o.Resume && !o.Extend {
		for _, s := range studies {
			if !slices.ContainsFunc(lines, func(l record.Line) bool {
				return l.Fit != nil && l.Fit.Configuration == s.Configuration && l.Fit.Study == s.Index
			}) {
				return nil, search.Summary{}, fmt.Errorf("%s: %w", o.Dir, run.ErrUnfinished)
			}
		}
	}
	defer run.Govern(p, &o.Options.Options)()
	summary, err := search.Run(ctx, studies, journal, o.Options.Options)
	if err != nil {
		return nil, summary, err
	}

	var best winner
	found, fitted, equals := -1, 0, 0 // its place in studies, how many have a value, and how many that of the best
	lines := journal.Lines()
	for i, s := range studies {
		switch w := outcomeOf(s, lines); {
		case w.fit.Failure != "":
			o.Warn("configuration %d (%s): %s", s.Configuration, configurationName(p, s.Configuration), w.fit.Failure)
		case len(studies) > 1 && math.IsNaN(float64(w.value)):
			return nil, summary, fmt.Errorf("%w: configuration %d (%s) has no log evidence, so that nothing says "+
				"which is better; choose with --configuration N", spec.ErrInvalid, s.Configuration,
				configurationName(p, s.Configuration))
		default:
			if fitted++; found < 0 || w.value > best.value {
				found, best, equals = i, w, 0
			}
			if w.value == best.value {
				equals++
			}
		}
	}
	if found < 0 {
		return nil, summary, job.ErrNoFit
	}
	linalg.SetThreads(max(1, o.Workers)) // the one job there is
	defer linalg.SetThreads(1)
	f, err := interrupt.Do(ctx, func() (*ModelFile,
		error) {
		return keep(ctx, p, jobs[found], studies[found].Configuration, best)
	})
	switch {
	case ctx.Err() != nil:
		return nil, summary, fmt.Errorf("%w: %w", search.ErrStopped, context.Cause(ctx))
	case err != nil:
		return nil, summary, fmt.Errorf("%s: %w", jobs[found].Where(), err)
	}
	if len(studies) > 1 {
		c := studies[found].Configuration
		o.Warn("configuration %d (%s) is kept: its %s", c, configurationName(p, c),
			best.among(f.Tuned.Objective, fitted, len(studies), equals))
	}
	for _, w := range best.warnings {
		o.Warn("%s", w)
	}
	if err = f.save(name); err != nil && o.Dir != "" {
		err = fmt.Errorf("%w: %w", run.ErrUnreported, err)
	}
	return f, summary, err
}

// candidates are the studies on all of the training data, with their jobs: of one configuration, or
// of all.
func candidates(p *plan.Plan, configuration int) (studies []search.Study, jobs []*job.Job, err error) {
	switch n := len(p.Manifest.Configurations); {
	case n == 0:
		return nil, nil, plan.ErrNoFits
	case configuration >= n:
		return nil, nil, fmt.Errorf("%w: --configuration %d: the file declares %d, counted from 0", spec.ErrInvalid,
			configuration, n)
	}
	for _, s := range p.Studies {
		j := s.Job
		if s.Index != 0 || configuration >= 0 && s.Configuration != configuration {
			continue
		}
		j.Keeps, j.Twin = true, nil // nobody asks for that one here
		if len(jobs) > 0 && (!reflect.DeepEqual(jobs[0].Set.Targets(), j.Set.Targets()) ||
			!slices.Equal(jobs[0].Set.Source.Classes, j.Set.Source.Classes)) {
			a, b := studies[0].Configuration, s.Configuration
			return nil, nil, fmt.Errorf("%w: configurations %d (%s) and %d (%s) explain different targets, so that "+
				"nothing says which is better; choose with --configuration N",
				spec.ErrInvalid, a, configurationName(p, a), b, configurationName(p, b))
		}
		if len(jobs) > 0 {
			a, b := studies[0].Configuration, s.Configuration
			if x, y := p.Manifest.Configurations[a].Objective, p.Manifest.Configurations[b].Objective; x != y {
				return nil, nil, fmt.Errorf("%w: configurations %d (%s) and %d (%s) maximise %s and %s, so that "+
					"nothing says which is better; choose with --configuration N",
					spec.ErrInvalid, a, configurationName(p, a), b, configurationName(p, b), x, y)
			}
		}
		s.Stage = nil // for studies that are not here
		studies, jobs = append(studies, s.Study), append(jobs, j)
	}
	if i := slices.IndexFunc(jobs, func(j *job.Job) bool { return j.Comparator != nil }); i >= 0 && len(jobs) > 1 {
		c := studies[i].Configuration
		return nil, nil, fmt.Errorf("%w: configuration %d (%s) is a comparator, and no log evidence says whether "+
			"it or another is better; choose with --configuration N", spec.ErrInvalid, c, configurationName(p, c))
	}
	return studies, jobs, nil
}

// winner is what a study came to.
type winner struct {
	fit      *record.Fit
	trials   []record.Trial
	theta    []float64     // free hyperparameters; nil if nothing was tuned
	chosen   int           // the trial that they are of
	value    record.Number // of what was tuned, else the log evidence
	warnings []string
}

// among says how a winner compares: its value is the best of the fitted configurations, of all that
// were tried, and as good as that of equals of them, itself counted.
func (w winner) among(objective string, fitted, all, equals int) string {
	value, best := float64(w.value), "largest"
	if name, cross := strings.CutPrefix(objective, "cv_"); cross {
		if s, err := cv.ScoreNamed(name); err == nil && !s.Greater {
			value, best = -value, "smallest" // a score of which less is better is maximised with its sign turned
		}
	}
	text := fmt.Sprintf("%s of %.6g is the %s of %d", objective, value, best, fitted)
	if fitted < all {
		text += fmt.Sprintf(", without the %d that have failed", all-fitted)
	}
	if equals > 1 {
		text += fmt.Sprintf("; %d are equal, and it is the first of them in the file", equals)
	}
	return text
}

// outcomeOf finds it among the lines of a journal, which has the study's fit.
func outcomeOf(s search.Study, lines []record.Line) (w winner) {
	for _, l := range lines {
		switch {
		case l.Fit != nil && l.Fit.Configuration == s.Configuration && l.Fit.Study == s.Index:
			w.fit = l.Fit
		case l.Trial != nil && l.Trial.Configuration == s.Configuration && l.Trial.Study == s.Index:
			w.trials = append(w.trials, *l.Trial)
		}
	}
	w.warnings, w.value = slices.Clip(w.fit.Warnings), w.fit.LogEvidence
	if w.fit.Failure == "" && !w.fit.Converged {
		w.warnings = append(w.warnings, fmt.Sprintf("the fit has not converged after %d iterations", w.fit.Iterations))
	}
	if i, best, err := search.Winner(w.trials); err == nil { // else there are no trials, or the fit is a failure too
		w.theta, w.value, w.chosen = record.Floats(best.Theta), best.Value, i
		for _, t := range w.trials {
			if t.Index == i {
				w.warnings = append(w.warnings, t.Warnings...)
			}
		}
	}
	return w
}

// configurationName names one.
func configurationName(p *plan.Plan, i int) string { return plan.NameOf(p.Manifest.Configurations[i]) }

// keep fits the model at the winner's hyperparameters, cold, and at the samples of chains, as its
// assessment did, or the comparator.
func keep(ctx context.Context, p *plan.Plan, j *job.Job, configuration int, w winner) (*ModelFile, error) {
	defer j.Set.Use()()
	if j.Comparator != nil {
		prepared, err := j.Set.Prepare()
		if err != nil {
			return nil, err
		}
		fit, err := j.FitComparator(ctx, prepared)
		if err != nil {
			return nil, err
		}
		own := &job.ModelFit{LogEvidence: fit.Summary().LogEvidence, State: fit.State()}
		return newModelFile(p, j, configuration, w, prepared, own), nil
	}
	o, prepared, err := j.Objective(ctx, j.Model, nil)
	if err != nil {
		return nil, err
	}
	theta := o.Layout.Start()
	if w.theta != nil {
		theta = o.Layout.Fill(w.theta)
		if o, err = objective.Rechosen(ctx, job.Retuned(o, w.chosen, w.trials), theta); err != nil {
			return nil, err
		}
	}
	fit, err := j.FitModel(ctx, o, theta)
	if err != nil {
		return nil, err
	}
	f := newModelFile(p, j, configuration, w, prepared, fit)
	for i, s := range o.Layout.Specs {
		f.Theta[s.ThetaName()] = theta[i]
	}
	if j.Chain == nil {
		return f, nil
	}
	var silent record.Fit // the assessment has said it
	return f, j.EverySample(objective.NewRun(ctx, o), j.Posterior(w.trials, o.Layout, &silent), &silent,
		func(fit *objective.Point) error {
			s := Sample{map[string]float64{}, append(approx.State{}, job.NewModelFit(fit).State...)}
			for i, h := range o.Layout.Specs {
				s.Theta[h.ThetaName()] = fit.Theta[i]
			}
			f.Samples = append(f.Samples, s)
			return nil
		})
}

// newModelFile has all but theta.
func newModelFile(p *plan.Plan, j *job.Job, configuration int, w winner, fitted *job.Prepared,
	fit *job.ModelFit) *ModelFile {
	c, m := p.Manifest.Configurations[configuration], p.Models[configuration]
	f := &ModelFile{
		Schema: ofCases, Experiment: p.Manifest.Experiment, Seed: p.Manifest.Seed, Build: p.Manifest.Build,
		Dataset: c.Dataset, DataHash: c.DataHash,
		Tuned: Tuned{Method: c.Tune, Objective: c.Objective, Inference: c.TuneInference.Text,
			Value: record.Spelled(w.value)},
		LogEvidence: record.Spelled(fit.LogEvidence),
		Model: Declared{
			Kernel: m.Written.Kernel.Text, Mean: m.Written.Mean.Text, Likelihood: m.Written.Likelihood.Text,
			Inference: m.Written.Method, Classes: m.Classes, Average: cmp.Or(p.Spec.Averaging.Text, "averaged"),
		},
		Theta: map[string]float64{}, Columns: j.Set.Source.Schema, Preprocess: fitted.Preprocessor,
		State: append(approx.State{}, fit.State...),
	}
	var targets []float64
	if j.Set.Source.Targets != nil {
		targets = fitted.Data.Y.Value
	}
	if fit.Z != nil {
		training := trainingOf(w.fit.TrainCounts, targets)
		f.Schema, f.Training, f.Inducing = condensed, &training, rowsOf(fit.Z)
		return f
	}
	if f.Targets, f.Inputs = targets, rowsOf(fitted.Data.X.X); targets == nil {
		f.Labels = data.Pick(j.Set.Source.Labels, j.Set.Train)
	}
	return f
}

func rowsOf(x *mat.Dense) (rows [][]float64) {
	n, _ := x.Dims()
	for i := range n {
		rows = append(rows, x.RawRowView(i))
	}
	return rows
}
