package prior

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// densePosterior predicts from all cases.
type densePosterior struct {
	*denseClasses
	b []float64
}

func (p *denseClasses) Posterior(b []float64) ClassesPosterior {
	return ClassesPosterior{densePosterior{p, b}, p.classes}
}

func (p densePosterior) Mean(mean []float64, c int, cross *mat.Dense) {
	linalg.Gemv(blas.Trans, 1, cross.RawMatrix(), p.of(c, p.b), 1, mean)
}

// Numbers implements predictor: predictions need the cases.
func (p densePosterior) Numbers() ([]float64, bool) { return nil, false }

// These implement projector.
func (p *denseClasses) rows() int               { return p.n }
func (p *denseClasses) couple(x blas64.General) { linalg.SolveTri(blas.Trans, p.m, x) }

// project implements projector, GPML Algorithm 3.4 lines 4-9: with k* = cross and k** = diag,
//
//	q_c = k** - k*ᵀ E_c k*,   x_c = M⁻ᵀ E_c k*
//
// where couple multiplies by M⁻ᵀ. q_c is floored at 0, against rounding. Both together take 3 n²
// operations per input.
func (p *denseClasses) project(q []float64, x blas64.General, c int, cross *mat.Dense, diag []float64) {
	n, m := cross.Dims()
	if n != p.n || len(diag) != m {
		panic(fmt.Sprintf("prior: cross is %d×%d and diag has %d entries, want %d×m and m", n, m, len(diag), p.n))
	}
	root, k := p.of(c, p.root), cross.RawMatrix()
	scale := func(from blas64.General) { // x = diag(root) from
		eachRow(n, func(i int) {
			row := x.Data[i*x.Stride : i*x.Stride+m]
			for j, v := range from.Data[i*from.Stride : i*from.Stride+m] {
				row[j] = root[i] * v
			}
		})
	}
	scale(k)
	linalg.SolveTri(blas.Trans, p.u[c], x)
	clear(q)
	linalg.SumRows(n, q, func(sum []float64, i0, i1 int) {
		linalg.AddSquares(1, blas64.General{Rows: i1 - i0, Cols: m, Stride: x.Stride, Data: x.Data[i0*x.Stride:]}, sum)
	})
	for j, v := range q {
		q[j] = max(diag[j]-v, 0)
	}
	linalg.SolveTri(blas.NoTrans, p.u[c], x)
	scale(x)
}

func (p *denseClasses) Marginals(visit func(i int, own, cavityShare []float64, sigma *mat.SymDense)) {
	covariances(p, p.classes, p.n, true, p.projectCases, func(i int, q []float64, s *mat.SymDense) {
		left := make([]float64, p.classes)
		for c := range left {
			left[c] = p.left[c*p.n+i]
		}
		visit(i, q, left, s)
	})
}

// projectCases is project for the cases themselves, in n operations for each instead of 2 n²:
//
//	E_c K_c = D_c^½ (I - B_c⁻¹) D_c^-½,   q_c = [K_c - K_c E_c K_c]_ii = (1 - [B_c⁻¹]_ii) / π_c
//
// and 1 - [B_c⁻¹]_ii, which may cancel, is from row i of B_c B_c⁻¹ = I.
func (p *denseClasses) projectCases(q []float64, x blas64.General, c, from, to int) {
	n, k, root, bInverse := p.n, share(p.k, c), p.of(c, p.root), p.u[c].Data
	clear(q)
	reciprocal := make([]float64, to-from)
	for column, r := range root[from:to] {
		reciprocal[column] = 1 / r
	}
	linalg.SumRows(n, q, func(sum []float64, i0, i1 int) {
		const together = 8 // rows, for which a line of the cache is read once
		for j0 := i0; j0 < i1; j0 += together {
			j1 := min(j0+together, i1)
			for column, r := range reciprocal {
				i, s := from+column, sum[column]
				for j := j0; j < min(j1, i); j++ {
					v := -root[j] * bInverse[i*n+j] * r
					x.Data[j*x.Stride+column] = v
					s += k.Data[j*k.Stride+i] * v
				}
				for j := max(j0, i+1); j < j1; j++ {
					v := -root[j] * bInverse[j*n+i] * r
					x.Data[j*x.Stride+column] = v
					s += k.Data[i*k.Stride+j] * v
				}
				sum[column] = s
			}
		}
	})
	for column, sum := range q {
		i := from + column
		variance, pi := k.Data[i*k.Stride+i], root[i]*root[i]
		q[column] = max((variance-sum)/(1+pi*variance), 0)
		x.Data[i*x.Stride+column] = pi * q[column]
	}
}
