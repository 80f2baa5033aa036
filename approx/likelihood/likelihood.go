// Package likelihood holds the observation models p(y|f), one file each.
//
// A Likelihood is structure only (which parameters it has); At binds the parameters' values. What a bound likelihood can
// do is asked by type assertion: Differentiable for Laplace, MomentMatcher for EP and for predictions, Multinomial for
// more than two classes.
// Binary targets y are -1 or +1, and both labels are treated alike: p(-y|-f) = p(y|f), bit for bit. Functions are total:
// every finite f and mean, and every finite variance that is 0 or at least 1e-300, give finite results (log-probabilities
// down to -math.MaxFloat64, never -Inf or NaN).
package likelihood

import (
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/objective/param"
)

// Domain is the kind of target a likelihood explains.
type Domain int

const (
	Binary      Domain = iota // y is -1 or +1
	Categorical               // y is 0 … C-1
	Numeric                   // y is a real number
)

// Likelihood is the structure of an observation model.
type Likelihood interface {
	Domain() Domain
	Params() []param.Spec
	// At binds the parameters, given on the theta scale in the order of Params.
	At(theta []float64) Bound
}

// Bound is a likelihood with its parameters' values; its abilities are found by type assertion.
type Bound interface{ Likelihood() Likelihood }

// Differentiable likelihoods are what Laplace's method needs.
type Differentiable interface {
	Bound
	// Derivs returns log p(y|f) and its first three derivatives with respect to f.
	Derivs(y, f float64) (logp, d1, d2, d3 float64)
}

// MomentMatcher likelihoods are what EP and averaged predictions need.
type MomentMatcher interface {
	Bound
	// LogZ returns log Z = log ∫ p(y|f) N(f; mean, variance) df and its first two derivatives with respect to mean. The
	// tilted density p(y|f) N(f; mean, variance)/Z then has mean `mean + variance·dMean` and variance
	// `variance·(1 + variance·d2Mean)`; also ∂log Z/∂variance = ½(d2Mean + dMean²). A variance of 0 gives log p(y|mean),
	// at a jump the average of its two sides, and its derivatives, 0 where they do not exist.
	//
	// Each result is right to its last places, so the site that matches the tilted moments [GPML (3.59)],
	//
	//	tau = -d2Mean/(1 + variance·d2Mean),  nu = dMean + tau·(mean + variance·dMean),
	//
	// has a relative error of about 1e-16/(1 + variance·d2Mean). That factor is the tilted variance over variance: it is
	// above 0 while variance ≤ 1e12, |mean| ≤ 1e6 and log Z ≥ -1e13, and at most 1, so that tau ≥ 0, if p(y|f) is log-concave in f.
	LogZ(y, mean, variance float64) (logZ, dMean, d2Mean float64)
}

// LogProber likelihoods have log p(y|f) by itself, in a fraction of the time that LogZ takes at a variance of 0. The error is
// at most 2e-15 of the result plus 2e-18.
type LogProber interface {
	MomentMatcher
	LogProb(y, f float64) float64
}

// DifferentiableParams likelihoods give Laplace's method the gradient over their parameters.
type DifferentiableParams interface {
	Differentiable
	// ParamDerivs sets logp[j], d1[j] and d2[j] to the derivatives with respect to theta[j] of what Derivs returns under
	// those names.
	ParamDerivs(logp, d1, d2 []float64, y, f float64)
}

// MomentParams likelihoods give EP and the online method the gradient over their parameters.
type MomentParams interface {
	MomentMatcher
	// DLogZ sets logZ[j], dMean[j] and d2Mean[j] to the derivatives with respect to theta[j] of what LogZ returns.
	DLogZ(logZ, dMean, d2Mean []float64, y, mean, variance float64)
}

// HigherMoments likelihoods give the online method, and the fixed points of EP and posterior linearisation, their adjoints.
type HigherMoments interface {
	MomentMatcher
	// HigherLogZ returns the third and fourth derivatives of log Z with respect to mean, variance > 0. By the heat equation
	//
	//	∂dMean/∂variance = ½ d3Mean + dMean·d2Mean,  ∂d2Mean/∂variance = ½ d4Mean + dMean·d3Mean + d2Mean²
	HigherLogZ(y, mean, variance float64) (d3Mean, d4Mean float64)
}

// GaussianNoise likelihoods say that y is what becomes of f plus Gaussian noise: the sum itself (Numeric), or its sign
// (Binary). Exact regression and mean-field theory work on that sum.
type GaussianNoise interface {
	MomentMatcher
	// NoiseVariance is the variance v of the noise: p(y|f) = N(y; f, v) or Φ(yf/√v), a step where v = 0.
	NoiseVariance() float64
}

// Multinomial likelihoods have as many latent values f as there are classes, the natural parameters of the distribution
// of y, so that its probabilities π give every derivative: ∂log p(y|f)/∂f = e_y - π and -∂²log p(y|f)/∂f² =
// diag π - ππᵀ [GPML (3.38)]. They are what Laplace's method needs for more than two classes.
type Multinomial interface {
	Bound
	// Probabilities sets pi[c] to p(y = c|f) and g to the derivatives of log p(y|f), and returns log p(y|f).
	Probabilities(pi, g, f []float64, y int) (logp float64)
	// Average sets pi to E[p(·|f)] for f ~ N(mean, covariance), C values and C×C, and returns an estimate of the largest error of a
	// probability: 1e-5 where that is to be had. points > 0 is how many points of the latent space are averaged, whatever the
	// estimate; 0 leaves their number to the likelihood.
	Average(pi, mean []float64, covariance *mat.SymDense, points int) (deviation float64)
}

// ExpectedLog likelihoods are what variational inference needs. They are log-concave.
type ExpectedLog interface {
	MomentMatcher
	// Expected returns e = ∫ log p(y|f) N(f; mean, variance) df, variance > 0, and its first four derivatives with respect
	// to mean; also ∂e/∂variance = ½ ∂²e/∂mean².
	Expected(y, mean, variance float64) (e float64, d [4]float64)
}

// ExpectedParams likelihoods give variational inference the gradient over their parameters.
type ExpectedParams interface {
	ExpectedLog
	// DExpected sets e[j], dMean[j] and d2Mean[j] to the derivatives with respect to theta[j] of e and of its first two
	// derivatives.
	DExpected(e, dMean, d2Mean []float64, y, mean, variance float64)
}
