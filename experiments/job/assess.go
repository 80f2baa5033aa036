package job

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/random"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/comparator"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/search"
)

// Assess fits the model from a cold start at the chosen hyperparameters and predicts the held-out
// cases with that fit. If the trials are chains, it averages over fits at all of their samples.
func (j *Job) Assess(ctx context.Context, chosen int, free []float64, trials []record.Trial) (record.Fit, error) {
	defer j.Set.Release()
	asked := j.askedFor(free, trials)
	if f, found := j.fits.take(asked); found {
		return f, nil
	}
	parts, done, err := j.parts()
	defer done()
	if err == nil {
		for _, of := range parts {
			of.fit.Chosen, of.fit.LogEvidence = chosen, nan
		}
		if j.Comparator != nil {
			err = j.learn(ctx, parts)
		} else {
			err = j.predict(ctx, chosen, free, trials, parts)
		}
	}
	if err == nil {
		err = j.adjust(ctx, free, trials, parts)
	}
	if ctx.Err() != nil {
		return record.Fit{}, ctx.Err()
	}
	f := record.Fit{Chosen: chosen, LogEvidence: nan}
	if len(parts) > 0 {
		f = parts[0].fit
	}
	if err != nil {
		f.Failure = cause.Failed(err).In(j.Where())
		return f, nil
	}
	for _, of := range parts[1:] {
		of.fits.keep(asked, of.fit)
	}
	return f, nil
}

// askedFor encodes the inputs of an assessment: the best point, and the samples of chains.
func (j *Job) askedFor(free []float64, trials []record.Trial) string {
	points := [][]float64{free}
	if j.Chain != nil {
		points = slices.Concat(points, slices.Concat(samples(trials)...))
	}
	return bitsOf(points...)
}

// predict fits the model and fills the parts with predictions.
func (j *Job) predict(ctx context.Context, chosen int, free []float64, trials []record.Trial, parts []*part) error {
	o, _, err := j.Objective(ctx, j.Model, nil)
	if err != nil {
		return err
	}
	theta := o.Layout.Start()
	if free != nil {
		theta = o.Layout.Fill(free)
	}
	for _, of := range parts {
		of.fit.Natural, of.fit.TrainCounts = record.Numbers(o.Layout.Natural(theta)), of.p.counts
		of.fit.TrainWeights, of.fit.Weights = numbersOf(of.p.sums), numbersOf(of.p.weights)
		of.fit.Warnings = slices.Clip(of.p.Warnings)
	}
	before := nan
	if free != nil {
		o = Retuned(o, chosen, trials)
		if o, before, err = rechosen(ctx, o, theta); err != nil {
			return err
		}
	}
	fit, err := o.Fit(ctx, theta, nil)
	if err != nil {
		return err
	}
	if err := fit.Converged(); err != nil {
		parts[0].fit.Iterations = fit.Diagnostics().Iterations
		return err
	}
	if j.Keeps {
		j.keptModel = NewModelFit(fit)
	}
	for _, of := range parts {
		if err := of.describe(ctx, fit, o.Layout, free); err != nil {
			return err
		}
		if err := of.compareWithClimbs(ctx, chosen, free, trials, &of.fit); err != nil {
			return err
		}
		of.rechosen(before)
	}
	chains := samples(trials)
	for _, of := range parts {
		j.Posterior(trials, o.Layout, &of.fit)
		if of.Whole {
			of.show(fit)
		}
	}
	return j.hold(ctx, o, fit, chains, parts)
}

// describe records log evidence and diagnostics of a fit.
func (of *part) describe(ctx context.Context, fit *objective.Point, l objective.Layout, free []float64) error {
	f, d := &of.fit, fit.Diagnostics()
	f.LogEvidence, f.Converged, f.Iterations = record.Number(fit.Posterior.Evidence().Value()), d.Converged,
		d.Iterations
	f.Warnings = append(f.Warnings, d.Warnings...)
	f.Inducing = of.inducing(fit)
	if of.Whole {
		loo, err := fit.LeaveOneOut()
		switch {
		case err != nil:
			f.Warnings = append(f.Warnings, cause.NoLeaveOneOut.New("no leave-one-out log probability: %v", err))
		case !math.IsNaN(loo):
			value := record.Number(loo)
			f.LeaveOneOut = &value
		}
	}
	if free != nil && of.Optimizer == "" && of.Chain == nil { // local optimisers have their own warnings
		f.Warnings = append(f.Warnings, search.Space(l.FreeSpecs()).Edges(free)...)
	}
	if of.Curvature {
		return of.standardErrors(ctx, free, f)
	}
	return nil
}

