package linalg

import (
	"math"
	"sync"
)

// Blocking of the packed product: rowBlock rows of A and a panel of B, sumBlock steps of the sum
// deep, stay in the second cache, colBlock columns of B in the third. All are multiples of 24, and
// so of every tile. Measured flat from half to twice these sizes; sumBlock decides the order of
// summation, and so the bits.
const (
	sumBlock = 384
	rowBlock = 192
	colBlock = 4104
)

// roundUp returns the size of the blocks when n is cut into as few blocks as limit allows. The size
// is a multiple of 24, except for the last block.
func roundUp(n, limit int) int {
	blocks := max(1, (n+limit-1)/limit)
	return min(limit, max(1, (n+24*blocks-1)/(24*blocks))*24)
}

// form is the pattern of the stored entries of an operand.
type form int

const (
	dense      form = iota
	triangular      // entries (i, p) with p < i are 0; what is stored there is not used
	symmetric       // entries (i, p) with p < i are stored at (p, i)
)

// operand is one factor of a product: entry (i, p) at data[i·rs + p·cs], where p is the index
// summed over. One of rs and cs is 1.
type operand struct {
	data   []float64
	rs, cs int
	form   form
}

func (x operand) same(y operand) bool {
	return &x.data[0] == &y.data[0] && x.rs == y.rs && x.cs == y.cs && x.form == y.form
}

// product is C ← α A diag(w) Bᵀ + β C, where A is m×k, B is n×k and C is m×n, row-major. It is the
// one routine behind every product of matrices: a transpose is a swap of strides.
//
// Every entry is a sum over p in order, in even blocks of at most sumBlock, added up in order: so
// bits do not depend on the rest of the shape, the place in memory or the threads.
type product struct {
	m, n, k int
	alpha   float64
	a       operand
	weights []float64 // w, or nil for ones
	b       operand
	beta    float64
	c       []float64
	ldc     int
	upper   bool      // compute only j ≥ i
	packed  []float64 // B packed already, or nil; k is at most sumBlock then
}

// packs is the memory of one product on one thread.
type packs struct{ a, b []float64 }

var packPool = sync.Pool{New: func() any { return new(packs) }}

func grow(s []float64, n int) []float64 {
	if cap(s) < n {
		return Floats(n)
	}
	return s[:n]
}

func (p product) run() {
	if p.m == 0 || p.n == 0 {
		return
	}
	if !shared(p.m * p.n * max(p.k, 1)) {
		p.block(0, p.m, 0, p.n)
		return
	}
	p.runParallel()
}

func (p product) runParallel() {
	parts := p.cut(0, p.m, 0, p.n)
	Parallel(len(parts), func(job int) { p.part(parts[job]) })
}

// part is a block of C: rows i0 to i1 of columns j0 to j1.
type part struct{ i0, i1, j0, j1 int }

func (p *product) part(c part) { p.block(c.i0, c.i1, c.j0, c.j1) }

// cut cuts a block of C into parts that threads share. Parts begin at multiples of the tile from
// its corner, so that every tile is computed as on one thread. They are about square, because each
// part packs its own rows of A and columns of B. In a triangle the largest parts come first.
func (p *product) cut(i0, i1, j0, j1 int) (parts []part) {
	const height, least = 192, 384
	m, n := i1-i0, j1-j0
	if m <= 0 || n <= 0 {
		return nil
	}
	jobs := perThread * max(1, int(threads.Load()))
	cols := roundUp(n, max(least, int(math.Sqrt(float64(m)*float64(n)/float64(jobs)))/24*24))
	across := (n + cols - 1) / cols
	down := min((m+height-1)/height, (jobs+across-1)/across)
	rows := (m + height*down - 1) / (height * down) * height
	for j := (across-1)*cols + j0; j >= j0; j -= cols {
		for i := i0; i < i1; i += rows {
			c := part{i, min(i1, i+rows), j, min(j1, j+cols)}
			if !p.upper || c.i0 < c.j1 {
				parts = append(parts, c)
			}
		}
	}
	return parts
}

// block computes rows i0 to i1 and columns j0 to j1 of C.
func (p *product) block(i0, i1, j0, j1 int) {
	if _, nr := active.tile(); p.upper {
		j0 = max(j0, i0/nr*nr)
		i1 = min(i1, j1)
	}
	if i0 >= i1 || j0 >= j1 {
		return
	}
	if p.k == 0 || p.beta != 0 && p.beta != 1 {
		p.scale(i0, i1, j0, j1)
	}
	if p.k == 0 {
		return
	}
	ws := packPool.Get().(*packs)
	kb := roundUp(p.k, sumBlock)
	for jc := j0; jc < j1; jc += colBlock {
		for pc := 0; pc < p.k; pc += kb {
			p.step(ws, i0, i1, jc, min(j1, jc+colBlock), pc, min(kb, p.k-pc))
		}
	}
	packPool.Put(ws)
}

