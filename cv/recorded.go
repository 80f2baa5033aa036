package cv

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/experiments/record"
)

// Recorded converts the predictions of a recorded fit with this number of classes; 0: numeric
// targets. Lists of unequal length are an error.
func Recorded(classes int, f *record.Fit) (Predictions, error) {
	lengths := []int{len(f.Labels), len(f.Proba)}
	if classes == 0 {
		lengths = []int{len(f.Targets), len(f.Mean), len(f.Variance)}
	}
	if m := len(f.Rows); m == 0 || slices.ContainsFunc(lengths, func(n int) bool { return n != m }) {
		return Predictions{}, fmt.Errorf("%d held-out cases with labels and predictions of %v", m, lengths)
	}
	if classes == 0 {
		if f.TrainMoments == nil {
			return Predictions{}, fmt.Errorf("no mean and variance of the training targets")
		}
		p, err := NewRegression(f.Rows, record.Floats(f.Targets), record.Floats(f.Mean), record.Floats(f.Variance),
			float64(f.TrainMoments.Mean), float64(f.TrainMoments.Variance))
		return weighted(p, f, err)
	}
	if len(f.TrainCounts) != classes {
		return Predictions{}, fmt.Errorf("training counts of %d classes, want %d", len(f.TrainCounts), classes)
	}
	proba := mat.NewDense(len(f.Rows), classes, nil)
	for i, row := range f.Proba {
		if len(row) != classes {
			return Predictions{}, fmt.Errorf("case %d has probabilities of %d classes, want %d",
				f.Rows[i], len(row), classes)
		}
		proba.SetRow(i, record.Floats(row))
	}
	counts := record.Floats(f.TrainWeights)
	if f.TrainWeights == nil {
		for _, n := range f.TrainCounts {
			counts = append(counts, float64(n))
		}
	}
	if len(counts) != classes {
		return Predictions{}, fmt.Errorf("training weights of %d classes, want %d", len(counts), classes)
	}
	p, err := NewPredictions(f.Rows, f.Labels, proba, counts)
	p, err = weighted(p, f, err)
	if err == nil && f.Confidence != nil {
		if len(f.Confidence) != len(f.Rows) {
			return p, fmt.Errorf("the confidence of %d cases; %d are held out", len(f.Confidence), len(f.Rows))
		}
		p.Confidence = record.Floats(f.Confidence)
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

// weighted has the weights of the fit.
func weighted(p Predictions, f *record.Fit, err error) (Predictions, error) {
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
	p.Weight = record.Floats(f.Weights)
	return p, nil
}
