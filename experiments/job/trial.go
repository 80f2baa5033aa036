package job

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/internal/seed"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/search"
)

// Trial evaluates one proposal: a local optimisation, a Markov chain, or the points of a row, each
// warm-started by the one before.
func (j *Job) Trial(ctx context.Context, index int, proposal search.Proposal) (record.Trial, error) {
	defer j.Set.Use()()
	o, p, err := j.Objective(j.Tuned, j.Criterion)
	if err != nil {
		return record.Trial{Failure: fmt.Sprintf("%s: %v", j.Where(), err)}, nil
	}
	switch {
	case j.Optimizer != "":
		return j.climb(ctx, o, proposal.Points[0])
	case j.Chain != nil:
		return j.sample(ctx, o, index, proposal.Points[0])
	}
	t := record.Trial{Status: "evaluated"}
	run := objective.NewRun(ctx, o)
	predicts := run
	if j.Hybrid && p.Held != nil {
		o, _, err := j.Objective(j.Model, nil)
		if err != nil {
			return record.Trial{Failure: fmt.Sprintf("%s: %v", j.Where(), err)}, nil
		}
		predicts = objective.NewRun(ctx, o)
	}
	var values []float64
	var failures []error
	if j.Score != nil {
		if values, failures, t.Evaluations, err = j.crossValidate(ctx, proposal.Points); err != nil {
			return t, err
		}
	}
	for i, free := range proposal.Points {
		if err := ctx.Err(); err != nil {
			return t, err
		}
		point := record.Point{Theta: record.Numbers(free),
			Natural: record.Numbers(o.Layout.Natural(o.Layout.Fill(free))), Gradient: nan}
		var err error
		if j.Score != nil {
			point.Value, err = record.Number(values[i]), failures[i]
		}
		if err == nil {
			err = j.evaluate(run, predicts, free, p, &point)
		}
		if err != nil {
			if ctx.Err() != nil {
				return t, ctx.Err()
			}
			point.Value, point.Failure = nan, fmt.Sprintf("%s: %v", j.Where(), err)
		}
		t.Points = append(t.Points, point)
	}
	t.Evaluations += run.Evaluations
	return t, nil
}

// evaluate fills a point with its value and, where cases are held out, their scores under the model
// that predicts.
func (j *Job) evaluate(run, predicts *objective.Run, free []float64, p *Prepared, point *record.Point) error {
	if j.Score == nil {
		fit, err := run.Converged(free)
		if err != nil {
			return err
		}
		point.Value, point.StandardError = record.Number(fit.Value()), record.Number(fit.Diagnostics().StandardError)
	}
	if p.Held == nil {
		return nil
	}
	fit, err := predicts.Converged(free) // the same fit again, if the same model predicts
	if err != nil {
		return err
	}
	predictions, err := p.Predict(fit, j.Average)
	if err != nil {
		return err
	}
	point.Scores = map[string]record.Number{}
	results, _ := cv.Evaluate(predictions)
	for _, r := range results {
		point.Scores[r.Name] = record.Number(r.Value)
	}
	return nil
}

// climb runs the local optimiser from one start.
func (j *Job) climb(ctx context.Context, o *objective.Objective, start []float64) (record.Trial, error) {
	t := record.Trial{Start: record.Numbers(o.Layout.Natural(o.Layout.Fill(start)))}
	best, err := objective.Optimize(ctx, o, start, objective.Settings{Method: j.Optimizer, Gradients: j.Gradients})
	if ctx.Err() != nil {
		return t, ctx.Err()
	}
	t.Evaluations, t.Status, t.Warnings = best.Evaluations, string(best.Status), best.Warnings
	if err != nil {
		t.Failure = fmt.Sprintf("%s: restart from %v: %v", j.Where(), start, err)
		return t, nil
	}
	t.Points = []record.Point{{
		Theta: record.Numbers(best.Theta), Natural: record.Numbers(o.Layout.Natural(o.Layout.Fill(best.Theta))),
		Value: record.Number(best.Value), Gradient: record.Number(floats.Norm(best.Gradient, math.Inf(1))),
	}}
	if j.Whole { // folds are many
		for _, s := range best.Path {
			t.Path = append(t.Path, record.Step{Theta: record.Numbers(s.Theta), Value: record.Number(s.Value)})
		}
	}
	return t, nil
}

// sample runs a Markov chain from one start.
func (j *Job) sample(ctx context.Context, o *objective.Objective, index int, start []float64) (record.Trial, error) {
	t := record.Trial{Start: record.Numbers(o.Layout.Natural(o.Layout.Fill(start)))}
	c := *j.Chain
	c.Seed = seed.Derive(j.Set.Seed, "chain", fmt.Sprint(index))
	samples, err := o.Sample(ctx, start, c)
	if ctx.Err() != nil {
		return t, ctx.Err()
	}
	if err != nil {
		t.Failure = fmt.Sprintf("%s: chain from %v: %v", j.Where(), start, err)
		return t, nil
	}
	t.Status, t.Evaluations, t.Warnings = "sampled", samples.Evaluations, samples.Warnings
	for s, theta := range samples.Theta {
		t.Points = append(t.Points, record.Point{
			Theta: record.Numbers(theta), Natural: record.Numbers(o.Layout.Natural(o.Layout.Fill(theta))),
			Value: record.Number(samples.Values[s]), Gradient: nan,
		})
	}
	return t, nil
}

// crossValidate evaluates the objective at every point of a row, or says why it cannot. A fold's
// fits are warm-started along the row; nothing of a fold outlives it, so that a job needs no more
// memory than one fit on the training set.
func (j *Job) crossValidate(ctx context.Context, row [][]float64) (values []float64, failures []error, evaluations int,
	err error) {
	values, failures = make([]float64, len(row)), make([]error, len(row))
	cases := 0
	for _, set := range j.Folds {
		cases += len(set.Test)
	}
	for _, set := range j.Folds {
		var p Prepared
		if err := set.fill(&p); err != nil {
			return nil, nil, evaluations, err
		}
		o, err := objective.New(j.Tuned, nil, p.Data)
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
				failures[i] = fmt.Errorf("%s repeat %d fold %d: %w", set.Evaluation, set.Repeat, set.Fold, err)
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

// scored is the objective on one fold.
func (j *Job) scored(run *objective.Run, free []float64, p *Prepared) (float64, error) {
	fit, err := run.Converged(free)
	if err != nil {
		return 0, err
	}
	predictions, err := p.Predict(fit, j.Average)
	if err != nil {
		return 0, err
	}
	e, ok := j.Score.Func(predictions)
	switch {
	case !ok:
		return 0, fmt.Errorf("%s is not defined for the held-out cases", j.Score.Name)
	case j.Score.Greater:
		return e.Value, nil
	}
	return -e.Value, nil
}
