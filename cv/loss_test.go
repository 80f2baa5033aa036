package cv

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func TestLossDecides(t *testing.T) {
	costly := Loss{{0, 1, 1}, {10, 0, 2}, {1, 1, 0}} // deciding for class 0 where 1 is the truth costs 10
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

func TestDecisions(t *testing.T) {
	p, err := NewPredictions([]int{0, 1, 2, 3}, []int{0, 1, 1, 0}, mat.NewDense(4, 2, []float64{0.75, 0.25, 0.25, 0.75, 0.875, 0.125, 0.96875, 0.03125}), []int{1, 1})
	if err != nil {
		t.Fatal(err)
	}
	reject := 0.5
	// The expected cost of deciding for class 0 is 8 × 0.25, 8 × 0.75, 8 × 0.125, 8 × 0.03125; for
	// class 1 0.75, 0.25, 0.875, 0.96875; for rejecting 0.5.
	for _, c := range []struct {
		costs                     Costs
		loss, expected, likeliest float64
		rejected                  int
		table                     string
	}{
		{Costs{Loss{{0, 1}, {8, 0}}, nil}, (1 + 0 + 0 + 0) / 4.0, (0.75 + 0.25 + 0.875 + 0.25) / 4, 2, 0, "[[1 1 0] [0 2 0]]"},
		{Costs{Loss{{0, 1}, {8, 0}}, &reject}, (0.5 + 0 + 0.5 + 0) / 4, (0.5 + 0.25 + 0.5 + 0.25) / 4, 2, 2, "[[1 0 1] [0 1 1]]"},
		{Costs{ZeroOne(2), &reject}, 0.25, (0.25 + 0.25 + 0.125 + 0.03125) / 4, 0.25, 0, "[[2 0 0] [1 1 0]]"}, // a tie goes to a class
	} {
		d := c.costs.Decisions(p)
		if math.Abs(d.Loss.Value-c.loss) > 1e-15 || math.Abs(d.Expected-c.expected) > 1e-15 || math.Abs(d.Likeliest-c.likeliest) > 1e-15 || d.Rejected != c.rejected || fmt.Sprint(d.Table) != c.table {
			t.Errorf("%v: got %+v, want %+v", c.costs, d, c)
		}
		if most := c.costs.Loss[1][0]; !(d.Loss.Lo >= 0 && d.Loss.Lo <= d.Loss.Value && d.Loss.Hi >= d.Loss.Value && d.Loss.Hi <= most) {
			t.Errorf("%v: the mean cost is from %v to %v, beyond all costs", c.costs, d.Loss.Lo, d.Loss.Hi)
		}
	}
	// With a threshold of 0.2 the first three cases are decided for class 1, at expected costs 0.75, 0.25 and 0.875, and the
	// last one for class 0.
	p.Threshold = []float64{0.2, 0.2, 0.1, 0.2}
	d := Costs{Loss{{0, 1}, {8, 0}}, &reject}.Decisions(p)
	if d.Loss.Value != 0.25 || math.Abs(d.Expected-(0.75+0.25+0.875+0.25)/4) > 1e-15 || d.Rejected != 0 || fmt.Sprint(d.Table) != "[[1 1 0] [0 2 0]]" ||
		d.Likeliest != 2 {
		t.Errorf("with thresholds: %+v", d)
	}
	if lo, hi := p.Extremes(); lo != 0.03125 || hi != 0.75 {
		t.Errorf("probabilities from %v to %v", lo, hi)
	}
}