// step adds steps pc to pc+kc of the sum to rows i0 to i1, columns jc to j1 of C.
func (p *product) step(ws *packs, i0, i1, jc, j1, pc, kc int) {
	// a triangular operand has nothing in this block of the sum beyond index pc+kc
	if p.b.form == triangular {
		j1 = min(j1, pc+kc)
	}
	if p.a.form == triangular {
		i1 = min(i1, pc+kc)
	}
	if p.upper {
		i1 = min(i1, j1)
	}
	if i1 <= i0 || j1 <= jc {
		return
	}
	mr, nr := active.tile()
	packed, from := p.packed, 0 // packed panels, the first one for column from
	if packed == nil {
		ws.b = grow(ws.b, (j1-jc+nr-1)/nr*nr*kc)
		p.b.pack(ws.b, jc, j1, pc, kc, nr)
		packed, from = ws.b, jc
	}
	square := p.upper && p.weights == nil && p.a.same(p.b) // the panels of B serve as panels of A
	mc := roundUp(i1-i0, rowBlock)
	for ic := i0; ic < i1; ic += mc {
		end := min(i1, ic+mc)
		a, w := packed, nr
		if square && ic >= from {
			a = a[(ic-from)*kc:]
		} else {
			ws.a = grow(ws.a, (end-ic+mr-1)/mr*mr*kc)
			p.a.pack(ws.a, ic, end, pc, kc, mr)
			if p.weights != nil {
				weigh(ws.a, p.weights[pc:pc+kc], mr)
			}
			a, w = ws.a, mr
		}
		p.tiles(a, w, packed[(jc-from)*kc:], ic, end, jc, j1, pc, kc)
	}
}

// tiles adds steps pc to pc+kc of the sum to rows ic to iEnd, columns jc to jEnd, from the packed
// operands. A is packed in panels of w rows, a multiple of a tile's.
func (p *product) tiles(packedA []float64, w int, packedB []float64, ic, iEnd, jc, jEnd, pc, kc int) {
	s := active
	mr, nr := s.tile()
	for j := jc; j < jEnd; j += nr {
		if p.upper && j+nr <= ic {
			continue
		}
		cols := min(nr, p.n-j)
		for i := ic; i < iEnd; i += mr {
			if p.upper && i >= j+nr {
				break
			}
			first := 0 // first step of this tile's sum; before it a triangle has zeros
			if p.a.form == triangular {
				first = i
			}
			if p.b.form == triangular {
				first = max(first, j)
			}
			if first >= pc+kc {
				continue
			}
			add := p.beta != 0 || pc > first
			skip := max(0, first-pc)
			within := (i - ic) % w
			a, b := packedA[(i-ic-within)*kc+within+skip*w:], packedB[(j-jc)*kc+skip*nr:]
			rows := min(mr, p.m-i)
			from := -mr // all columns exist
			if p.upper {
				from = max(from, i-j)
			}
			c := p.c[i*p.ldc+j:]
			if rows == mr && cols == nr && from <= 1-mr {
				s.multiply(kc-skip, a, w, b, nr, c, p.ldc, p.alpha, add)
			} else {
				s.multiplyEdge(kc-skip, a, w, b, nr, c, p.ldc, p.alpha, add, rows, from, cols)
			}
		}
	}
}

// scale computes C ← β C, zeros for β = 0 whatever C holds.
func (p *product) scale(i0, i1, j0, j1 int) {
	for i := i0; i < i1; i++ {
		from := j0
		if p.upper {
			from = max(from, i)
		}
		if from >= j1 {
			continue
		}
		scale(p.beta, p.c[i*p.ldc+from:i*p.ldc+j1])
	}
}

// scale computes y ← β y, zeros for β = 0 whatever y holds.
func scale(beta float64, y []float64) {
	switch beta {
	case 0:
		clear(y)
	case 1:
	default:
		for i := range y {
			y[i] *= beta
		}
	}
}

// pack copies rows i0 to i1, columns p0 to p0+k, into panels of w rows each, stored column by
// column. The last panel is completed with zeros.
func (x operand) pack(dst []float64, i0, i1, p0, k, w int) {
	for i := i0; i < i1; i += w {
		x.packPanel(dst[(i-i0)*k:], i, min(w, i1-i), p0, k, w)
	}
}

// packPanel copies the r×k block at (i, p0) of x to dst, column by column at stride w, completed
// with zeros.
func (x operand) packPanel(dst []float64, i, r, p0, k, w int) {
	if r < w {
		clear(dst[:k*w])
	}
	left := 0 // columns left of the block's diagonal; not needed of a triangle
	if x.form != dense {
		left = min(max(i-p0, 0), k)
	}
	if x.form == symmetric {
		operand{data: x.data, rs: x.cs, cs: x.rs}.copy(dst, i, r, p0, left, w)
	}
	x.copy(dst[left*w:], i, r, p0+left, k-left, w)
	for p := max(i, p0); x.form != dense && p < min(i+r, p0+k); p++ {
		below := dst[(p-p0)*w+p-i+1 : (p-p0)*w+r]
		if x.form == triangular {
			clear(below)
		} else {
			for q := range below {
				below[q] = x.data[p*x.rs+(p+1+q)*x.cs]
			}
		}
	}
}

// copy writes the r×k block at (i, p) of x to dst, column by column at stride w.
func (x operand) copy(dst []float64, i, r, p, k, w int) {
	if k == 0 {
		return
	}
	src := x.data[i*x.rs+p*x.cs:]
	if x.rs == 1 {
		active.copy(k, r, src, x.cs, dst, w)
	} else {
		active.transpose(r, k, src, x.rs, dst, w)
	}
}

// weigh multiplies column p of every packed panel by weights[p].
func weigh(packed, weights []float64, w int) {
	for len(packed) > 0 {
		for _, v := range weights {
			for q := range packed[:w] {
				packed[q] *= v
			}
			packed = packed[w:]
		}
	}
}
