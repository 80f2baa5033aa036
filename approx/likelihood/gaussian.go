package likelihood

import (
	"math"

	"github.com/gpc-tune/gpc-tune/objective/param"
)

// Gaussian is p(y|f) = N(y; f, σ²) for numeric targets, the noise model of regression, GPML (2.20). Its one parameter is the
// standard deviation σ, `noise`, on the log scale: held at 1, or at the number given, and free from v if {init: v} is given.
type Gaussian struct {
	Noise param.Setting `yaml:"noise"`
}

var (
	_ DifferentiableParams = gaussian{}
	_ MomentParams         = gaussian{}
	_ GaussianNoise        = gaussian{}
	_ HigherMoments        = gaussian{}
	_ ExpectedParams       = gaussian{}
)

func (Gaussian) Domain() Domain { return Numeric }

// Params is the standard deviation of the noise.
func (g Gaussian) Params() []param.Spec { return []param.Spec{g.Noise.HeldSpec("noise", param.Log, 1)} }

func (g Gaussian) At(theta []float64) Bound {
	sd := min(max(param.Log.Natural(theta[0]), 1e-50), 1e50) // far outside the default bounds, so that nothing overflows
	return gaussian{structure: g, variance: sd * sd}
}

// gaussian is Gaussian with a value of σ².
type gaussian struct {
	structure Gaussian
	variance  float64
}

func (g gaussian) Likelihood() Likelihood { return g.structure }

// NoiseVariance is σ².
func (g gaussian) NoiseVariance() float64 { return g.variance }

// Derivs returns log N(y; f, σ²) and its derivatives (y - f)/σ², -1/σ² and 0.
func (g gaussian) Derivs(y, f float64) (logp, d1, d2, d3 float64) {
	logp, d1, d2 = g.LogZ(y, f, 0)
	return logp, d1, d2, 0
}

// LogZ returns log N(y; mean, σ² + variance) and its derivatives.
func (g gaussian) LogZ(y, mean, variance float64) (logZ, dMean, d2Mean float64) {
	v := g.variance + variance
	d1 := bounded((y - mean) / v)
	return floor(-((y-mean)*d1 + math.Log(2*math.Pi*v)) / 2), d1, -1 / v
}

// ParamDerivs implements DifferentiableParams for θ = log σ.
func (g gaussian) ParamDerivs(logp, d1, d2 []float64, y, f float64) {
	g.DLogZ(logp, d1, d2, y, f, 0)
}

// DLogZ implements MomentParams for θ = log σ, through ∂/∂log σ = 2σ² ∂/∂variance.
func (g gaussian) DLogZ(logZ, dMean, d2Mean []float64, y, mean, variance float64) {
	_, d1, d2 := g.LogZ(y, mean, variance)
	logZ[0] = g.variance * (d1*d1 + d2)
	dMean[0] = 2 * g.variance * d1 * d2
	d2Mean[0] = 2 * g.variance * d2 * d2
}

// HigherLogZ is 0 and 0: log Z is quadratic in mean.
func (gaussian) HigherLogZ(y, mean, variance float64) (d3Mean, d4Mean float64) { return 0, 0 }

// Expected returns log N(y; mean, σ²) - ½ variance/σ² and its derivatives.
func (g gaussian) Expected(y, mean, variance float64) (e float64, d [4]float64) {
	logp, d1, d2 := g.LogZ(y, mean, 0)
	return floor(logp - variance/g.variance/2), [4]float64{d1, d2}
}

// DExpected implements ExpectedParams for θ = log σ.
func (g gaussian) DExpected(e, dMean, d2Mean []float64, y, mean, variance float64) {
	g.DLogZ(e, dMean, d2Mean, y, mean, 0)
	e[0] += variance / g.variance
}
