// Package linalg is the one door to dense linear algebra: factorisations, triangular solves, symmetric products.
//
// Matrices are row-major raw slices in gonum's blas64 structs. A symmetric matrix is stored in its upper triangle, as in
// mat.SymDense, and its Cholesky factor is the upper triangle U with A = UᵀU, so that GPML's L is Uᵀ. Wrong shapes panic
// (in gonum's BLAS); a matrix that is not positive definite, or holds NaN, is reported by a false result.
// Results do not depend on the number of threads.
package linalg

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// NewSym returns an n×n symmetric matrix of zeros, upper storage.
func NewSym(n int) blas64.Symmetric {
	return blas64.Symmetric{Uplo: blas.Upper, N: n, Stride: max(1, n), Data: make([]float64, n*n)}
}

// NewGeneral returns an r×c matrix of zeros.
func NewGeneral(r, c int) blas64.General {
	return blas64.General{Rows: r, Cols: c, Stride: max(1, c), Data: make([]float64, r*c)}
}

// Vector views x as a BLAS vector of increment 1.
func Vector(x []float64) blas64.Vector { return blas64.Vector{N: len(x), Data: x, Inc: 1} }

// Cholesky factorises A = UᵀU in place. ok is false, and A's contents are spoilt, if A is not positive definite or
// not finite.
func Cholesky(a blas64.Symmetric) (u blas64.Triangular, ok bool) {
	u, ok = lapack64.Potrf(a)
	if !ok {
		return u, false
	}
	for i := range a.N {
		if d := a.Data[i*a.Stride+i]; math.IsNaN(d) || math.IsInf(d, 0) {
			return u, false
		}
	}
	return u, true
}

// LogDet returns ½ log|A| = Σ log Uᵢᵢ of a Cholesky factor.
func LogDet(u blas64.Triangular) float64 {
	sum := 0.0
	for i := range u.N {
		sum += math.Log(u.Data[i*u.Stride+i])
	}
	return sum
}

// SolveTri computes B ← op(U)⁻¹ B for an upper-triangular U; t is blas.NoTrans or blas.Trans. U is n×n, B is n×m.
func SolveTri(t blas.Transpose, u blas64.Triangular, b blas64.General) {
	blas64.Trsm(blas.Left, t, 1, u, b)
}

// SolveTriVec computes x ← op(U)⁻¹ x.
func SolveTriVec(t blas.Transpose, u blas64.Triangular, x []float64) {
	blas64.Trsv(t, u, Vector(x))
}

// InverseTri replaces an upper-triangular U with U⁻¹. Diagonal entries must not be zero.
func InverseTri(u blas64.Triangular) { lapack64.Trtri(u) }

// InverseCholesky replaces the factor U with the upper triangle of A⁻¹ = (UᵀU)⁻¹ in the same memory.
func InverseCholesky(u blas64.Triangular) blas64.Symmetric {
	a := blas64.Symmetric{Uplo: blas.Upper, N: u.N, Stride: u.Stride, Data: u.Data}
	lapack64.Potri(u)
	return a
}

// Gemm computes C ← α op(A) op(B) + β C.
func Gemm(tA, tB blas.Transpose, alpha float64, a, b blas64.General, beta float64, c blas64.General) {
	blas64.Gemm(tA, tB, alpha, a, b, beta, c)
}

// Syrk computes the upper triangle of C ← α A Aᵀ + β C (blas.NoTrans) or α Aᵀ A + β C (blas.Trans).
func Syrk(t blas.Transpose, alpha float64, a blas64.General, beta float64, c blas64.Symmetric) {
	blas64.Syrk(t, alpha, a, beta, c)
}

// Symm computes C ← α A B + β C for symmetric A.
func Symm(alpha float64, a blas64.Symmetric, b blas64.General, beta float64, c blas64.General) {
	blas64.Symm(blas.Left, alpha, a, b, beta, c)
}

// Symv computes y ← α A x + β y for symmetric A.
func Symv(alpha float64, a blas64.Symmetric, x []float64, beta float64, y []float64) {
	blas64.Symv(alpha, a, Vector(x), beta, Vector(y))
}

// Gemv computes y ← α op(A) x + β y.
func Gemv(t blas.Transpose, alpha float64, a blas64.General, x []float64, beta float64, y []float64) {
	blas64.Gemv(t, alpha, a, Vector(x), beta, Vector(y))
}

// Exp computes dst[i] = exp(src[i]); dst and src may be the same slice.
func Exp(dst, src []float64) {
	for i, v := range src {
		dst[i] = math.Exp(v)
	}
}
