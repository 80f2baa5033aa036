package kernel

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// Periodic is the kernel of functions that repeat with period p in every input column. It is GPML
// (4.31) with the period 2π stretched to p, and for more than one column the product over columns:
//
//	k(x, x') = σ² exp(-2 Σ_k sin²(π(x_k - x'_k)/p)/l²)    or, with ARD, l_k in place of l.
//
// Like GPML it maps column k to a circle, u_k = (cos 2πx_k/p, sin 2πx_k/p), where the sum is |u -
// u'|²/(2l²) and the kernel a squared exponential. l is in units of that circle's radius, p in
// units of the inputs. theta is ln σ, ln l (one, or one for every column), ln p; the starts of l
// and p depend on the data.
type Periodic struct {
	ARD         bool          `yaml:"ard"`
	Amplitude   param.Setting `yaml:"amplitude"`
	LengthScale param.Setting `yaml:"length_scale"`
	Period      param.Setting `yaml:"period"`
}

func (k Periodic) Settings() []Setting {
	return []Setting{
		amplitude(k.Amplitude),
		lengthScale(k.LengthScale, k.ARD),
		{Name: "period", Default: math.NaN(), Setting: k.Period},
	}
}

func (k Periodic) Params(dim int) []param.Spec { return specs(dim, k.Settings()...) }

// Memory implements Kernel: G∘K, turns, circles, circles in units of the length scales, and their
// differences.
func (k Periodic) Memory(n, m, dim int) int64 { return words(n*n + (17*n+5*m)*dim) }

// wind returns turns = (x - shift)/p, the inputs in units of the period, and their points on the
// circles: n×2d inputs, the cosines and then the sines.
func wind(x *Inputs, shift []float64, period float64) (turns blas64.General, circles *Inputs) {
	n, d := x.X.Dims()
	turns, circles = linalg.NewGeneral(n, d), &Inputs{X: mat.NewDense(n, 2*d, nil)}
	for i := range n {
		row, to := generalRow(turns, i), circles.X.RawRowView(i)
		floats.SubTo(row, x.X.RawRowView(i), shift)
		for k := range row {
			row[k] /= period
			to[d+k], to[k] = math.Sincos(2 * math.Pi * row[k])
		}
	}
	return turns, circles
}

// around returns the pairs of a block on the circles, in units of the length scales, and the turns
// of its X and Z.
func (k Periodic) around(of Block, theta []float64) (p *pairs, turned [2]blas64.General) {
	last, shift := len(theta)-1, of.X.means()
	inv, period := inverses(theta[1:last], of.X.Dim()), natural(theta[last])
	t, x := wind(of.X, shift, period)
	turned, z := [2]blas64.General{t, t}, x
	if of.Z != of.X {
		turned[1], z = wind(of.Z, shift, period)
	}
	return newPairs(Block{X: x, Z: z}, append(inv, inv...)), turned
}

func (k Periodic) Fill(dst Block, theta []float64) {
	p, _ := k.around(dst, theta)
	p.squared(dst)
	v := variance(theta[0])
	dst.each(func(_ int, row []float64) {
		squaredExponential{}.Kappa(row, row, 1, 0)
		floats.Scale(v, row)
	})
}

// Pull implements Kernel. With M = G∘K, rows a of the circles in units of the length scales and t
// the turns, ∂a_k = 2πt_k (sin, -cos)/l_k and
//
//	∂/∂ln σ: 2 Σ M    ∂/∂ln l_k: Σ M |a_k - a'_k|²    ∂/∂ln p: -Σ M (a - a')·(∂a - ∂a').
func (k Periodic) Pull(grad, theta []float64, own, g Block) {
	own = given(k, theta, own, g)
	grad[0] += 2 * g.total(own)

	p, turned := k.around(g, theta)
	m := g.like()
	m.set(own)
	m.zip(g, floats.Mul)
	d, last := g.X.Dim(), len(grad)-1
	perColumn := make([]float64, 2*d)
	for i, side := range p.differences(m) {
		addColumns(perColumn, 1, side.rows, side.differences)
		for r := range side.inputs.N() {
			circle, diff := side.inputs.X.RawRowView(r), generalRow(side.differences, r)
			for c, t := range generalRow(turned[i], r) {
				cos, sin := circle[c], circle[d+c]
				grad[last] -= 2 * math.Pi * t * p.scale[c] * (sin*diff[c] - cos*diff[d+c])
			}
		}
	}
	fold(grad[1:last], perColumn[:d])
	fold(grad[1:last], perColumn[d:])
}
