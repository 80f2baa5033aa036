package sparse

import (
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// Cholesky is a factor of A = Vᵀ diag(r) V + diag(s). r is 1 unless Weigh sets it. With F the
// matrix of a front, which has the blocks F₁₁ of the variables eliminated there, F₁₂ and F₂₂,
//
//	F₁₁ = UᵀU,   W = U⁻ᵀF₁₂
//
// and F₂₂ - WᵀW is added to the matrix of its parent.
type Cholesky struct {
	*Pattern
	v      [][]float64
	r      []float64 // nil: 1 each
	blocks []block
	memory []float64 // the memory of all blocks
	spare  spare
}

// block has the parts of the factor that a front has.
type block struct {
	u blas64.Triangular
	w blas64.General
}

// Cholesky prepares factors of A, given the numbers of the rows of V, in the order of their
// columns. It keeps v.
func (p *Pattern) Cholesky(v [][]float64) *Cholesky {
	if len(v) != len(p.rows) {
		panic("sparse: V has other rows than its pattern")
	}
	return &Cholesky{Pattern: p, v: v, blocks: make([]block, len(p.fronts))}
}

// Weigh sets r, for the next Factor. It keeps r.
func (c *Cholesky) Weigh(r []float64) { c.r = r }

// Factor factors A for this s. ok is false if A is not positive definite. It overwrites the factor
// that c had before.
func (c *Cholesky) Factor(s []float64) (ok bool) {
	if c.memory == nil {
		c.memory = linalg.Floats(c.factor)
	}
	clear(c.memory)
	memory, left := c.memory, make([]blas64.General, len(c.fronts)) // left for the parent
	for k, f := range c.fronts {
		m, pivots := len(f.at), f.pivots
		top, rest := memory[:pivots*m], c.spare.square(m-pivots)
		memory = memory[pivots*m:]
		clear(rest.Data)
		c.assemble(halves{m, pivots, top, rest.Data}, f, s, left)
		own := block{w: blas64.General{Rows: pivots, Cols: m - pivots, Stride: m, Data: top[min(pivots, len(top)):]}}
		if own.u, ok = linalg.Cholesky(blas64.Symmetric{Uplo: blas.Upper, N: pivots, Stride: m, Data: top}); !ok {
			return false
		}
		if m > pivots {
			linalg.SolveTri(blas.Trans, own.u, own.w)
			linalg.Syrk(blas.Trans, -1, own.w, 1,
				blas64.Symmetric{Uplo: blas.Upper, N: rest.Rows, Stride: rest.Stride, Data: rest.Data})
		}
		c.blocks[k], left[k] = own, rest
	}
	return true
}

// halves are the rows of F of order m that are eliminated, and F₂₂; the upper triangle is used.
type halves struct {
	m, pivots int
	top, rest []float64
}

// row returns numbers of row i of F, and the column of the first of them.
func (h halves) row(i int) (numbers []float64, first int) {
	if i < h.pivots {
		return h.top[i*h.m : (i+1)*h.m], 0
	}
	size := h.m - h.pivots
	i -= h.pivots
	return h.rest[i*size : (i+1)*size], h.pivots
}

// assemble adds to F the rows of V that belong to a front, s, and what its children left. It gives
// their memory back.
func (c *Cholesky) assemble(to halves, f front, s []float64, left []blas64.General) {
	for r, places := range f.columns {
		v, weight := c.v[f.rows[r]], 1.0
		if c.r != nil {
			weight = c.r[f.rows[r]]
		}
		for a, i := range places {
			x := weight * v[a]
			for b, j := range places[:a+1] {
				row, first := to.row(min(i, j))
				row[max(i, j)-first] += x * v[b]
			}
		}
	}
	for i, x := range f.at[:f.pivots] {
		to.top[i*to.m+i] += s[x]
	}
	for _, child := range f.children {
		up, from := c.fronts[child].up, left[child]
		for a, i := range up {
			row, first := to.row(i)
			numbers := from.Data[a*from.Stride:]
			for b := a; b < len(up); b++ {
				row[up[b]-first] += numbers[b]
			}
		}
		c.spare.give(from)
	}
}

// spare is memory to be used again.
type spare [][]float64

// general returns an uninitialised matrix, in the smallest memory that suffices.
func (s *spare) general(rows, columns int) blas64.General {
	size, best := rows*columns, -1
	for i, data := range *s {
		if cap(data) >= size && (best < 0 || cap(data) < cap((*s)[best])) {
			best = i
		}
	}
	var data []float64
	if best < 0 {
		data = linalg.Floats(size)
	} else {
		data = (*s)[best][:size]
		*s = slices.Delete(*s, best, best+1)
	}
	return blas64.General{Rows: rows, Cols: columns, Stride: max(1, columns), Data: data}
}

func (s *spare) square(n int) blas64.General { return s.general(n, n) }

// give takes memory back.
func (s *spare) give(all ...blas64.General) {
	for _, a := range all {
		if len(a.Data) > 0 {
			*s = append(*s, a.Data)
		}
	}
}

// LogDet is ½ log|A|.
func (c *Cholesky) LogDet() (sum float64) {
	for _, b := range c.blocks {
		sum += linalg.LogDet(b.u)
	}
	return sum
}

// Solve replaces x by A⁻¹x.
func (c *Cholesky) Solve(x []float64) {
	own := make([]float64, c.n)
	for k, b := range c.blocks { // U⁻ᵀ
		at, pivots := c.fronts[k].at, c.fronts[k].pivots
		gather(own, x, at[:pivots])
		linalg.SolveTriVec(blas.Trans, b.u, own[:pivots])
		if len(at) > pivots {
			gather(own[pivots:], x, at[pivots:])
			linalg.Gemv(blas.Trans, -1, b.w, own[:pivots], 1, own[pivots:len(at)])
		}
		scatter(x, own, at)
	}
	for k, b := range slices.Backward(c.blocks) { // U⁻¹
		at, pivots := c.fronts[k].at, c.fronts[k].pivots
		gather(own, x, at)
		if len(at) > pivots {
			linalg.Gemv(blas.NoTrans, -1, b.w, own[pivots:len(at)], 1, own[:pivots])
		}
		linalg.SolveTriVec(blas.NoTrans, b.u, own[:pivots])
		scatter(x, own, at[:pivots])
	}
}

// columnsAtOnce is the number of columns that SolveAll solves together.
const columnsAtOnce = 64

// SolveAll replaces each column of x by A⁻¹ times it. Threads share the columns.
func (c *Cholesky) SolveAll(x blas64.General) {
	linalg.Parallel((x.Cols+columnsAtOnce-1)/columnsAtOnce, func(part int) {
		from := part * columnsAtOnce
		own := x
		own.Cols, own.Data = min(columnsAtOnce, x.Cols-from), x.Data[from:]
		c.solveAll(own)
	})
}

func (c *Cholesky) solveAll(x blas64.General) {
	row := func(a blas64.General, i int) []float64 { return a.Data[i*a.Stride : i*a.Stride+a.Cols] }
	whole := linalg.NewGeneral(c.n, x.Cols)
	take := func(at []int) (own blas64.General) {
		own = whole
		own.Rows = len(at)
		for i, j := range at {
			copy(row(own, i), row(x, j))
		}
		return own
	}
	give := func(own blas64.General, at []int) {
		for i, j := range at {
			copy(row(x, j), row(own, i))
		}
	}
	halves := func(own blas64.General, pivots int) (top, rest blas64.General) {
		top, rest = own, own
		top.Rows, rest.Rows = pivots, own.Rows-pivots
		rest.Data = own.Data[pivots*own.Stride:]
		return top, rest
	}
	for k, b := range c.blocks { // U⁻ᵀ
		at := c.fronts[k].at
		own := take(at)
		top, rest := halves(own, c.fronts[k].pivots)
		linalg.SolveTri(blas.Trans, b.u, top)
		if rest.Rows > 0 {
			linalg.Gemm(blas.Trans, blas.NoTrans, -1, b.w, top, 1, rest)
		}
		give(own, at)
	}
	for k, b := range slices.Backward(c.blocks) { // U⁻¹
		own, pivots := take(c.fronts[k].at), c.fronts[k].pivots
		top, rest := halves(own, pivots)
		if rest.Rows > 0 {
			linalg.Gemm(blas.NoTrans, blas.NoTrans, -1, b.w, rest, 1, top)
		}
		linalg.SolveTri(blas.NoTrans, b.u, top)
		give(top, c.fronts[k].at[:pivots])
	}
}

func gather(dst, x []float64, at []int) {
	for i, j := range at {
		dst[i] = x[j]
	}
}

func scatter(dst, x []float64, at []int) {
	for i, j := range at {
		dst[j] = x[i]
	}
}

// Square is xᵀA⁻¹x for an x that is 0 except at some variables.
func (c *Cholesky) Square(variables []int, x []float64) (square float64) {
	values := map[int][]float64{} // parts of x in the fronts on the way to the root
	var way []int
	for _, v := range variables {
		for k := c.front[v]; k >= 0 && values[k] == nil; k = c.fronts[k].parent {
			values[k] = make([]float64, len(c.fronts[k].at))
			way = append(way, k)
		}
	}
	slices.Sort(way)
	for i, v := range variables {
		k := c.front[v]
		values[k][slices.Index(c.fronts[k].at, v)] += x[i]
	}
	for _, k := range way {
		f, b, own := c.fronts[k], c.blocks[k], values[k]
		pivots := own[:f.pivots]
		linalg.SolveTriVec(blas.Trans, b.u, pivots)
		square += floats.Dot(pivots, pivots)
		if f.parent >= 0 {
			rest := own[f.pivots:]
			linalg.Gemv(blas.Trans, -1, b.w, pivots, 1, rest)
			parent := values[f.parent]
			for i, j := range f.up {
				parent[j] += rest[i]
			}
		}
	}
	return square
}

// Grams are the matrices XᵀA⁻¹X for groups of this many columns of X. Every column is 0 except at
// some variables. With differences the mean of the columns of A^-½ X of a group is subtracted from
// each.
func (c *Cholesky) Grams(group int, variables [][]int, x [][]float64, differences bool) []blas64.Symmetric {
	columns := len(x)
	values := map[int]blas64.General{} // parts of X in the fronts on the way to the root
	var way []int
	for col, of := range variables {
		for i, v := range of {
			for k := c.front[v]; k >= 0 && values[k].Data == nil; k = c.fronts[k].parent {
				values[k] = linalg.NewGeneral(len(c.fronts[k].at), columns)
				way = append(way, k)
			}
			k := c.front[v]
			values[k].Data[slices.Index(c.fronts[k].at, v)*columns+col] += x[col][i]
		}
	}
	slices.Sort(way)
	sums := make([]blas64.Symmetric, columns/group)
	for i := range sums {
		sums[i] = linalg.NewSym(group)
	}
	for _, k := range way {
		f, b, own := c.fronts[k], c.blocks[k], values[k]
		top, rest := own, own
		top.Rows, rest.Rows = f.pivots, own.Rows-f.pivots
		rest.Data = own.Data[f.pivots*columns:]
		linalg.SolveTri(blas.Trans, b.u, top)
		if f.parent >= 0 {
			linalg.Gemm(blas.Trans, blas.NoTrans, -1, b.w, top, 1, rest)
			parent := values[f.parent]
			for i, j := range f.up {
				floats.Add(parent.Data[j*columns:(j+1)*columns], rest.Data[i*columns:(i+1)*columns])
			}
		}
		for i := range top.Rows {
			for g, sum := range sums {
				addSquare(sum, top.Data[i*columns+g*group:i*columns+(g+1)*group], differences)
			}
		}
		delete(values, k)
	}
	return sums
}

// addSquare adds x xᵀ to sum. With differences it subtracts the mean from x first.
func addSquare(sum blas64.Symmetric, x []float64, differences bool) {
	mean := 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for a := range x {
		if differences {
			x[a] -= mean
		}
		for b, w := range x[:a+1] {
			sum.Data[b*sum.Stride+a] += x[a] * w
		}
	}
}

// Entries are numbers of a symmetric matrix M of the order of A.
type Entries struct {
	Diagonal []float64
	// Products has for row v of V the entries of M v in the columns of v.
	Products [][]float64
}

// Inverse returns entries of A⁻¹ and, unless gamma is nil, of A⁻¹ diag(gamma) A⁻¹.
func (c *Cholesky) Inverse(gamma []float64) (inverse, product Entries) { return c.inverse(gamma, nil) }

// InverseByRows returns entries of A⁻¹ and, unless rows is nil, of A⁻¹ Vᵀ diag(rows) V A⁻¹.
func (c *Cholesky) InverseByRows(rows []float64) (inverse, product Entries) {
	return c.inverse(nil, rows)
}

// inverse returns entries of A⁻¹ and, unless gamma and rows are nil, of A⁻¹ΓA⁻¹ for the matrix
// Γ = diag(gamma) + Vᵀ diag(rows) V.
//
// Let R = F₁₁⁻¹F₁₂ and let Σ₂₂ be the block of A⁻¹ that the parent has. Then
//
//	Σ₁₂ = -R Σ₂₂,   Σ₁₁ = F₁₁⁻¹ - Σ₁₂Rᵀ
//
// A⁻¹ΓA⁻¹ is minus the derivative of A⁻¹ for a change Γ of A. With dF the derivative of F, whose
// blocks go up the tree as F's do, X = dF₁₂ - ½ dF₁₁R, and dΣ₂₂ of the parent,
//
//	dF₂₂ - RᵀX - XᵀR goes to the parent,   dR = F₁₁⁻¹(dF₁₂ - dF₁₁R)
//	dΣ₁₂ = -dR Σ₂₂ - R dΣ₂₂,   dΣ₁₁ = -F₁₁⁻¹dF₁₁F₁₁⁻¹ - dΣ₁₂Rᵀ - Σ₁₂dRᵀ
func (c *Cholesky) inverse(gamma, rows []float64) (inverse, product Entries) {
	inverse = c.newEntries()
	var changes []change
	changed := gamma != nil || rows != nil
	if changed {
		product, changes = c.newEntries(), c.changes(gamma, rows)
	}
	sigma, dSigma := make([]blas64.General, len(c.fronts)), make([]blas64.General, len(c.fronts))
	waiting := make([]int, len(c.fronts)) // children that need a front's matrix
	for k, f := range slices.Backward(c.fronts) {
		m, pivots := len(f.at), f.pivots
		r, inverted := c.ratio(k), c.inverted(k)
		s := c.spare.square(m)
		s11, s12, s22 := blocks(s, pivots)
		set(s11, inverted)
		if m > pivots {
			pick(s22, sigma[f.parent], f.up)
			linalg.Gemm(blas.NoTrans, blas.NoTrans, -1, r, s22, 0, s12)
			linalg.Gemm(blas.NoTrans, blas.Trans, -1, s12, r, 1, s11)
		}
		mirror(s, pivots)
		sigma[k], waiting[k] = s, len(f.children)
		c.read(inverse, k, s, 1)
		if changed {
			d, own := c.spare.square(m), changes[k]
			d11, d12, d22 := blocks(d, pivots)
			half := c.spare.square(pivots)
			linalg.Gemm(blas.NoTrans, blas.NoTrans, 1, inverted, own.f11, 0, half)
			linalg.Gemm(blas.NoTrans, blas.NoTrans, -1, half, inverted, 0, d11)
			if m > pivots {
				pick(d22, dSigma[f.parent], f.up)
				linalg.Gemm(blas.NoTrans, blas.NoTrans, -1, own.r, s22, 0, d12)
				linalg.Gemm(blas.NoTrans, blas.NoTrans, -1, r, d22, 1, d12)
				linalg.Gemm(blas.NoTrans, blas.Trans, -1, d12, r, 1, d11)
				linalg.Gemm(blas.NoTrans, blas.Trans, -1, s12, own.r, 1, d11)
			}
			mirror(d, pivots)
			dSigma[k] = d
			c.read(product, k, d, -1)
			c.spare.give(half, own.f11, own.r)
		}
		c.spare.give(r, inverted)
		if len(f.children) == 0 {
			c.spare.give(sigma[k], dSigma[k])
		}
		if f.parent >= 0 {
			if waiting[f.parent]--; waiting[f.parent] == 0 {
				c.spare.give(sigma[f.parent], dSigma[f.parent])
			}
		}
	}
	return inverse, product
}

func (c *Cholesky) newEntries() Entries {
	e := Entries{Diagonal: make([]float64, c.n), Products: make([][]float64, len(c.rows))}
	for r, row := range c.rows {
		e.Products[r] = make([]float64, len(row))
	}
	return e
}

// read takes the entries that belong to a front from its matrix, times sign.
func (c *Cholesky) read(e Entries, k int, s blas64.General, sign float64) {
	f := c.fronts[k]
	for i, x := range f.at[:f.pivots] {
		e.Diagonal[x] = sign * s.Data[i*s.Stride+i]
	}
	for r, places := range f.columns {
		v, dst := c.v[f.rows[r]], e.Products[f.rows[r]]
		for a, i := range places {
			row, sum := s.Data[i*s.Stride:], 0.0
			for b, j := range places {
				sum += row[j] * v[b]
			}
			dst[a] = sign * sum
		}
	}
}

// ratio is R of a front.
func (c *Cholesky) ratio(k int) blas64.General {
	w := c.blocks[k].w
	r := c.spare.general(w.Rows, w.Cols)
	if w.Cols > 0 {
		set(r, w)
		linalg.SolveTri(blas.NoTrans, c.blocks[k].u, r)
	}
	return r
}

// inverted is F₁₁⁻¹ of a front, both triangles.
func (c *Cholesky) inverted(k int) blas64.General {
	u := c.blocks[k].u
	a := c.spare.square(u.N)
	for i := range u.N {
		copy(a.Data[i*u.N+i:(i+1)*u.N], u.Data[i*u.Stride+i:i*u.Stride+u.N])
	}
	linalg.InverseCholesky(blas64.Triangular{Uplo: blas.Upper, Diag: blas.NonUnit, N: u.N, Stride: u.N, Data: a.Data})
	linalg.Reflect(blas.Lower, a, a)
	return a
}

// change has dF₁₁ and dR of a front.
type change struct{ f11, r blas64.General }

// changes are the changes of all fronts for the change diag(gamma) + Vᵀ diag(rows) V of A.
func (c *Cholesky) changes(gamma, rows []float64) []change {
	all, left := make([]change, len(c.fronts)), make([]blas64.General, len(c.fronts))
	for k, f := range c.fronts {
		m, pivots := len(f.at), f.pivots
		d := c.spare.square(m)
		clear(d.Data)
		if gamma != nil {
			for i, x := range f.at[:pivots] {
				d.Data[i*m+i] = gamma[x]
			}
		}
		if rows != nil {
			c.addRows(d, f, rows)
		}
		for _, child := range f.children {
			up, from := c.fronts[child].up, left[child]
			for a, i := range up {
				to, numbers := d.Data[i*m:(i+1)*m], from.Data[a*from.Stride:]
				for b, j := range up {
					to[j] += numbers[b]
				}
			}
			c.spare.give(from)
		}
		d11, d12, d22 := blocks(d, pivots)
		own := change{c.spare.square(pivots), c.spare.general(pivots, m-pivots)}
		set(own.f11, d11)
		if m > pivots {
			r := c.ratio(k)
			linalg.Gemm(blas.NoTrans, blas.NoTrans, -0.5, d11, r, 1, d12) // X
			set(own.r, d12)
			linalg.Gemm(blas.NoTrans, blas.NoTrans, -0.5, d11, r, 1, own.r)
			linalg.SolveTri(blas.Trans, c.blocks[k].u, own.r)
			linalg.SolveTri(blas.NoTrans, c.blocks[k].u, own.r)
			left[k] = c.spare.square(m - pivots)
			set(left[k], d22)
			linalg.Gemm(blas.Trans, blas.NoTrans, -1, r, d12, 1, left[k])
			linalg.Gemm(blas.Trans, blas.NoTrans, -1, d12, r, 1, left[k])
			c.spare.give(r)
		}
		c.spare.give(d)
		all[k] = own
	}
	return all
}

// addRows adds to the matrix of a front the products of its rows of V, times rows.
func (c *Cholesky) addRows(to blas64.General, f front, rows []float64) {
	for r, places := range f.columns {
		v, weight := c.v[f.rows[r]], rows[f.rows[r]]
		for a, i := range places {
			for b, j := range places {
				to.Data[i*to.Stride+j] += weight * v[a] * v[b]
			}
		}
	}
}

// blocks views the blocks of a matrix whose first block has this many rows.
func blocks(a blas64.General, first int) (a11, a12, a22 blas64.General) {
	view := func(i, j, r, c int) blas64.General {
		return blas64.General{Rows: r, Cols: c, Stride: a.Stride, Data: a.Data[min(i*a.Stride+j, len(a.Data)):]}
	}
	rest := a.Rows - first
	return view(0, 0, first, first), view(0, first, first, rest), view(first, first, rest, rest)
}

func set(dst, a blas64.General) {
	for i := range a.Rows {
		copy(dst.Data[i*dst.Stride:i*dst.Stride+a.Cols], a.Data[i*a.Stride:i*a.Stride+a.Cols])
	}
}

// pick sets dst to the rows and columns at of a.
func pick(dst, a blas64.General, at []int) {
	for i, x := range at {
		gather(dst.Data[i*dst.Stride:], a.Data[x*a.Stride:], at)
	}
}

// mirror completes a symmetric matrix whose block below its first rows is missing.
func mirror(a blas64.General, first int) {
	for i := first; i < a.Rows; i++ {
		for j := range first {
			a.Data[i*a.Stride+j] = a.Data[j*a.Stride+i]
		}
	}
}
