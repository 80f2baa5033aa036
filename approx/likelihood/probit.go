package likelihood

import (
	"math"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// Probit is p(y|f) = Φ(yf), the standard normal distribution function [GPML (3.3)]. It has no
// parameters and its moments have a closed form.
type Probit struct{}

var (
	_ LogConcave    = Probit{}
	_ GaussianNoise = Probit{}
)

func (Probit) Domain() Domain         { return Binary }
func (Probit) Params() []param.Spec   { return nil }
func (Probit) At([]float64) Bound     { return Probit{} }
func (Probit) Likelihood() Likelihood { return Probit{} }

// NoiseVariance is 1.
func (Probit) NoiseVariance() float64 { return 1 }

func (Probit) LogProb(y, f float64) float64 { return floor(linalg.LogNormCDF(y * f)) }

// Derivs returns log Φ(z) at z = yf and its derivatives with respect to f, with r = N(z)/Φ(z):
// d1 = yr, d2 = -r(z + r) [GPML (3.16)], d3 = yr((z + r)(z + 2r) - 1).
func (Probit) Derivs(y, f float64) (logp, d1, d2, d3 float64) {
	t := linalg.TruncatedNormal(y * f)
	return floor(t.LogMass), y * t.Hazard, -t.Hazard * t.Mean, y * t.Third
}

// Moments returns log Φ(z) at z = y·mean/√(1 + variance) [GPML (3.82)] and its derivatives with
// respect to mean. The k-th is the k-th derivative of Derivs at z, divided by √(1 + variance)^k.
func (Probit) Moments(y, mean, variance float64) (logZ float64, d [4]float64) {
	s := math.Sqrt(1 + variance)
	logZ, d = normalMoments(linalg.TruncatedNormal(y*mean/s), y, s, 1+variance)
	return floor(logZ), d
}

// Expected returns ∫ log Φ(yf) N(f; mean, variance) df and its derivatives, by quadrature to about
// 1e-14 of their size (the fourth: of the third over √variance).
func (p Probit) Expected(y, mean, variance float64) (e float64, d [4]float64) {
	return expected(p, y, mean, variance, sigmoidStep, 0)
}

func (Probit) around(float64) []float64 { return []float64{0} }

// DExpected implements LogConcave.
func (Probit) DExpected(_, _, _ []float64, _, _, _ float64) {}
