package job

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/experiments/data"
)

// A single value has a lattice around it. A range that cannot be divided has none.
func TestLatticeOfOddRanges(t *testing.T) {
	for _, test := range []struct {
		values []float64
		size   int
		lo, hi float64
	}{
		{[]float64{3, 3, math.NaN()}, 201, 2.7, 3.3}, {[]float64{0, 0}, 201, -0.1, 0.1}, {[]float64{-1, 4}, 201, -1.5, 4.5}, {[]float64{-1e300, 1e300}, 201, -1.2e300, 1.2e300},
		{[]float64{-1.5e308, 1.5e308}, 0, 0, 0}, {[]float64{1e17, 1e17 + 16}, 0, 0, 0}, {[]float64{0, 5e-324}, 0, 0, 0}, {[]float64{math.NaN()}, 0, 0, 0},
	} {
		set := WholeSet(&data.Data{X: mat.NewDense(len(test.values), 1, test.values), Rows: make([]int, len(test.values)), Schema: &data.Schema{Inputs: []data.Column{{Name: "x"}}}}, data.Spec{})
		l := set.lattice()
		if l.size() != test.size {
			t.Errorf("%v: %d points, want %d", test.values, l.size(), test.size)
		}
		for _, axis := range l {
			if lo, hi := axis[0], axis[len(axis)-1]; math.Abs(lo-test.lo) > 1e-12*math.Abs(test.lo) || math.Abs(hi-test.hi) > 1e-12*math.Abs(test.hi) {
				t.Errorf("%v: from %v to %v, want %v and %v", test.values, lo, hi, test.lo, test.hi)
			}
		}
	}
}
