package kernel

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/objective/param"
)

// Periodic is the kernel of functions that repeat with period p in every input column, GPML (4.31) with its period of
// 2π stretched to p and, for more than one column, the product over columns:
//
//	k(x, x') = σ² exp(-2 Σ_k sin²(π(x_k - x'_k)/p)/l²)    or, with ARD, l_k in place of l.
//
// Like GPML it maps column k to a circle, u_k = (cos 2πx_k/p, sin 2πx_k/p), where the sum is |u - u'|²/(2l²) and the
// kernel a squared exponential. l is in units of that circle's radius, p in units of the inputs. theta is ln σ,
// ln l (one, or one for every column), ln p; l and p start from the data.
type Periodic struct {
	ARD         bool          `yaml:"ard"`
	Amplitude   param.Setting `yaml:"amplitude"`
	LengthScale param.Setting `yaml:"length_scale"`
	Period      param.Setting `yaml:"period"`
}

// Settings lists the hyperparameters.
func (k Periodic) Settings() []Setting {
	return []Setting{
		amplitude(k.Amplitude),
		lengthScale(k.LengthScale, k.ARD),
		{Name: "period", Default: math.NaN(), Setting: k.Period},
	}
}

// Params implements Kernel.
func (k Periodic) Params(dim int) []param.Spec { return specs(dim, k.Settings()...) }

// check panics unless what, theta or a gradient, has one element for every hyperparameter.
func (k Periodic) check(what string, v []float64, dim int) {
	checkLen(what, len(v), lengths(k.ARD, dim)+2)
}

// turns is (x - shift)/p, the inputs in whole periods, row by row.
func turns(x *Inputs, shift []float64, period float64) blas64.General {
	t := linalg.NewGeneral(x.N(), x.Dim())
	for i := range t.Rows {
		row := generalRow(t, i)
		floats.SubTo(row, x.X.RawRowView(i), shift)
		for k := range row {
			row[k] /= period
		}
	}
	return t
}

// circles maps n×d turns to the circles, n×2d: the cosines, then the sines.
func circles(t blas64.General) *Inputs {
	d := t.Cols
	u := mat.NewDense(t.Rows, 2*d, nil)
	for i := range t.Rows {
		to := u.RawRowView(i)
		for k, v := range generalRow(t, i) {
			to[d+k], to[k] = math.Sincos(2 * math.Pi * v)
		}
	}
	return &Inputs{X: u}
}

// around is the pairs on the circles, in units of the length scales, and the turns of x and of z (nil for a nil z).
func (k Periodic) around(theta []float64, x, z *Inputs) (p *pairs, turned []blas64.General) {
	k.check("theta", theta, x.Dim())
	last := len(theta) - 1
	period := natural(theta[last])
	inv := inverses(theta[1:last], x.Dim())
	inv = append(inv, inv...)
	turned = []blas64.General{turns(x, x.means(), period)}
	u := circles(turned[0])
	if z == nil {
		return newPairs(u, nil, inv), turned
	}
	turned = append(turned, turns(z, x.means(), period))
	return newPairs(u, circles(turned[1]), inv), turned
}

func (k Periodic) fill(dst block, theta []float64, x, z *Inputs) {
	p, _ := k.around(theta, x, z)
	p.squared(dst)
	v := variance(theta[0])
	for i := range dst.rows {
		row := dst.row(i)
		squaredExponential{}.kappa(row, row, 1, 0)
		floats.Scale(v, row)
	}
}

// pull adds the gradient. With M = G∘K, rows a of the circles in units of the length scales and t the turns,
//
//	∂/∂ln σ: 2 Σ M    ∂/∂ln l_k: Σ M |a_k - a'_k|²    ∂/∂ln p: -Σ M (a - a')·(∂a - ∂a'),   ∂a_k = 2πt_k (sin, -cos)/l_k.
func (k Periodic) pull(grad, theta []float64, x, z *Inputs, own, g block) {
	k.check("grad", grad, x.Dim())
	if own.data == nil {
		own = g.like()
		k.fill(own, theta, x, z)
	}
	grad[0] += 2 * g.total(own)

	p, turned := k.around(theta, x, z)
	m := g.like()
	m.set(own)
	m.mul(g)
	d, last := x.Dim(), len(grad)-1
	perColumn := make([]float64, 2*d)
	for i, side := range p.differences(m) {
		addColumns(perColumn, 1, side.rows, side.differences)
		u := p.x
		if i == 1 {
			u = p.z
		}
		for r := range u.N() {
			circle, diff := u.X.RawRowView(r), generalRow(side.differences, r)
			for c, t := range generalRow(turned[i], r) {
				cos, sin := circle[c], circle[d+c]
				grad[last] -= 2 * math.Pi * t * p.scale[c] * (sin*diff[c] - cos*diff[d+c])
			}
		}
	}
	fold(grad[1:last], perColumn[:d])
	fold(grad[1:last], perColumn[d:])
}

// Memory implements Kernel: G∘K, turns, circles, these in units of the length scales, and their differences.
func (k Periodic) Memory(n, m, dim int) int64 { return words(n*n + (17*n+5*m)*dim) }

// Gram implements Kernel.
func (k Periodic) Gram(dst *mat.SymDense, theta []float64, x *Inputs) {
	k.fill(triangle(dst, x), theta, x, nil)
}

// Cross implements Kernel.
func (k Periodic) Cross(dst *mat.Dense, theta []float64, x, z *Inputs) {
	k.fill(full(dst, x, z), theta, x, z)
}

// Diag implements Kernel: σ².
func (k Periodic) Diag(dst, theta []float64, z *Inputs) {
	k.check("theta", theta, z.Dim())
	fillDiag(dst, theta[0], z)
}

// Pullback implements Kernel.
func (k Periodic) Pullback(grad, theta []float64, x *Inputs, own, g *mat.SymDense) {
	k.pull(grad, theta, x, nil, triangle(own, x), triangle(g, x))
}

// PullbackCross implements Kernel.
func (k Periodic) PullbackCross(grad, theta []float64, x, z *Inputs, g *mat.Dense) {
	k.pull(grad, theta, x, z, block{}, full(g, x, z))
}

// PullbackDiag implements Kernel.
func (k Periodic) PullbackDiag(grad, theta []float64, z *Inputs, g []float64) {
	k.check("theta", theta, z.Dim())
	k.check("grad", grad, z.Dim())
	pullDiag(grad, theta[0], z, g)
}
