package prior

import (
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// eachRow calls work for every row of a matrix, in blocks divided among threads.
func eachRow(n int, work func(i int)) {
	linalg.Rows(n, func(i0, i1 int) {
		for i := i0; i < i1; i++ {
			work(i)
		}
	})
}

// upper views a square matrix as its upper triangle.
func upper(v blas64.General) blas64.Triangular {
	return blas64.Triangular{Uplo: blas.Upper, Diag: blas.NonUnit, N: v.Rows, Stride: v.Stride, Data: v.Data}
}

// all views the memory of a symmetric matrix, both triangles.
func all(s blas64.Symmetric) blas64.General {
	return blas64.General{Rows: s.N, Cols: s.N, Stride: s.Stride, Data: s.Data}
}

// largest is the largest number on the diagonal, at least 0.
func largest(k blas64.Symmetric) float64 {
	v := 0.0
	for i := range k.N {
		v = max(v, k.Data[i*k.Stride+i])
	}
	return v
}

func dot(x, y []float64) float64 {
	sum := 0.0
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}

// principal sets dst to the submatrix of some cases, in ascending order.
func principal(dst blas64.General, k blas64.Symmetric, cases []int) blas64.Symmetric {
	n := len(cases)
	eachRow(n, func(a int) {
		from, to := k.Data[cases[a]*k.Stride:], dst.Data[a*dst.Stride+a:a*dst.Stride+n]
		for b, j := range cases[a:] {
			to[b] = from[j]
		}
	})
	return blas64.Symmetric{Uplo: blas.Upper, N: n, Stride: dst.Stride, Data: dst.Data}
}

// casesAtOnce is the number of cases per part of a pass over V.
const casesAtOnce = 512

// eachPart calls work for every part of n cases, concurrently. The parts do not depend on the
// number of threads.
func eachPart(n, size int, work func(j0, j1 int)) {
	linalg.Parallel((n+size-1)/size, func(job int) {
		work(job*size, min(n, (job+1)*size))
	})
}

// columns views columns j0 to j1.
func columns(a blas64.General, j0, j1 int) blas64.General {
	a.Cols = j1 - j0
	if a.Rows > 0 {
		a.Data = a.Data[j0:]
	}
	return a
}

// rows views rows k0 to k1.
func rows(a blas64.General, k0, k1 int) blas64.General {
	a.Rows, a.Data = k1-k0, a.Data[k0*a.Stride:]
	return a
}

// scaleColumns sets dst to a with each column times its own number; nil: to a.
func scaleColumns(dst, a blas64.General, by []float64) {
	for k := range a.Rows {
		from, to := a.Data[k*a.Stride:k*a.Stride+a.Cols], dst.Data[k*dst.Stride:k*dst.Stride+dst.Cols]
		if by == nil {
			copy(to, from)
		} else {
			floats.MulTo(to, from, by)
		}
	}
}

// scaledColumns borrows a copy of columns j0 to j1, each times its own number.
func scaledColumns(a blas64.General, j0, j1 int, by []float64) (out blas64.General, giveBack func()) {
	out, giveBack = borrow(a.Rows, j1-j0)
	if by != nil {
		by = by[j0:j1]
	}
	scaleColumns(out, columns(a, j0, j1), by)
	return out, giveBack
}

// parts is a pool of returned memory.
var parts = sync.Pool{New: func() any { return new([]float64) }}

// borrow returns an uninitialised matrix, valid until giveBack is called. A pool is used because
// many parts are allocated, and the garbage collector may run late.
func borrow(r, c int) (a blas64.General, giveBack func()) {
	data := parts.Get().(*[]float64)
	if size := r * max(1, c); cap(*data) < size {
		*data = linalg.Floats(size)
	}
	a = blas64.General{Rows: r, Cols: c, Stride: max(1, c), Data: (*data)[:r*max(1, c)]}
	return a, func() { parts.Put(data) }
}

// full is a symmetric matrix with both of its triangles.
func full(s blas64.Symmetric) blas64.General {
	a := linalg.NewGeneral(s.N, s.N)
	for i := range s.N {
		copy(a.Data[i*a.Stride+i:(i+1)*a.Stride], s.Data[i*s.Stride+i:i*s.Stride+s.N])
	}
	linalg.Reflect(blas.Lower, a, a)
	return a
}

func copyOf(u blas64.Triangular) blas64.Triangular {
	u.Data = slices.Clone(u.Data)
	return u
}

// leastPivot is the smallest U_ii².
func leastPivot(u blas64.Triangular) float64 {
	least := math.Inf(1)
	for i := range u.N {
		d := u.Data[i*u.Stride+i]
		least = min(least, d*d)
	}
	return least
}
