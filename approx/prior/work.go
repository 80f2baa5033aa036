package prior

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// Work is memory that fits use one after the other, so that a sequence of fits allocates once. The
// start of a fit invalidates the posterior of the previous one. With a nil Work every fit allocates
// its own memory. It is not safe for concurrent use.
type Work struct {
	blocks [][]float64
	taken  int
}

// Reset releases everything, as the start of a fit does.
func (w *Work) Reset() { w.Release(0) }

// Symmetric is an uninitialised n×n matrix, valid until the next fit.
func (w *Work) Symmetric(n int) *mat.SymDense {
	var s mat.SymDense
	s.SetRawSymmetric(blas64.Symmetric{Uplo: blas.Upper, N: n, Stride: max(1, n), Data: w.Take(n * n)})
	return &s
}

// Take returns n uninitialised numbers.
func (w *Work) Take(n int) []float64 {
	if w == nil {
		return linalg.Floats(n)
	}
	if w.taken == len(w.blocks) {
		w.blocks = append(w.blocks, nil)
	}
	b := &w.blocks[w.taken]
	w.taken++
	if cap(*b) < n {
		*b = linalg.Floats(n)
	}
	return (*b)[:n]
}

// General is Take for an r×c matrix.
func (w *Work) General(r, c int) blas64.General {
	return blas64.General{Rows: r, Cols: c, Stride: max(1, c), Data: w.Take(r * max(1, c))}
}

// Mark returns the amount of memory in use, and Release releases the memory taken after a Mark.
func (w *Work) Mark() int {
	if w == nil {
		return 0
	}
	return w.taken
}

func (w *Work) Release(mark int) {
	if w != nil {
		w.taken = mark
	}
}
