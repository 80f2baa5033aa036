// Package likelihood contains the observation models p(y|f), one file each.
//
// A Likelihood is structure only (which parameters it has); At binds the parameters' values. A
// bound likelihood of one latent value is a MomentMatcher, for expectation propagation and
// predictions:
//
//	log Z(μ, v) = log ∫ p(y|f) N(f; μ, v) df,   with its derivatives by μ and v
//
// Type assertions find its other abilities: Differentiable for Laplace's method, LogConcave for
// variational inference, Parametric for gradients by its parameters. A likelihood of several latent
// values, such as softmax, is Multinomial. FromLogDensity computes all of this by quadrature from a
// function that returns log p(y|f) and its derivatives; package likelihoodtest checks the result.
//
// Binary targets y are -1 or +1, and both labels are symmetric: p(-y|-f) = p(y|f), bit for bit.
// Ordered targets are the numbers of the classes, and Sized likelihoods have parameters for them.
// Functions are total: every finite f and mean, and every finite variance that is 0 or at least
// 1e-300, give finite results (log-probabilities down to -math.MaxFloat64, never -Inf or NaN). Only
// the third and fourth derivatives of Moments may overflow, if p(y|f) jumps and the variance is
// below 1e-70.
package likelihood

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/param"
)

// Domain is the kind of target that a likelihood models.
type Domain int

const (
	Binary      Domain = iota // y is -1 or +1
	Categorical               // y is 0 … C-1
	Numeric                   // y is a real number
	Ordered                   // y is 0 … C-1 in order, or ±1 for two classes; one latent value
)

// Processes is the number of latent processes of a model: one for two classes, for classes in order
// and for numbers, which have 0 classes; else one for each class.
func Processes(l Likelihood, classes int) int {
	if classes > 2 && l.Domain() != Ordered {
		return classes
	}
	return 1
}

// Labels returns the targets y of a number of classes: -1 and 1, or 0 … C-1.
func Labels(classes int) []float64 {
	if classes == 2 {
		return []float64{-1, 1}
	}
	y := make([]float64, classes)
	for k := range y {
		y[k] = float64(k)
	}
	return y
}

// Likelihood is the structure of an observation model.
type Likelihood interface {
	Domain() Domain
	Params() []param.Spec
	// At binds the values of the parameters, given on the theta scale in the order of Params.
	At(theta []float64) Bound
}

// Sized likelihoods have as many parameters as the number of classes asks for.
type Sized interface {
	Likelihood
	// On returns the likelihood for this number of classes, two or more.
	On(classes int) Likelihood
}

// On returns l for this number of classes: l itself unless it is Sized.
func On(l Likelihood, classes int) Likelihood {
	if s, ok := l.(Sized); ok && classes >= 2 {
		return s.On(classes)
	}
	return l
}

// Bound is a likelihood with values of its parameters; type assertions find its abilities.
type Bound interface{ Likelihood() Likelihood }

// MomentMatcher likelihoods have one latent value and averages over a Gaussian.
type MomentMatcher interface {
	Bound
	// LogProb returns log p(y|f), at a jump of p the logarithm of the average of both sides. It
	// equals the log Z of Moments at a variance of 0 up to 2e-15 relative plus 2e-18, and may be
	// faster.
	LogProb(y, f float64) float64
	// Moments returns log Z = log ∫ p(y|f) N(f; mean, variance) df and its first four derivatives
	// with respect to mean. The tilted density p(y|f) N(f; mean, variance)/Z then has mean `mean +
	// variance·d[0]` and variance `variance·(1 + variance·d[1])`. By the heat equation the
	// derivatives with respect to variance are
	//
	//	∂log Z = ½ (d[1] + d[0]²)
	//	∂d[0] = ½ d[2] + d[0] d[1],  ∂d[1] = ½ d[3] + d[0] d[2] + d[1]²
	//
	// At a variance of 0 log Z is log p(y|mean), and d its derivatives, 0 where they do not exist;
	// d[3] may be 0.
	//
	// Log Z, d[0] and d[1] are right to their last places, so the site that matches the tilted
	// moments [GPML (3.59)],
	//
	//	tau = -d[1]/(1 + variance·d[1]),  nu = d[0] + tau·(mean + variance·d[0]),
	//
	// has a relative error of about 1e-16/(1 + variance·d[1]). That factor is the tilted variance
	// over variance: it is above 0 while variance ≤ 1e12, |mean| ≤ 1e6 and log Z ≥ -1e13, and at
	// most 1, so that tau ≥ 0, if p(y|f) is log-concave in f.
	Moments(y, mean, variance float64) (logZ float64, d [4]float64)
}

