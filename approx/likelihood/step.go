package likelihood

import (
	"math"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// Step is p(y|f) = 1 if yf > 0, 0 if yf < 0 and ½ at f = 0: the sign of f, without noise (Csató et
// al. 2000). It has no parameters and no useful derivatives, and its moments have a closed form.
// With a noise kernel of variance v it is the probit model with kernel K/v. Without noise, two
// cases with equal inputs and different labels have probability 0, and for a smooth kernel the
// evidence depends on the smallest eigenvalues of K.
type Step struct{}

var _ GaussianNoise = Step{}

func (Step) Domain() Domain         { return Binary }
func (Step) Params() []param.Spec   { return nil }
func (Step) At([]float64) Bound     { return Step{} }
func (Step) Likelihood() Likelihood { return Step{} }

// NoiseVariance is 0.
func (Step) NoiseVariance() float64 { return 0 }

func (Step) LogProb(y, f float64) float64 {
	switch z := y * f; {
	case z < 0:
		return -math.MaxFloat64
	case z == 0:
		return -math.Ln2
	}
	return 0
}

// mostSigmas limits the argument of Φ, so that derivatives stay finite with a variance of
// 1e-300.
const mostSigmas = 1e150

// Moments returns log Φ(z) at z = y·mean/√variance and its derivatives with respect to mean.
func (s Step) Moments(y, mean, variance float64) (logZ float64, d [4]float64) {
	if variance == 0 {
		return s.LogProb(y, mean), d
	}
	root := math.Sqrt(variance)
	return normalMoments(linalg.TruncatedNormal(max(-mostSigmas, min(y*mean/root, mostSigmas))), y, root, variance)
}

// normalMoments returns log Φ(z) and its derivatives with respect to mean, z = y·mean/s, given t at
// z. With r = N/Φ, r' = -r(z + r) and V = 1 - r(z + r), the third derivative by z is T = r((z + r)²
// - V). As V' = T, the fourth is 2r(z + r)V - T(z + 2r). variance is s².
func normalMoments(t linalg.Truncated, y, s, variance float64) (logZ float64, d [4]float64) {
	return t.LogMass, [4]float64{
		y * t.Hazard / s, -t.Hazard * t.Mean / variance, y * t.Third / (s * variance),
		(2*t.Hazard*t.Mean*t.Variance - t.Third*(t.Mean+t.Hazard)) / (variance * variance),
	}
}
