package predict

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/declared"
	"github.com/gpc-tune/gpc-tune/experiments/job"
	"github.com/gpc-tune/gpc-tune/experiments/journal"
	"github.com/gpc-tune/gpc-tune/experiments/modelfile"
	"github.com/gpc-tune/gpc-tune/experiments/plan"
	"github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/atomicfile"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/interrupt"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/search"
	"github.com/gpc-tune/gpc-tune/search/schedule"
)

// FitOptions are options of Fit.
type FitOptions struct {
	Configuration *int // index in the plan; nil: the best
	// By is the criterion for the best: a score of held-out cases, mean_loss, log_evidence, or the
	// tuning objective. "" means the criterion of the run in Dir, if that is finished. Otherwise it
	// means the tuning objective if that is the same for all configurations, and else the first
	// score of held-out cases.
	By  string
	Dir string // the run folder with existing trials, which also receives new ones; "": none
	run.Options
}

// Fit tunes on all of the training data, as Run does, and writes the best classifier to the model
// file name. It runs the same jobs as Run, so each reuses the other's results in the run folder:
// after a finished run only one fit is left to do. If it is stopped early, it writes no model.
func Fit(ctx context.Context, p *plan.Plan, name string, o FitOptions) (*ModelFile, schedule.Summary, error) {
	if o.Warn == nil {
		o.Warn = func(string, ...any) {}
	}
	if err := atomicfile.Check(name); err != nil { // before hours of work
		return nil, schedule.Summary{}, fmt.Errorf("%w: the model file cannot be written: %w", spec.ErrInvalid, err)
	}
	studies, _, err := candidates(p, o.Configuration)
	if err != nil {
		return nil, schedule.Summary{}, err
	}
	byScore := false
	if len(studies) > 1 {
		objective, err := byObjective(p, o.By, Finished(p, o.Dir))
		if err != nil {
			return nil, schedule.Summary{}, err
		}
		byScore = !objective
	}
	todo := studies
	if byScore {
		todo = p.Search()
	}
	journal, err := run.Begin(p, o.Dir, todo, o.Options)
	if err != nil {
		return nil, schedule.Summary{}, err
	}
	defer journal.Close() // every line is on disk already
	if lines := journal.Lines(); len(lines) > 0 && !o.Resume && !o.Extend {
		if err := unfinished(p, o.Dir, studies, byScore, lines); err != nil {
			return nil, schedule.Summary{}, err
		}
	}
	defer run.Govern(p, &o.Options)()
	if !byScore {
		return fitBest(ctx, p, journal, name, o, schedule.Summary{})
	}
	chosen, summary, err := study(ctx, p, journal, o.By, o.Options)
	if err != nil {
		return nil, summary, err
	}
	o.Configuration = &chosen
	return fitBest(ctx, p, journal, name, o, summary)
}

