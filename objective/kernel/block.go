package kernel

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// Block holds one number for each of some pairs of cases, a covariance or an adjoint, in rows. It
// has one of three shapes: the upper triangle of a symmetric matrix over X, whose row i starts at
// its diagonal element; a whole matrix of X against Z; or the diagonal of a matrix of X against Z,
// which may be X, whose row i is its one element. Code that goes through the rows serves all three.
// The zero Block is no matrix.
type Block struct {
	X, Z *Inputs // cases of the rows and columns; Z is X in a symmetric matrix

	shape  shape
	apart  bool // a pair of a diagonal is two different cases, perhaps with equal inputs
	stride int  // number of elements from one row of the matrix to the next
	data   []float64
}

type shape int

const (
	whole shape = iota
	upper
	diagonal
)

// upperOf views s as the triangle over x, which must have as many cases.
func upperOf(s *mat.SymDense, x *Inputs) Block {
	raw := s.RawSymmetric()
	if raw.N != x.N() {
		panic(fmt.Sprintf("kernel: symmetric matrix of order %d, want %d", raw.N, x.N()))
	}
	return Block{X: x, Z: x, shape: upper, stride: raw.Stride, data: raw.Data}
}

// wholeOf views d, which must have a row for every case of x and a column for every case of z.
func wholeOf(d *mat.Dense, x, z *Inputs) Block {
	raw := d.RawMatrix()
	if raw.Rows != x.N() || raw.Cols != z.N() {
		panic(fmt.Sprintf("kernel: %d×%d matrix, want %d×%d", raw.Rows, raw.Cols, x.N(), z.N()))
	}
	return Block{X: x, Z: z, stride: raw.Stride, data: raw.Data}
}

// pairsOf views d, which has an element for every case of x and the case of z of the same index.
func pairsOf(d []float64, x, z *Inputs) Block {
	checkLen("pairs", len(d), x.N())
	checkLen("the other cases of pairs", z.N(), x.N())
	return Block{X: x, Z: z, shape: diagonal, apart: true, stride: 1, data: d}
}

// diagonalOf views d, which must have an element for every case of x; what names it.
func diagonalOf(what string, d []float64, x *Inputs) Block {
	checkLen(what, len(d), x.N())
	return Block{X: x, Z: x, shape: diagonal, stride: 1, data: d}
}

// noisy reports whether the first element of a row is the variance of a case, which includes noise.
func (b Block) noisy() bool { return b.shape != whole && !b.apart }

// known reports whether b is not the zero Block.
func (b Block) known() bool { return b.data != nil }

// Rows is the number of rows.
func (b Block) Rows() int { return b.X.N() }

// First is the column of the first element of row i: its case is First(i) of Z, and so on.
func (b Block) First(i int) int {
	if b.shape == whole {
		return 0
	}
	return i
}

// Row is row i from its first element on, to read and to write.
func (b Block) Row(i int) []float64 {
	switch at := i * b.stride; b.shape {
	case upper:
		return b.data[at+i : at+b.Z.N()]
	case diagonal:
		return b.data[at : at+1]
	default:
		return b.data[at : at+b.Z.N()]
	}
}

// Weight is the factor of element j of a row in a sum over all pairs: 2 in a triangle, which stands
// for a symmetric matrix, except for the diagonal element 0; else 1.
func (b Block) Weight(j int) float64 {
	if b.shape == upper && j > 0 {
		return 2
	}
	return 1
}

// like is a new block of zeros for the same pairs.
func (b Block) like() Block {
	b.stride = b.Z.N()
	size := b.Rows() * b.stride
	if b.shape == diagonal {
		b.stride, size = 1, b.Rows()
	}
	b.data = linalg.Floats(size)
	return b
}

// diagonal views the diagonal of a block that has one.
func (b Block) diagonal() Block {
	if b.shape == upper {
		b.shape, b.stride = diagonal, b.stride+1
	}
	return b
}

// sides returns f of X and f of Z.
func (b Block) sides(f func(*Inputs) blas64.General) (x, z blas64.General) {
	x = f(b.X)
	if b.Z == b.X {
		return x, x
	}
	return x, f(b.Z)
}

