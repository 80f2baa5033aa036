package kernel

import (
	"errors"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/gpc-tune/gpc-tune/approx/param"
)

// Linear is the kernel of a linear latent function, k(x, x') = σ² (b + x·x') with b = 1, or b = 0
// without the bias [GPML section 4.2.2]. With ARD it is σ² (b + Σ_k x_k x'_k/l_k²). theta is ln σ,
// then with ARD ln l of every column.
type Linear struct {
	ARD         bool          `yaml:"ard"`
	Bias        *bool         `yaml:"bias"` // nil: true
	Amplitude   param.Setting `yaml:"amplitude"`
	LengthScale param.Setting `yaml:"length_scale"` // with ARD only
}

func (k Linear) Settings() []Setting {
	all := []Setting{amplitude(k.Amplitude)}
	if k.ARD {
		all = append(all, lengthScale(k.LengthScale, true))
	}
	return all
}

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

// rows returns the inputs on both sides of a block, with ARD in units of the length scales.
func (k Linear) rows(of Block, theta []float64) (a, b blas64.General) {
	inv := inverses(theta[1:], of.X.Dim())
	return of.sides(func(x *Inputs) blas64.General { return x.scaled(nil, inv) })
}

// Memory implements Kernel: the inner products or, with ARD, the rows in units of the length
// scales.
func (k Linear) Memory(n, m, dim int) int64 {
	if !k.ARD {
		return words(n * n)
	}
	return words((4*n + m) * dim)
}

func (k Linear) Fill(dst Block, theta []float64) {
	if k.ARD {
		dst.inner(k.rows(dst, theta))
	} else {
		products(dst)
	}
	v, b := variance(theta[0]), k.bias()
	dst.each(func(_ int, row []float64) {
		for j, p := range row {
			row[j] = v * (b + p)
		}
	})
}

// Pull implements Kernel: 2 Σ G∘K for ln σ and, with a and a' the rows in units of the length
// scales, -2σ² Σ_ij G_ij a_ik a'_jk for ln l_k.
func (k Linear) Pull(grad, theta []float64, own, g Block) {
	grad[0] += 2 * g.total(given(k, theta, own, g))
	if k.ARD {
		a, b := k.rows(g, theta)
		addColumns(grad[1:], -2*variance(theta[0]), a, g.times(blas.NoTrans, b))
	}
}
