package linalg

import "sync"

// blockLimit bounds the blocks of the factorisations and triangular solves. A block fits the second
// cache.
const blockLimit = sumBlock

// triangle is an upper triangle U packed to solve Uᵀ X = B, forwards, or U X = B, backwards, in
// tiles of mr rows of X.
//
// Solved backwards a tile has its rows in reverse, so that both ways its own triangle L is lower:
// row r of its mr×mr tile holds 1/L[r][r] at column r and L[q][r] at columns q > r. The last tile
// is completed by rows of the identity. The strip of a tile holds the coefficients of the unknowns
// known before it, mr to each.
type triangle struct {
	n             int
	backwards     bool
	strips, tiles []float64
}

// solver is the memory of one triangular solve or factorisation on one thread.
type solver struct {
	triangle
	panels []float64
	copy   []float64
}

var solverPool = sync.Pool{New: func() any { return new(solver) }}

// pack packs the n×n triangle u.
func (t *triangle) pack(n int, u []float64, ldu int, backwards bool) {
	s := active
	mr, _ := s.tile()
	tiles := (n + mr - 1) / mr
	t.n, t.backwards = n, backwards
	t.strips = grow(t.strips, tiles*mr*n)
	t.tiles = grow(t.tiles, tiles*mr*mr)
	clear(t.tiles)
	position := func(r int) int {
		if backwards {
			return mr - 1 - r
		}
		return r
	}
	for i := 0; i < n; i += mr {
		rows := min(mr, n-i)
		strip, tile := t.strips[i*n:], t.tiles[i*mr:]
		switch left := n - i - mr; {
		case !backwards:
			if rows < mr {
				clear(strip[:i*mr])
			}
			s.copy(i, rows, u[i:], ldu, strip, mr)
		case left > 0:
			s.transpose(mr, left, u[i*ldu+i+mr:], ldu, strip, mr)
		}
		for r := range mr {
			tile[position(r)*(mr+1)] = 1
			if r < rows {
				tile[position(r)*(mr+1)] = 1 / u[(i+r)*(ldu+1)]
			}
			for q := r + 1; q < rows; q++ {
				v := u[(i+r)*ldu+i+q]
				if backwards {
					tile[position(q)*mr+position(r)] = v
				} else {
					tile[r*mr+q] = v
				}
			}
		}
	}
}

// solve replaces a panel of nr right-hand sides by the unknowns. The panel is row-major and padded
// with zero rows to whole tiles. Forwards, its first rows, a number of whole tiles, may be passed
// over if they are zero.
func (t *triangle) solve(panel []float64, first int) {
	s := active
	mr, nr := s.tile()
	tile := func(i int) []float64 { return t.tiles[i*mr:] }
	if !t.backwards {
		for i := first; i < t.n; i += mr {
			if k := i - first; k > 0 {
				s.multiply(k, t.strips[i*t.n+first*mr:], mr, panel[first*nr:], nr, panel[i*nr:], nr, -1, true)
			}
			s.substitute(tile(i), panel, i*nr, nr)
		}
		return
	}
	for i := (t.n - 1) / mr * mr; i >= 0; i -= mr {
		last := i + mr - 1
		if k := t.n - 1 - last; k > 0 {
			s.multiply(k, t.strips[i*t.n:], mr, panel[(last+1)*nr:], nr, panel[i*nr:], nr, -1, true)
		}
		s.substitute(tile(i), panel, last*nr, -nr)
	}
}

// side is the side of the unknown X on which the triangle stands.
type side int

const (
	leftTrans side = iota // Uᵀ X = B
	left                  // U X = B
	right                 // X U = B
)

// solveTriangular computes B ← X for an n×n upper triangle U on the left. B is n×m. It solves for
// one block of unknowns after the other, and subtracts each from the remaining equations.
func solveTriangular(s side, n int, u []float64, ldu, m int, b []float64, ldb int) {
	if n == 0 || m == 0 {
		return
	}
	ws := solverPool.Get().(*solver)
	defer solverPool.Put(ws)
	nb := roundUp(n, blockLimit)
	for done := 0; done < n; done += nb {
		w := min(nb, n-done)
		rest := n - done - w
		i, end := done, done+w
		p := product{k: w, alpha: -1, beta: 1, ldc: ldb}
		switch s {
		case leftTrans:
			ws.solveBlock(s, w, u[i*ldu+i:], ldu, m, b[i*ldb:], ldb)
			if rest > 0 {
				p.m, p.n, p.c = rest, m, b[end*ldb:]
				p.a = operand{data: u[i*ldu+end:], rs: 1, cs: ldu}
				p.b, p.packed = operand{data: b[i*ldb:], rs: 1, cs: ldb}, ws.panels
			}
		case left: // solves from the last unknown to the first
			i = rest
			ws.solveBlock(s, w, u[i*ldu+i:], ldu, m, b[i*ldb:], ldb)
			p.m, p.n, p.c = rest, m, b
			p.a = operand{data: u[i:], rs: ldu, cs: 1}
			p.b, p.packed = operand{data: b[i*ldb:], rs: 1, cs: ldb}, ws.panels
		}
		p.run()
	}
}