// inducing records the inducing inputs of a fit.
func (of *part) inducing(fit *objective.Point) *record.Inducing {
	c := fit.Choice()
	if c == nil {
		return nil
	}
	option := objective.InducingOf(of.Model.Inference)
	points, _ := c.Z.Dims()
	i := &record.Inducing{Asked: option.Points, Points: points, Select: option.Select.Names()[option.Select],
		Tuned: option.TuneInputs, Unexplained: record.Number(fit.Diagnostics().Unexplained)}
	if of.Whole {
		i.Cases = data.Pick(of.Set.Source.Rows, data.Pick(of.Set.Train, c.Cases))
	}
	for _, of := range c.Tried {
		i.Tried = append(i.Tried, record.Tried{Points: of.Points, LogEvidence: record.Number(of.LogEvidence)})
	}
	return i
}

// rechosen records the log evidence with the inducing inputs used in tuning, unless it is NaN.
func (of *part) rechosen(before record.Number) {
	f := &of.fit
	if before.None() || f.Inducing == nil {
		return
	}
	f.Inducing.Before = &before
	moved, n := float64(f.LogEvidence-before), len(of.Set.Train)
	if math.Abs(moved) > objective.DefaultTolerance*float64(n) {
		f.Warnings = append(f.Warnings, cause.Rechosen.New("selecting the inducing inputs again at the tuned "+
			"hyperparameters changes the log evidence from %.6g to %.6g, by more than %v nats a case",
			float64(before), float64(f.LogEvidence), objective.DefaultTolerance))
	}
}

// Retuned returns the objective with the inducing inputs that a trial has tuned, if any.
func Retuned(o *objective.Objective, chosen int, trials []record.Trial) *objective.Objective {
	for _, t := range trials {
		if t.Index != chosen || len(t.Points) == 0 || len(t.Points[0].Inputs) == 0 {
			continue
		}
		rows := t.Points[0].Inputs
		z := mat.NewDense(len(rows), len(rows[0]), nil)
		for i, row := range rows {
			z.SetRow(i, record.Floats(row))
		}
		return objective.WithInducing(o, z)
	}
	return o
}

// rechosen returns the objective with the inducing inputs for prediction, and the log evidence with
// the previous ones; NaN if they are the same.
func rechosen(ctx context.Context, o *objective.Objective, theta []float64) (*objective.Objective, record.Number,
	error) {
	again, err := objective.Rechosen(ctx, o, theta)
	if err != nil || again == o {
		return o, nan, err
	}
	fit, err := o.Fit(ctx, theta, nil)
	if err == nil {
		err = fit.Converged()
	}
	if err != nil {
		return o, nan, err
	}
	return again, record.Number(fit.Posterior.Evidence().Value()), nil
}

// show records the data of figures, except the held-out cases.
func (of *part) show(fit *objective.Point) {
	f := &of.fit
	if f.TrainLabels = of.Set.labels(); f.TrainLabels != nil {
		f.TrainLatentMean = lists(fit.LatentMeans(of.p.Data.X.Fresh()))
	}
	f.Surface = of.Set.surface(of.p.Preprocessor,
		func(z *kernel.Inputs) Outcome { return OutcomeOn(fit, len(of.p.counts), z, of.Average) })
}

// hold predicts the held-out cases of the parts.
func (j *Job) hold(ctx context.Context, o *objective.Objective, fit *objective.Point, chains [][][]float64,
	parts []*part) (err error) {
	parts = slices.DeleteFunc(slices.Clone(parts), func(of *part) bool { return of.p.Held == nil })
	switch {
	case len(parts) == 0:
		return nil
	case j.Chain != nil:
		err = j.mixture(objective.NewRun(ctx, o), chains, parts)
	default:
		for _, of := range parts {
			if of.held, err = of.p.outcome(fit, j.Average); err != nil {
				break
			}
		}
	}
	if err != nil {
		return err
	}
	for _, of := range parts {
		f, held := &of.fit, of.held
		f.Warnings = append(f.Warnings, AverageWarnings(held.AverageError)...)
		f.Rows, f.Labels = of.p.Rows, of.p.labels
		if held.Numeric() {
			f.TrainMoments, f.Targets = &of.p.moments, record.Numbers(of.p.targets)
			f.Mean, f.Variance = record.Numbers(held.Mean), record.Numbers(held.Variance)
		}
		for i := range of.p.labels {
			f.Proba = append(f.Proba, record.Numbers(held.Proba.RawRowView(i)))
		}
		f.LatentMean, f.LatentVariance = lists(held.Means), lists(held.Variances)
		if held.plugged != nil {
			f.MAP = record.Numbers(held.plugged)
		}
		if j.Chain == nil && approx.AtMode(j.Model.Inference) && !held.Numeric() {
			if f.OtherAverage, err = of.p.otherAverage(fit, j.Average, held.Predictions); err != nil {
				return err
			}
		}
	}
	return nil
}

