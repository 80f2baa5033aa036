package likelihood

import (
	"fmt"
	"math"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// NoisyThreshold is p(y|f) = 1-ε if yf > 0, ε if yf < 0 and ½ at f = 0: the sign of f, flipped with
// probability ε. It has no useful derivatives in f and is not log-concave; its moments have a
// closed form. Its one parameter ε, `epsilon`, is on the logit scale: fixed at 0.01, or at the
// given number; with {init: v} it is free and starts at v.
type NoisyThreshold struct {
	Epsilon param.Setting `yaml:"epsilon"`
}

var _ Parametric = noisyThreshold{}

func (NoisyThreshold) Domain() Domain { return Binary }

// Params is the probability of a wrong label, below ½.
func (t NoisyThreshold) Params() []param.Spec {
	s := t.Epsilon.HeldSpec("epsilon", param.Logit, 0.01)
	s.Hi = min(s.Hi, 0.5)
	return []param.Spec{s}
}

// checkOptions refuses an ε of ½, for which labels carry no information, or more, which exchanges
// the labels.
func (t NoisyThreshold) checkOptions() error {
	if s := t.Params()[0]; s.Init >= 0.5 {
		return fmt.Errorf("epsilon = %v must be less than 0.5; it is the probability of a wrong label", s.Init)
	}
	if b := t.Epsilon.Bounds; b != nil && b[1] > 0.5 {
		const format = "bounds of epsilon, [%v, %v], must not pass 0.5; it is the probability of a wrong label"
		return fmt.Errorf(format, b[0], b[1])
	}
	return nil
}

func (t NoisyThreshold) At(theta []float64) Bound {
	u := max(-600, min(theta[0], 600)) // far outside the default bounds; keeps ε and 1-ε above 0
	n := noisyThreshold{structure: t, sign: 1, epsilon: param.Logit.Natural(u), rest: param.Logit.Natural(-u)}
	if u > 0 { // exchanging ε and 1-ε exchanges the labels
		n.sign, n.epsilon, n.rest = -1, n.rest, n.epsilon
	}
	return n
}

// noisyThreshold is NoisyThreshold with a value of ε ≤ ½; for a larger one the labels are exchanged
// and ε replaced by 1-ε.
type noisyThreshold struct {
	structure     NoisyThreshold
	sign          float64 // -1: the labels are exchanged
	epsilon, rest float64 // ε ≤ ½ and 1-ε
}

func (n noisyThreshold) Likelihood() Likelihood { return n.structure }

// smoothed is the threshold averaged over N(mean, s²), at z = y·mean/s: Z = ε + (1-2ε)Φ(z), with d
// = ∂log Z/∂z and m = z + d, so that d′ = -dm and m′ = 1 - dm.
type smoothed struct{ s, z, mass, logMass, density, d, m float64 }

// at computes Z, log Z, N(z)/Z, d = (1-2ε)N/Z and m. Where z < 0, let r = N/Φ, and let w =
// (1-2ε)Φ/Z be the fraction of Φ in Z. Then d = wr and m = (z + r) - (1-w)r. TruncatedNormal
// computes z + r without cancellation.
func (n noisyThreshold) at(y, mean, variance float64) smoothed {
	if variance == 0 && mean == 0 {
		return smoothed{s: 1, mass: 0.5, logMass: -math.Ln2}
	}
	const beyond = 1e3 // Φ(-z) and N(z) are 0
	s := math.Sqrt(max(variance, 1e-300))
	z := n.sign * y * max(-beyond, min(mean/s, beyond))
	if variance == 0 {
		z = math.Copysign(beyond, z)
	}
	slope := n.rest - n.epsilon
	t := linalg.TruncatedNormal(z)
	if z > 0 {
		wrong := n.epsilon + slope*math.Exp(linalg.LogNormCDF(-z)) // 1 - Z
		density := t.Hazard * math.Exp(t.LogMass) / (1 - wrong)
		d := slope * density
		return smoothed{s, z, 1 - wrong, math.Log1p(-wrong), density, d, z + d}
	}
	phi := math.Exp(t.LogMass)
	mass := n.epsilon + slope*phi
	density := t.Hazard * (phi / mass)
	return smoothed{s, z, mass, math.Log(mass), density, slope * density, t.Mean - t.Hazard*(n.epsilon/mass)}
}

func (n noisyThreshold) LogProb(y, f float64) float64 { return n.at(y, f, 0).logMass }

// Moments returns log Z and its derivatives with respect to mean: yd/s, -dm/s², yd(m(m + d) - 1)/s³
// and the derivative of that.
func (n noisyThreshold) Moments(y, mean, variance float64) (logZ float64, d [4]float64) {
	t := n.at(y, mean, variance)
	d3 := t.d * (t.m*(t.m+t.d) - 1)
	d4 := t.d * (t.d - t.m*(t.m*(t.m+4*t.d)+t.d*t.d-3))
	return t.logMass, [4]float64{
		n.sign * y * t.d / t.s, -t.d * t.m / t.s / t.s, n.sign * y * d3 / t.s / t.s / t.s, d4 / t.s / t.s / t.s / t.s,
	}
}

// DMoments implements Parametric for θ = logit ε: ∂Z/∂θ = ε(1-ε)(1 - 2Φ) and ∂d/∂θ = -ε(1-ε)N/Z².
func (n noisyThreshold) DMoments(logZ, d1, d2 []float64, y, mean, variance float64) {
	t := n.at(y, mean, variance)
	// ∂ε/∂θ/Z; the sign is of ∂(1-ε)/∂θ if labels are exchanged
	slope := n.sign * n.rest * (n.epsilon / t.mass)
	d := -slope * t.density
	logZ[0] = -slope * math.Erf(t.z/math.Sqrt2)
	d1[0] = n.sign * y * d / t.s
	d2[0] = -d * (t.m + t.d) / t.s / t.s
}
