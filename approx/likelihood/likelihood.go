// Package likelihood holds the observation models p(y|f), one file each.
//
// A Likelihood is structure only (which parameters it has); At binds the parameters' values. What a bound likelihood can
// do is asked by type assertion: Differentiable for Laplace, MomentMatcher for EP and for predictions.
// Binary targets y are -1 or +1. Functions are total: every finite f, mean and variance ≥ 0 gives finite results
// (log-probabilities down to about -1e308, never -Inf or NaN).
package likelihood

import "github.com/gpc-tune/gpc-tune/objective/param"

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
	// LogZ returns log Z = log ∫ p(y|f) N(f; mean, variance) df and its first two derivatives with respect to mean.
	// The tilted density then has mean `mean + variance·dMean` and variance `variance + variance²·d2Mean`.
	// A variance of 0 gives log p(y|mean) and its derivatives where they exist.
	LogZ(y, mean, variance float64) (logZ, dMean, d2Mean float64)
}
