//go:build !race

package linalg

import (
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// TestNoAllocations checks that an operation repeated with the same size takes its memory from the pools. (The race
// detector empties these at random.)
func TestNoAllocations(t *testing.T) {
	const n = 300
	rng := newRand()
	a, b, c := randomGeneral(rng, n, n, n), randomGeneral(rng, n, n, n), NewGeneral(n, n)
	d, x, y := make([]float64, n), make([]float64, n), make([]float64, n)
	column := blas64.General{Rows: n, Cols: 1, Stride: n, Data: c.Data}
	definite, s := randomDefinite(rng, n), NewSym(n)
	for name, op := range map[string]func(){
		"Gemm":     func() { Gemm(blas.NoTrans, blas.Trans, 1, a, b, 0, c) },
		"Syrk":     func() { Syrk(blas.NoTrans, 1, a, 0, s) },
		"SyrkDiag": func() { SyrkDiag(blas.Trans, 1, a, d, 1, s) },
		"Symm":     func() { Symm(1, definite, b, 0, c) },
		"Symv":     func() { Symv(1, definite, x, 0, y) },
		"Gemv":     func() { Gemv(blas.Trans, 1, a, x, 0, y) },
		"Exp":      func() { Exp(c.Data, b.Data) },
		"Cholesky and all after it": func() {
			copy(s.Data, definite.Data)
			u, _ := Cholesky(s)
			SolveTri(blas.NoTrans, u, c)
			SolveTri(blas.Trans, u, c)
			SolveTri(blas.NoTrans, u, column)
			SolveTri(blas.Trans, u, column)
			SolveTriVec(blas.Trans, u, x)
			InverseCholesky(u)
		},
	} {
		if allocs := testing.AllocsPerRun(20, op); allocs != 0 {
			t.Errorf("%s: %v allocations", name, allocs)
		}
	}
}
