package kernel

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// block is a covariance matrix row by row, so that Gram and Cross are one piece of code: all of an n×m matrix, or the
// upper triangle of a symmetric one, whose row i starts at its diagonal element. The zero block is no matrix.
type block struct {
	rows, cols, stride int
	data               []float64
	upper              bool
}

// newBlock is a block of zeros for K(X, X) (z nil) or K(X, Z).
func newBlock(x, z *Inputs) block {
	b := block{rows: x.N(), upper: z == nil}
	b.cols = b.rows
	if z != nil {
		b.cols = z.N()
	}
	b.stride = b.cols
	b.data = linalg.Floats(b.rows * b.cols)
	return b
}

// triangle views s, n×n for the n cases of x; nil gives the zero block.
func triangle(s *mat.SymDense, x *Inputs) block {
	if s == nil {
		return block{}
	}
	if s.SymmetricDim() != x.N() {
		panic(fmt.Sprintf("kernel: symmetric matrix of order %d, want %d", s.SymmetricDim(), x.N()))
	}
	raw := s.RawSymmetric()
	return block{rows: raw.N, cols: raw.N, stride: raw.Stride, data: raw.Data, upper: true}
}

// full views d, n×m for the n cases of x and the m of z.
func full(d *mat.Dense, x, z *Inputs) block {
	raw := d.RawMatrix()
	if raw.Rows != x.N() || raw.Cols != z.N() {
		panic(fmt.Sprintf("kernel: %d×%d matrix, want %d×%d", raw.Rows, raw.Cols, x.N(), z.N()))
	}
	return block{rows: raw.Rows, cols: raw.Cols, stride: raw.Stride, data: raw.Data}
}

// first is the column of row i's first element.
func (b block) first(i int) int {
	if b.upper {
		return i
	}
	return 0
}

// row is row i from its first element on.
func (b block) row(i int) []float64 {
	return b.data[i*b.stride+b.first(i) : i*b.stride+b.cols]
}

// like is a new block of the same shape.
func (b block) like() block {
	b.stride = b.cols
	b.data = linalg.Floats(b.rows * b.cols)
	return b
}

// set copies c, of the same shape, to b.
func (b block) set(c block) {
	for i := range b.rows {
		copy(b.row(i), c.row(i))
	}
}

// mul sets b to b∘c.
func (b block) mul(c block) {
	for i := range b.rows {
		floats.Mul(b.row(i), c.row(i))
	}
}

// add sets b to b + c.
func (b block) add(c block) {
	for i := range b.rows {
		floats.Add(b.row(i), c.row(i))
	}
}

// count is how often an element off the diagonal counts in a sum over i and j: twice if the triangle stands for a
// symmetric matrix.
func (b block) count() float64 {
	if b.upper {
		return 2
	}
	return 1
}

// total is Σ_ij b_ij c_ij.
func (b block) total(c block) float64 {
	sum := 0.0
	for i := range b.rows {
		bi, ci := b.row(i), c.row(i)
		sum += b.count() * floats.Dot(bi, ci)
		if b.upper {
			sum -= bi[0] * ci[0]
		}
	}
	return sum
}

// sums is the row sums and the column sums, one and the same slice for a symmetric matrix.
func (b block) sums() (rows, cols []float64) {
	rows = make([]float64, b.rows)
	if cols = rows; !b.upper {
		cols = make([]float64, b.cols)
	}
	for i := range rows {
		r := b.row(i)
		rows[i] += floats.Sum(r)
		if b.upper {
			r = r[1:]
			floats.Add(cols[i+1:], r)
		} else {
			floats.Add(cols, r)
		}
	}
	return rows, cols
}

// outer sets b to alpha·A·Cᵀ; for a symmetric matrix C is A.
func (b block) outer(alpha float64, a, c blas64.General) {
	if b.upper {
		linalg.Syrk(blas.NoTrans, alpha, a, 0, b.symmetric())
		return
	}
	linalg.Gemm(blas.NoTrans, blas.Trans, alpha, a, c, 0, b.general())
}

// times is B·C, or Bᵀ·C.
func (b block) times(t blas.Transpose, c blas64.General) blas64.General {
	if b.upper {
		dst := linalg.NewGeneral(b.rows, c.Cols)
		linalg.Symm(1, b.symmetric(), c, 0, dst)
		return dst
	}
	dst := linalg.NewGeneral(b.rows, c.Cols)
	if t == blas.Trans {
		dst = linalg.NewGeneral(b.cols, c.Cols)
	}
	linalg.Gemm(t, blas.NoTrans, 1, b.general(), c, 0, dst)
	return dst
}

func (b block) symmetric() blas64.Symmetric {
	return blas64.Symmetric{Uplo: blas.Upper, N: b.rows, Stride: b.stride, Data: b.data}
}

func (b block) general() blas64.General {
	return blas64.General{Rows: b.rows, Cols: b.cols, Stride: b.stride, Data: b.data}
}

func generalRow(a blas64.General, i int) []float64 {
	return a.Data[i*a.Stride : i*a.Stride+a.Cols]
}

// checkLen panics unless what has the wanted length.
func checkLen(what string, got, want int) {
	if got != want {
		panic(fmt.Sprintf("kernel: len(%s) = %d, want %d", what, got, want))
	}
}
