// Package linalg is the dense linear algebra of this module: factorisations, triangular solves,
// symmetric products.
//
// Matrices are row-major raw slices in gonum's blas64 structs. A symmetric matrix is stored in its
// upper triangle, as in mat.SymDense, and its Cholesky factor is the upper triangle U with A = UᵀU,
// so that GPML's L is Uᵀ. What is stored below the diagonal is neither used nor changed. Unless a
// function says otherwise, its result may share no memory with its other arguments.
//
// Wrong shapes panic. NaN and ±Inf in the operands reach the results they belong to; β = 0
// overwrites C even where it holds NaN. A matrix that is not positive definite, or not finite, is
// reported by a false result.
//
// The kernels are Go assembly for AVX-512 and for AVX2 with FMA, chosen when the program starts,
// and plain Go elsewhere; the environment variable GPC_TUNE_SIMD (avx512, avx2, generic) forces
// one. The bits of a result depend on that choice alone: not on the number of threads
// ([SetThreads]) or on the place of the operands in memory.
package linalg

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// NewSym returns an n×n symmetric matrix of zeros, upper storage.
func NewSym(n int) blas64.Symmetric {
	return blas64.Symmetric{Uplo: blas.Upper, N: n, Stride: max(1, n), Data: Floats(n * n)}
}

// NewGeneral returns an r×c matrix of zeros.
func NewGeneral(r, c int) blas64.General {
	return blas64.General{Rows: r, Cols: c, Stride: max(1, c), Data: Floats(r * max(1, c))}
}

// Cholesky factorises A = UᵀU in place. ok is false, and A's contents are spoilt, if A is not
// positive definite or not finite.
func Cholesky(a blas64.Symmetric) (u blas64.Triangular, ok bool) {
	checkSymmetric("Cholesky", a)
	u = blas64.Triangular{Uplo: blas.Upper, Diag: blas.NonUnit, N: a.N, Stride: a.Stride, Data: a.Data}
	return u, factorise(a.N, a.Data, a.Stride)
}

// LogDet returns ½ log|A| = Σ log Uᵢᵢ of a Cholesky factor.
func LogDet(u blas64.Triangular) float64 {
	sum := 0.0
	for i := range u.N {
		sum += math.Log(u.Data[i*u.Stride+i])
	}
	return sum
}

// SolveTri computes B ← op(U)⁻¹ B for an upper-triangular U; t is blas.NoTrans or blas.Trans. U is
// n×n, B is n×m. The bits of a column of X do not depend on the other columns or on their number.
func SolveTri(t blas.Transpose, u blas64.Triangular, b blas64.General) {
	checkTriangular("SolveTri", u)
	checkGeneral("SolveTri", b)
	if b.Rows != u.N {
		panic(fmt.Sprintf("linalg: SolveTri: U is %d×%d, B is %d×%d", u.N, u.N, b.Rows, b.Cols))
	}
	s := left
	if transposed("SolveTri", t) {
		s = leftTrans
	}
	if b.Cols == 1 {
		solveColumn(s, u.N, u.Data, u.Stride, b.Data, b.Stride)
		return
	}
	solveTriangular(s, u.N, u.Data, u.Stride, b.Cols, b.Data, b.Stride)
}

// SolveTriVec computes x ← op(U)⁻¹ x.
func SolveTriVec(t blas.Transpose, u blas64.Triangular, x []float64) {
	checkTriangular("SolveTriVec", u)
	checkVector("SolveTriVec", "x", x, u.N)
	solveVector(transposed("SolveTriVec", t), u.N, u.Data, u.Stride, x)
}

// InverseTri replaces an upper-triangular U with U⁻¹. Diagonal entries must not be zero.
func InverseTri(u blas64.Triangular) {
	checkTriangular("InverseTri", u)
	invertTriangular(u.N, u.Data, u.Stride)
}

// SquareTri replaces an upper-triangular V with the upper triangle of V Vᵀ in the same memory: of
// A⁻¹, where V = U⁻¹ and A = UᵀU.
func SquareTri(v blas64.Triangular) blas64.Symmetric {
	checkTriangular("SquareTri", v)
	squareTriangular(v.N, v.Data, v.Stride)
	return blas64.Symmetric{Uplo: blas.Upper, N: v.N, Stride: v.Stride, Data: v.Data}
}

// InverseCholesky replaces the factor U with the upper triangle of A⁻¹ = (UᵀU)⁻¹ in the same
// memory.
func InverseCholesky(u blas64.Triangular) blas64.Symmetric {
	InverseTri(u)
	return SquareTri(u)
}

