// Package approx contains the approximations to the posterior of a latent Gaussian process, one
// file or folder each: Laplace's method (GPML 3.4), expectation propagation (GPML 3.6), variational
// and mean-field methods, sampling, and the exact posterior under Gaussian noise (GPML 2.2).
//
// # What is computed
//
// The latent values f of n cases have the prior N(m, K), and the targets the likelihood p(y|f). Fit
// approximates
//
//	p(f|y) = p(y|f) N(f; m, K) / p(y),   log p(y) = log ∫ p(y|f) N(f; m, K) df
//
// An approximation takes the matrix K, targets and a likelihood, never inputs and never a kernel.
// Its Posterior has the log evidence L ≈ log p(y), in nats, to be maximised, and with it the
// adjoint of L by the covariance: the symmetric matrix G, n×n, for which dL = Σ_ij G_ij dK_ij.
// Kernels turn that into a gradient by hyperparameters; package objective connects the two.
// Posterior.Latent and PredictProba predict new cases from the covariances with them, n×m.
//
// # Errors
//
// Everything that data or hyperparameters can cause is an error: ErrNotConverged, or a K that has
// no factorisation. Wrong shapes panic. Fit returns soon after its context ends.
package approx

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/prior"
	"github.com/gpc-tune/gpc-tune/internal/cause"
)

// Targets are the observed labels. Classes = 2: Value holds -1 or +1. Classes = C > 2: Index holds
// 0 … C-1. Classes = 0: Value holds numbers.
//
// Weight holds a weight w_i > 0 for every case, which multiplies its log likelihood; nil: 1 each. A
// whole number w counts as w equal cases: a case is max(1, w) copies with the likelihood
// p(y|f)^min(1, w), and its site is the sum of the copies' sites. If a method has several fixed
// points, as EP may have if p(y|f) is not log-concave, it may find another fixed point than with
// repeated cases.
type Targets struct {
	Classes int
	Index   []int
	Value   []float64
	Weight  []float64
}

// Len is the number of cases.
func (y Targets) Len() int { return max(len(y.Index), len(y.Value)) }

// numbers are the targets of a likelihood of one latent value.
func (y Targets) numbers() []float64 {
	if y.Classes <= 2 {
		return y.Value
	}
	numbers := make([]float64, len(y.Index))
	for i, class := range y.Index {
		numbers[i] = float64(class)
	}
	return numbers
}

// Coded returns the targets for labels numbered from 0, or with 0 classes for numbers. Of two
// classes 0 is -1 and 1 is +1.
func Coded(classes int, labels []int, numbers []float64) Targets {
	switch classes {
	case 0:
		return Targets{Value: numbers}
	case 2:
		y := Targets{Classes: classes}
		for _, label := range labels {
			y.Value = append(y.Value, float64(2*label-1))
		}
		return y
	}
	return Targets{Classes: classes, Index: labels}
}

// Cov is the prior of one latent process at the training inputs: covariance and mean.
type Cov = prior.Cov

// Neighbours are the cases on which each case depends, see Cov.
type Neighbours = prior.Neighbours

// PartSize is the number of columns per call of Cov.Part.
const PartSize = prior.PartSize

// Caps lists the results that an approximation can compute with a likelihood.
type Caps struct {
	Gradient            bool // the log evidence has a gradient
	LowerBound          bool // the log evidence is never above the true one
	LeaveOneOut         bool
	LeaveOneOutGradient bool
	LeaveGroupOut       bool // it has a gradient if LeaveOneOut has one
	NoEvidence          bool // the method makes predictions only
	Unconverged         bool // Fit returns the iterate where it stops, which depends on its start
	Ordered             bool // the result depends on the order of the cases
	// the log evidence is a Monte Carlo estimate (Diagnostics.StandardError)
	Sampled bool
	Weights bool // cases may have any weight; else a weight is a number of equal cases
}

// State holds the numbers from which, together with the covariance, a posterior is rebuilt. It
// serves as a warm start and is stored in model files. The approximation that made it defines its
// meaning.
type State []float64

// Extrapolate predicts the State of a fit of m at a point from the States of nearby fits. The point
// is Σ_k w_k times the points of these fits, with Σ_k w_k = 1. Each number becomes Σ_k w_k s_k. For
// methods whose numbers scale as powers of an amplitude, numbers of equal sign become Π_k
// s_k^(w_k), within a factor of 4 of the first. A number that is 0 in one of the States stays as in
// the first.
func Extrapolate(m Approximation, states []State, weights []float64) State {
	g, ok := m.(geometric)
	powers := ok && g.scalesGeometrically()
	out := slices.Clone(states[0])
	for i, first := range out {
		sum, logs := 0.0, 0.0
		signs, zero := false, false
		for k, w := range weights {
			v := states[k][i]
			sum += w * (v - first) // exact if all are equal
			signs, zero = signs || v*first < 0, zero || v == 0
			if powers && v*first > 0 {
				logs += w * math.Log(v/first)
			}
		}
		switch {
		case zero:
		case powers && !signs:
			out[i] *= math.Exp(min(max(logs, -math.Log(4)), math.Log(4)))
		default:
			out[i] += sum
		}
	}
	return out
}

// geometric methods report whether the numbers of a State scale as powers of an amplitude. The
// parameters of sites do.
type geometric interface{ scalesGeometrically() bool }

