package linalg

import "sync"

// blockLimit bounds the blocks of the factorisations and triangular solves. A block fits the second cache.
const blockLimit = sumBlock

// view is a matrix with entry (i, j) at data[origin + i·rs + j·cs]; strides may be negative.
type view struct {
	data           []float64
	origin, rs, cs int
}

// triangle is a lower-triangular matrix L packed for forward substitution in tiles of mr rows.
//
// Strip s holds rows s·mr to (s+1)·mr left of the diagonal tile, column by column, from strips[mr·mr·s(s-1)/2] on.
// tiles[s] describes the diagonal tile: row r holds 1/L[r][r] at column r and L[q][r] at columns q > r.
// The last tile is completed by rows of the identity.
type triangle struct {
	strips, tiles []float64
}

// solver is the memory of one triangular solve or factorisation on one thread.
type solver struct {
	triangle
	panel []float64
	copy  []float64
}

var solverPool = sync.Pool{New: func() any { return new(solver) }}

// pack packs the leading n×n block of l.
func (t *triangle) pack(l view, n int) {
	mr, _ := active.tile()
	tiles := (n + mr - 1) / mr
	t.strips = grow(t.strips, mr*mr*tiles*(tiles-1)/2)
	t.tiles = grow(t.tiles, mr*mr*tiles)
	strips := t.strips
	for s := range tiles {
		rows := min(mr, n-s*mr)
		o := l.origin + s*mr*l.rs
		for range s * mr {
			strip := strips[:mr]
			strips = strips[mr:]
			if l.rs == 1 {
				copy(strip[:rows], l.data[o:])
			} else {
				for q, at := 0, o; q < rows; q++ {
					strip[q] = l.data[at]
					at += l.rs
				}
			}
			clear(strip[rows:])
			o += l.cs
		}
		tile := t.tiles[s*mr*mr : (s+1)*mr*mr]
		clear(tile)
		for r := range mr {
			if r >= rows {
				tile[r*mr+r] = 1
				continue
			}
			tile[r*mr+r] = 1 / l.data[o+r*l.rs]
			for q := r + 1; q < rows; q++ {
				tile[r*mr+q] = l.data[o+q*l.rs]
			}
			o += l.cs
		}
	}
}

// solve computes X ← L⁻¹ X for a panel of nr columns, row-major and padded with zero rows to whole tiles, whose rows
// before tile first are zero.
func (t *triangle) solve(panel []float64, first int) {
	s := active
	mr, nr := s.tile()
	for i := first; i*mr*nr < len(panel); i++ {
		c := panel[i*mr*nr:]
		if i > first {
			strip := t.strips[mr*mr*(i*(i-1)/2+first):]
			s.multiply((i-first)*mr, strip, mr, panel[first*mr*nr:], nr, c, nr, -1, true)
		}
		s.substitute(t.tiles[i*mr*mr:], c, nr)
	}
}

// load copies the r×c block at the top left of v into a row-major panel of nr columns, padded with zeros.
func (v view) load(panel []float64, r, c, nr int) {
	for i := range len(panel) / nr {
		row := panel[i*nr : (i+1)*nr]
		if i >= r {
			clear(row)
			continue
		}
		o := v.origin + i*v.rs
		if v.cs == 1 {
			copy(row[:c], v.data[o:])
		} else {
			for j := range c {
				row[j] = v.data[o]
				o += v.cs
			}
		}
		clear(row[c:])
	}
}

// store copies the r×c block at the top left of a panel to v.
func (v view) store(panel []float64, r, c, nr int) {
	for i := range r {
		row := panel[i*nr : i*nr+c]
		o := v.origin + i*v.rs
		if v.cs == 1 {
			copy(v.data[o:o+c], row)
			continue
		}
		for _, x := range row {
			v.data[o] = x
			o += v.cs
		}
	}
}

// at is the view from entry (i, j) on.
func (v view) at(i, j int) view {
	v.origin += i*v.rs + j*v.cs
	return v
}

// forward computes X ← L⁻¹ X for an n×n lower triangle, n ≤ blockLimit, and n×m X.
func (ws *solver) forward(n int, l view, m int, x view) {
	mr, nr := active.tile()
	ws.pack(l, n)
	ws.panel = grow(ws.panel, (n+mr-1)/mr*mr*nr)
	for j := 0; j < m; j += nr {
		cols := min(nr, m-j)
		x.at(0, j).load(ws.panel, n, cols, nr)
		ws.solve(ws.panel, 0)
		x.at(0, j).store(ws.panel, n, cols, nr)
	}
}

// side says on which side of the unknown X the triangle stands.
type side int

const (
	leftTrans side = iota // Uᵀ X = B
	left                  // U X = B
	right                 // X U = B
)

// solveTriangular computes B ← X for an n×n upper triangle U. B is n×m, on the right m×n.
func solveTriangular(s side, n int, u []float64, ldu, m int, b []float64, ldb int) {
	if n == 0 || m == 0 {
		return
	}
	if threads.Load() > 1 && n*n/2*m >= parallelFlops {
		solveParallel(s, n, u, ldu, m, b, ldb)
		return
	}
	ws := solverPool.Get().(*solver)
	ws.eliminate(s, n, u, ldu, m, b, ldb)
	solverPool.Put(ws)
}

// solveParallel shares the right-hand sides between threads; none of them knows of another.
func solveParallel(s side, n int, u []float64, ldu, m int, b []float64, ldb int) {
	const share = 96
	step := 1
	if s == right {
		step = ldb
	}
	parallel((m+share-1)/share, func(job int) {
		ws := solverPool.Get().(*solver)
		j := job * share
		ws.eliminate(s, n, u, ldu, min(share, m-j), b[j*step:], ldb)
		solverPool.Put(ws)
	})
}

