package linalg

import "math"

// factorise replaces the upper triangle of A by its factor U, A = UᵀU, block row by block row. It
// returns false if a pivot is not positive or not finite; every NaN or Inf among the entries
// reaches a pivot.
//
// The next block on the diagonal is factorised, and packed for the solution with it, while the rest
// of the triangle is brought up to date, so that no thread waits for it.
func factorise(n int, a []float64, lda int) bool {
	ws := solverPool.Get().(*solver)
	nb := roundUp(n, blockLimit)
	ok := ws.factorise(min(nb, n), a, lda)
	if nb < n {
		ws.pack(nb, a, lda, false)
	}
	for i := 0; ok && i+nb < n; i += nb {
		end := i + nb
		rest, block := n-end, a[i*lda+end:]
		w := min(nb, rest) // the size of the next block
		ws.solvePacked(leftTrans, rest, block, lda)
		x := operand{data: block, rs: 1, cs: lda}
		p := product{
			m: rest, n: rest, k: nb, alpha: -1, a: x, b: x, packed: ws.panels,
			beta: 1, c: a[end*lda+end:], ldc: lda, upper: true,
		}
		if shared(rest * rest * nb / 2) {
			next := solverPool.Get().(*solver) // p uses the memory of the other
			ok = next.advanceParallel(p, w)
			solverPool.Put(ws)
			ws = next
			continue
		}
		p.block(0, rest, 0, rest)
		ok = ws.factorise(w, p.c, lda)
		ws.pack(w, p.c, lda, false)
	}
	solverPool.Put(ws)
	return ok
}

// advanceParallel runs p, the update of the triangle C below a block row. It also factorises and
// packs the first block of C, w×w.
func (ws *solver) advanceParallel(p product, w int) (ok bool) {
	parts := append([]part{{0, w, 0, w}}, p.cut(0, w, w, p.n)...)
	parts = append(parts, p.cut(w, p.m, w, p.n)...)
	Parallel(len(parts), func(job int) {
		p.part(parts[job])
		if job == 0 {
			ok = ws.factorise(w, p.c, p.ldc)
			ws.pack(w, p.c, p.ldc, false)
		}
	})
	return ok
}

// factorise is the same for one block, n ≤ blockLimit, a tile's row after the other: subtract the
// contributions of the rows above, factorise the diagonal tile, and solve with it for the rest of
// the row.
//
// The block is held in panels of nr columns; panel j has the rows that reach into the triangle.
// Entries below the diagonal are computed as well, but not used.
func (ws *solver) factorise(n int, a []float64, lda int) bool {
	s := active
	mr, nr := s.tile()
	rows, panels := (n+mr-1)/mr*mr, (n+nr-1)/nr
	start := func(j int) int { return nr * nr * j * (j + 1) / 2 }
	ws.panels = grow(ws.panels, start(panels))
	for j := range panels {
		height, cols := min(rows, (j+1)*nr), min(nr, n-j*nr)
		panel := ws.panels[start(j) : start(j)+height*nr]
		if height > n || cols < nr {
			clear(panel)
		}
		s.copy(min(n, height), cols, a[j*nr:], lda, panel, nr)
	}
	var tile [maxMR * maxMR]float64
	var diagonal [maxMR]float64
	for i := 0; i < rows; i += mr {
		own := i / nr
		column := i - own*nr
		strip := ws.panels[start(own)+column:]
		for j := own; j < panels; j++ {
			panel := ws.panels[start(j):]
			c := panel[i*nr:]
			cols := min(nr, n-j*nr)
			switch {
			case i == 0:
			case cols < nr:
				s.multiplyEdge(i, strip, nr, panel, nr, c, nr, -1, true, mr, -mr, cols)
			case j == own && column > 0:
				s.multiplyEdge(i, strip, nr, panel, nr, c, nr, -1, true, mr, column, nr)
			default:
				s.multiply(i, strip, nr, panel, nr, c, nr, -1, true)
			}
			if j == own && !factoriseTile(min(mr, n-i), mr, c[column:], nr, &tile, &diagonal) {
				return false
			}
			s.substitute(tile[:], c, 0, nr)
		}
		for r := range min(mr, n-i) {
			row := ws.panels[start(own)+(i+r)*nr+column:]
			row[r] = diagonal[r]
			copy(row[r+1:mr], tile[r*mr+r+1:(r+1)*mr])
		}
	}
	for j := range panels {
		panel := ws.panels[start(j):]
		above, cols := j*nr, min(nr, n-j*nr)
		s.copy(above, cols, panel, nr, a[above:], lda)
		for r := range cols {
			copy(a[(above+r)*lda+above+r:(above+r)*lda+above+cols], panel[(above+r)*nr+r:])
		}
	}
	return true
}

// factoriseTile factorises the leading n×n block of c, upper triangle, into a tile of substitution
// (see [triangle]) and the diagonal of the factor.
func factoriseTile(n, mr int, c []float64, ldc int, tile *[maxMR * maxMR]float64, diagonal *[maxMR]float64) bool {
	for r := range mr {
		row := tile[r*mr : (r+1)*mr]
		clear(row)
		row[r] = 1
		if r < n {
			copy(row[r:n], c[r*ldc+r:r*ldc+n])
		}
	}
	for r := range n {
		row := tile[r*mr : r*mr+n]
		pivot := row[r]
		if !(pivot > 0 && pivot <= math.MaxFloat64) {
			return false
		}
		diagonal[r] = math.Sqrt(pivot)
		row[r] = 1 / diagonal[r]
		for q := r + 1; q < n; q++ {
			row[q] *= row[r]
		}
		for q := r + 1; q < n; q++ {
			right, below := row[q:], tile[q*mr+q:q*mr+n]
			x := right[0]
			for p, v := range right[:len(below)] { // without bounds checks
				below[p] -= x * v
			}
		}
	}
	return true
}
