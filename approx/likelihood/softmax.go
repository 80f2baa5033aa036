package likelihood

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/approx/utility"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// Softmax is p(y = c|f) = exp(f_c)/Σ_d exp(f_d) for C latent values f, the multiple logistic [GPML
// (3.34)]. It has no parameters. It does not change if a number is added to every f_c.
type Softmax struct{}

var (
	_ Multinomial   = Softmax{}
	_ RandomUtility = Softmax{}
)

func (Softmax) Domain() Domain         { return Categorical }
func (Softmax) Params() []param.Spec   { return nil }
func (Softmax) At([]float64) Bound     { return Softmax{} }
func (Softmax) Likelihood() Likelihood { return Softmax{} }

// Probabilities sets pi to the softmax of f and g to the derivatives of log p(y|f), and returns log
// p(y|f). Values close to 0 have full relative accuracy, including g[y] = 1 - pi[y] and log p.
func (Softmax) Probabilities(pi, g, f []float64, y int) (logp float64) {
	top := 0
	for c, v := range f {
		if v > f[top] {
			top = c
		}
	}
	rest := 0.0 // Σ exp(f_c - f_top) over the others
	for c, v := range f {
		pi[c] = math.Exp(v - f[top])
		if c != top {
			rest += pi[c]
		}
	}
	others := 0.0
	for c := range f {
		pi[c] /= 1 + rest
		g[c] = -pi[c]
		if c != y {
			others += pi[c]
		}
	}
	g[y] = others
	return floor(f[y] - f[top] - math.Log1p(rest))
}

// Average implements Polytomous. Two classes use Logit.Moments.
func (Softmax) Average(pi, mean []float64, covariance *mat.SymDense, points int) (deviation float64) {
	return utility.Gumbel.Average(pi, mean, covariance, points, func(mean, variance float64) float64 {
		logZ, _ := Logit{}.Moments(1, mean, variance)
		return logZ
	})
}

// Noise implements RandomUtility: the noise of softmax is a standard Gumbel variate (McFadden
// 1974).
func (Softmax) Noise() LogConcave { return gumbelRace }

// NoiseMoments implements RandomUtility.
func (Softmax) NoiseMoments() (mean, variance float64) {
	return utility.Gumbel.Mean, utility.Gumbel.Variance
}

// gumbelRace is the Noise of softmax.
var gumbelRace = ByQuadrature(Softmax{}, gumbelFactor{}).(integratedConcave)

// gumbelFactor is the density of its factors: log P(x) = -e^-x, log p(x) = -x - e^-x and, for y =
// -1, log(1 - P(x)).
type gumbelFactor struct{}

// Shape implements Density.
func (gumbelFactor) Shape() Shape { return Shape{LogConcave: true, Smooth: 0.25} }

// Proper implements ExactMoments.
func (gumbelFactor) Proper(y float64) bool { return y == 1 }

// Derivs implements Density.
func (gumbelFactor) Derivs(y, x float64) (logp, d1, d2, d3 float64) {
	e := min(math.Exp(-x), math.MaxFloat64/4)
	if y < 0 {
		h := 1.0 // e/(exp e - 1)
		switch {
		case e < 1e-9:
			logp = -x - e/2
		case e < 0.7:
			logp = math.Log(-math.Expm1(-e))
		default:
			logp = math.Log1p(-math.Exp(-e))
		}
		if e > 0 {
			h = e / math.Expm1(e)
		}
		d2 = min(h*(1-e-h), 0)
		return logp, -h, d2, e*h - d2*(1-e-2*h)
	}
	return -y*x - e, e - y, -e, e
}

// logProbs implements inBlocks.
func (g gumbelFactor) logProbs(dst []float64, y float64, f []float64) {
	if y < 0 {
		for j, x := range f {
			dst[j], _, _, _ = g.Derivs(y, x)
		}
		return
	}
	for j, x := range f {
		dst[j] = -x
	}
	linalg.Exp(dst, dst)
	for j, x := range f {
		dst[j] = -y*x - min(dst[j], math.MaxFloat64/4)
	}
}

// ParamDerivs implements Density: there are none.
func (gumbelFactor) ParamDerivs(_, _, _ []float64, _, _ float64) {}