// Gemm computes C ← α op(A) op(B) + β C.
func Gemm(tA, tB blas.Transpose, alpha float64, a, b blas64.General, beta float64, c blas64.General) {
	m, k, x := factor("Gemm", tA, a)
	l, n, y := factor("Gemm", tB, b)
	y.rs, y.cs = y.cs, y.rs
	checkGeneral("Gemm", c)
	if k != l || m != c.Rows || n != c.Cols {
		panic(fmt.Sprintf("linalg: Gemm: op(A) is %d×%d, op(B) is %d×%d, C is %d×%d", m, k, l, n, c.Rows, c.Cols))
	}
	product{m: m, n: n, k: k, alpha: alpha, a: x, b: y, beta: beta, c: c.Data, ldc: c.Stride}.run()
}

// Syrk computes the upper triangle of C ← α A Aᵀ + β C (blas.NoTrans) or α Aᵀ A + β C (blas.Trans).
func Syrk(t blas.Transpose, alpha float64, a blas64.General, beta float64, c blas64.Symmetric) {
	syrk("Syrk", t, alpha, a, nil, beta, c)
}

// SyrkDiag computes the upper triangle of C ← α A diag(d) Aᵀ + β C (blas.NoTrans) or α Aᵀ diag(d) A
// + β C (blas.Trans). This is an update of any rank with weights of either sign.
func SyrkDiag(t blas.Transpose, alpha float64, a blas64.General, d []float64, beta float64, c blas64.Symmetric) {
	_, k, _ := factor("SyrkDiag", t, a)
	checkVector("SyrkDiag", "d", d, k)
	syrk("SyrkDiag", t, alpha, a, d, beta, c)
}

// syrk is SyrkDiag, or Syrk for a nil d.
func syrk(name string, t blas.Transpose, alpha float64, a blas64.General, d []float64,
	beta float64, c blas64.Symmetric) {
	n, k, x := factor(name, t, a)
	checkSymmetric(name, c)
	if n != c.N {
		panic(fmt.Sprintf("linalg: %s: op(A) is %d×%d, C is %d×%d", name, n, k, c.N, c.N))
	}
	product{
		m: n, n: n, k: k, alpha: alpha, a: x, weights: d, b: x, beta: beta, c: c.Data, ldc: c.Stride, upper: true,
	}.run()
}

// Symm computes C ← α A B + β C for symmetric A.
func Symm(alpha float64, a blas64.Symmetric, b blas64.General, beta float64, c blas64.General) {
	checkSymmetric("Symm", a)
	checkGeneral("Symm", b)
	checkGeneral("Symm", c)
	if b.Rows != a.N || c.Rows != a.N || b.Cols != c.Cols {
		panic(fmt.Sprintf("linalg: Symm: A is %d×%d, B is %d×%d, C is %d×%d", a.N, a.N, b.Rows, b.Cols, c.Rows, c.Cols))
	}
	product{
		m: a.N, n: b.Cols, k: a.N, alpha: alpha,
		a:    operand{data: a.Data, rs: a.Stride, cs: 1, form: symmetric},
		b:    operand{data: b.Data, rs: 1, cs: b.Stride},
		beta: beta, c: c.Data, ldc: c.Stride,
	}.run()
}

// Symv computes y ← α A x + β y for symmetric A.
func Symv(alpha float64, a blas64.Symmetric, x []float64, beta float64, y []float64) {
	checkSymmetric("Symv", a)
	checkVector("Symv", "x", x, a.N)
	checkVector("Symv", "y", y, a.N)
	scale(beta, y)
	symvRows(alpha, a, row(x), row(y))
}

// row views a vector as a matrix of one row.
func row(x []float64) blas64.General {
	return blas64.General{Rows: 1, Cols: len(x), Stride: max(1, len(x)), Data: x}
}

// SymvRows computes y ← α A x + β y for symmetric A, for every row x of X and the same row y of Y.
// A is read from memory once for all rows.
func SymvRows(alpha float64, a blas64.Symmetric, x blas64.General, beta float64, y blas64.General) {
	checkSymmetric("SymvRows", a)
	checkGeneral("SymvRows", x)
	checkGeneral("SymvRows", y)
	if x.Cols != a.N || y.Cols != a.N || x.Rows != y.Rows {
		panic(fmt.Sprintf("linalg: SymvRows: A is %d×%d, X is %d×%d, Y is %d×%d",
			a.N, a.N, x.Rows, x.Cols, y.Rows, y.Cols))
	}
	for r := range y.Rows {
		scale(beta, y.Data[r*y.Stride:r*y.Stride+y.Cols])
	}
	symvRows(alpha, a, x, y)
}

