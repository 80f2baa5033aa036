package kernel

import (
	"math"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// The Matérn kernels of half-integer order, r = |x - x'|, a = √(2ν) r/l [GPML 4.16, 4.17]. With ARD
// r²/l² is Σ_k (x_k - x'_k)²/l_k². theta is ln σ, ln l (one, or one for every column).
type (
	// Matern12 has ν = 1/2, k(x, x') = σ² e^-a: the exponential kernel, in one dimension the kernel
	// of the Ornstein-Uhlenbeck process.
	Matern12 = Stationary[matern12]
	// Matern32 has ν = 3/2, k(x, x') = σ² (1 + a) e^-a.
	Matern32 = Stationary[matern32]
	// Matern52 has ν = 5/2, k(x, x') = σ² (1 + a + a²/3) e^-a.
	Matern52 = Stationary[matern52]
)

type (
	matern12 struct{}
	matern32 struct{}
	matern52 struct{}
)

func (matern12) Kappa(k, s []float64, c, _ float64) { matern(k, s, c, 0, 0) }
func (matern32) Kappa(k, s []float64, c, _ float64) { matern(k, s, 3*c, 1, 0) }
func (matern52) Kappa(k, s []float64, c, _ float64) { matern(k, s, 5*c, 1, 1.0/3) }

// matern sets k to (1 + p₁a + p₂a²) e^-a, a = √(c·s).
func matern(k, s []float64, c, p1, p2 float64) {
	var a [256]float64
	for len(k) > 0 {
		n := min(len(a), len(k))
		for j, v := range s[:n] {
			a[j] = math.Sqrt(c * v)
			k[j] = -a[j]
		}
		linalg.Exp(k[:n], k[:n])
		for j, v := range a[:n] {
			k[j] *= 1 + v*(p1+v*p2)
		}
		k, s = k[n:], s[n:]
	}
}

// The slopes -2κ'/κ are 1/a, 3/(1 + a) and (5/3)(1 + a)/(1 + a + a²/3). The first is infinite
// between coincident cases, whose covariance is σ² whatever l is.

func (matern12) Weigh(m, s []float64, c, _ float64) {
	for j, v := range s {
		if a := math.Sqrt(c * v); a > 0 {
			m[j] /= a
		}
	}
}

func (matern32) Weigh(m, s []float64, c, _ float64) {
	c *= 3
	for j, v := range s {
		m[j] *= 3 / (1 + math.Sqrt(c*v))
	}
}

func (matern52) Weigh(m, s []float64, c, _ float64) {
	c *= 5
	for j, v := range s {
		a := math.Sqrt(c * v)
		m[j] *= 5 * (1 + a) / (3 + a*(3+a))
	}
}
