package cv

import (
	"math"
	"testing"
)

// F1 of two classes needs a case of the second, and no case of the first.
func TestF1OfOneClass(t *testing.T) {
	proba := [][]float64{{0.3, 0.7}, {0.6, 0.4}, {0.2, 0.8}}
	if e, ok := f1(predict(t, []int{0, 0, 0}, proba, 1, 1)); ok {
		t.Errorf("without the second class: %v", e)
	}
	if e, ok := f1(predict(t, []int{1, 1, 1}, proba, 1, 1)); !ok || math.Abs(e.Value-2*2./(2*2+1)) > 1e-15 {
		t.Errorf("of the second class alone: %v, %v, want 0.8", e, ok)
	}
}

// An interval of a difference is within the widest difference of the score, if that is bounded.
func TestDifferencesAreLimited(t *testing.T) {
	for _, c := range []struct {
		within         [2]float64
		lo, hi         float64
		wantLo, wantHi float64
	}{
		{[2]float64{0, 1}, -3, 2, -1, 1}, {[2]float64{0, 1}, -0.5, 0.25, -0.5, 0.25}, {[2]float64{-1, 1}, -3, 1.5, -2, 1.5},
		{[2]float64{}, -3, 2, -3, 2}, {[2]float64{0, 0.5}, -3, 2, -0.5, 0.5},
	} {
		if got := (Score{Within: c.within}).apart(TTest{Estimate: Estimate{Lo: c.lo, Hi: c.hi}}); got.Lo != c.wantLo || got.Hi != c.wantHi {
			t.Errorf("%+v: %v to %v", c, got.Lo, got.Hi)
		}
	}
	if got := (Score{Within: [2]float64{0, 1}}).apart(TTest{Estimate: withoutInterval(0)}); !math.IsNaN(got.Lo) || !math.IsNaN(got.Hi) {
		t.Errorf("%v to %v of none", got.Lo, got.Hi)
	}
}

// What only some parts have, the pool has not.
func TestPoolOfUnequalParts(t *testing.T) {
	proba := [][]float64{{0.3, 0.7}, {0.6, 0.4}}
	with, without := predict(t, []int{0, 1}, proba, 1, 1), predict(t, []int{1, 1}, proba, 1, 1)
	with.Weight, with.Confidence, with.Threshold = []float64{1, 2}, []float64{3, 4}, []float64{0.5, 0.6}
	for _, parts := range [][]Predictions{{with, without}, {without, with}} {
		if p := Pool(parts...); p.Weight != nil || p.Confidence != nil || p.Threshold != nil || len(p.Labels) != 4 {
			t.Errorf("%+v", p)
		}
	}
	if p := Pool(with, with); len(p.Weight) != 4 || p.Confidence[3] != 4 || p.Threshold[2] != 0.5 || p.Proba.At(3, 1) != 0.4 {
		t.Errorf("%+v", p)
	}
}
