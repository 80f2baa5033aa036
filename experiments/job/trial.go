package job

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/random"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/search"
)

// Trial evaluates one proposal: a local optimisation, a Markov chain, or the points of a row. Each
// point of a row has a warm start from the previous one.
func (j *Job) Trial(ctx context.Context, index int, proposal search.Proposal) (record.Trial, error) {
	if t, found := j.trials.take(asked(proposal)); found {
		return t, nil
	}
	parts, done, err := j.parts()
	defer done()
	var o *objective.Objective
	switch {
	case err != nil:
	case proposal.Share != (record.Share{}):
		o, err = j.sharing(ctx, j.Criterion, j.Set, parts[0].p, proposal.Share)
	case proposal.Preliminary:
		o, err = j.starting(ctx)
	default:
		o, _, err = j.Objective(ctx, j.Tuned, j.Criterion)
	}
	if err != nil {
		return record.Trial{Failure: cause.Failed(err).In(j.Where())}, nil
	}
	switch {
	case j.Optimizer != "":
		return j.climb(ctx, o, proposal, parts[0])
	case j.Chain != nil:
		return j.sample(ctx, o, index, proposal.Points[0])
	}
	return j.evaluate(ctx, o, proposal, parts)
}

// asked returns a text that identifies a proposal.
func asked(p search.Proposal) string {
	return bitsOf(append(slices.Clip(p.Points), []float64{p.Share.Part})...)
}

// evaluate computes the points of a row. Each part has the scores of its own held-out cases.
func (j *Job) evaluate(ctx context.Context, o *objective.Objective, of search.Proposal, parts []*part) (record.Trial,
	error) {
	row := of.Points
	trials := slices.Repeat([]record.Trial{{Status: "evaluated"}}, len(parts))
	run := objective.NewRun(ctx, o)
	predicts := run
	if of.Share != (record.Share{}) {
		predicts = nil // a preliminary trial has no scores
	} else if j.Hybrid && slices.ContainsFunc(parts, func(of *part) bool { return of.p.Held != nil }) {
		o, _, err := j.Objective(ctx, j.Model, nil)
		if err != nil {
			return record.Trial{Failure: cause.Failed(err).In(j.Where())}, nil
		}
		predicts = objective.NewRun(ctx, o)
	}
	var values []float64
	var failures []error
	evaluations := 0
	if j.Score != nil {
		var err error
		if values, failures, evaluations, err = j.crossValidate(ctx, row, of.Share); err != nil {
			return trials[0], err
		}
	}
	for i, free := range row {
		if err := ctx.Err(); err != nil {
			return trials[0], err
		}
		at := pointAt(o, free)
		var failure error
		if j.Score != nil {
			at.Value, failure = record.Number(values[i]), failures[i]
		} else {
			failure = value(run, free, &at)
		}
		for k, part := range parts {
			trials[k].Points = append(trials[k].Points, part.point(predicts, free, at, failure))
		}
	}
	if err := ctx.Err(); err != nil {
		return trials[0], err
	}
	for k, part := range parts {
		// otherwise only the other part has held-out cases
		if trials[k].Evaluations = evaluations; j.Score == nil || part.p.Held != nil {
			trials[k].Evaluations += run.Evaluations
		}
		if k > 0 {
			part.trials.keep(asked(of), trials[k])
		}
	}
	return trials[0], nil
}

// pointAt returns a point without a value.
func pointAt(o *objective.Objective, free []float64) record.Point {
	return record.Point{Theta: record.Numbers(free), Natural: record.Numbers(o.Layout.Natural(o.Layout.Fill(free))),
		Gradient: nan}
}

// point adds to at the scores of the part's held-out cases, or the failure. Without a model that
// predicts there are no scores.
func (of *part) point(predicts *objective.Run, free []float64, at record.Point, failure error) record.Point {
	if failure == nil && predicts != nil && of.p.Held != nil {
		failure = of.score(predicts, free, &at)
	}
	if failure != nil {
		at.Value, at.Failure = nan, cause.Failed(failure).In(of.Where())
	}
	return at
}

// value fills a point with its value.
func value(run *objective.Run, free []float64, point *record.Point) error {
	fit, err := run.Converged(free)
	if err != nil {
		return err
	}
	point.Value, point.StandardError = record.Number(fit.Value()), record.Number(fit.Diagnostics().StandardError)
	return nil
}

// score computes the scores of the held-out cases for the model that predicts.
func (of *part) score(predicts *objective.Run, free []float64, point *record.Point) error {
	fit, err := predicts.Converged(free) // reuses the fit if the same model predicts
	if err != nil {
		return err
	}
	predictions, err := of.p.Predict(fit, of.Average)
	if err != nil {
		return err
	}
	point.Scores = map[string]record.Number{}
	results, _, err := cv.Evaluate(predictions)
	for _, r := range results {
		point.Scores[r.Name] = record.Number(r.Value)
	}
	return err
}