// standardErrors records standard errors from the curvature of the tuned objective. If there are
// none, a warning says why.
func (j *Job) standardErrors(ctx context.Context, free []float64, f *record.Fit) error {
	o, _, err := j.Objective(ctx, j.Tuned, j.Criterion)
	if err != nil {
		return err
	}
	c, err := o.Curvature(ctx, free)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		f.Warnings = append(f.Warnings, cause.NoErrors.New("no standard errors: %v", err))
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

// learn fits the comparator and predicts the held-out cases of the parts.
func (j *Job) learn(ctx context.Context, parts []*part) error {
	learnt, err := j.FitComparator(ctx, parts[0].p)
	if err != nil {
		return err
	}
	s := learnt.Summary()
	for _, of := range parts {
		f, p := &of.fit, of.p
		f.Natural, f.TrainCounts, f.LogEvidence = record.Numbers(s.Natural), p.counts, record.Number(s.LogEvidence)
		f.TrainWeights, f.Weights = numbersOf(p.sums), numbersOf(p.weights)
		f.Converged, f.Iterations = s.Converged, s.Iterations
		f.Warnings = append(slices.Clip(p.Warnings), s.Warnings...)
		if of.Whole {
			f.TrainLabels, f.Coefficients = of.Set.labels(), of.Set.Coefficients(s)
			f.Surface = of.Set.surface(p.Preprocessor,
				func(z *kernel.Inputs) Outcome { return Compared(learnt, z, len(p.counts)) })
		}
		if p.Held == nil {
			continue
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
	}
	return nil
}

// Coefficients lists the coefficients of a comparator with the names of inputs and classes. With
// whitening there are none, because it mixes the inputs.
func (t *Set) Coefficients(s comparator.Summary) (all []record.Coefficient) {
	if t.How.Method() == "whiten" {
		return nil
	}
	names := append(slices.Clip(t.Source.ColumnNames), "bias")
	classes := t.Source.Classes[len(t.Source.Classes)-min(len(s.Coefficients), len(t.Source.Classes)):]
	for c, values := range s.Coefficients {
		for j, v := range values {
			all = append(all, record.Coefficient{Class: classes[c], Input: names[j], Value: record.Number(v),
				StandardError: record.Number(s.StandardErrors[c][j])})
		}
	}
	return all
}

// NewModelFit extracts the parts of a fit that a model file keeps. With inducing inputs they
// contain no cases.
func NewModelFit(fit *objective.Point) *ModelFit {
	m := &ModelFit{LogEvidence: fit.Posterior.Evidence().Value(), State: fit.Posterior.State()}
	if c, ok := fit.Condense(); ok {
		m.State, m.Z = c.State, c.Z
	}
	return m
}

// NewComparedFit extracts the parts of a comparator that a model file keeps. They contain no cases
// if the comparator needs none.
func NewComparedFit(fit comparator.Fitted) *ModelFit {
	m := &ModelFit{LogEvidence: fit.Summary().LogEvidence, State: fit.State()}
	if c, is := fit.(comparator.Condensed); is {
		m.State, m.Z = c.Condense(), &mat.Dense{}
	}
	return m
}

// FitModel returns the fit from a cold start at theta: the one that the assessment kept, or a new
// one.
func (j *Job) FitModel(ctx context.Context, o *objective.Objective, theta []float64) (*ModelFit, error) {
	if j.keptModel != nil {
		return j.keptModel, nil
	}
	fit, err := o.Fit(ctx, theta, nil)
	if err == nil {
		err = fit.Converged()
	}
	if err != nil {
		return nil, err
	}
	return NewModelFit(fit), nil
}

// FitComparator fits the comparator. With Keeps it is fitted only once.
func (j *Job) FitComparator(ctx context.Context, p *Prepared) (comparator.Fitted, error) {
	if j.kept != nil {
		return j.kept, nil
	}
	learnt, err := j.Comparator.Fit(ctx, p.Data, random.Derive(j.Set.Seed, "comparator"))
	if err != nil {
		return nil, err
	}
	f := learnt.(comparator.Fitted)
	if j.Keeps {
		j.kept = f
	}
	return f, nil
}