// ExactMoments is a likelihood that computes the moments of the tilted density directly. With a
// very wide Gaussian, moments from the derivatives of Moments would lose all digits by
// cancellation.
type ExactMoments interface {
	MomentMatcher
	// Proper reports whether p(y|f) has a mean and a variance as a density of f, which the tilted
	// density has too if the Gaussian is wide.
	Proper(y float64) bool
	// Tilted is Moments, with the mean and the variance of the tilted density.
	Tilted(y, mean, variance float64) (logZ float64, d [4]float64, tiltedMean, tiltedVariance float64)
}

// Complementary likelihoods of two classes compute the averages for both labels at the cost of one.
type Complementary interface {
	MomentMatcher
	// MomentsOfBoth returns Moments for y = -1 and y = +1.
	MomentsOfBoth(mean, variance float64) (logZ [2]float64, d [2][4]float64)
}

// Differentiable likelihoods are smooth in f, as Laplace's method requires.
type Differentiable interface {
	MomentMatcher
	// Derivs returns log p(y|f) and its first three derivatives with respect to f.
	Derivs(y, f float64) (logp, d1, d2, d3 float64)
}

// LogConcave likelihoods are smooth and log-concave in f, and have Gaussian averages of log p(y|f),
// as variational inference requires.
type LogConcave interface {
	Differentiable
	// Expected returns e = ∫ log p(y|f) N(f; mean, variance) df, variance > 0, and its first four
	// derivatives with respect to mean; also ∂e/∂variance = ½ ∂²e/∂mean².
	Expected(y, mean, variance float64) (e float64, d [4]float64)
	// DExpected sets e[j], d1[j] and d2[j] to the derivatives with respect to theta[j] of e and of
	// its first two derivatives. Without parameters it does nothing.
	DExpected(e, d1, d2 []float64, y, mean, variance float64)
}

// Parametric likelihoods have gradients over their parameters.
type Parametric interface {
	MomentMatcher
	// DMoments sets logZ[j], d1[j] and d2[j] to the derivatives with respect to theta[j] of log Z
	// and of its first two derivatives; at a variance of 0 these are log p(y|mean) and its
	// derivatives.
	DMoments(logZ, d1, d2 []float64, y, mean, variance float64)
}

// GaussianNoise likelihoods model y as f plus Gaussian noise (Numeric), or as the sign of that sum
// (Binary). Exact regression and mean-field theory use that sum.
type GaussianNoise interface {
	MomentMatcher
	// NoiseVariance is the variance v of the noise: p(y|f) = N(y; f, v) or Φ(yf/√v), a step where v
	// = 0.
	NoiseVariance() float64
}

// Polytomous likelihoods have as many latent values f as there are classes.
type Polytomous interface {
	Bound
	// Average sets pi to E[p(·|f)] for f ~ N(mean, covariance), C values and C×C, and returns an
	// estimate of the largest error of a probability: at most 1e-5 if that can be reached. points >
	// 0 is the number of points in latent space, regardless of the estimate; with 0 the likelihood
	// chooses it.
	Average(pi, mean []float64, covariance *mat.SymDense, points int) (deviation float64)
}

// RandomUtility likelihoods are Polytomous: y is the class with the largest utility f_c + e_c, for
// independent noise e_c of one density p and distribution function P. Given the largest utility g,
// with a flat prior, all classes are independent,
//
//	p(y|f) = ∫ p(g - f_y) Π_(c≠y) P(g - f_c) dg
//
// which joint expectation propagation, posterior linearisation and variational inference use: each
// factor has a Gaussian site of its own.
type RandomUtility interface {
	Polytomous
	// Noise is the likelihood of one latent value x = g - f_c: p(x) for y = 1, P(x) for y = 0 and
	// 1 - P(x), which has no Expected, for y = -1.
	Noise() LogConcave
	// NoiseMoments are the mean and the variance of e_c.
	NoiseMoments() (mean, variance float64)
}

// Multinomial likelihoods are Polytomous with the natural parameters of the distribution of y as
// latent values, so that its probabilities π give every derivative: ∂log p(y|f)/∂f = e_y
// - π and -∂²log p(y|f)/∂f² = diag π - ππᵀ [GPML (3.38)]. Laplace's method requires them for more
// than two classes.
type Multinomial interface {
	Polytomous
	// Probabilities sets pi[c] to p(y = c|f) and g to the derivatives of log p(y|f), and returns
	// log p(y|f).
	Probabilities(pi, g, f []float64, y int) (logp float64)
}

// floor keeps a log-probability finite if its quadratic tail overflows, |f| > 1e154.
func floor(logp float64) float64 { return max(logp, -math.MaxFloat64) }

// bounded keeps a derivative finite if f overflows, |f| near 1e308.
func bounded(d float64) float64 { return max(-math.MaxFloat64, min(d, math.MaxFloat64)) }
