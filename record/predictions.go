package record

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/internal/cause"
)

// Predictions are the predictions of the held-out cases, of this number of classes; 0: numeric
// targets. Lists of unequal length are an error.
func (f *Fit) Predictions(classes int) (cv.Predictions, error) {
	lengths := []int{len(f.Labels), len(f.Proba)}
	if classes == 0 {
		lengths = []int{len(f.Targets), len(f.Mean), len(f.Variance)}
	}
	if m := len(f.Rows); m == 0 || slices.ContainsFunc(lengths, func(n int) bool { return n != m }) {
		return cv.Predictions{}, fmt.Errorf("%d held-out cases with labels and predictions of %v", m, lengths)
	}
	if classes == 0 {
		if f.TrainMoments == nil {
			return cv.Predictions{}, fmt.Errorf("no mean and variance of the training targets")
		}
		p, err := cv.NewRegression(f.Rows, Floats(f.Targets), Floats(f.Mean), Floats(f.Variance),
			float64(f.TrainMoments.Mean), float64(f.TrainMoments.Variance))
		return f.weighted(p, err)
	}
	if len(f.TrainCounts) != classes {
		return cv.Predictions{}, fmt.Errorf("training counts of %d classes, want %d", len(f.TrainCounts), classes)
	}
	proba := mat.NewDense(len(f.Rows), classes, nil)
	for i, row := range f.Proba {
		if len(row) != classes {
			return cv.Predictions{}, fmt.Errorf("case %d has probabilities of %d classes, want %d",
				f.Rows[i], len(row), classes)
		}
		proba.SetRow(i, Floats(row))
	}
	counts := Floats(f.TrainWeights)
	if f.TrainWeights == nil {
		for _, n := range f.TrainCounts {
			counts = append(counts, float64(n))
		}
	}
	if len(counts) != classes {
		return cv.Predictions{}, fmt.Errorf("training weights of %d classes, want %d", len(counts), classes)
	}
	p, err := cv.NewPredictions(f.Rows, f.Labels, proba, counts)
	p, err = f.weighted(p, err)
	if err == nil && f.Confidence != nil {
		if len(f.Confidence) != len(f.Rows) {
			return p, fmt.Errorf("the confidence of %d cases; %d are held out", len(f.Confidence), len(f.Rows))
		}
		p.Confidence = Floats(f.Confidence)
	}
	if err == nil && f.Threshold != nil {
		if classes != 2 {
			return p, fmt.Errorf("a threshold on one of %d classes", classes)
		}
		for range f.Rows {
			p.Threshold = append(p.Threshold, float64(*f.Threshold))
		}
	}
	return p, err
}

// weighted gives the predictions the weights of the held-out cases.
func (f *Fit) weighted(p cv.Predictions, err error) (cv.Predictions, error) {
	if err != nil || f.Weights == nil {
		return p, err
	}
	if len(f.Weights) != len(f.Rows) {
		return p, fmt.Errorf("the weights of %d cases; %d are held out", len(f.Weights), len(f.Rows))
	}
	for i, w := range f.Weights {
		if !(w > 0) || !w.Finite() {
			return p, fmt.Errorf("case %d has weight %v", f.Rows[i], w)
		}
	}
	p.Weight = Floats(f.Weights)
	return p, nil
}

// Attempt is the result of the fit in a contest, with this number of classes; 0: numeric targets. A
// nil fit is no result yet.
func (f *Fit) Attempt(classes int) cv.Attempt {
	if f == nil {
		return cv.Attempt{}
	}
	if !f.Failure.IsZero() {
		return cv.Attempt{Failure: f.Failure}
	}
	p, err := f.Predictions(classes)
	if err != nil {
		return cv.Attempt{Failure: cause.Failed(err)}
	}
	return cv.Attempt{Predictions: &p}
}

// Rule is the contest by its score and race, which are checked.
func (c Contest) Rule() (cv.Contest, error) {
	return cv.NewContest(c.Score, c.Race, c.Options, len(c.Folds))
}