// each calls f with each row; threads share the rows.
func (b Block) each(f func(i int, row []float64)) {
	linalg.Rows(b.Rows(), func(i0, i1 int) {
		for i := i0; i < i1; i++ {
			f(i, b.Row(i))
		}
	})
}

// zip calls f with each row of b and the same row of c, as each does.
func (b Block) zip(c Block, f func(b, c []float64)) {
	b.each(func(i int, row []float64) { f(row, c.Row(i)) })
}

// set copies c, for the same pairs, to b.
func (b Block) set(c Block) { b.zip(c, func(b, c []float64) { copy(b, c) }) }

// total is Σ_ij b_ij c_ij.
func (b Block) total(c Block) float64 {
	sum := []float64{0}
	linalg.SumRows(b.Rows(), sum, func(sum []float64, i0, i1 int) {
		for i := i0; i < i1; i++ {
			bi, ci := b.Row(i), c.Row(i)
			sum[0] += b.Weight(1) * floats.Dot(bi, ci)
			if b.shape == upper {
				sum[0] -= bi[0] * ci[0]
			}
		}
	})
	return sum[0]
}

// sums returns the row sums and the column sums; for a symmetric matrix both are the same slice.
func (b Block) sums() (rows, cols []float64) {
	rows = make([]float64, b.Rows())
	ones := slices.Repeat([]float64{1}, max(b.Rows(), b.Z.N()))
	switch b.shape {
	case upper:
		linalg.Symv(1, b.symmetric(), ones, 0, rows)
	case diagonal:
		for i := range rows {
			rows[i] = b.Row(i)[0]
		}
	default:
		cols = make([]float64, b.Z.N())
		linalg.Gemv(blas.NoTrans, 1, b.general(), ones[:b.Z.N()], 0, rows)
		linalg.Gemv(blas.Trans, 1, b.general(), ones[:b.Rows()], 0, cols)
		return rows, cols
	}
	return rows, rows
}

// outer sets b to alpha·A·Cᵀ. C is A where Z is X.
func (b Block) outer(alpha float64, a, c blas64.General) {
	switch b.shape {
	case upper:
		linalg.Syrk(blas.NoTrans, alpha, a, 0, b.symmetric())
	case diagonal:
		for i := range b.Rows() {
			b.Row(i)[0] = alpha * floats.Dot(generalRow(a, i), generalRow(c, i))
		}
	default:
		linalg.Gemm(blas.NoTrans, blas.Trans, alpha, a, c, 0, b.general())
	}
}

// inner sets b to a_i·c_j. The diagonal of a symmetric matrix is squaredNorm to the last bit.
func (b Block) inner(a, c blas64.General) {
	b.outer(1, a, c)
	if b.shape == upper {
		b.diagonal().outer(1, a, a)
	}
}

// times is B·C, or Bᵀ·C.
func (b Block) times(t blas.Transpose, c blas64.General) blas64.General {
	rows := b.Rows()
	if t == blas.Trans {
		rows = b.Z.N()
	}
	dst := linalg.NewGeneral(rows, c.Cols)
	switch b.shape {
	case upper:
		linalg.Symm(1, b.symmetric(), c, 0, dst)
	case diagonal:
		for i := range dst.Rows {
			floats.ScaleTo(generalRow(dst, i), b.Row(i)[0], generalRow(c, i))
		}
	default:
		linalg.Gemm(t, blas.NoTrans, 1, b.general(), c, 0, dst)
	}
	return dst
}

func (b Block) symmetric() blas64.Symmetric {
	return blas64.Symmetric{Uplo: blas.Upper, N: b.Rows(), Stride: b.stride, Data: b.data}
}

func (b Block) general() blas64.General {
	return blas64.General{Rows: b.Rows(), Cols: b.Z.N(), Stride: b.stride, Data: b.data}
}

func squaredNorm(row []float64) float64 { return floats.Dot(row, row) }

// checkLen panics unless the length of the thing named what is as wanted.
func checkLen(what string, got, want int) {
	if got != want {
		panic(fmt.Sprintf("kernel: len(%s) = %d, want %d", what, got, want))
	}
}