// solveBlock computes B ← X for one block, n ≤ blockLimit, a panel of right-hand sides after the
// other. On the left B is n×m, on the right m×n. With the triangle on the left it leaves the
// unknowns in ws.panels too; where n is a multiple of 24 they are packed as a factor of a product.
func (ws *solver) solveBlock(s side, n int, u []float64, ldu, m int, b []float64, ldb int) {
	ws.pack(n, u, ldu, s == left)
	ws.solvePacked(s, m, b, ldb)
}

// solvePacked is solveBlock for the triangle that is packed.
func (ws *solver) solvePacked(s side, m int, b []float64, ldb int) {
	mr, nr := active.tile()
	n := ws.n
	rows, panels := (n+mr-1)/mr*mr, (m+nr-1)/nr
	ws.panels = grow(ws.panels, panels*rows*nr)
	if shared(n * n / 2 * m) {
		ws.solveParallel(s, panels, m, b, ldb)
		return
	}
	for j := range panels {
		place := j
		if s == right {
			place = 0
		}
		ws.solvePanel(s, place, j, m, b, ldb)
	}
}

func (ws *solver) solveParallel(s side, panels, m int, b []float64, ldb int) {
	Parallel(panels, func(j int) { ws.solvePanel(s, j, j, m, b, ldb) })
}

// solvePanel solves for panel j of the right-hand sides, at a place of ws.panels.
func (ws *solver) solvePanel(s side, place, j, m int, b []float64, ldb int) {
	mr, nr := active.tile()
	n, rows := ws.n, (ws.n+mr-1)/mr*mr
	panel, cols := ws.panels[place*rows*nr:(place+1)*rows*nr], min(nr, m-j*nr)
	if cols < nr {
		clear(panel)
	}
	clear(panel[n*nr:])
	if s == right {
		b = b[j*nr*ldb:]
		active.transpose(cols, n, b, ldb, panel, nr)
		ws.solve(panel, 0)
		active.transpose(n, cols, panel, nr, b, ldb)
	} else {
		b = b[j*nr:]
		active.copy(n, cols, b, ldb, panel, nr)
		ws.solve(panel, 0)
		active.copy(n, cols, panel, nr, b, ldb)
	}
}

// invertTriangular replaces an n×n upper triangle U by V = U⁻¹, block column by block column: V₁₂ =
// -(V₁₁ U₁₂) U₂₂⁻¹. In this order |VU - I| stays within n rounding errors of |V||U|, however
// ill-conditioned U is. The blocks on the diagonal, whose copies are kept, come first: they do
// not wait for each other.
func invertTriangular(n int, u []float64, ldu int) {
	if n == 0 {
		return
	}
	nb := roundUp(n, blockLimit)
	ws := packPool.Get().(*packs)
	ws.b = grow(ws.b, (n-1)/nb*nb*nb)
	if copies := ws.b; shared(n * nb * nb / 3) {
		invertDiagonalParallel(n, nb, u, ldu, copies)
	} else {
		for j := 0; j < n; j += nb {
			invertDiagonal(n, nb, j, u, ldu, copies)
		}
	}
	s := solverPool.Get().(*solver)
	for j := nb; j < n; j += nb {
		w := min(nb, n-j)
		ws.a = grow(ws.a, j*w)
		copyBlock(j, w, u[j:], ldu, ws.a, w)
		product{
			m: j, n: w, k: j, alpha: -1,
			a: operand{data: u, rs: ldu, cs: 1, form: triangular},
			b: operand{data: ws.a, rs: 1, cs: w},
			c: u[j:], ldc: ldu,
		}.run()
		s.solveBlock(right, w, ws.b[(j-nb)*nb:], nb, j, u[j:], ldu)
	}
	solverPool.Put(s)
	packPool.Put(ws)
}

