package kernel

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/objective/param"
)

// Polynomial is the inhomogeneous polynomial kernel k(x, x') = σ² (1 + x·x'/d)^p over d input columns
// [GPML section 4.2.2]. The degree p is structure, not a hyperparameter. theta is ln σ.
type Polynomial struct {
	Degree    uint          `yaml:"degree" within:"[1,1000]"` // 0: the default of 2
	Amplitude param.Setting `yaml:"amplitude"`
}

// Settings lists the hyperparameters.
func (k Polynomial) Settings() []Setting { return []Setting{amplitude(k.Amplitude)} }

// Params implements Kernel.
func (k Polynomial) Params(dim int) []param.Spec { return specs(dim, k.Settings()...) }

// at is k of the inner product p over dim columns.
func (k Polynomial) at(variance, p float64, dim int) float64 {
	degree := k.Degree
	if degree == 0 {
		degree = 2
	}
	t := 1 + p/float64(dim)
	for ; degree > 0; degree >>= 1 {
		if degree&1 == 1 {
			variance *= t
		}
		t *= t
	}
	return variance
}

func (k Polynomial) fill(dst block, theta []float64, x, z *Inputs) {
	checkLen("theta", len(theta), 1)
	x.inner(dst, z)
	v := variance(theta[0])
	for i := range dst.rows {
		row := dst.row(i)
		for j, p := range row {
			row[j] = k.at(v, p, x.Dim())
		}
	}
}

func (k Polynomial) pull(grad, theta []float64, x, z *Inputs, own, g block) {
	checkLen("theta", len(theta), 1)
	checkLen("grad", len(grad), 1)
	if own.data == nil {
		own = g.like()
		k.fill(own, theta, x, z)
	}
	grad[0] += 2 * g.total(own)
}

// Memory implements Kernel: the inner products.
func (k Polynomial) Memory(n, m, dim int) int64 { return words(n * n) }

// Gram implements Kernel.
func (k Polynomial) Gram(dst *mat.SymDense, theta []float64, x *Inputs) {
	k.fill(triangle(dst, x), theta, x, nil)
}

// Cross implements Kernel.
func (k Polynomial) Cross(dst *mat.Dense, theta []float64, x, z *Inputs) {
	k.fill(full(dst, x, z), theta, x, z)
}

// Diag implements Kernel.
func (k Polynomial) Diag(dst, theta []float64, z *Inputs) {
	checkLen("theta", len(theta), 1)
	checkLen("dst", len(dst), z.N())
	v := variance(theta[0])
	for j, p := range squaredNorms(z.X.RawMatrix()) {
		dst[j] = k.at(v, p, z.Dim())
	}
}

// Pullback implements Kernel.
func (k Polynomial) Pullback(grad, theta []float64, x *Inputs, own, g *mat.SymDense) {
	k.pull(grad, theta, x, nil, triangle(own, x), triangle(g, x))
}

// PullbackCross implements Kernel.
func (k Polynomial) PullbackCross(grad, theta []float64, x, z *Inputs, g *mat.Dense) {
	k.pull(grad, theta, x, z, block{}, full(g, x, z))
}

// PullbackDiag implements Kernel.
func (k Polynomial) PullbackDiag(grad, theta []float64, z *Inputs, g []float64) {
	diag := make([]float64, z.N())
	k.Diag(diag, theta, z)
	checkLen("grad", len(grad), 1)
	checkLen("g", len(g), z.N())
	grad[0] += 2 * floats.Dot(g, diag)
}
