package objective

import (
	"errors"

	"github.com/gpc-tune/gpc-tune/approx"
)

// Criterion is the scalar that is maximised, in nats: a function of the posterior over the latent
// processes, with or without the log density of the hyperparameters' priors.
type Criterion interface {
	// Uses reports whether the criterion has a gradient with an approximation of these
	// capabilities. The error is the reason why the criterion cannot be computed.
	Uses(approx.Caps) (gradient bool, err error)
	Of(approx.Posterior) (approx.Functional, error)
	// Memory is the memory for the criterion's value, and for its gradient if wanted, in addition
	// to a fit.
	Memory(m approx.Memory, gradient bool) approx.Bytes
	// AddsPrior says whether Layout.LogPrior is added.
	AddsPrior() bool
}

// LogEvidence is the (approximate) log marginal likelihood log p(y|X, θ).
type LogEvidence struct{}

// Uses follows the approximation.
func (LogEvidence) Uses(c approx.Caps) (bool, error) {
	if c.NoEvidence {
		return false, errors.New("this inference method has no log evidence with these options; " +
			"maximise a cv score, or tune with another inference")
	}
	return c.Gradient, nil
}

// Of returns the posterior's evidence.
func (LogEvidence) Of(p approx.Posterior) (approx.Functional, error) { return p.Evidence(), nil }

// Memory is 0 for the value, which is part of a fit; a gradient takes m.Evidence.
func (LogEvidence) Memory(m approx.Memory, gradient bool) approx.Bytes {
	if !gradient {
		return approx.Bytes{}
	}
	return m.Evidence
}

// AddsPrior is false.
func (LogEvidence) AddsPrior() bool { return false }

// LogPosterior is log p(y|X, θ) + log p(θ), the log posterior density of theta up to a constant. A
// hyperparameter without a prior has a flat one over theta.
type LogPosterior struct{ LogEvidence }

// AddsPrior is true.
func (LogPosterior) AddsPrior() bool { return true }

// LeaveOneOut is Σ_i log p(y_i|X, y_-i, θ), GPML (5.11), from the cavities of one fit.
type LeaveOneOut struct{}

// Uses follows the approximation.
func (LeaveOneOut) Uses(c approx.Caps) (bool, error) {
	if !c.LeaveOneOut {
		return false, errors.New("this inference method has no leave-one-out probabilities from one fit; " +
			"maximise log_evidence")
	}
	return c.LeaveOneOutGradient, nil
}

// Of returns the posterior's leave-one-out log probability.
func (LeaveOneOut) Of(p approx.Posterior) (approx.Functional, error) {
	return p.(approx.LeaveOneOut).LeaveOneOut()
}

// Memory is the memory of the leave-one-out sum, and for a gradient also of its adjoint.
func (LeaveOneOut) Memory(m approx.Memory, gradient bool) approx.Bytes {
	if !gradient {
		return m.LeaveOneOut
	}
	return m.LeaveOneOut.And(m.LeaveOneOutAdjoint)
}

// AddsPrior is false.
func (LeaveOneOut) AddsPrior() bool { return false }

// LeaveGroupOut is Σ_g log p(y_g|X, y_-g, θ): cases are left out group by group. It is for
// regression by approx.Exact.
type LeaveGroupOut struct {
	LeaveOneOut
	Groups [][]int // every case once
}

// Uses follows the approximation.
func (LeaveGroupOut) Uses(c approx.Caps) (bool, error) {
	if !c.LeaveGroupOut {
		return false, errors.New("this inference method leaves no groups out; use inference: exact, with " +
			"likelihood: gaussian, or leave out one case at a time")
	}
	return c.LeaveOneOutGradient, nil
}

// Of returns the posterior's leave-group-out log density. It is an error if a case is not in
// exactly one of the groups.
func (c LeaveGroupOut) Of(p approx.Posterior) (approx.Functional, error) {
	return p.(approx.LeaveGroupOut).LeaveGroupOut(c.Groups)
}
