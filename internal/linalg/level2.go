package linalg

import (
	"math"
	"runtime"
	"sync/atomic"

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

// symv computes y ← y + α A x for a symmetric A and each of m vectors, at strides ldx and ldy. It
// adds only the contribution of rows i0 to i1 of the upper triangle. It takes eight rows of A at a
// time: the diagonal tile, filled in, and then the entries to its right. Each of these is used
// twice once it is loaded. Chunks of them stay in the cache for all vectors. (With steps of a whole
// vector, every load of y begins where an earlier store did.)
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

// symvRows is symv for the rows of X and Y. Threads share a large A in parts of equally many
// entries. Each part has its own sum, and the number of parts does not depend on the number of
// threads.
func symvRows(alpha float64, a blas64.Symmetric, x, y blas64.General) {
	n, m := a.N, x.Rows
	if n < 2*symvRowsAtOnce {
		symv(0, n, n, alpha, a.Data, a.Stride, m, x.Data, x.Stride, y.Data, y.Stride)
		return
	}
	symvParts(alpha, a, x, y)
}

// symvRowsAtOnce is the average number of rows in a part of symvRows.
const symvRowsAtOnce = 192

func symvParts(alpha float64, a blas64.Symmetric, x, y blas64.General) {
	n, m := a.N, x.Rows
	parts := n / symvRowsAtOnce
	row := func(p int) int { // first row of part p: p/parts of the triangle are above it
		return int(float64(n)*(1-math.Sqrt(1-float64(p)/float64(parts)))) / 24 * 24
	}
	ws := packPool.Get().(*packs)
	ws.a = grow(ws.a, parts*m*n)
	Parallel(parts, func(part int) {
		first, end, sums := row(part), n, ws.a[part*m*n:(part+1)*m*n]
		if part+1 < parts {
			end = row(part + 1)
		}
		for r := range m {
			clear(sums[r*n+first : (r+1)*n])
		}
		symv(first, end, n, alpha, a.Data, a.Stride, m, x.Data, x.Stride, sums, n)
	})
	for part := range parts {
		first := row(part)
		for r := range m {
			sum := y.Data[r*y.Stride+first : r*y.Stride+n]
			for j, v := range ws.a[(part*m+r)*n+first : (part*m+r+1)*n] {
				sum[j] += v
			}
		}
	}
	packPool.Put(ws)
}

// gemv computes y ← y + α op(A) x for an m×n row-major A. Threads share the entries of y.
func gemv(trans bool, m, n int, alpha float64, a []float64, lda int, x, y []float64) {
	switch {
	case m == 0 || n == 0:
	case shared(vectorCost * m * n):
		gemvParallel(trans, m, n, alpha, a, lda, x, y)
	case trans:
		addTransposed(m, n, alpha, a, lda, x, y)
	default:
		addProduct(m, n, alpha, a, lda, x, y)
	}
}

func gemvParallel(trans bool, m, n int, alpha float64, a []float64, lda int, x, y []float64) {
	if trans {
		shareOut(n, m, func(from, to int) { addTransposed(m, to-from, alpha, a[from:], lda, x, y[from:to]) })
	} else {
		shareOut(m, n, func(from, to int) { addProduct(to-from, n, alpha, a[from*lda:], lda, x, y[from:to]) })
	}
}

// addSquares adds to y[j] α times the squared length of column j of A, of m rows, four rows at a
// time.
func addSquares(alpha float64, m int, a []float64, lda int, y []float64) {
	n := len(y)
	if n == 0 {
		return
	}
	row := func(i int) []float64 { return a[i*lda : i*lda+n][:n] }
	i := 0
	for ; i+4 <= m; i += 4 {
		r0, r1, r2, r3 := row(i), row(i+1), row(i+2), row(i+3)
		for j, sum := range y {
			v0, v1, v2, v3 := r0[j], r1[j], r2[j], r3[j]
			y[j] = sum + alpha*v0*v0 + alpha*v1*v1 + alpha*v2*v2 + alpha*v3*v3
		}
	}
	for ; i < m; i++ {
		for j, v := range row(i) {
			y[j] += alpha * v * v
		}
	}
}

// vectorCost is the cost of a multiplication in a product with a vector, which waits for memory.
// The unit is a multiplication in a product of matrices.
const vectorCost = 16

// shareOut divides 0 … count into parts and runs work on each; every item takes depth
// multiplications. The parts begin at multiples of 24.
func shareOut(count, depth int, work func(from, to int)) {
	const enough = 1 << 15 // multiplications: 0.01 ms or so
	step := max(24, (enough/depth+23)/24*24)
	Parallel((count+step-1)/step, func(part int) { work(part*step, min(count, (part+1)*step)) })
}

// solveVector computes x ← op(U)⁻¹ x for an n×n upper triangle, a block of unknowns after the
// other. Threads take the blocks in that order. Each thread subtracts the terms of the earlier
// blocks from its own block as soon as they are known.
func solveVector(trans bool, n int, u []float64, ldu int, x []float64) {
	s := substitution{trans: trans, n: n, u: u, ldu: ldu, x: x}
	if shared(vectorCost * n * n / 2) {
		s.runParallel()
		return
	}
	if trans { // subtract each unknown from all equations left: whole rows of U are read
		solveVectorBlock(true, n, u, ldu, x)
		return
	}
	ws := packPool.Get().(*packs)
	for k := range s.blocks() {
		s.begin(ws, k)
		s.takeOff(ws, k, 0, k)
		s.solve(ws, k)
	}
	packPool.Put(ws)
}

// substitution is the state of one solveVector.
type substitution struct {
	trans bool
	n     int
	u     []float64
	ldu   int
	x     []float64
}

const atOnce = 192 // unknowns of a block

func (s *substitution) blocks() int { return (s.n + atOnce - 1) / atOnce }

// block is the range of the unknowns that are solved for as number k. With U itself the last
// unknowns are solved for first.
func (s *substitution) block(k int) (from, to int) {
	if !s.trans {
		k = s.blocks() - 1 - k
	}
	return k * atOnce, min(s.n, (k+1)*atOnce)
}

func (s substitution) runParallel() {
	var solved atomic.Int32 // number of blocks that are solved for
	Parallel(s.blocks(), func(k int) {
		ws := packPool.Get().(*packs)
		s.begin(ws, k)
		for done := 0; done < k; {
			known := int(solved.Load())
			if known == done {
				runtime.Gosched()
			}
			s.takeOff(ws, k, done, known)
			done = known
		}
		s.solve(ws, k)
		packPool.Put(ws)
		solved.Store(int32(k + 1))
	})
}

// begin makes room for the terms that the blocks before block k subtract from it.
func (s *substitution) begin(ws *packs, k int) {
	if !s.trans {
		ws.a = grow(ws.a, k*atOnce)
		clear(ws.a)
	}
}

// takeOff subtracts the terms of blocks p to q from block k. With U itself the terms are kept in
// ws.a and added up later, so that rows of U are read in the order of memory.
func (s *substitution) takeOff(ws *packs, k, p, q int) {
	const rows = 8
	i, end := s.block(k)
	if s.trans {
		for b := p; b < q; b++ {
			j, to := s.block(b)
			addTransposed(to-j, end-i, -1, s.u[j*s.ldu+i:], s.ldu, s.x[j:to], s.x[i:end])
		}
		return
	}
	for r := 0; r < end-i; r += rows {
		m := min(rows, end-i-r)
		for b := q - 1; b >= p; b-- {
			j, to := s.block(b)
			addProduct(m, to-j, -1, s.u[(i+r)*s.ldu+j:], s.ldu, s.x[j:to], ws.a[b*atOnce+r:b*atOnce+r+m])
		}
	}
}

// solve solves for block k, after all earlier blocks are subtracted.
func (s *substitution) solve(ws *packs, k int) {
	i, end := s.block(k)
	x := s.x[i:end]
	for at := 0; at < k*atOnce && !s.trans; at += atOnce {
		for r := range x {
			x[r] += ws.a[at+r]
		}
	}
	solveVectorBlock(s.trans, end-i, s.u[i*s.ldu+i:], s.ldu, x)
}

// solveVectorBlock is solveVector for one block, a few unknowns at a time.
func solveVectorBlock(trans bool, n int, u []float64, ldu int, x []float64) {
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
			row, left := u[r*ldu+r:r*ldu+end], x[r:end]
			v := left[0] / row[0]
			left[0] = v
			for c := 1; c < len(row) && c < len(left); c++ {
				left[c] -= row[c] * v
			}
		}
		if end < n {
			addTransposed(end-i, n-end, -1, u[i*ldu+end:], ldu, x[i:end], x[end:])
		}
	}
}
