package prior

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// negativeSites is the contribution of sites of negative precision to the posterior. They are the
// sites of cases J, with -τ_J = T. R₊, Σ₊ and B₊ are computed without these sites. With E the
// columns J of the identity,
//
//	C = I - T^½ EᵀΣ₊E T^½ = VᵀV,   F = V⁻ᵀ T^½ Eᵀ(I - KR₊)
//	R = R₊ - FᵀF,   Σ = Σ₊ + (FK)ᵀFK,   |B| = |B₊||C|
//
// C is positive definite if and only if Σ is. F is |J|×n, and empty if all sites are positive.
type negativeSites struct {
	f, fk  blas64.General
	tau    []float64 // -T, and 0 for the others
	logDet float64   // ½ log|C|
}

// newNegativeSites makes it of precisions tau, given K, and (I - R₊K) x with K x for an x.
func newNegativeSites(tau []float64, k blas64.Symmetric, shrink func(dst, x, kx []float64)) (negativeSites, error) {
	n := len(tau)
	var cases []int
	for i, t := range tau {
		if t < 0 {
			cases = append(cases, i)
		}
	}
	m := len(cases)
	s := negativeSites{f: linalg.NewGeneral(m, n), fk: linalg.NewGeneral(m, n), tau: make([]float64, n)}
	if len(cases) == 0 {
		return s, nil
	}
	for a, i := range cases {
		row, kx := s.f.Data[a*n:(a+1)*n], s.fk.Data[a*n:(a+1)*n]
		row[i], s.tau[i] = math.Sqrt(-tau[i]), tau[i]
		linalg.Symv(1, k, row, 0, kx)
		shrink(row, row, kx)
		linalg.Symv(1, k, row, 0, kx)
	}
	c := linalg.NewSym(len(cases))
	for a := range cases {
		for b := a; b < len(cases); b++ {
			c.Data[a*c.Stride+b] = -s.fk.Data[a*n+cases[b]] * math.Sqrt(-tau[cases[b]])
		}
		c.Data[a*c.Stride+a]++
	}
	v, ok := linalg.Cholesky(c)
	if !ok {
		return s, fmt.Errorf("%w: the covariance of the posterior; %d sites have negative precision",
			ErrNotPositiveDefinite, len(cases))
	}
	linalg.SolveTri(blas.Trans, v, s.f)
	linalg.SolveTri(blas.Trans, v, s.fk)
	s.logDet = linalg.LogDet(v)
	return s, nil
}

// raised is the part of Σ that is due to sites of negative precision, (FK)ᵀFK.
func (s negativeSites) raised() blas64.Symmetric {
	r := linalg.NewSym(s.fk.Cols)
	linalg.Syrk(blas.Trans, 1, s.fk, 0, r)
	return r
}