// climb runs the local optimiser from one start.
func (j *Job) climb(ctx context.Context, o *objective.Objective, from search.Proposal, of *part) (record.Trial, error) {
	start := from.Points[0]
	t := record.Trial{Start: pointAt(o, start).Natural}
	best, err := objective.Optimize(ctx, o, start,
		objective.Settings{Method: j.Optimizer, Gradients: j.Gradients, Evaluations: j.Evaluations})
	if ctx.Err() != nil {
		return t, ctx.Err()
	}
	t.Evaluations, t.Status, t.Warnings = best.Evaluations, string(best.Status), best.Warnings
	if err != nil {
		t.Failure = cause.Failed(err).In(fmt.Sprintf("%s: restart from %v", j.Where(), start))
		return t, nil
	}
	end := pointAt(o, best.Theta)
	end.Value, end.Gradient = record.Number(best.Value), record.Number(floats.Norm(best.Gradient, math.Inf(1)))
	if best.Inputs != nil {
		_, dim := j.Set.Source.X.Dims()
		for inputs := range slices.Chunk(best.Inputs, dim) {
			end.Inputs = append(end.Inputs, record.Numbers(inputs))
		}
	}
	t.Points = []record.Point{end}
	if j.Whole { // folds keep no paths, because there are many folds
		for _, s := range best.Path {
			t.Path = append(t.Path, record.Step{Theta: record.Numbers(s.Theta), Value: record.Number(s.Value)})
		}
	}
	if j.TraceScores && !from.Preliminary {
		err = of.trace(ctx, &t)
	}
	return t, err
}

// trace scores the held-out cases, with the model that predicts, at every step of a path. A warning
// counts steps at which the fit fails.
func (of *part) trace(ctx context.Context, t *record.Trial) error {
	o, _, err := of.Objective(ctx, of.Model, nil)
	if err != nil {
		return err
	}
	run := objective.NewRun(ctx, o)
	var fails []error
	for k := range t.Path {
		s, free := &t.Path[k], record.Floats(t.Path[k].Theta)
		fit, err := run.Converged(free)
		var at record.Point
		if err == nil {
			err = of.score(run, free, &at) // uses the same fit
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			fails = append(fails, err)
			continue
		}
		if s.Scores = at.Scores; of.Hybrid {
			evidence := record.Number(fit.Posterior.Evidence().Value())
			s.LogEvidence = &evidence
		}
	}
	if n := len(fails); n > 0 {
		t.Warnings = append(t.Warnings, cause.Untraced.New("no scores where %d of %d iterations ended, the first: %v",
			n, len(t.Path), fails[0]))
	}
	return nil
}

// sample runs a Markov chain from one start.
func (j *Job) sample(ctx context.Context, o *objective.Objective, index int, start []float64) (record.Trial, error) {
	t := record.Trial{Start: pointAt(o, start).Natural}
	c := *j.Chain
	c.Seed = random.Derive(j.Set.Seed, "chain", fmt.Sprint(index))
	samples, err := o.Sample(ctx, start, c)
	if ctx.Err() != nil {
		return t, ctx.Err()
	}
	if err != nil {
		t.Failure = cause.Failed(err).In(fmt.Sprintf("%s: chain from %v", j.Where(), start))
		return t, nil
	}
	t.Status, t.Evaluations, t.Warnings = "sampled", samples.Evaluations, samples.Warnings
	for s, theta := range samples.Theta {
		at := pointAt(o, theta)
		at.Value = record.Number(samples.Values[s])
		t.Points = append(t.Points, at)
	}
	return t, nil
}

// crossValidate evaluates the objective at every point of a row, with a fraction of the folds, or
// of their cases or inducing inputs. failures has the reason for each point without a value. The
// fits of a fold have warm starts along the row. Nothing of a fold is kept afterwards, so a job
// needs no more memory than one fit on the training set.
func (j *Job) crossValidate(ctx context.Context, row [][]float64, share record.Share) (values []float64,
	failures []error, evaluations int, err error) {
	values, failures = make([]float64, len(row)), make([]error, len(row))
	cases, folds := 0, j.Folds
	if share.Of == "folds" {
		folds = folds[:share.Some(len(folds))]
	}
	for _, set := range folds {
		cases += len(set.Test)
	}
	for _, set := range folds {
		var p Prepared
		if err := set.fill(&p); err != nil {
			return nil, nil, evaluations, err
		}
		o, err := j.sharing(ctx, nil, set, &p, share)
		if err != nil {
			return nil, nil, evaluations, err
		}
		run := objective.NewRun(ctx, o)
		for i, free := range row {
			if failures[i] != nil {
				continue
			}
			value, err := j.scored(run, free, &p)
			if ctx.Err() != nil {
				return nil, nil, evaluations, ctx.Err()
			}
			if err != nil {
				failures[i] = cause.At(fmt.Sprintf("%s repeat %d fold %d", set.Evaluation, set.Repeat, set.Fold), err)
				continue
			}
			if !j.Score.Count {
				value *= float64(len(set.Test)) / float64(cases)
			}
			values[i] += value
		}
		evaluations += run.Evaluations
	}
	return values, failures, evaluations, nil
}

// scored returns the objective on one fold.
func (j *Job) scored(run *objective.Run, free []float64, p *Prepared) (float64, error) {
	fit, err := run.Converged(free)
	if err != nil {
		return 0, err
	}
	predictions, err := p.Predict(fit, j.Average)
	if err != nil {
		return 0, err
	}
	e, ok, err := j.Score.Of(predictions)
	switch {
	case err != nil:
		return 0, err
	case !ok:
		return 0, cause.Undefined.New("%s is not defined for the held-out cases", j.Score.Name)
	case j.Score.Greater:
		return e.Value, nil
	}
	return -e.Value, nil
}
