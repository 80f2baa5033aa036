package likelihood

import (
	"math"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/objective/param"
)

// Probit is p(y|f) = Φ(yf), the standard normal distribution function [GPML (3.3)]. It has no parameters and its moments
// have a closed form.
type Probit struct{}

var (
	_ Differentiable = Probit{}
	_ GaussianNoise  = Probit{}
	_ HigherMoments  = Probit{}
	_ ExpectedLog    = Probit{}
	_ LogProber      = Probit{}
)

func (Probit) Domain() Domain         { return Binary }
func (Probit) Params() []param.Spec   { return nil }
func (Probit) At([]float64) Bound     { return Probit{} }
func (Probit) Likelihood() Likelihood { return Probit{} }

// NoiseVariance is 1.
func (Probit) NoiseVariance() float64 { return 1 }

// Derivs returns log Φ(z) at z = yf and its derivatives with respect to f, with r = N(z)/Φ(z):
// d1 = yr, d2 = -r(z + r) [GPML (3.16)], d3 = yr((z + r)(z + 2r) - 1).
func (Probit) Derivs(y, f float64) (logp, d1, d2, d3 float64) {
	t := linalg.TruncatedNormal(y * f)
	return floor(t.LogMass), y * t.Hazard, -t.Hazard * t.Mean, y * t.Third
}

// LogProb returns log Φ(yf).
func (Probit) LogProb(y, f float64) float64 { return floor(linalg.LogNormCDF(y * f)) }

// LogZ returns log Φ(z) at z = y·mean/√(1 + variance) [GPML (3.82)] and its derivatives with respect to mean: those of
// Derivs at z, scaled by 1/√(1 + variance) each time.
func (Probit) LogZ(y, mean, variance float64) (logZ, dMean, d2Mean float64) {
	s := math.Sqrt(1 + variance)
	t := linalg.TruncatedNormal(y * mean / s)
	return floor(t.LogMass), y * t.Hazard / s, -t.Hazard * t.Mean / (1 + variance)
}

// Expected returns ∫ log Φ(yf) N(f; mean, variance) df and its derivatives, by quadrature to about 1e-14 of their
// size (the fourth: of the third over √variance).
func (p Probit) Expected(y, mean, variance float64) (e float64, d [4]float64) {
	return expected(p, y, mean, variance)
}

// HigherLogZ returns the third and fourth derivatives.
func (Probit) HigherLogZ(y, mean, variance float64) (d3Mean, d4Mean float64) {
	return higherLogNormCDF(y, mean, 1+variance)
}

// higherLogNormCDF returns the third and fourth derivatives of log Φ(y·mean/√total) with respect to mean. With r = N/Φ,
// r' = -r(z + r) and V = 1 - r(z + r), the third is T = r((z + r)² - V), and the fourth 2r(z + r)V - T(z + 2r), for V' = T.
func higherLogNormCDF(y, mean, total float64) (d3Mean, d4Mean float64) {
	s := math.Sqrt(total)
	t := linalg.TruncatedNormal(max(-furthest, min(y*mean/s, furthest)))
	return y * t.Third / (s * total), (2*t.Hazard*t.Mean*t.Variance - t.Third*(t.Mean+t.Hazard)) / (total * total)
}
