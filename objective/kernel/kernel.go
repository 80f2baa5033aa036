// Package kernel holds the covariance functions k(x, x'; θ), one file each (GPML chapter 4), and
// their sums and products.
//
// A kernel is an immutable value. It declares its hyperparameters and their starts. Their values
// arrive in theta, the unconstrained vector of package param, in the order of Params. For the
// inputs x_1 … x_n a kernel does two things. Gram fills the matrix K, n×n, of K_ij = k(x_i, x_j;
// θ). Pullback takes the adjoint G = ∂L/∂K of any scalar L, n×n, and adds the gradient by theta to
// a vector, without forming the matrices ∂K/∂θ_p:
//
//	∂L/∂θ_p = Σ_ij G_ij ∂K_ij/∂θ_p
//
// Cross and Diag do the same for new inputs. A kernel knows no approximation, factorises nothing
// and fits nothing. FromFunc makes a kernel of a function of two cases.
//
// Symmetric matrices use the upper triangle only, as mat.SymDense does. Wrong shapes panic. No
// theta gives NaN: natural values are held within 1e±50, and an entry that still overflows is
// infinite, and the factorisation of K then fails.
//
// A new kernel is a file with a type and its line in Table. A kernel of the distance between cases
// needs only the function of that distance (see Stationary). Package kerneltest checks that a
// kernel keeps the promises of this package. Its formula from the literature, for one pair, belongs
// into reference_test.go.
package kernel

import "github.com/gpc-tune/gpc-tune/approx/param"

// Kernel is a covariance function k(x, x') with hyperparameters theta. The functions Gram, Cross,
// Diag and Pullback evaluate it; they check all shapes, so that a kernel need not. A kernel of
// another package goes through the rows of a Block with Rows, First, Row and Weight.
type Kernel interface {
	// Params lists the hyperparameters for inputs with dim columns; theta follows this order.
	Params(dim int) []param.Spec
	// Fill sets every element of dst to the covariance of its pair of cases. Noise is on the
	// diagonal of K(X, X), and nowhere in a whole matrix K(X, Z): no case of Z is a case of X
	// there.
	Fill(dst Block, theta []float64)
	// Pull adds Σ_ij G_ij ∂K_ij/∂θ_p to grad[p], over all pairs of cases that g stands for. own is
	// a block like g that Fill has set at theta, or the zero Block if the caller has none.
	Pull(grad, theta []float64, own, g Block)
	// Memory is the memory, in bytes, that Gram, Pullback and Cross of n cases with dim columns and
	// of m new cases take together. It counts memory kept by Inputs and memory in passing, but not
	// the matrices that these functions are given. Terms of lower order than n², n·m and n·dim are
	// left out.
	Memory(n, m, dim int) int64
}

// words is the memory of n numbers, in bytes.
func words(n int) int64 { return 8 * int64(n) }

// given is own, or k's covariances in a block like g where own is not known.
func given(k Kernel, theta []float64, own, g Block) Block {
	if !own.known() {
		own = g.like()
		k.Fill(own, theta)
	}
	return own
}
