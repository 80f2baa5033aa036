package kernel

import (
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/objective/param"
)

// Noise is the kernel k(x_i, x_j) = σ² δ_ij of white noise, δ_ij = 1 for the same row of the same set: equal rows of
// inputs do not share their noise, and a test case has its own. So it is on the diagonal of Gram, in Diag, and nothing
// in Cross. theta is ln σ.
type Noise struct {
	Amplitude param.Setting `yaml:"amplitude"`
}

// Settings lists the hyperparameters.
func (k Noise) Settings() []Setting { return []Setting{amplitude(k.Amplitude)} }

// Params implements Kernel.
func (k Noise) Params(dim int) []param.Spec { return specs(dim, k.Settings()...) }

// Memory implements Kernel: nothing.
func (k Noise) Memory(n, m, dim int) int64 { return 0 }

// Gram implements Kernel.
func (k Noise) Gram(dst *mat.SymDense, theta []float64, x *Inputs) {
	b := triangle(dst, x)
	for i := range b.rows {
		clear(b.row(i))
	}
	k.addGram(b, theta)
}

// addGram adds the Gram matrix to dst in O(n).
func (k Noise) addGram(dst block, theta []float64) {
	checkLen("theta", len(theta), 1)
	v := variance(theta[0])
	for i := range dst.rows {
		dst.row(i)[0] += v
	}
}

// Cross implements Kernel.
func (k Noise) Cross(dst *mat.Dense, theta []float64, x, z *Inputs) {
	checkLen("theta", len(theta), 1)
	full(dst, x, z)
	dst.Zero()
}

// Diag implements Kernel.
func (k Noise) Diag(dst, theta []float64, z *Inputs) {
	checkLen("theta", len(theta), 1)
	fillDiag(dst, theta[0], z)
}

// Pullback implements Kernel.
func (k Noise) Pullback(grad, theta []float64, x *Inputs, _, g *mat.SymDense) {
	checkLen("theta", len(theta), 1)
	checkLen("grad", len(grad), 1)
	b, v := triangle(g, x), variance(theta[0])
	for i := range b.rows {
		grad[0] += 2 * v * b.row(i)[0]
	}
}

// PullbackCross implements Kernel: nothing depends on σ.
func (k Noise) PullbackCross(_, theta []float64, x, z *Inputs, g *mat.Dense) {
	checkLen("theta", len(theta), 1)
	full(g, x, z)
}

// PullbackDiag implements Kernel.
func (k Noise) PullbackDiag(grad, theta []float64, z *Inputs, g []float64) {
	checkLen("theta", len(theta), 1)
	checkLen("grad", len(grad), 1)
	pullDiag(grad, theta[0], z, g)
}
