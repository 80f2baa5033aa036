package kernel

import (
	"errors"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/objective/param"
)

// Linear is the kernel of a linear latent function, k(x, x') = σ² (b + x·x') with b = 1, or 0 without the bias
// [GPML section 4.2.2], or, with ARD, σ² (b + Σ_k x_k x'_k/l_k²). theta is ln σ, then with ARD ln l of every column.
type Linear struct {
	ARD         bool          `yaml:"ard"`
	Bias        *bool         `yaml:"bias"` // nil: true
	Amplitude   param.Setting `yaml:"amplitude"`
	LengthScale param.Setting `yaml:"length_scale"` // with ARD only
}

// Settings lists the hyperparameters.
func (k Linear) Settings() []Setting {
	all := []Setting{amplitude(k.Amplitude)}
	if k.ARD {
		all = append(all, lengthScale(k.LengthScale, true))
	}
	return all
}

// Params implements Kernel.
func (k Linear) Params(dim int) []param.Spec { return specs(dim, k.Settings()...) }

func (k Linear) checkOptions() error {
	if !k.ARD && k.LengthScale != (param.Setting{}) {
		return errors.New("linear has a length_scale only with ard: true; without it, amplitude is its scale")
	}
	return nil
}

func (k Linear) bias() float64 {
	if k.Bias == nil || *k.Bias {
		return 1
	}
	return 0
}

// check panics unless what, theta or a gradient, has one element for every hyperparameter.
func (k Linear) check(what string, v []float64, dim int) {
	want := 1
	if k.ARD {
		want += dim
	}
	checkLen(what, len(v), want)
}

// rows is the inputs in units of the length scales, as they are without ARD.
func (k Linear) rows(theta []float64, x *Inputs) blas64.General {
	if !k.ARD {
		return x.X.RawMatrix()
	}
	return x.scaledRows(nil, inverses(theta[1:], x.Dim()))
}

func (k Linear) fill(dst block, theta []float64, x, z *Inputs) {
	k.check("theta", theta, x.Dim())
	switch {
	case !k.ARD:
		x.inner(dst, z)
	case z == nil:
		a := k.rows(theta, x)
		innerProducts(dst, a, a)
	default:
		innerProducts(dst, k.rows(theta, x), k.rows(theta, z))
	}
	v, b := variance(theta[0]), k.bias()
	for i := range dst.rows {
		row := dst.row(i)
		for j, p := range row {
			row[j] = v * (b + p)
		}
	}
}

// pull adds 2 Σ G∘K for ln σ and, with a and a' the rows in units of the length scales, -2σ² Σ_ij G_ij a_ik a'_jk for ln l_k.
func (k Linear) pull(grad, theta []float64, x, z *Inputs, own, g block) {
	k.check("theta", theta, x.Dim())
	k.check("grad", grad, x.Dim())
	if own.data == nil {
		own = g.like()
		k.fill(own, theta, x, z)
	}
	grad[0] += 2 * g.total(own)
	if !k.ARD {
		return
	}
	a := k.rows(theta, x)
	b := a
	if z != nil {
		b = k.rows(theta, z)
	}
	addColumns(grad[1:], -2*variance(theta[0]), a, g.times(blas.NoTrans, b))
}

// Memory implements Kernel: the inner products or, with ARD, the rows in units of the length scales.
func (k Linear) Memory(n, m, dim int) int64 {
	if !k.ARD {
		return words(n * n)
	}
	return words((4*n + m) * dim)
}

// Gram implements Kernel.
func (k Linear) Gram(dst *mat.SymDense, theta []float64, x *Inputs) {
	k.fill(triangle(dst, x), theta, x, nil)
}

// Cross implements Kernel.
func (k Linear) Cross(dst *mat.Dense, theta []float64, x, z *Inputs) {
	k.fill(full(dst, x, z), theta, x, z)
}

// Diag implements Kernel.
func (k Linear) Diag(dst, theta []float64, z *Inputs) {
	k.check("theta", theta, z.Dim())
	checkLen("dst", len(dst), z.N())
	v, b := variance(theta[0]), k.bias()
	for j, p := range squaredNorms(k.rows(theta, z)) {
		dst[j] = v * (b + p)
	}
}

// Pullback implements Kernel.
func (k Linear) Pullback(grad, theta []float64, x *Inputs, own, g *mat.SymDense) {
	k.pull(grad, theta, x, nil, triangle(own, x), triangle(g, x))
}

// PullbackCross implements Kernel.
func (k Linear) PullbackCross(grad, theta []float64, x, z *Inputs, g *mat.Dense) {
	k.pull(grad, theta, x, z, block{}, full(g, x, z))
}

// PullbackDiag implements Kernel.
func (k Linear) PullbackDiag(grad, theta []float64, z *Inputs, g []float64) {
	diag := make([]float64, z.N())
	k.Diag(diag, theta, z)
	k.check("grad", grad, z.Dim())
	checkLen("g", len(g), z.N())
	grad[0] += 2 * floats.Dot(g, diag)
	if !k.ARD {
		return
	}
	a, v := k.rows(theta, z), variance(theta[0])
	for j, w := range g {
		for c, x := range generalRow(a, j) {
			grad[1+c] -= 2 * v * w * x * x
		}
	}
}
