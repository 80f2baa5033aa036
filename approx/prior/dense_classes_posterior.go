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

// Condensed implements predictor: predictions need the cases.
func (p densePosterior) Condensed() ([]float64, bool) { return nil, false }

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

// Marginals implements Classes.
func (p *denseClasses) Marginals(visit func(i int, own, cavityShare []float64, sigma *mat.SymDense)) {
	eachGram(p.products(), p.n, true, func(i int, s *mat.SymDense) {
		own, left := make([]float64, p.classes), make([]float64, p.classes)
		for c := range own {
			own[c], left[c] = p.own[c*p.n+i], p.left[c*p.n+i]
			s.SetSym(c, c, s.At(c, c)+own[c])
		}
		visit(i, own, left, s)
	})
}
