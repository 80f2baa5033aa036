package approx

import "testing"

// A rounding error above unresolved, which a step that was too long leaves, ends no iteration far from its fixed point: joint
// EP with inducing inputs came back from 0.5 posterior standard deviations with a rounding error of 450.
func TestLargeRoundingSettlesNothing(t *testing.T) {
	for _, c := range []struct {
		distance, rounding float64
		settled, reached   bool
	}{
		{0.5, 450, false, false}, {2e-3, 0.1, false, false}, {1e-5, 1e-4, true, true}, {1e-11, 0, true, true},
		{1e-5, 1e-6, false, false},
		{1e-4, 450, true, false}, // useless to continue, but not precise enough
	} {
		f := fixedPoint{distance: c.distance, rounding: c.rounding}
		if f.settled(1e-10) != c.settled || f.reached(1e-10) != c.reached {
			t.Errorf("%+v: settled %v, reached %v", c, f.settled(1e-10), f.reached(1e-10))
		}
	}
}
