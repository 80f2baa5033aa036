package record_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/record"
)

// onRecord is a valid fit of two held-out cases: of two classes, or of numeric targets.
func onRecord(classes int) *record.Fit {
	f := &record.Fit{Rows: []int{4, 7}}
	if classes == 0 {
		f.Targets, f.Mean, f.Variance = []record.Number{1, 2}, []record.Number{1.5, 2.5}, []record.Number{1, 0.25}
		f.TrainMoments = &record.Moments{Mean: 1, Variance: 2}
		return f
	}
	f.Labels, f.Proba, f.TrainCounts = []int{1, 0}, [][]record.Number{{0.25, 0.75}, {0.5, 0.5}}, []int{3, 9}
	f.Confidence = []record.Number{-2, 5}
	return f
}

// TestPredictions: Predictions returns the predictions of a valid fit. For an invalid fit its error
// names each fault.
func TestPredictions(t *testing.T) {
	p, err := onRecord(2).Predictions(2)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(p.Cases, []int{4, 7}) || !slices.Equal(p.Labels, []int{1, 0}) || p.Proba.At(0, 1) != 0.75 || p.Proba.At(1, 0) != 0.5 {
		t.Errorf("%+v", p)
	}
	if !slices.Equal(p.Confidence, []float64{-2, 5}) {
		t.Errorf("confidence %v, want that on record", p.Confidence)
	}
	without := onRecord(2)
	without.Confidence = nil
	if p, err = without.Predictions(2); err != nil || p.Confidence != nil {
		t.Errorf("confidence %v of a fit that has none, %v", p.Confidence, err)
	}
	p, err = onRecord(0).Predictions(0)
	if err != nil || !slices.Equal(p.Mean, []float64{1.5, 2.5}) || !slices.Equal(p.Variance, []float64{1, 0.25}) || !slices.Equal(p.Targets, []float64{1, 2}) {
		t.Errorf("%+v, %v", p, err)
	}

	for want, c := range map[string]struct {
		classes int
		spoil   func(f *record.Fit)
	}{
		"the confidence of 1 cases; 2 are held out":               {2, func(f *record.Fit) { f.Confidence = f.Confidence[:1] }},
		"2 held-out cases with labels and predictions of [1 2]":   {2, func(f *record.Fit) { f.Labels = f.Labels[:1] }},
		"2 held-out cases with labels and predictions of [2 3]":   {2, func(f *record.Fit) { f.Proba = append(f.Proba, f.Proba[0]) }},
		"2 held-out cases with labels and predictions of [2 1 2]": {0, func(f *record.Fit) { f.Mean = f.Mean[:1] }},
		"0 held-out cases with labels and predictions of [2 2]":   {2, func(f *record.Fit) { f.Rows = nil }},
		"training counts of 1 classes, want 2":                    {2, func(f *record.Fit) { f.TrainCounts = f.TrainCounts[:1] }},
		"case 7 has probabilities of 1 classes, want 2":           {2, func(f *record.Fit) { f.Proba[1] = f.Proba[1][:1] }},
		"case 4": {2, func(f *record.Fit) { f.Labels[0] = 2 }},
		"case 7 has target 2, predicted mean 2.5 and variance 0;": {0, func(f *record.Fit) { f.Variance[1] = 0 }},
		"no mean and variance of the training targets":            {0, func(f *record.Fit) { f.TrainMoments = nil }},
	} {
		f := onRecord(c.classes)
		c.spoil(f)
		if _, err := f.Predictions(c.classes); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
