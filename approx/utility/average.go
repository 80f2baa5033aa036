// Package utility computes the probability that utility f_c + g_c of class c is the largest,
// averaged over a Gaussian f. The noises g_c are independent. With Gumbel's noise these are the
// averages of softmax, and with normal noise the averages of multinomial probit. There are three
// steps, with a file for each:
//
//	covariance.go  f = mean + √Λ e + A z, with Λ diagonal and large, and e and z standard normal
//	maximum.go     the average over e and g: an integral in one dimension
//	points.go      the average over z: a trapezoidal rule, a sparse grid or a lattice rule
package utility

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// DefaultPoints is the maximum number of lattice points by default, and MostPoints the largest
// number allowed.
const (
	DefaultPoints = 1 << 16
	MostPoints    = 1 << 20
)

const (
	averageTarget   = 1e-5 // the error at which Average stops adding points
	quadratureError = 5e-7 // bound of the errors of tables and of the quadrature of maximum
)

// Average sets pi to the probabilities that f_c + g_c is the largest, averaged over f ~ N(mean,
// covariance), C values and C×C. It returns an estimate of the largest error of a probability.
// ofTwo is the logarithm of the probability of the first of two classes, averaged over f_0 - f_1.
//
// Let f = mean + √Λ e + u with Λ diagonal, e standard normal and u ~ N(0, R). The average over e is
// an integral in one dimension, see maximum. Only the average over u = A z, A Aᵀ = R, needs
// points: see separate. For posteriors of independent processes R is small; for a diagonal
// covariance, or three classes, it is mostly 0.
//
// If u has one axis, a trapezoidal rule of integrals is used. A variance of u is small if it is at
// most 8 times the variance of f_c + g_c given u. If it is small along every axis, a sparse grid of
// integrals averages over u, until its error estimate is at most 1e-5. If it is larger along one,
// or 8192 integrals do not suffice, a lattice averages over u and the largest f_c + g_c, until its
// estimate is at most 1e-5 or DefaultPoints are used. With points > 0 the lattice is always used,
// with these points, rounded down to a multiple of 8, regardless of the estimate. The estimate of
// the largest error of a probability is intended to hold in 95 of 100 cases; mostly the error is
// much smaller.
//
// The probabilities depend on the arguments only, sum to 1 and are positive. They are NaN if the
// mean or the covariance has an entry that is not finite.
func (noise Noise) Average(
	pi, mean []float64, covariance *mat.SymDense, points int, ofTwo func(mean, variance float64) float64,
) (deviation float64) {
	classes := len(mean)
	if covariance.SymmetricDim() != classes || len(pi) != classes {
		n := covariance.SymmetricDim()
		panic(fmt.Sprintf("utility: %d probabilities, %d means, covariance %d×%d", len(pi), classes, n, n))
	}
	lambda, a, ok := noise.separate(covariance)
	for _, m := range mean {
		ok = ok && m-m == 0
	}
	switch {
	case !ok:
		for c := range pi {
			pi[c] = math.NaN()
		}
		return math.NaN()
	case classes == 2:
		variance := max(0, covariance.At(0, 0)-covariance.At(0, 1)-covariance.At(0, 1)+covariance.At(1, 1))
		for c := range pi {
			pi[c] = math.Exp(ofTwo(mean[c]-mean[1-c], variance))
		}
		return 0
	}
	g, centre := newMaximum(noise, mean, lambda), make([]float64, classes)
	defer pool.Put(g)
	g.add(centre, make([]float64, classes))
	switch copy(pi, centre); {
	case a.Cols == 0:
	case points > 0:
		deviation = g.lattice(pi, a, min(points, MostPoints), 0)
	default:
		spread := 0.0 // variance of u along the first axis
		for c := range classes {
			x := a.Data[c*a.Stride] / g.sd[c]
			spread += x * x
		}
		deviation = math.Inf(1)
		const target = averageTarget - quadratureError
		switch {
		case a.Cols == 1:
			deviation = g.line(pi, a, target)
		case spread <= 8:
			deviation = g.sparseGrid(pi, a, target)
		}
		if deviation > target {
			other := make([]float64, classes)
			if d := g.lattice(other, a, DefaultPoints, target); d < deviation {
				deviation = d
				copy(pi, other)
			}
		}
	}
	deviation += quadratureError
	// probabilities of the grid may be negative: then they are moved towards those at the centre,
	// by at most the error estimate
	for c, p := range pi {
		if p < deviation {
			pi[c] = max(p, min(centre[c], p+deviation))
		}
	}
	floats.Scale(1/linalg.Sum(pi), pi)
	return deviation
}
