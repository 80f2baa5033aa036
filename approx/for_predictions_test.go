package approx_test

import (
	"testing"

	"github.com/gpc-tune/gpc-tune/approx"
)

// Fits that only predict have a tolerance of 1e-6 unless an option gives one; other methods than EP
// stay as they are.
func TestForPredictions(t *testing.T) {
	given := approx.EP{Iteration: approx.Iteration{Tolerance: 1e-10}}
	loose := approx.EP{Iteration: approx.Iteration{Tolerance: 1e-6}}
	for _, c := range []struct{ m, want approx.Approximation }{
		{approx.EP{}, loose}, {given, given}, {approx.OneVsRest{Binary: approx.EP{}}, approx.OneVsRest{Binary: loose}},
		{approx.Laplace{}, approx.Laplace{}}, {approx.PL{}, approx.PL{}},
	} {
		if got := approx.ForPredictions(c.m); got != c.want {
			t.Errorf("%+v: %+v, want %+v", c.m, got, c.want)
		}
	}
	if ep := approx.ForPredictions(approx.Table.Default("ep")).(approx.EP); ep.Tolerance != 1e-6 {
		t.Errorf("of a file: %+v", ep)
	}
}
