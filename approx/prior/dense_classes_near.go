package prior

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// pivotedColumns is the preconditioner K̃ = V Vᵀ, where V, n×r, has r columns of K's Cholesky
// factor with pivots:
//
//	K̃ (I + W K̃)⁻¹ = V (I + Vᵀ W V)⁻¹ Vᵀ
//
// With r = 40 it takes a third of the steps, on 1200 digits. It is stored in the memory of the
// factors that are computed at the mode.
type pivotedColumns struct {
	*denseClasses
	rank, size int              // r and Cr
	v          []blas64.General // one per covariance
	weighted   blas64.General   // n×Cr, D_c V_c side by side, divided by √w
	inner      blas64.Symmetric
	factor     blas64.Triangular // of I + VᵀWV
	t          []float64         // Cr
}

// Preconditioner implements Classes. A pivot is the case with the largest variance unexplained by
// the previous columns.
func (p *denseClasses) Preconditioner() Preconditioner {
	n, rank := p.n, min(16+p.n/(8*p.classes), p.n/p.classes)
	size := p.classes * rank
	s := &pivotedColumns{
		denseClasses: p, rank: rank, size: size, t: p.m.Data[:size],
		weighted: blas64.General{Rows: n, Cols: size, Stride: max(1, size), Data: p.u[1].Data[:n*size]},
		inner:    blas64.Symmetric{Uplo: blas.Upper, N: size, Stride: max(1, size), Data: p.u[2].Data[:size*size]},
	}
	rest := make([]float64, n)
	for q, k := range p.k {
		v := blas64.General{Rows: n, Cols: rank, Stride: max(1, rank), Data: p.u[0].Data[q*n*rank : (q+1)*n*rank]}
		for i := range rest {
			rest[i] = k.Data[i*k.Stride+i]
		}
		for r := range rank {
			pivot := floats.MaxIdx(rest)
			scale := 0.0
			if d := rest[pivot]; d > 0 {
				scale = 1 / math.Sqrt(d)
			}
			own := v.Data[pivot*rank : pivot*rank+r]
			for i := range rest {
				row := v.Data[i*rank : i*rank+r+1]
				row[r] = (k.Data[min(i, pivot)*k.Stride+max(i, pivot)] - dot(row[:r], own)) * scale
				rest[i] -= row[r] * row[r]
			}
		}
		s.v = append(s.v, v)
	}
	return s
}

func (s *pivotedColumns) Factorise(pi []float64) (ok bool) {
	if s.size == 0 {
		return false
	}
	for c := range s.classes {
		v := share(s.v, c)
		for i, w := range s.of(c, pi) {
			to := s.weighted.Data[i*s.size+c*s.rank:]
			if s.weight != nil {
				w /= math.Sqrt(s.weight[i])
			}
			for j, x := range v.Data[i*s.rank : (i+1)*s.rank] {
				to[j] = w * x
			}
		}
	}
	linalg.Syrk(blas.Trans, -1, s.weighted, 0, s.inner)
	for c := range s.classes {
		own := s.inner
		own.N, own.Data = s.rank, s.inner.Data[c*s.rank*(s.size+1):]
		linalg.SyrkDiag(blas.Trans, 1, share(s.v, c), s.of(c, pi), 1, own)
	}
	for j := range s.size {
		s.inner.Data[j*(s.size+1)]++
	}
	s.factor, ok = linalg.Cholesky(s.inner)
	return ok
}

func (s *pivotedColumns) Covariance(dst, x []float64) {
	sharing := s.classes / len(s.v)
	for j, v := range s.v {
		linalg.Gemm(blas.NoTrans, blas.NoTrans, 1, s.columns(x, j*sharing, sharing), v, 0, s.inners(j*sharing, sharing))
	}
	linalg.SolveTriVec(blas.Trans, s.factor, s.t)
	linalg.SolveTriVec(blas.NoTrans, s.factor, s.t)
	for j, v := range s.v {
		linalg.Gemm(blas.NoTrans, blas.Trans, 1, s.inners(j*sharing, sharing), v, 0, s.columns(dst, j*sharing, sharing))
	}
}

// columns is a matrix with a row for each of some classes, and inners is a row of t.
func (s *pivotedColumns) columns(x []float64, from, classes int) blas64.General {
	return blas64.General{Rows: classes, Cols: s.n, Stride: s.n, Data: x[from*s.n : (from+classes)*s.n]}
}

func (s *pivotedColumns) inners(from, classes int) blas64.General {
	return blas64.General{Rows: classes, Cols: s.rank, Stride: s.rank, Data: s.t[from*s.rank : (from+classes)*s.rank]}
}
