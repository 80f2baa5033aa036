package likelihood

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/approx/utility"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// MultinomialProbit is the probability that class y has the largest f_c + e_c, for independent
// standard normal noise e_c,
//
//	p(y|f) = ∫ N(u; 0, 1) Π_(c≠y) Φ(u + f_y - f_c) du
//
// (Girolami & Rogers 2006). It has no parameters, and does not change if a number is added to every
// f_c. For two classes it is probit, of (f_y - f_c)/√2.
type MultinomialProbit struct{}

var _ RandomUtility = MultinomialProbit{}

func (MultinomialProbit) Domain() Domain         { return Categorical }
func (MultinomialProbit) Params() []param.Spec   { return nil }
func (MultinomialProbit) At([]float64) Bound     { return MultinomialProbit{} }
func (MultinomialProbit) Likelihood() Likelihood { return MultinomialProbit{} }

// Average implements Polytomous.
func (MultinomialProbit) Average(pi, mean []float64, covariance *mat.SymDense, points int) (deviation float64) {
	return utility.Normal.Average(pi, mean, covariance, points, func(mean, variance float64) float64 {
		return linalg.LogNormCDF(mean / math.Sqrt(2+variance))
	})
}

// Noise implements RandomUtility.
func (MultinomialProbit) Noise() LogConcave { return normalRace{} }

// NoiseMoments implements RandomUtility.
func (MultinomialProbit) NoiseMoments() (mean, variance float64) {
	return utility.Normal.Mean, utility.Normal.Variance
}

// normalRace is the Noise of MultinomialProbit: N(x; 0, 1) for y = 1, Φ(x) for y = 0, and Φ(-x) for
// y = -1, which are probit of 1 + 2y.
type normalRace struct{}

var _ ExactMoments = normalRace{}

func (normalRace) Likelihood() Likelihood { return MultinomialProbit{} }

func (normalRace) around(float64) []float64 { return []float64{0} }

// LogProb implements MomentMatcher.
func (n normalRace) LogProb(y, x float64) float64 {
	logp, _, _, _ := n.Derivs(y, x)
	return logp
}

// Derivs implements Differentiable.
func (normalRace) Derivs(y, x float64) (logp, d1, d2, d3 float64) {
	if y != 1 {
		return Probit{}.Derivs(1+2*y, x)
	}
	return floor(-x*x/2 - math.Log(2*math.Pi)/2), -x, -1, 0
}

// Moments implements MomentMatcher.
func (normalRace) Moments(y, mean, variance float64) (logZ float64, d [4]float64) {
	if y != 1 {
		return Probit{}.Moments(1+2*y, mean, variance)
	}
	s := 1 + variance
	return floor(-mean*mean/s/2 - math.Log(2*math.Pi*s)/2), [4]float64{-mean / s, -1 / s}
}

// Proper implements ExactMoments.
func (normalRace) Proper(y float64) bool { return y == 1 }

// Tilted implements ExactMoments.
func (n normalRace) Tilted(
	y, mean, variance float64,
) (logZ float64, d [4]float64, tiltedMean, tiltedVariance float64) {
	logZ, d = n.Moments(y, mean, variance)
	if y == 1 {
		return logZ, d, mean / (1 + variance), variance / (1 + variance)
	}
	return logZ, d, mean + variance*d[0], variance * (1 + variance*d[1])
}

// Expected implements LogConcave.
func (normalRace) Expected(y, mean, variance float64) (e float64, d [4]float64) {
	if y == 0 {
		return Probit{}.Expected(1, mean, variance)
	}
	return floor(-(mean*mean+variance)/2 - math.Log(2*math.Pi)/2), [4]float64{-mean, -1}
}

// DExpected implements LogConcave.
func (normalRace) DExpected(_, _, _ []float64, _, _, _ float64) {}