// eliminate is solveTriangular on one thread: one block of unknowns after the other is solved for and subtracted from
// the equations left.
func (ws *solver) eliminate(s side, n int, u []float64, ldu, m int, b []float64, ldb int) {
	subtract := func(m, n, k int, x, y operand, c []float64) {
		p := product{m: m, n: n, k: k, alpha: -1, a: x, b: y, beta: 1, c: c, ldc: ldb}
		p.block(0, m, 0, n)
	}
	nb := even(n, blockLimit)
	for done := 0; done < n; done += nb {
		w := min(nb, n-done)
		rest := n - done - w
		i := done
		if s == left {
			i = rest
		}
		end, last := i+w, i+w-1
		switch s {
		case leftTrans:
			ws.forward(w, view{u, i*ldu + i, 1, ldu}, m, view{b, i * ldb, ldb, 1})
			if rest > 0 {
				subtract(rest, m, w, operand{data: u[i*ldu+end:], rs: 1, cs: ldu}, operand{data: b[i*ldb:], rs: 1, cs: ldb}, b[end*ldb:])
			}
		case left: // upside down this is forward substitution
			ws.forward(w, view{u, last*ldu + last, -ldu, -1}, m, view{b, last * ldb, -ldb, 1})
			subtract(rest, m, w, operand{data: u[i:], rs: ldu, cs: 1}, operand{data: b[i*ldb:], rs: 1, cs: ldb}, b)
		case right: // the transpose of forward substitution
			ws.forward(w, view{u, i*ldu + i, 1, ldu}, m, view{b, i, 1, ldb})
			if rest > 0 {
				subtract(m, rest, w, operand{data: b[i:], rs: ldb, cs: 1}, operand{data: u[i*ldu+end:], rs: 1, cs: ldu}, b[end:])
			}
		}
	}
}

// invertTriangular replaces an n×n upper triangle U by V = U⁻¹, block column by block column: V₁₂ = -(V₁₁ U₁₂) U₂₂⁻¹.
// In this order |VU - I| stays within n rounding errors of |V||U|, however ill-conditioned U is.
func invertTriangular(n int, u []float64, ldu int) {
	ws := solverPool.Get().(*solver)
	nb := even(n, blockLimit)
	for j := 0; j < n; j += nb {
		w := min(nb, n-j)
		if j > 0 {
			ws.copy = grow(ws.copy, j*w)
			copyRows(ws.copy, w, u[j:], ldu, j, w)
			product{
				m: j, n: w, k: j, alpha: -1,
				a: operand{data: u, rs: ldu, cs: 1, form: triangular},
				b: operand{data: ws.copy, rs: 1, cs: w},
				c: u[j:], ldc: ldu,
			}.run()
			solveTriangular(right, w, u[j*ldu+j:], ldu, j, u[j:], ldu)
		}
		ws.invert(w, u[j*ldu+j:], ldu)
	}
	solverPool.Put(ws)
}

// invert is invertTriangular for one block, n ≤ blockLimit: forward substitution in UᵀVᵀ = I.
func (ws *solver) invert(n int, u []float64, ldu int) {
	mr, nr := active.tile()
	ws.pack(view{u, 0, 1, ldu}, n)
	ws.panel = grow(ws.panel, (n+mr-1)/mr*mr*nr)
	for j := 0; j < n; j += nr {
		clear(ws.panel[j*nr:])
		cols := min(nr, n-j)
		for q := range cols {
			ws.panel[(j+q)*nr+q] = 1
		}
		ws.solve(ws.panel, j/mr)
		for q := range cols {
			row := u[(j+q)*ldu : (j+q)*ldu+n]
			for i := j + q; i < n; i++ {
				row[i] = ws.panel[i*nr+q]
			}
		}
	}
}

// squareTriangular replaces the upper triangle V by that of V Vᵀ, block row by block row from the top: each needs the
// rows below it and a copy of itself.
func squareTriangular(n int, v []float64, ldv int) {
	ws := solverPool.Get().(*solver)
	nb := even(n, blockLimit)
	for i := 0; i < n; i += nb {
		w, end := min(nb, n-i), min(n, i+nb)
		ld := n - i
		ws.copy = grow(ws.copy, w*ld)
		copyRows(ws.copy, ld, v[i*ldv+i:], ldv, w, ld)
		own := operand{data: ws.copy, rs: ld, cs: 1}
		diagonal := own
		diagonal.form = triangular
		square := product{m: w, n: w, k: w, alpha: 1, a: diagonal, b: diagonal, c: v[i*ldv+i:], ldc: ldv, upper: true}
		square.run()
		if end == n {
			break
		}
		own.data = own.data[w:]
		square.k, square.a, square.b, square.beta = n-end, own, own, 1
		square.run()
		product{
			m: w, n: n - end, k: n - end, alpha: 1,
			a: own,
			b: operand{data: v[end*ldv+end:], rs: ldv, cs: 1, form: triangular},
			c: v[i*ldv+end:], ldc: ldv,
		}.run()
	}
	solverPool.Put(ws)
}

// copyRows copies r rows of c entries.
func copyRows(dst []float64, ldd int, src []float64, lds, r, c int) {
	for i := range r {
		copy(dst[i*ldd:i*ldd+c], src[i*lds:i*lds+c])
	}
}