// fitBest runs the missing fits to all of the training data. It keeps the best one, or the chosen
// configuration. summary counts earlier jobs.
func fitBest(ctx context.Context, p *plan.Plan, journal *journal.Journal, name string, o FitOptions,
	summary schedule.Summary) (*ModelFile, schedule.Summary, error) {
	studies, jobs, err := candidates(p, o.Configuration)
	if err != nil {
		return nil, summary, err
	}
	for _, j := range jobs {
		j.Keeps, j.SameTraining = true, nil // the twin's results are not needed here
	}
	if done, err := schedule.Run(ctx, studies, journal, o.Options.Options); err != nil || summary.Total == 0 {
		if summary = done; err != nil {
			return nil, summary, err
		}
	}

	var best winner
	// found: index in studies; fitted: how many have a value; equals: how many share the best
	found, fitted, equals := -1, 0, 0
	lines := journal.Lines()
	for i, s := range studies {
		w := outcomeOf(s, lines)
		if o.By == logEvidence {
			w.value = w.fit.LogEvidence
		}
		switch {
		case !w.fit.Failure.IsZero():
			o.Warn("configuration %d (%s): %s", s.Configuration, configurationName(p, s.Configuration), w.fit.Failure)
		case len(studies) > 1 && math.IsNaN(float64(w.value)):
			return nil, summary, fmt.Errorf("%w: configuration %d (%s) has no log evidence, so the "+
				"configurations cannot be compared; choose one with --configuration "+
				"N", spec.ErrInvalid, s.Configuration,
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
	sets, err := conformal(ctx, p, studies[found].Configuration, journal, o)
	if err != nil {
		return nil, summary, err
	}
	linalg.SetThreads(max(1, o.Workers)) // there is only one job
	defer linalg.SetThreads(1)
	f, err := interrupt.Do(ctx, func() (*ModelFile,
		error) {
		return keep(ctx, p, jobs[found], studies[found].Configuration, best)
	})
	switch {
	case ctx.Err() != nil:
		return nil, summary, fmt.Errorf("%w: %w", schedule.ErrStopped, context.Cause(ctx))
	case err != nil:
		return nil, summary, fmt.Errorf("%s: %w", jobs[found].Where(), err)
	}
	f.Sets = sets
	if len(studies) > 1 {
		c := studies[found].Configuration
		o.Warn("configuration %d (%s) is selected: its %s", c, configurationName(p, c),
			best.among(cmp.Or(o.By, f.Tuned.Objective), fitted, len(studies), equals))
	}
	for _, w := range best.warnings {
		o.Warn("%s", w)
	}
	if err = save(f, name); err != nil && o.Dir != "" {
		err = fmt.Errorf("%w: %w", run.ErrUnreported, err)
	}
	return f, summary, err
}

// conformal returns the held-out cases of a configuration with which conformal sets compare; nil
// without sets. It runs the missing folds.
func conformal(ctx context.Context, p *plan.Plan, configuration int, journal *journal.Journal,
	o FitOptions) (*modelfile.Sets, error) {
	c := p.Manifest.Configurations[configuration]
	if c.Coverage == nil {
		return nil, nil
	}
	var folds []schedule.Study
	for _, s := range p.Studies {
		if s.Configuration == configuration && slices.Contains(c.Calibrating(), s.Index) {
			s.Stage = nil // a race may have left the folds out
			folds = append(folds, s.Study)
		}
	}
	if _, err := schedule.Run(ctx, folds, journal, o.Options.Options); err != nil {
		return nil, err
	}
	for _, s := range folds {
		if w := outcomeOf(s, journal.Lines()); !w.fit.Failure.IsZero() {
			return nil, fmt.Errorf("%w: predict.sets: fold %d of configuration %d (%s) has no predictions to compare "+
				"with: %s", job.ErrNoFit, s.Index, configuration, configurationName(p, configuration), w.fit.Failure)
		}
	}
	m := p.Manifest
	m.Contests = nil // otherwise a race hides the folds that it left out
	r, err := reports.Build(m, journal.Lines())
	if err != nil {
		return nil, err
	}
	of, _ := r.Configurations[configuration].HeldOut()
	for _, w := range of.Warnings(c.Classes) {
		o.Warn("%s", w)
	}
	return &modelfile.Sets{Coverage: of.Coverage, Proba: of.Proba, Weights: of.Weight}, nil
}

// winner is the result of a study.
type winner struct {
	fit      *record.Fit
	trials   []record.Trial
	theta    []float64     // free hyperparameters; nil if nothing was tuned
	chosen   int           // index of their trial
	value    record.Number // the tuning objective, or the log evidence without one
	warnings []cause.Notice
}

// among describes the rank of a winner: the best of fitted configurations, out of all that were
// tried. equals is the number of configurations with its value.
func (w winner) among(objective string, fitted, all, equals int) string {
	value, greater := float64(w.value), true
	if name, cross := strings.CutPrefix(objective, "cv_"); cross {
		if s, err := cv.ScoreNamed(name); err == nil && !s.Greater {
			value, greater = -value, false // it was maximised with the opposite sign
		}
	}
	return among(objective, fmt.Sprintf("%.6g", value), greater, fitted, all, equals)
}

// outcomeOf reads the result from the lines of a journal, which has the study's fit.
func outcomeOf(s schedule.Study, lines []record.Line) (w winner) {
	for _, l := range lines {
		switch {
		case l.Fit != nil && l.Fit.Configuration == s.Configuration && l.Fit.Study == s.Index:
			w.fit = l.Fit
		case l.Trial != nil && l.Trial.Configuration == s.Configuration && l.Trial.Study == s.Index:
			w.trials = append(w.trials, *l.Trial)
		}
	}
	w.warnings, w.value = slices.Clip(w.fit.Warnings), w.fit.LogEvidence
	if w.fit.Failure.IsZero() && !w.fit.Converged {
		w.warnings = append(w.warnings, cause.Unconverged.New("the fit has not converged at iteration %d",
			w.fit.Iterations))
	}
	// otherwise there are no trials, or the fit is a failure too
	if i, best, err := search.Winner(w.trials); err == nil {
		w.theta, w.value, w.chosen = record.Floats(best.Theta), best.Value, i
		for _, t := range w.trials {
			if t.Index == i {
				w.warnings = append(w.warnings, t.Warnings...)
			}
		}
	}
	return w
}

// keep fits the model from a cold start at the winner's hyperparameters and at the samples of
// chains, as its assessment did, or the comparator.
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
		f := newModelFile(p, j, configuration, w, prepared, job.NewComparedFit(fit))
		f.Coefficients = j.Set.Coefficients(fit.Summary())
		return f, nil
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
	var silent record.Fit // discarded: the assessment has recorded the same
	return f, j.EverySample(objective.NewRun(ctx, o), j.Posterior(w.trials, o.Layout, &silent), &silent,
		func(fit *objective.Point) error {
			s := modelfile.Sample{Theta: map[string]float64{}, State: append(approx.State{},
				job.NewModelFit(fit).State...)}
			for i, h := range o.Layout.Specs {
				s.Theta[h.ThetaName()] = fit.Theta[i]
			}
			f.Samples = append(f.Samples, s)
			return nil
		})
}

// newModelFile fills in everything but theta.
func newModelFile(p *plan.Plan, j *job.Job, configuration int, w winner, fitted *job.Prepared,
	fit *job.ModelFit) *ModelFile {
	c, m := p.Manifest.Configurations[configuration], p.Models[configuration]
	f := &ModelFile{
		About: j.Set.Source.About, Experiment: p.Manifest.Experiment, Seed: p.Manifest.Seed, Build: p.Manifest.Build,
		Dataset: c.Dataset, DataHash: c.DataHash,
		Tuned: modelfile.Tuned{Method: c.Tune, Objective: c.Objective, Inference: c.TuneInference.Text,
			Value: record.Spelled(w.value)},
		LogEvidence: record.Spelled(fit.LogEvidence),
		Model: declared.Texts{
			Kernel: m.Written.Kernel.Text, Mean: m.Written.Mean.Text, Likelihood: m.Written.Likelihood.Text,
			Inference: m.Written.Method, Classes: m.Classes, Average: cmp.Or(p.Spec.Averaging.Text, "averaged"),
		},
		Theta: map[string]float64{}, Columns: j.Set.Source.Schema, Preprocess: fitted.Preprocessor,
	}
	f.Calibrate, f.Calibration, f.Threshold, f.ThresholdRange = j.Adjust.Corrected(w.fit)
	f.Costs = c.Costs
	var labels []int
	var targets []float64
	if j.Set.Source.Targets != nil {
		targets = fitted.Data.Y.Value
	} else {
		labels = data.Pick(j.Set.Source.Labels, j.Set.Train)
	}
	weights := fitted.Data.Y.Weight
	training := modelfile.TrainingOf(w.fit.TrainCounts, labels, targets, weights)
	f.Keep(fit.State, fitted.Data.X.X, fit.Z, training, labels, targets, weights)
	return f
}
