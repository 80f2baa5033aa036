package linalg

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// Limits of CholeskyJitter: the least relative pivot, a multiple of n, and the largest relative
// jitter.
const (
	pivotFloor = 0x1p-52
	maxJitter  = 1e-8
)

// CholeskyJitter factorises A + jitter·I = UᵀU for a covariance A that rounding may have left
// without full rank. With s = n 2⁻⁵² max Aᵢᵢ, the jitter is the first of 0, s, 10 s, 100 s, … that
// leaves every squared pivot at s or above. Then solves with U lose no more than half of the
// digits. ok is false if that takes more than 1e-8 max Aᵢᵢ, which rounding error does not explain,
// or if A is not finite. A is not changed.
func CholeskyJitter(a blas64.Symmetric) (u blas64.Triangular, jitter float64, ok bool) {
	checkSymmetric("CholeskyJitter", a)
	n, largest := a.N, 0.0
	for i := range n {
		largest = max(largest, a.Data[i*a.Stride+i]) // max keeps a NaN
	}
	step := float64(n) * pivotFloor * largest
	u = blas64.Triangular{Uplo: blas.Upper, Diag: blas.NonUnit, N: n, Stride: max(1, n), Data: Floats(n * n)}
	for ; jitter <= maxJitter*largest && !math.IsInf(largest, 1); jitter = max(step, 10*jitter) {
		for i := range n {
			copy(u.Data[i*n+i:(i+1)*n], a.Data[i*a.Stride+i:i*a.Stride+n])
			u.Data[i*n+i] += jitter
		}
		if factorise(n, u.Data, u.Stride) && leastPivot(u) >= step {
			return u, jitter, true
		}
		if step == 0 {
			break
		}
	}
	return u, jitter, false
}

// leastPivot is min Uᵢᵢ².
func leastPivot(u blas64.Triangular) float64 {
	least := math.Inf(1)
	for i := range u.N {
		d := u.Data[i*u.Stride+i]
		least = min(least, d*d)
	}
	return least
}
