// Package approx holds the approximations to the posterior of a latent Gaussian process, one file
// or folder each: Laplace's method (GPML 3.4), expectation propagation (GPML 3.6), variational and
// mean-field methods, sampling, and the exact posterior under Gaussian noise (GPML 2.2).
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
// Kernels turn that into a gradient by hyperparameters; package objective brings the two together.
// Posterior.Latent and PredictProba predict new cases from the covariances with them, n×m.
//
// # Errors
//
// What data or hyperparameters can cause is an error: ErrNotConverged, or a K that has no
// factorisation. Wrong shapes panic. Fit returns soon after its context ends.
package approx

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/lowrank"
)

// Targets are the observed labels. Classes = 2: Value holds -1 or +1. Classes = C > 2: Index holds
// 0 … C-1. Classes = 0: Value holds numbers.
type Targets struct {
	Classes int
	Index   []int
	Value   []float64
}

// Len is the number of cases.
func (y Targets) Len() int { return max(len(y.Index), len(y.Value)) }

// Coded are the targets of cases whose labels, of so many classes, are numbered from 0 or, with 0
// classes, of numbers. Of two classes 0 is -1 and 1 is +1.
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

// Cov is the prior of one latent process at the training inputs: covariance and mean. An adjoint
// has the same shape.
type Cov struct {
	// K is n×n over the training inputs; or m×m over inducing inputs, without noise.
	K *mat.SymDense
	// With inducing inputs, their covariance m×n with the training inputs, and the prior variances
	// at those: without noise, and of the noise that every case has of its own (nil: none).
	Cross       *mat.Dense
	Diag, Noise []float64
	Mean        []float64 // n; nil means zero
	// Scratch lets a fit use the memory of Cross, which then holds no covariance any more.
	Scratch bool
	// Part, of an adjoint with inducing inputs, takes the columns of Cross from case from on,
	// PartSize at a time, in any order and several at once; Cross is then nil. Where the same comes
	// more than once, the derivative is the sum. The memory is not its own to keep.
	Part func(part *mat.Dense, from int)
}

// PartSize is how many cases Cov.Part takes at a time.
const PartSize = lowrank.PartSize

// lowRank is c as package lowrank has it.
func (c *Cov) lowRank() lowrank.Cov {
	return lowrank.Cov{K: c.K, Cross: c.Cross, Diag: c.Diag, Noise: c.Noise, Scratch: c.Scratch, Part: c.Part}
}

// Caps is what an approximation can do with a likelihood.
type Caps struct {
	Gradient            bool // of the log evidence
	LowerBound          bool // the log evidence is never above the true one
	LeaveOneOut         bool
	LeaveOneOutGradient bool
	NoEvidence          bool // the method makes predictions only
	Unconverged         bool // Fit gives what it has where it stops, which depends on its start
	Ordered             bool // the result depends on the order of the cases
	Sampled             bool // the log evidence is a Monte Carlo estimate, with Diagnostics.StandardError
}

// State is what a posterior needs besides the covariance to be rebuilt: a warm start, and what a
// model file keeps. Its meaning belongs to the approximation that made it.
type State []float64

// Extrapolate predicts the State of a fit of m from those of fits nearby, which the weights, of sum
// 1, make a point out of: number by number Σ_k w_k s_k or, for methods whose numbers grow as powers
// of an amplitude and where all have one sign, Π_k s_k^(w_k), which is at most a factor of 4 away
// from the first. What is 0 in one of them stays as in the first.
func Extrapolate(m Approximation, states []State, weights []float64) State {
	p, ok := m.(powers)
	geometric := ok && p.powers()
	out := slices.Clone(states[0])
	for i, first := range out {
		sum, logs := 0.0, 0.0
		signs, zero := false, false
		for k, w := range weights {
			v := states[k][i]
			sum += w * (v - first) // exact where all are equal
			signs, zero = signs || v*first < 0, zero || v == 0
			if geometric && v*first > 0 {
				logs += w * math.Log(v/first)
			}
		}
		switch {
		case zero:
		case geometric && !signs:
			out[i] *= math.Exp(min(max(logs, -math.Log(4)), math.Log(4)))
		default:
			out[i] += sum
		}
	}
	return out
}

// powers methods say whether the numbers of a State go on as powers of an amplitude, as those of
// sites do.
type powers interface{ powers() bool }

