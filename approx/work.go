package approx

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// Work is memory that fits use one after the other, so that a sequence of fits allocates once. The
// start of a fit invalidates the Posterior of the previous one. With a nil Work every fit allocates
// its own memory. It is not safe for concurrent use.
type Work struct {
	blocks [][]float64
	taken  int
}

// In returns m with its fits in w, or m itself if it does not use a Work.
func In(w *Work, m Approximation) Approximation {
	if i, ok := m.(interface{ in(*Work) Approximation }); ok {
		return i.in(w)
	}
	return m
}

// Spare is the number of bytes that a fit of m leaves free in a Work for later computations.
func Spare(m Approximation, s Size) int64 {
	if _, ok := m.(interface{ in(*Work) Approximation }); !ok {
		return 0
	}
	s.New = 0
	return m.Memory(s).Fit.Passing
}

// Reset releases everything, as the start of a fit does.
func (w *Work) Reset() { w.release(0) }

// Symmetric is an uninitialised n×n matrix, valid until the next fit.
func (w *Work) Symmetric(n int) *mat.SymDense {
	var s mat.SymDense
	s.SetRawSymmetric(blas64.Symmetric{Uplo: blas.Upper, N: n, Stride: max(1, n), Data: w.take(n * n)})
	return &s
}

// take returns n uninitialised numbers.
func (w *Work) take(n int) []float64 {
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

// general is take for an r×c matrix.
func (w *Work) general(r, c int) blas64.General {
	return blas64.General{Rows: r, Cols: c, Stride: max(1, c), Data: w.take(r * max(1, c))}
}

// mark returns how much is in use, and release releases what was taken since.
func (w *Work) mark() int {
	if w == nil {
		return 0
	}
	return w.taken
}

func (w *Work) release(mark int) {
	if w != nil {
		w.taken = mark
	}
}
