package utility

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

const (
	expectedTarget = 1e-7  // the error estimate at which Expected stops adding points
	expectedRest   = 1e-10 // relative variance of a column of A that Expected leaves out
)

// Expected returns E max_c (f_c + g_c) for f ~ N(mean, covariance), C values and C×C, and sets pi
// and hessian, C×C, to its first and second derivatives with respect to the mean. pi are the
// probabilities of Average. By Price's theorem the derivatives with respect to the covariance are
// half of hessian, which is ∂pi/∂mean. Its rows sum to 0, and outside of the diagonal it is negative.
// Given u of Average, with F_c and h_c of maximum,
//
//	E max = t₁ - ∫_{t₀}^{t₁} Π_k F_k dt,   hessian_ab = -∫ h_a h_b Π_k F_k dt,  a ≠ b
//
// with Π F = 0 at t₀ and 1 at t₁. With Gumbel's noise E max is Gumbel.Mean + E log Σ_c exp f_c.
//
// For three classes A is mostly 0. Then there is one integral, and the error of E max is below 1e-6.
// Otherwise a trapezoidal rule or a sparse grid averages over u until its estimate of the error is at
// most 1e-7 or 8192 integrals are used. deviation is this estimate. The results are NaN
// if the mean or the covariance has an entry that is not finite.
func (noise Noise) Expected(
	pi []float64, hessian *mat.SymDense, mean []float64, covariance *mat.SymDense,
) (value, deviation float64) {
	classes := len(mean)
	if n, h := covariance.SymmetricDim(), hessian.SymmetricDim(); n != classes || h != classes || len(pi) != classes {
		panic(fmt.Sprintf("utility: %d probabilities, hessian %d×%d, %d means, covariance %d×%d", len(pi), h, h,
			classes, n, n))
	}
	lambda, a, ok := noise.separate(covariance, expectedRest)
	for _, m := range mean {
		ok = ok && m-m == 0
	}
	p := make([]float64, classes+1+classes*(classes-1)/2)
	if ok {
		g := newMaximum(noise, mean, lambda)
		defer pool.Put(g)
		switch a.Cols {
		case 0:
			g.add(p, make([]float64, classes))
		case 1:
			deviation = g.line(p, a, expectedTarget)
		default:
			deviation = g.sparseGrid(p, a, expectedTarget)
		}
	} else {
		for k := range p {
			p[k] = math.NaN()
		}
		deviation = math.NaN()
	}
	floats.ScaleTo(pi, 1/linalg.Sum(p[:classes]), p[:classes])
	hessian.Zero()
	for a, k := 0, classes+1; a < classes; a++ {
		for b := a + 1; b < classes; b++ {
			hessian.SetSym(a, b, -p[k])
			hessian.SetSym(a, a, hessian.At(a, a)+p[k])
			hessian.SetSym(b, b, hessian.At(b, b)+p[k])
			k++
		}
	}
	return p[classes], deviation
}
