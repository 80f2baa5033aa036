package linalg

import "math"

// solveColumn computes b ← X for one right-hand side, a column at stride ldb, with the triangle on
// the left. Every sum has the order of solveTriangular, so that every bit is the same as when it is
// solved with other columns. U is read once and is not packed.
func solveColumn(s side, n int, u []float64, ldu int, b []float64, ldb int) {
	ws := solverPool.Get().(*solver)
	defer solverPool.Put(ws)
	ws.copy = grow(ws.copy, n)
	x := ws.copy[:n]
	for i := range x {
		x[i] = b[i*ldb]
	}
	c := column{n: n, u: u, ldu: ldu, x: x}
	c.mr, _ = active.tile()
	nb := roundUp(n, blockLimit)
	for done := 0; done < n; done += nb {
		w := min(nb, n-done)
		if s == leftTrans {
			c.forwards(ws, done, done+w)
		} else {
			c.backwards(n-done-w, n-done)
		}
	}
	for i, v := range x {
		b[i*ldb] = v
	}
}

// column is the state of one solveColumn.
type column struct {
	n   int
	u   []float64
	ldu int
	x   []float64
	mr  int // unknowns of a tile
}

// forwards solves Uᵀ x = b for the unknowns i to end, and subtracts their terms from the remaining
// equations.
func (c *column) forwards(ws *solver, i, end int) {
	ws.panels = grow(ws.panels, c.n)
	clear(ws.panels[i:c.n])
	sums := ws.panels[:c.n]
	for t := i; t < end; t += c.mr {
		to := min(t+c.mr, end)
		c.takeSums(t, to, sums)
		c.substitute(t, to, false)
		c.addColumns(t, to, to, end, sums)
	}
	if depth := end - i; shared(vectorCost * depth * (c.n - end)) {
		c.columnsParallel(i, end, sums)
	} else {
		c.addColumns(i, end, end, c.n, sums)
		c.takeSums(end, c.n, sums)
	}
}

func (c column) columnsParallel(i, end int, sums []float64) {
	shareOut(c.n-end, end-i, func(from, to int) {
		c.addColumns(i, end, end+from, end+to, sums)
		c.takeSums(end+from, end+to, sums)
	})
}

// addColumns adds the terms of the unknowns i to end to the sums of columns from … to.
func (c *column) addColumns(i, end, from, to int, sums []float64) {
	addTransposed(end-i, to-from, 1, c.u[i*c.ldu+from:], c.ldu, c.x[i:end], sums[from:to])
}

// takeSums subtracts the sums from equations from … to.
func (c *column) takeSums(from, to int, sums []float64) {
	for j := from; j < to; j++ {
		c.x[j] -= sums[j]
	}
}

// backwards solves U x = b for the unknowns i to end, and subtracts their terms from the remaining
// equations.
func (c *column) backwards(i, end int) {
	for t := i + (end-i-1)/c.mr*c.mr; t >= i; t -= c.mr {
		to := min(t+c.mr, end)
		c.takeRows(t, to, to, end)
		c.substitute(t, to, true)
	}
	if shared(vectorCost * (end - i) * i) {
		c.rowsParallel(i, end)
	} else {
		c.takeRows(0, i, i, end)
	}
}

func (c column) rowsParallel(i, end int) {
	shareOut(i, end-i, func(from, to int) {
		c.takeRows(from, to, i, end)
	})
}

// takeRows subtracts the terms of unknowns from … to from the equations i to end.
func (c *column) takeRows(i, end, from, to int) {
	if from == to {
		return
	}
	for ; i < end; i += c.mr {
		rows := min(c.mr, end-i)
		active.takeOff(rows, c.u[i*c.ldu+from:], c.ldu, c.x[from:to], c.x[i:i+rows])
	}
}

// substitute solves for the unknowns of the tile from i to end.
func (c *column) substitute(i, end int, backwards bool) {
	for k := i; k < end; k++ {
		r := k
		if backwards {
			r = i + end - 1 - k
		}
		v := c.x[r] * (1 / c.u[r*(c.ldu+1)])
		c.x[r] = v
		if backwards {
			for q := i; q < r; q++ {
				c.x[q] = active.lessProduct(c.x[q], c.u[q*c.ldu+r], v)
			}
		} else {
			row := c.u[r*c.ldu : r*c.ldu+end]
			for q := r + 1; q < end; q++ {
				c.x[q] = active.lessProduct(c.x[q], row[q], v)
			}
		}
	}
}

// lessProduct is x - y z, rounded as in the kernels.
func (s simd) lessProduct(x, y, z float64) float64 {
	if s == generic {
		return x - y*z
	}
	return math.FMA(-y, z, x)
}
