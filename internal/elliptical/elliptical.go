// Package elliptical holds the move of elliptical slice sampling (Murray, Adams and MacKay 2010),
// which samplers of latent functions and of hyperparameters share.
package elliptical

import (
	"math"
	"math/rand/v2"
)

// Slice looks for the next state on the ellipse x cos(angle) + ν sin(angle) through the present
// state x and a draw ν from the Gaussian base, both less its mean. try says whether the state at an
// angle is inside the slice, which is what the residual density there is held to; if it is, the
// move is made. Angles come from a full turn that shrinks towards 0, where x itself lies inside.
func Slice(rng *rand.Rand, try func(sin, cos float64) bool) {
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
