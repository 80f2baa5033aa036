// Package kernel holds the covariance functions, one file each.
//
// A kernel is an immutable value that holds structure only (which hyperparameters it has, where they start); the
// numbers arrive in theta, the unconstrained vector of package param, in the order of Params. A kernel never meets an
// approximation: it hands out covariance matrices and turns the adjoint G = ∂L/∂K of any scalar L back into a gradient
// over theta, dL/dθ_j = Σ_ij G_ij ∂K_ij/∂θ_j, without forming ∂K/∂θ_j. It factorises nothing and fits nothing.
//
// Symmetric matrices use the upper triangle only, as mat.SymDense does. Wrong shapes panic. No theta gives NaN: natural
// values are held within 1e±50, and an entry that still overflows is infinite, which the factorisation that follows
// reports.
//
// A new kernel is a file with a type and its line in Table; one of the distance between cases needs only the function
// of that distance (see Stationary). Package kerneltest checks it against what this package promises, and a pairwise
// formula from the literature goes beside the others in reference_test.go.
package kernel

import (
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/objective/param"
)

// Kernel is a covariance function k(x, x') with hyperparameters theta.
type Kernel interface {
	// Params lists the hyperparameters for inputs with dim columns; theta follows this order.
	Params(dim int) []param.Spec
	// Gram sets dst to K(X, X), n×n.
	Gram(dst *mat.SymDense, theta []float64, x *Inputs)
	// Cross sets dst to K(X, Z), n×m, where no case of Z is a case of X (so noise contributes nothing).
	Cross(dst *mat.Dense, theta []float64, x, z *Inputs)
	// Diag sets dst[j] to k(z_j, z_j), noise included.
	Diag(dst, theta []float64, z *Inputs)
	// Pullback adds Σ_ij G_ij ∂K_ij/∂θ_p over all i and j (G symmetric) to grad[p]. k is this kernel's own Gram matrix at
	// theta, or nil if the caller does not have it.
	Pullback(grad, theta []float64, x *Inputs, k, g *mat.SymDense)
	// PullbackCross adds Σ_ij G_ij ∂K(X, Z)_ij/∂θ_p to grad[p].
	PullbackCross(grad, theta []float64, x, z *Inputs, g *mat.Dense)
	// PullbackDiag adds Σ_j g_j ∂k(z_j, z_j)/∂θ_p to grad[p].
	PullbackDiag(grad, theta []float64, z *Inputs, g []float64)
	// Memory is how many bytes Gram, Pullback and Cross of n cases with dim columns and of m new ones take together, beside
	// the matrices that they are given, in Inputs and in passing, but for what grows with neither n² nor n·m nor n·dim.
	Memory(n, m, dim int) int64
}

// words is the memory of so many numbers, in bytes.
func words(n int) int64 { return 8 * int64(n) }
