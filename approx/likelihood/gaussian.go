package likelihood

import (
	"math"

	"github.com/gpc-tune/gpc-tune/approx/param"
)

// Gaussian is p(y|f) = N(y; f, σ²) for numeric targets, the noise model of regression, GPML (2.20).
// Its one parameter is the standard deviation σ, `noise`, on the log scale: fixed at 1, or at the
// given number; with {init: v} it is free and starts at v.
type Gaussian struct {
	Noise param.Setting `yaml:"noise"`
}

var (
	_ LogConcave    = gaussian{}
	_ Parametric    = gaussian{}
	_ GaussianNoise = gaussian{}
)

func (Gaussian) Domain() Domain { return Numeric }

// Params is the standard deviation of the noise.
func (g Gaussian) Params() []param.Spec { return []param.Spec{g.Noise.HeldSpec("noise", param.Log, 1)} }

func (g Gaussian) At(theta []float64) Bound {
	// far outside the default bounds; prevents overflow
	sd := min(max(param.Log.Natural(theta[0]), 1e-50), 1e50)
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

func (g gaussian) LogProb(y, f float64) float64 {
	logp, _ := g.Moments(y, f, 0)
	return logp
}

// Derivs returns log N(y; f, σ²) and its derivatives (y - f)/σ², -1/σ² and 0.
func (g gaussian) Derivs(y, f float64) (logp, d1, d2, d3 float64) {
	logp, d := g.Moments(y, f, 0)
	return logp, d[0], d[1], 0
}

// Moments returns log N(y; mean, σ² + variance) and its derivatives; it is quadratic in mean.
func (g gaussian) Moments(y, mean, variance float64) (logZ float64, d [4]float64) {
	v := g.variance + variance
	d1 := bounded((y - mean) / v)
	return floor(-((y-mean)*d1 + math.Log(2*math.Pi*v)) / 2), [4]float64{d1, -1 / v}
}

// DMoments implements Parametric for θ = log σ, through ∂/∂log σ = 2σ² ∂/∂variance.
func (g gaussian) DMoments(logZ, d1, d2 []float64, y, mean, variance float64) {
	_, d := g.Moments(y, mean, variance)
	logZ[0] = g.variance * (d[0]*d[0] + d[1])
	d1[0] = 2 * g.variance * d[0] * d[1]
	d2[0] = 2 * g.variance * d[1] * d[1]
}

// Expected returns log N(y; mean, σ²) - ½ variance/σ² and its derivatives.
func (g gaussian) Expected(y, mean, variance float64) (e float64, d [4]float64) {
	logp, d := g.Moments(y, mean, 0)
	return floor(logp - variance/g.variance/2), d
}

// DExpected implements LogConcave for θ = log σ.
func (g gaussian) DExpected(e, d1, d2 []float64, y, mean, variance float64) {
	g.DMoments(e, d1, d2, y, mean, 0)
	e[0] += variance / g.variance
}
