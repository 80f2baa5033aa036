package kernel

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/objective/param"
)

// Constant is the kernel k(x, x') = σ² [GPML table 4.1], an unknown offset of the latent function. theta is ln σ.
type Constant struct {
	Amplitude param.Setting `yaml:"amplitude"`
}

// Settings lists the hyperparameters.
func (k Constant) Settings() []Setting { return []Setting{amplitude(k.Amplitude)} }

// Params implements Kernel.
func (k Constant) Params(dim int) []param.Spec { return specs(dim, k.Settings()...) }

func (k Constant) fill(dst block, theta []float64) {
	checkLen("theta", len(theta), 1)
	v := variance(theta[0])
	for i := range dst.rows {
		row := dst.row(i)
		for j := range row {
			row[j] = v
		}
	}
}

func (k Constant) pull(grad, theta []float64, g block) {
	checkLen("theta", len(theta), 1)
	checkLen("grad", len(grad), 1)
	rows, _ := g.sums()
	grad[0] += 2 * variance(theta[0]) * floats.Sum(rows)
}

// Memory implements Kernel: nothing.
func (k Constant) Memory(n, m, dim int) int64 { return 0 }

// Gram implements Kernel.
func (k Constant) Gram(dst *mat.SymDense, theta []float64, x *Inputs) {
	k.fill(triangle(dst, x), theta)
}

// Cross implements Kernel.
func (k Constant) Cross(dst *mat.Dense, theta []float64, x, z *Inputs) {
	k.fill(full(dst, x, z), theta)
}

// Diag implements Kernel.
func (k Constant) Diag(dst, theta []float64, z *Inputs) {
	checkLen("theta", len(theta), 1)
	fillDiag(dst, theta[0], z)
}

// Pullback implements Kernel.
func (k Constant) Pullback(grad, theta []float64, x *Inputs, _, g *mat.SymDense) {
	k.pull(grad, theta, triangle(g, x))
}

// PullbackCross implements Kernel.
func (k Constant) PullbackCross(grad, theta []float64, x, z *Inputs, g *mat.Dense) {
	k.pull(grad, theta, full(g, x, z))
}

// PullbackDiag implements Kernel.
func (k Constant) PullbackDiag(grad, theta []float64, z *Inputs, g []float64) {
	checkLen("theta", len(theta), 1)
	checkLen("grad", len(grad), 1)
	pullDiag(grad, theta[0], z, g)
}
