package kernel

import "gonum.org/v1/gonum/mat"

// Gram sets dst, n×n, to K(X, X).
func Gram(k Kernel, dst *mat.SymDense, theta []float64, x *Inputs) {
	fill(k, upperOf(dst, x), theta)
}

// Cross sets dst, n×m, to K(X, Z), where no case of Z is a case of X (so noise contributes
// nothing).
func Cross(k Kernel, dst *mat.Dense, theta []float64, x, z *Inputs) {
	fill(k, wholeOf(dst, x, z), theta)
}

// Pairs sets dst[i] to k(x_i, z_i), of two cases (so noise contributes nothing).
func Pairs(k Kernel, dst, theta []float64, x, z *Inputs) { fill(k, pairsOf(dst, x, z), theta) }

// Diag sets dst[j] to k(z_j, z_j), noise included.
func Diag(k Kernel, dst, theta []float64, z *Inputs) {
	fill(k, diagonalOf("dst", dst, z), theta)
}

// SmoothDiag sets dst[j] to k(z_j, z_j) without noise: the covariance of two cases with the same
// inputs.
func SmoothDiag(k Kernel, dst, theta []float64, z *Inputs) {
	b := diagonalOf("dst", dst, z)
	b.apart = true
	fill(k, b, theta)
}

// Pullback adds Σ_ij G_ij ∂K(X, X)_ij/∂θ_p over all i and j (G symmetric) to grad[p]. own is k's
// own Gram matrix at theta, or nil if the caller does not have it.
func Pullback(k Kernel, grad, theta []float64, x *Inputs, own, g *mat.SymDense) {
	var known Block
	if own != nil {
		known = upperOf(own, x)
	}
	pull(k, grad, theta, known, upperOf(g, x))
}

// PullbackCross adds Σ_ij G_ij ∂K(X, Z)_ij/∂θ_p to grad[p].
func PullbackCross(k Kernel, grad, theta []float64, x, z *Inputs, g *mat.Dense) {
	pull(k, grad, theta, Block{}, wholeOf(g, x, z))
}

// PullbackPairs adds Σ_i g_i ∂k(x_i, z_i)/∂θ_p to grad[p], as for Pairs. own is k's own numbers at
// theta, or nil if the caller does not have them.
func PullbackPairs(k Kernel, grad, theta []float64, x, z *Inputs, own, g []float64) {
	var known Block
	if own != nil {
		known = pairsOf(own, x, z)
	}
	pull(k, grad, theta, known, pairsOf(g, x, z))
}

// PullbackDiag adds Σ_j g_j ∂k(z_j, z_j)/∂θ_p to grad[p].
func PullbackDiag(k Kernel, grad, theta []float64, z *Inputs, g []float64) {
	pull(k, grad, theta, Block{}, diagonalOf("g", g, z))
}

// PullbackSmoothDiag does the same for k(z_j, z_j) without noise.
func PullbackSmoothDiag(k Kernel, grad, theta []float64, z *Inputs, g []float64) {
	b := diagonalOf("g", g, z)
	b.apart = true
	pull(k, grad, theta, Block{}, b)
}

func fill(k Kernel, dst Block, theta []float64) {
	checkLen("theta", len(theta), count(k, dst.X.Dim()))
	k.Fill(dst, theta)
}

func pull(k Kernel, grad, theta []float64, own, g Block) {
	checkLen("theta", len(theta), count(k, g.X.Dim()))
	checkLen("grad", len(grad), len(theta))
	k.Pull(grad, theta, own, g)
}
