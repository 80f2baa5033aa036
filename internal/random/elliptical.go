package random

import (
	"math"
	"math/rand/v2"
)

// EllipticalSlice is one transition of elliptical slice sampling (Murray, Adams and MacKay 2010).
// It finds the next state on the ellipse x cos(angle) + ν sin(angle) through the current state x
// and a draw ν from the Gaussian base, both minus its mean. try reports whether the state at an
// angle is inside the slice, given by the residual density there; if so, the caller has moved to
// it. Angles come from a full turn that shrinks towards 0, the angle of x, which is inside.
func EllipticalSlice(rng *rand.Rand, try func(sin, cos float64) bool) {
	angle := 2 * math.Pi * rng.Float64()
	lo, hi := angle-2*math.Pi, angle
	for !try(math.Sincos(angle)) {
		if angle < 0 {
			lo = angle
		} else {
			hi = angle
		}
		angle = lo + (hi-lo)*rng.Float64()
	}
}
