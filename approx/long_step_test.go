package approx

import "testing"

// A Newton step that ends with a rounding error far above the one before it was too long. Joint EP with inducing inputs took
// such an end, half a posterior standard deviation from the fixed point, for the best that double precision can do.
func TestLongStepsAreHalved(t *testing.T) {
	for _, c := range []struct {
		distance, rounding, before float64 // before: rounding error before the step
		want                       move
	}{
		{0.5, 450, 1e-9, halve}, {0.3, 450, 1e-9, halve}, {0.5, 450, 300, done}, {5e-4, 450, 1e-9, done},
		{1e-11, 0, 0, done}, {1e-5, 1e-4, 1e-9, done}, {1e-5, 1e-6, 1e-9, newton}, {0.3, 1e-9, 1e-9, newton},
	} {
		r := siteSearch{siteState: &siteState{process: process{cases: &cases{}}, target: 1e-10}, reached: 0.546, rounding: c.before,
			at:     fixedPoint{distance: c.distance, rounding: c.rounding},
			length: 1, limit: 1000, newtonDistance: 1}
		if got := r.judge(nil); got != c.want {
			t.Errorf("%+v: next is %d, want %d", c, got, c.want)
		}
	}
}