// Reflect sets the entries of the square B below its diagonal (blas.Lower), or above it
// (blas.Upper), to the entries of A on the other side. B may be A.
func Reflect(to blas.Uplo, b, a blas64.General) {
	checkGeneral("Reflect", a)
	checkGeneral("Reflect", b)
	n := a.Rows
	if a.Cols != n || b.Rows != n || b.Cols != n {
		panic(fmt.Sprintf("linalg: Reflect: A is %d×%d, B is %d×%d", a.Rows, a.Cols, b.Rows, b.Cols))
	}
	if to != blas.Lower && to != blas.Upper {
		panic(fmt.Sprintf("linalg: Reflect: side %d", to))
	}
	const block = 64
	Parallel((n+block-1)/block, func(job int) {
		i := job * block
		w := min(block, n-i)
		x, y := a.Data[i*a.Stride:], b.Data[i*b.Stride:] // rows of the block
		if to == blas.Upper {
			active.transpose(w, i, x, a.Stride, b.Data[i:], b.Stride)
		} else {
			active.transpose(i, w, a.Data[i:], a.Stride, y, b.Stride)
		}
		for r := range w {
			for c := range r {
				if to == blas.Upper {
					y[c*b.Stride+i+r] = x[r*a.Stride+i+c]
				} else {
					y[r*b.Stride+i+c] = x[c*a.Stride+i+r]
				}
			}
		}
	})
}

// Gemv computes y ← α op(A) x + β y.
func Gemv(t blas.Transpose, alpha float64, a blas64.General, x []float64, beta float64, y []float64) {
	m, n, _ := factor("Gemv", t, a)
	checkVector("Gemv", "x", x, n)
	checkVector("Gemv", "y", y, m)
	scale(beta, y)
	gemv(transposed("Gemv", t), a.Rows, a.Cols, alpha, a.Data, a.Stride, x, y)
}

// AddSquares adds to dst[j] α times the squared length of column j of A.
func AddSquares(alpha float64, a blas64.General, dst []float64) {
	checkGeneral("AddSquares", a)
	checkVector("AddSquares", "dst", dst, a.Cols)
	addSquares(alpha, a.Rows, a.Data, a.Stride, dst)
}

// Exp computes dst[i] = exp(src[i]) to a relative error of 2⁻⁵²; dst and src may be the same slice,
// but must not overlap otherwise. Results below the least normal number are correct to half a unit
// in the last place of a denormal.
func Exp(dst, src []float64) {
	checkVector("Exp", "dst", dst, len(src))
	active.exp(dst, src)
}

// factor returns the shape of op(A) and A as an operand summed over op(A)'s columns.
func factor(name string, t blas.Transpose, a blas64.General) (rows, cols int, x operand) {
	checkGeneral(name, a)
	if transposed(name, t) {
		return a.Cols, a.Rows, operand{data: a.Data, rs: 1, cs: a.Stride}
	}
	return a.Rows, a.Cols, operand{data: a.Data, rs: a.Stride, cs: 1}
}

func transposed(name string, t blas.Transpose) bool {
	switch t {
	case blas.NoTrans:
		return false
	case blas.Trans, blas.ConjTrans:
		return true
	}
	panic(fmt.Sprintf("linalg: %s: transpose = %d", name, t))
}

func checkVector(name, what string, x []float64, n int) {
	if len(x) != n {
		panic(fmt.Sprintf("linalg: %s: len(%s) = %d, want %d", name, what, len(x), n))
	}
}

func checkGeneral(name string, a blas64.General) {
	checkStorage(name, a.Rows, a.Cols, a.Stride, len(a.Data))
}

func checkSymmetric(name string, a blas64.Symmetric) {
	if a.Uplo != blas.Upper {
		panic(fmt.Sprintf("linalg: %s: a symmetric matrix is not in upper storage", name))
	}
	checkStorage(name, a.N, a.N, a.Stride, len(a.Data))
}

func checkTriangular(name string, u blas64.Triangular) {
	if u.Uplo != blas.Upper || u.Diag != blas.NonUnit {
		panic(fmt.Sprintf("linalg: %s: a triangular matrix is not upper with a diagonal of its own", name))
	}
	checkStorage(name, u.N, u.N, u.Stride, len(u.Data))
}

// checkStorage guards the kernels, which do not check bounds.
func checkStorage(name string, rows, cols, stride, length int) {
	if rows < 0 || cols < 0 || stride < max(1, cols) || rows > 0 && cols > 0 && length < (rows-1)*stride+cols {
		panic(fmt.Sprintf("linalg: %s: %d×%d matrix of stride %d in %d entries", name, rows, cols, stride, length))
	}
}