// invertDiagonal inverts the block at j on the diagonal, and keeps copies of all but the first.
func invertDiagonal(n, nb, j int, u []float64, ldu int, copies []float64) {
	w, block := min(nb, n-j), u[j*ldu+j:]
	if j > 0 {
		active.copy(w, w, block, ldu, copies[(j-nb)*nb:], nb)
	}
	ws := solverPool.Get().(*solver)
	ws.invert(w, block, ldu)
	solverPool.Put(ws)
}

func invertDiagonalParallel(n, nb int, u []float64, ldu int, copies []float64) {
	Parallel((n+nb-1)/nb, func(block int) { invertDiagonal(n, nb, block*nb, u, ldu, copies) })
}

// copyBlock copies the m×n block src.
func copyBlock(m, n int, src []float64, lds int, dst []float64, ldd int) {
	if shared(64 * m * n) {
		copyBlockParallel(m, n, src, lds, dst, ldd)
		return
	}
	active.copy(m, n, src, lds, dst, ldd)
}

func copyBlockParallel(m, n int, src []float64, lds int, dst []float64, ldd int) {
	const rows = 24
	Parallel((m+rows-1)/rows, func(part int) {
		i := part * rows
		active.copy(min(rows, m-i), n, src[i*lds:], lds, dst[i*ldd:], ldd)
	})
}

// invert is invertTriangular for one block, n ≤ blockLimit: forward substitution in UᵀVᵀ = I.
func (ws *solver) invert(n int, u []float64, ldu int) {
	mr, nr := active.tile()
	ws.pack(n, u, ldu, false)
	ws.panels = grow(ws.panels, (n+mr-1)/mr*mr*nr)
	for j := 0; j < n; j += nr {
		clear(ws.panels[j*nr:])
		cols := min(nr, n-j)
		for q := range cols {
			ws.panels[(j+q)*nr+q] = 1
		}
		ws.solve(ws.panels, j)
		for q := range cols { // the diagonal tile, and then the tiles to its right
			row := u[(j+q)*ldu : (j+q)*ldu+n]
			for i := j + q; i < min(n, j+nr); i++ {
				row[i] = ws.panels[i*nr+q]
			}
		}
		if right := j + nr; right < n {
			active.transpose(n-right, cols, ws.panels[right*nr:], nr, u[j*ldu+right:], ldu)
		}
	}
}

// squareTriangular replaces the upper triangle V by the upper triangle of V Vᵀ, block row by block
// row from the top: each needs the rows below it and a copy of itself.
func squareTriangular(n int, v []float64, ldv int) {
	ws := solverPool.Get().(*solver)
	nb := roundUp(n, blockLimit)
	i := 0
	for ; i+nb < n; i += nb {
		ld, rest, row := n-i, n-i-nb, v[i*ldv+i:]
		ws.copy = grow(ws.copy, nb*ld)
		copyBlock(nb, ld, row, ldv, ws.copy, ld)
		diagonal := operand{data: ws.copy, rs: ld, cs: 1, form: triangular}
		right := operand{data: ws.copy[nb:], rs: ld, cs: 1}
		own := product{m: nb, n: nb, k: nb, alpha: 1, a: diagonal, b: diagonal, c: row, ldc: ldv, upper: true}
		add := product{m: nb, n: nb, k: rest, alpha: 1, a: right, b: right, beta: 1, c: row, ldc: ldv, upper: true}
		after := product{
			m: nb, n: rest, k: rest, alpha: 1, a: right,
			b: operand{data: v[(i+nb)*ldv+i+nb:], rs: ldv, cs: 1, form: triangular},
			c: row[nb:], ldc: ldv,
		}
		if shared(nb * rest * rest / 2) {
			squareParallel(own, add, after)
			continue
		}
		own.block(0, nb, 0, nb)
		add.block(0, nb, 0, nb)
		after.run()
	}
	if i < n {
		w, last := n-i, operand{data: v[i*ldv+i:], rs: ldv, cs: 1, form: triangular}
		own := product{m: w, n: w, k: w, alpha: 1, a: last, b: last, c: last.data, ldc: ldv, upper: true}
		own.block(0, w, 0, w) // in place: the whole block is packed before any of it is overwritten
	}
	solverPool.Put(ws)
}

// squareParallel computes the three products of a block row. The block on the diagonal is own plus
// add. after is the rest of the row.
func squareParallel(own, add, after product) {
	const strip = 48
	strips, parts := (own.m+strip-1)/strip, after.cut(0, after.m, 0, after.n)
	Parallel(strips+len(parts), func(job int) {
		if job < strips {
			i, end := job*strip, min(own.m, (job+1)*strip)
			own.block(i, end, 0, own.n)
			add.block(i, end, 0, own.n)
		} else {
			after.part(parts[job-strips])
		}
	})
}
