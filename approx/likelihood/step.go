package likelihood

import (
	"math"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/objective/param"
)

// Step is p(y|f) = 1 if yf > 0, 0 if yf < 0 and ½ at f = 0: the sign of f, without noise (Csató et al. 2000). It has no
// parameters and no useful derivatives, and its moments have a closed form. Noise of variance v belongs into the kernel,
// and then this is the probit model with kernel K/v. Without it two cases at one place with both labels are impossible, and
// a smooth kernel leaves the evidence to the smallest eigenvalues of K.
type Step struct{}

var (
	_ GaussianNoise = Step{}
	_ HigherMoments = Step{}
)

func (Step) Domain() Domain         { return Binary }
func (Step) Params() []param.Spec   { return nil }
func (Step) At([]float64) Bound     { return Step{} }
func (Step) Likelihood() Likelihood { return Step{} }

// NoiseVariance is 0.
func (Step) NoiseVariance() float64 { return 0 }

// LogZ returns log Φ(z) at z = y·mean/√variance and its derivatives with respect to mean.
func (Step) LogZ(y, mean, variance float64) (logZ, dMean, d2Mean float64) {
	if variance == 0 {
		switch z := y * mean; {
		case z < 0:
			return -math.MaxFloat64, 0, 0
		case z == 0:
			return -math.Ln2, 0, 0
		}
		return 0, 0, 0
	}
	s := math.Sqrt(variance)
	z := max(-furthest, min(y*mean/s, furthest))
	t := linalg.TruncatedNormal(z)
	return t.LogMass, y * t.Hazard / s, -t.Hazard * t.Mean / variance
}

// HigherLogZ returns the third and fourth derivatives.
func (Step) HigherLogZ(y, mean, variance float64) (d3Mean, d4Mean float64) {
	return higherLogNormCDF(y, mean, variance)
}

// furthest is where Step's argument is cut, so that its derivatives stay finite with a variance of 1e-300.
const furthest = 1e150