// Diagnostics tell how a fit went.
type Diagnostics struct {
	Iterations     int
	Factorizations int // of B, GPML (3.26); the steps of Laplace's method mostly do with an earlier one
	Products       int // of K with a vector for every class, in which softmax takes its steps
	Converged      bool
	Failure        error   // why it did not converge, with the way out: an ErrNotConverged; nil where it did
	Floors         int     // site precisions that had to be floored
	Jitter         float64 // largest value added to a diagonal
	// Unexplained is, with inducing inputs, the share of the prior variance of the cases that they
	// leave: Σ_i (K - Q)_ii / Σ_i K_ii, without noise; the largest of several latent processes.
	Unexplained float64
	// StandardError is the Monte Carlo standard error of the log evidence, in nats; 0 where nothing
	// is random.
	StandardError float64
	Warnings      []string
}

// Approximation is a method of approximate inference. Its options are its exported fields; their
// zero values are the documented defaults.
type Approximation interface {
	// Uses says, when a plan is checked, what the method can do with lik on this many classes, or
	// why it cannot work and what would.
	Uses(lik likelihood.Likelihood, classes int) (Caps, error)
	// Memory says what that takes.
	Memory(s Size) Memory
	// Fit approximates the posterior. cov has one entry shared by all latent processes, or one per
	// class. start is the State of a fit nearby, or nil; it may save time but does not change the
	// result beyond the tolerance.
	Fit(ctx context.Context, cov []Cov, y Targets, lik likelihood.Bound, start State) (Posterior, error)
	// Restore rebuilds, without iterating, the posterior that Fit left with this state. Fit itself
	// ends in it, so that the evidence and every matrix belong to one and the same point.
	Restore(cov []Cov, y Targets, lik likelihood.Bound, s State) (Posterior, error)
}

// Functional is a scalar of a fit, such as the log evidence, with its derivatives.
type Functional interface {
	Value() float64
	// Adjoint sets dst to the derivative with respect to cov[j], summed over the classes that share
	// it. dst has the shape of cov[j]; dst.Mean may be nil, and then the derivative with respect to
	// the mean is not wanted.
	Adjoint(dst *Cov, j int) error
	// Likelihood adds the derivative with respect to the likelihood's theta to grad.
	Likelihood(grad []float64) error
}

// Posterior is an approximate posterior over the latent process(es).
type Posterior interface {
	// Evidence is the approximate log marginal likelihood, in nats. Where Caps says that there is
	// none its value is NaN and its derivatives are ErrNoEvidence.
	Evidence() Functional
	// Latent sets mean[j] and variance[j] of f(z_j) for the given class; a variance that is nil is
	// not wanted. cross is K(X, Z), n×m; diag is k(z_j, z_j). The prior mean at z_j is added by the
	// caller.
	Latent(mean, variance []float64, cross *mat.Dense, diag []float64, class int)
	// PredictProba sets dst, m×C, to the averaged class probabilities; rows sum to 1. For two
	// classes column 0 is y = -1 and column 1 is y = +1. cross, diag and mean (the prior mean at
	// z_j; nil means zero) have one entry shared or one per class.
	PredictProba(dst *mat.Dense, cross []*mat.Dense, diag, mean [][]float64)
	State() State
	Diagnostics() Diagnostics
}

// LeaveOneOuter posteriors give Σ_i log p(y_i | y_{-i}) from the one fit.
type LeaveOneOuter interface {
	LeaveOneOut() (Functional, error)
}

// LeaveGroupOuter posteriors give Σ_g log p(y_g | y_{-g}) from the one fit: the joint log densities
// of the targets of every group given those of the others. The groups, lists of cases, have every
// case once.
type LeaveGroupOuter interface {
	LeaveGroupOut(groups [][]int) (Functional, error)
}

// Errors that callers tell apart.
var (
	// ErrNoGradient: the functional has no gradient at this point.
	ErrNoGradient = errors.New("approx: no gradient at this point")
	// ErrNoEvidence: the method makes predictions but has no evidence.
	ErrNoEvidence = errors.New("approx: no evidence")
	// ErrNotPositiveDefinite: a matrix that must be positive definite is not, or holds NaN or Inf.
	ErrNotPositiveDefinite = errors.New("approx: matrix is not positive definite")
	// ErrNotConverged: the method stopped before it reached its tolerance.
	ErrNotConverged = errors.New("approx: not converged")
)
