package job

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/cv/split"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/internal/random"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/comparator"
	"github.com/gpc-tune/gpc-tune/record"
)

// innerFolds is the number of folds of a training set.
const innerFolds = 5

// adjust learns calibration and threshold as configured, and corrects the predictions of the parts.
func (j *Job) adjust(ctx context.Context, free []float64, trials []record.Trial, parts []*part) error {
	if j.Adjust == nil {
		return nil
	}
	splitter := split.Inner(0, innerFolds, len(j.Set.Train), data.Pick(j.Set.Source.Groups, j.Set.Train))
	inner, err := j.Set.Split(splitter, random.Derive(j.Adjust.Seed, "predict"), "predict")
	if err != nil {
		return fmt.Errorf("predict: threshold and calibrate need folds of the training cases: %w", err)
	}
	var held []cv.Predictions
	for _, set := range inner {
		p, err := j.within(ctx, set, free, trials)
		if err != nil {
			return fmt.Errorf("predict: inner fold %d: %w", set.Fold, err)
		}
		held = append(held, p)
	}
	all := cv.Pool(held...)
	var parameters [][]float64
	if c := j.Adjust.Calibration; c != nil {
		if parameters, err = c.Calibrate(all); err != nil {
			return fmt.Errorf("predict: %w", err)
		}
		for i := range all.Labels {
			c.Adjust(parameters, all.Proba.RawRowView(i))
		}
	}
	var threshold *record.Number
	var among []float64
	if j.Adjust.Threshold != "" {
		t, err := cv.BestThreshold(all, j.Adjust.Threshold, j.Adjust.Costs)
		if err != nil {
			return fmt.Errorf("predict: %w", err)
		}
		threshold = new(record.Number)
		*threshold = record.Number(t)
		of := mat.Col(nil, 1, all.Proba)
		among = []float64{slices.Min(of), slices.Max(of)}
	}
	for _, of := range parts {
		of.fit.Calibration, of.fit.Threshold, of.fit.ThresholdRange = lists(parameters), threshold, numbersOf(among)
		var e Extrapolations
		for i := range of.fit.Proba {
			row := record.Floats(of.fit.Proba[i])
			if parameters != nil {
				e.Calibrate(j.Adjust.Calibration, parameters, row)
				of.fit.Proba[i] = record.Numbers(row)
			}
			e.Decide(among, row)
		}
		of.fit.Warnings = append(of.fit.Warnings, e.Warnings()...)
	}
	return nil
}

// within fits on the training part of an inner fold and predicts its held-out cases.
func (j *Job) within(ctx context.Context, set *Set, free []float64, trials []record.Trial) (cv.Predictions, error) {
	defer set.Release()
	p, err := set.Prepare()
	if err != nil {
		return cv.Predictions{}, err
	}
	if j.Comparator != nil {
		learnt, err := j.Comparator.Fit(ctx, p.Data, random.Derive(j.Adjust.Seed, "comparator"))
		if err != nil {
			return cv.Predictions{}, err
		}
		q := Compared(learnt.(comparator.Fitted), p.Held, len(p.counts))
		return p.score(q.Proba)
	}
	o, err := objective.New(j.Model, nil, p.Data)
	if err != nil {
		return cv.Predictions{}, err
	}
	if j.Chain == nil {
		theta := o.Layout.Start()
		if free != nil {
			theta = o.Layout.Fill(free)
		}
		fit, err := o.Fit(ctx, theta, nil)
		if err == nil {
			err = fit.Converged()
		}
		if err != nil {
			return cv.Predictions{}, err
		}
		return p.Predict(fit, j.Average)
	}
	var average Outcome
	used, silent := 0, record.Fit{}
	err = j.EverySample(objective.NewRun(ctx, o), samples(trials), &silent, func(fit *objective.Point) error {
		used++
		q, err := p.outcome(fit, j.Average)
		if err == nil {
			average.Average(q, used)
		}
		return err
	})
	return average.Predictions, err
}
