package search

import (
	"math"
	"slices"
	"testing"

	"github.com/gpc-tune/gpc-tune/search/searchtest/spaces"

	"github.com/gpc-tune/gpc-tune/approx/param"
)

// TestFrameOutside: a point 3 and 4 units outside two bounds has distance 5 from the nearest point
// within, the corner, which is the point proposed.
func TestFrameOutside(t *testing.T) {
	s := Space{spaces.Bounded("a", param.Identity, 0, -2, 2), spaces.Bounded("b", param.Identity, 1, -3, 5), spaces.Bounded("c", param.Identity, 0, -4, 4)}
	f := s.frame([]float64{0, 1, 0})
	if want := []float64{1, 2, 2}; !slices.Equal(f.unit, want) { // a quarter of the bounds
		t.Errorf("units %v, want %v", f.unit, want)
	}
	if f := (Space{spaces.Spec("a", param.Log, 3)}).frame([]float64{0}); f.unit[0] != 1 {
		t.Errorf("unit %v without bounds", f.unit[0])
	}
	z := []float64{f.hi[0] + 3, f.lo[1] - 4, (f.lo[2] + f.hi[2]) / 2}
	if got := f.outside(z); math.Abs(got-25) > 1e-12 {
		t.Errorf("squared distance %v, want 25", got)
	}
	if got := f.outside([]float64{f.hi[0], f.lo[1], 0}); got != 0 {
		t.Errorf("a corner is %v outside", got)
	}
	if got := f.propose(z).Points[0]; !slices.Equal(got, []float64{2, -3, 0}) {
		t.Errorf("asks for %v, want the corner", got)
	}
}