// Diagnostics describe a fit.
type Diagnostics struct {
	Iterations int
	// factorisations of B, GPML (3.26); most steps of Laplace's method reuse an earlier one
	Factorizations int
	Products       int // products of K with a vector for every class, in the steps for softmax
	Converged      bool
	// Failure is an ErrNotConverged with the cause and a remedy; nil if the fit converged.
	Failure error
	Floors  int     // site precisions that had to be floored
	Jitter  float64 // largest value added to a diagonal
	// Unexplained is, with inducing inputs, the fraction of the prior variance of the cases that
	// these leave unexplained: Σ_i (K - Q)_ii / Σ_i K_ii, without noise; the largest of several
	// latent processes.
	Unexplained float64
	// StandardError is the Monte Carlo standard error of the log evidence, in nats; 0 for
	// deterministic methods.
	StandardError float64
	Warnings      []Warning
}

// Warning tells the user of a problem with a fit. Its Kind is "" in an approximation that another
// program registers.
type Warning = cause.Notice

// Kind is the kind of a warning or of a failure, "at_bound" for example, by which reports group.
type Kind = cause.Kind

// Approximation is a method of approximate inference. Its options are its exported fields; their
// zero values are the documented defaults.
type Approximation interface {
	// Uses returns what the method can compute with lik for this number of classes, or an error
	// that says why it cannot work and what can be used instead. It is called when a plan is
	// checked, and for a likelihood.Choice with each likelihood (the function Uses).
	Uses(lik likelihood.Likelihood, classes int) (Caps, error)
	// Memory is the memory needed for a problem of this size.
	Memory(s Size) Memory
	// Fit approximates the posterior. cov has one entry shared by all latent processes, or one per
	// class. start is the State of a nearby fit, or nil; it may save time but does not change the
	// result beyond the tolerance.
	Fit(ctx context.Context, cov []Cov, y Targets, lik likelihood.Bound, start State) (Posterior, error)
	// Restore rebuilds the posterior of a Fit from its state without iterating. Fit itself ends
	// with it, so that the evidence and every matrix belong to the same point.
	Restore(cov []Cov, y Targets, lik likelihood.Bound, s State) (Posterior, error)
}

// Functional is a scalar of a fit, such as the log evidence, with its derivatives.
type Functional interface {
	Value() float64
	// Adjoint sets dst to the derivative with respect to cov[j], summed over the classes that share
	// it. dst has the shape of cov[j]; if dst.Mean is nil, the derivative with respect to the mean
	// is not computed.
	Adjoint(dst *Cov, j int) error
	// Likelihood adds the derivative with respect to the likelihood's theta to grad.
	Likelihood(grad []float64) error
}

// Posterior is an approximate posterior over the latent process(es).
type Posterior interface {
	// Evidence is the approximate log marginal likelihood, in nats. If Caps has NoEvidence, its
	// value is NaN and its derivatives are ErrNoEvidence.
	Evidence() Functional
	// Latent sets mean[j] and variance[j] of f(z_j) for the given class; if variance is nil, only
	// the means. cross is K(X, Z), n×m; diag is k(z_j, z_j). The caller adds the prior mean at z_j.
	Latent(mean, variance []float64, cross *mat.Dense, diag []float64, class int)
	// PredictProba sets dst, m×C, to the averaged class probabilities; rows sum to 1. For two
	// classes column 0 is y = -1 and column 1 is y = +1. cross, diag and mean (the prior mean at
	// z_j; nil means zero) have one entry shared or one per class.
	PredictProba(dst *mat.Dense, cross []*mat.Dense, diag, mean [][]float64)
	State() State
	Diagnostics() Diagnostics
}

// LeaveOneOut is a posterior that computes Σ_i log p(y_i | y_{-i}), in nats, from the one fit.
type LeaveOneOut interface {
	LeaveOneOut() (Functional, error)
}

// LeaveGroupOut is a posterior that computes Σ_g log p(y_g | y_{-g}), in nats, from the one fit:
// y_g are the targets of group g, and y_{-g} are the targets of all other cases. The groups are
// lists of cases that together contain every case once.
type LeaveGroupOut interface {
	LeaveGroupOut(groups [][]int) (Functional, error)
}

// Errors that callers distinguish.
var (
	// ErrNoGradient: the functional has no gradient at this point.
	ErrNoGradient error = cause.NoGradient.New("no gradient at this point")
	// ErrNoEvidence: the method makes predictions but has no evidence.
	ErrNoEvidence = errors.New("approx: no evidence")
	// ErrNotPositiveDefinite: a matrix that must be positive definite is not, or contains NaN or
	// Inf.
	ErrNotPositiveDefinite error = prior.ErrNotPositiveDefinite
	// ErrNotConverged: the method stopped before it reached its tolerance.
	ErrNotConverged error = cause.NotConverged.New("not converged")

	errImprecise error = reason{cause.Imprecise.New("not converged")}
	errDiverged  error = reason{cause.Diverged.New("not converged")}
	// errContradictory: labels contradict each other where p(y|f) jumps.
	errContradictory error = reason{cause.Contradictory.New("not converged")}
)

// reason is an ErrNotConverged of another kind, which has another remedy.
type reason struct{ cause.Notice }

// Unwrap returns ErrNotConverged.
func (reason) Unwrap() error { return ErrNotConverged }
