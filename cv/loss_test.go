package cv

import (
	"math"
	"testing"
)

func TestLossDecides(t *testing.T) {
	costly := Loss{{0, 1, 1}, {10, 0, 2}, {1, 1, 0}} // to decide for 0 where 1 is the truth
	for _, c := range []struct {
		loss     Loss
		proba    []float64
		decision int
		expected float64
	}{
		{ZeroOne(2), []float64{0.25, 0.75}, 1, 0.25},
		{ZeroOne(2), []float64{0.5, 0.5}, 0, 0.5}, // a tie goes to the first
		{ZeroOne(3), []float64{0.5, 0.375, 0.125}, 0, 0.5},
		{costly, []float64{0.75, 0.25, 0}, 1, 0.75}, // 0 has 2.5, 2 has 0.75 + 0.5
		{costly, []float64{0.9375, 0.0625, 0}, 0, 0.625},
		{costly, []float64{0, 0.25, 0.75}, 2, 0.5},
		{Loss{{-1, 0}, {0, 0}}, []float64{0.25, 0.75}, 0, -0.25}, // a gain
	} {
		if decision, expected := c.loss.Decide(c.proba); decision != c.decision || math.Abs(expected-c.expected) > 1e-15 {
			t.Errorf("%v at %v: %d of %v, want %d of %v", c.loss, c.proba, decision, expected, c.decision, c.expected)
		}
	}
}
