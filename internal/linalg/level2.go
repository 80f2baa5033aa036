package linalg

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
)

// addProduct computes y ← y + α A x for an m×n row-major A, four rows at a time.
func addProduct(m, n int, alpha float64, a []float64, lda int, x, y []float64) {
	if n == 0 {
		return
	}
	s := active
	var dot [4]float64
	i := 0
	for ; i+4 <= m; i += 4 {
		s.dot(a[i*lda:], lda, x, &dot)
		for r, d := range dot {
			y[i+r] += alpha * d
		}
	}
	for ; i < m; i++ {
		s.dot(a[i*lda:], 0, x, &dot) // one row, four times over
		y[i] += alpha * dot[0]
	}
}

// addTransposed computes y ← y + α Aᵀ x for an m×n row-major A, four rows at a time.
func addTransposed(m, n int, alpha float64, a []float64, lda int, x, y []float64) {
	if n == 0 {
		return
	}
	s := active
	var w [4]float64
	i := 0
	for ; i+4 <= m; i += 4 {
		for r := range w {
			w[r] = alpha * x[i+r]
		}
		s.axpy(a[i*lda:], lda, y, &w)
	}
	for ; i < m; i++ {
		w := alpha * x[i]
		for j, v := range a[i*lda : i*lda+n] {
			y[j] += w * v
		}
	}
}

// symv computes y ← y + α A x, or what rows i0 to i1 of the upper triangle contribute to it, for a
// symmetric A and each of m vectors, at strides ldx and ldy. It takes eight rows of A at a time:
// the diagonal tile, filled in, and then the entries to its right, each of which serves twice while
// it is at hand, and in chunks that stay so for all vectors. (A step of a whole vector keeps every
// load of y on the bounds of an earlier store.)
func symv(i0, i1, n int, alpha float64, a []float64, lda, m int, x []float64, ldx int, y []float64, ldy int) {
	const step, chunk = 8, 256
	s := active
	var w, dot [4]float64
	var tile [step * step]float64
	for i := i0; i < i1; i += step {
		end := min(i+step, i1)
		for r := range end - i {
			row := a[(i+r)*lda+i : (i+r)*lda+end]
			for c := r; c < len(row); c++ {
				tile[r*step+c], tile[c*step+r] = row[c], row[c]
			}
		}
		for v := range m {
			addProduct(end-i, end-i, alpha, tile[:], step, x[v*ldx+i:v*ldx+end], y[v*ldy+i:v*ldy+end])
		}
		for from := end; from < n; from += chunk {
			to := min(from+chunk, n)
			for v := range m {
				x, y := x[v*ldx:v*ldx+n], y[v*ldy:v*ldy+n]
				for h := i; h < end; h += 4 {
					for r := range w {
						w[r] = alpha * x[h+r]
					}
					s.symv(a[h*lda+from:], lda, x[from:to], y[from:to], &w, &dot)
					for r, d := range dot {
						y[h+r] += alpha * d
					}
				}
			}
		}
	}
}

// symvRows is symv for the rows of X and Y. Threads share a large A in parts of as many entries, as
// many parts for any number of threads, each with its own sum.
func symvRows(alpha float64, a blas64.Symmetric, x, y blas64.General) {
	n, m := a.N, x.Rows
	parts := 2 * (n / 1024)
	if parts == 0 {
		symv(0, n, n, alpha, a.Data, a.Stride, m, x.Data, x.Stride, y.Data, y.Stride)
		return
	}
	ws := packPool.Get().(*packs)
	ws.a = grow(ws.a, parts*m*n)
	clear(ws.a)
	Parallel(parts, func(part int) {
		row := func(p int) int { // the first of part p: of the triangle, p/parts lie above
			return int(float64(n)*(1-math.Sqrt(1-float64(p)/float64(parts)))) / 24 * 24
		}
		end := n
		if part+1 < parts {
			end = row(part + 1)
		}
		symv(row(part), end, n, alpha, a.Data, a.Stride, m, x.Data, x.Stride, ws.a[part*m*n:], n)
	})
	for part := range parts {
		for r := range m {
			sum := y.Data[r*y.Stride : r*y.Stride+n]
			for j, v := range ws.a[(part*m+r)*n : (part*m+r+1)*n] {
				sum[j] += v
			}
		}
	}
	packPool.Put(ws)
}

// solveVector computes x ← op(U)⁻¹ x for an n×n upper triangle, a few unknowns at a time.
func solveVector(trans bool, n int, u []float64, ldu int, x []float64) {
	const block = 24
	if !trans {
		for end := n; end > 0; end -= block {
			i := max(0, end-block)
			if end < n {
				addProduct(end-i, n-end, -1, u[i*ldu+end:], ldu, x[end:], x[i:end])
			}
			for c := end - 1; c >= i; c-- {
				x[c] /= u[c*ldu+c]
				for r := i; r < c; r++ { // these do not wait for each other
					x[r] -= u[r*ldu+c] * x[c]
				}
			}
		}
		return
	}
	for i := 0; i < n; i += block {
		end := min(n, i+block)
		for r := i; r < end; r++ {
			x[r] /= u[r*ldu+r]
			for c := r + 1; c < end; c++ {
				x[c] -= u[r*ldu+c] * x[r]
			}
		}
		if end < n {
			addTransposed(end-i, n-end, -1, u[i*ldu+end:], ldu, x[i:end], x[end:])
		}
	}
}
