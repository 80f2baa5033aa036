package job

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/internal/seed"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/comparator"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/search"
)

// Assess fits the model at the chosen hyperparameters, cold, and predicts the held-out cases, with that fit or, where the
// trials are chains, with one at every sample of theirs.
func (j *Job) Assess(ctx context.Context, chosen int, free []float64, trials []record.Trial) (record.Fit, error) {
	defer j.Set.Release()
	defer j.Set.Use()()
	f := record.Fit{Chosen: chosen, LogEvidence: nan}
	var err error
	if j.Comparator != nil {
		err = j.learn(ctx, &f)
	} else {
		err = j.predict(ctx, free, trials, &f)
	}
	if ctx.Err() != nil {
		return f, ctx.Err()
	}
	if err != nil {
		f.Failure = fmt.Sprintf("%s: %v", j.Where(), err)
	}
	return f, nil
}

func (j *Job) predict(ctx context.Context, free []float64, trials []record.Trial, f *record.Fit) error {
	o, p, err := j.Objective(j.Model, nil)
	if err != nil {
		return err
	}
	theta := o.Layout.Start()
	if free != nil {
		theta = o.Layout.Fill(free)
	}
	f.Natural, f.TrainCounts, f.Warnings = record.Numbers(o.Layout.Natural(theta)), p.counts, slices.Clip(p.Warnings)
	fit, err := o.Fit(ctx, theta, nil)
	if err != nil {
		return err
	}
	d := fit.Diagnostics()
	if err := fit.Converged(); err != nil {
		f.Iterations = d.Iterations
		return err
	}
	f.LogEvidence, f.Converged, f.Iterations = record.Number(fit.Posterior.Evidence().Value()), d.Converged, d.Iterations
	f.Warnings = append(f.Warnings, d.Warnings...)
	if j.Whole {
		loo, err := fit.LeaveOneOut()
		switch {
		case err != nil:
			f.Warnings = append(f.Warnings, fmt.Sprintf("no leave-one-out log probability: %v", err))
		case !math.IsNaN(loo):
			value := record.Number(loo)
			f.LeaveOneOut = &value
		}
	}
	if free != nil && j.Optimizer == "" && j.Chain == nil { // local optimisers say so themselves
		f.Warnings = append(f.Warnings, search.Space(o.Layout.FreeSpecs()).Edges(free)...)
	}
	if j.Curvature {
		if err := j.standardErrors(ctx, free, f); err != nil {
			return err
		}
	}
	chains := j.Posterior(trials, o.Layout, f)
	if j.Whole {
		if f.TrainLabels = j.Set.labels(); f.TrainLabels != nil {
			f.TrainLatentMean = lists(fit.LatentMeans(p.Data.X.Fresh()))
		}
		f.Surface = j.Set.surface(p.Preprocessor, func(z *kernel.Inputs) Outcome { return OutcomeOn(fit, len(p.counts), z, j.Average) })
	}
	if p.Held == nil {
		return nil
	}
	var held Outcome
	if j.Chain == nil {
		held, err = p.outcome(fit, j.Average)
	} else {
		held, err = j.mixture(objective.NewRun(ctx, o), chains, p, f)
	}
	if err != nil {
		return err
	}
	f.Warnings = append(f.Warnings, AverageWarnings(held.AverageError)...)
	f.Rows, f.Labels = p.Rows, p.labels
	if held.Numeric() {
		f.TrainMoments, f.Targets = &p.moments, record.Numbers(p.targets)
		f.Mean, f.Variance = record.Numbers(held.Mean), record.Numbers(held.Variance)
	}
	for i := range p.labels {
		f.Proba = append(f.Proba, record.Numbers(held.Proba.RawRowView(i)))
	}
	f.LatentMean, f.LatentVariance = lists(held.Means), lists(held.Variances)
	if held.plugged != nil {
		f.MAP = record.Numbers(held.plugged)
	}
	return nil
}

// standardErrors adds the curvature of the tuned objective. That there is none is a warning.
func (j *Job) standardErrors(ctx context.Context, free []float64, f *record.Fit) error {
	o, _, err := j.Objective(j.Tuned, j.Criterion)
	if err != nil {
		return err
	}
	c, err := o.Curvature(ctx, free)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		f.Warnings = append(f.Warnings, fmt.Sprintf("no standard errors: %v", err))
		return nil
	}
	f.Warnings = append(f.Warnings, c.Warnings...)
	if c.StandardErrors == nil {
		return nil
	}
	f.Curvature = &record.Curvature{StandardErrors: record.Numbers(c.StandardErrors)}
	specs := o.Layout.FreeSpecs()
	for a, i := range c.Inside {
		f.Curvature.Names = append(f.Curvature.Names, specs[i].ThetaName())
		f.Curvature.Correlations = append(f.Curvature.Correlations, record.Numbers(mat.Row(nil, a, c.Correlations)))
	}
	return nil
}

// learn fits the comparator and predicts the held-out cases.
func (j *Job) learn(ctx context.Context, f *record.Fit) error {
	p, err := j.Set.Prepare()
	if err != nil {
		return err
	}
	learnt, err := j.FitComparator(ctx, p)
	if err != nil {
		return err
	}
	s := learnt.Summary()
	f.Natural, f.TrainCounts, f.LogEvidence = record.Numbers(s.Natural), p.counts, record.Number(s.LogEvidence)
	f.Converged, f.Iterations, f.Warnings = s.Converged, s.Iterations, append(slices.Clip(p.Warnings), s.Warnings...)
	if j.Whole {
		f.TrainLabels = j.Set.labels()
		f.Surface = j.Set.surface(p.Preprocessor, func(z *kernel.Inputs) Outcome { return Compared(learnt, z, len(p.counts)) })
	}
	if p.Held == nil {
		return nil
	}
	held := Compared(learnt, p.Held, len(p.counts))
	f.Warnings = append(f.Warnings, AverageWarnings(held.AverageError)...)
	f.Rows, f.Labels = p.Rows, p.labels
	for i := range p.labels {
		f.Proba = append(f.Proba, record.Numbers(held.Proba.RawRowView(i)))
	}
	if held.Confidence != nil {
		f.Confidence = record.Numbers(held.Confidence)
	}
	return nil
}

// FitComparator fits the comparator, once where it is to be kept.
func (j *Job) FitComparator(ctx context.Context, p *Prepared) (comparator.Fitted, error) {
	if j.kept != nil {
		return j.kept, nil
	}
	learnt, err := j.Comparator.Fit(ctx, p.Data, seed.Derive(j.Set.Seed, "comparator"))
	if err != nil {
		return nil, err
	}
	f := learnt.(comparator.Fitted)
	if j.Keeps {
		j.kept = f
	}
	return f, nil
}
