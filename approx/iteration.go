package approx

import (
	"cmp"
	"fmt"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/prior"
	"github.com/gpc-tune/gpc-tune/internal/registry"
)

// Iteration has the options of EP and PL for reaching their fixed points.
type Iteration struct {
	// Schedule is the order of the updates: sequential (GPML Algorithm 3.5), parallel or mixed. If
	// p(y|f) is log-concave, nothing is damped and Unconverged is error, all schedules use the
	// same, fastest method to the same fixed point: a few sequential sweeps and then Newton steps
	// for all sites at once.
	Schedule Schedule `yaml:"schedule"`
	// Damping is the fraction of an update of a site that is applied, 0 < Damping ≤ 1. Default 1.
	// It is halved, with a warning, if the updates cycle, as parallel updates of PL do with
	// noisy_threshold, and temporarily if a parallel update overshoots.
	Damping float64 `yaml:"damping" within:"(0,1]"`
	// Tolerance bounds the changes by a further update: of every marginal, in units of its standard
	// deviation and relative to its variance, and of the log evidence. If the rounding error of the
	// marginal variances is larger, that is the bound. Default 1e-10.
	Tolerance float64 `yaml:"tolerance" within:"(0,1)"`
	// MaxIterations limits the total number of sweeps, parallel updates and Newton steps. Default
	// 1000.
	MaxIterations int `yaml:"max_iterations" within:"[1,10000000]"`
	// Unconverged is the treatment of a fit that has not converged by then: error, the default, or
	// accept, which uses it with a warning. With accept the updates are plain: no Newton steps, and
	// no damping except Damping. The evidence, the method's formula at the last sites, then has no
	// gradient, because these are no fixed point. A log evidence above 0 is an error, because the
	// updates then diverge; with trust it is not.
	Unconverged Unconverged `yaml:"unconverged"`

	work *Work
}

// check validates the options.
func (o Iteration) check(method string) error {
	if err := checkIteration(method, o.Tolerance, o.MaxIterations); err != nil {
		return err
	}
	if !(o.Damping >= 0 && o.Damping <= 1) {
		return fmt.Errorf("%s: damping = %v must be in (0, 1]; it is the share of the new value that is taken",
			method, o.Damping)
	}
	return nil
}

// filled is o with its defaults filled in.
func (o Iteration) filled() Iteration {
	o.Damping, o.Tolerance = cmp.Or(o.Damping, 1), cmp.Or(o.Tolerance, defaultTolerance)
	o.MaxIterations = cmp.Or(o.MaxIterations, defaultIterations)
	return o
}

// accepts reports whether a fit that has not converged is used. Updates must then be plain, because
// a fixed number of other steps would not be comparable.
func (o Iteration) accepts() bool { return o.Unconverged != RefuseUnconverged }

// memory: the factor is kept, and its memory has Σ or the correlations during the iteration; U⁻¹ or
// U⁻ᵀ S^½ K, and the columns of a block of sites, are temporary. stationary means that the evidence
// is stationary in the sites; otherwise its derivative needs B⁻¹, the correlations and their
// squares. It is an upper bound where cases are merged, which depends on the likelihood.
func (o Iteration) memory(s Size, stationary bool) Memory {
	n2 := s.Cases * s.Cases
	m := Memory{Fit: words(n2, n2+s.Cases*(min(prior.SweepBlock, s.Cases)+s.New)), LeaveOneOutAdjoint: words(n2, 2*n2)}
	if !stationary {
		m.Evidence = m.LeaveOneOutAdjoint
	}
	return m
}

// Schedule is the order in which a method updates its sites.
type Schedule int

const (
	// Sequential: one after the other, in the order of the cases, each with the marginals after the
	// previous update.
	Sequential Schedule = iota
	// Parallel: all sites are updated from the same marginals: one factorisation per iteration, but
	// more iterations if the prior is wide.
	Parallel
	// Mixed: parallel, and sequential once that makes no progress.
	Mixed
)

// Names are the schedules' names.
func (Schedule) Names() []string { return []string{"sequential", "parallel", "mixed"} }

// UnmarshalText reads a schedule's name.
func (s *Schedule) UnmarshalText(text []byte) error { return registry.Choose(s, "schedule", text) }

// Unconverged is the treatment of a fit that has not converged after the maximum number of
// iterations.
type Unconverged int

const (
	RefuseUnconverged Unconverged = iota // it is a failure
	AcceptUnconverged                    // it is used, with a warning
	// it is used, with a warning, even if its log evidence is above 0, and a search uses that value
	TrustUnconverged
)

// Names are the possible values.
func (Unconverged) Names() []string { return []string{"error", "accept", "trust"} }

// UnmarshalText reads one of the names.
func (u *Unconverged) UnmarshalText(text []byte) error {
	return registry.Choose(u, "value of unconverged", text)
}

// NegativeSites is the treatment of negative site precisions in EP, which occur with likelihoods
// that are not log-concave.
type NegativeSites int

const (
	FloorNegative NegativeSites = iota // set it to 0 and count it in Diagnostics.Floors
	// KeepNegative: keep it; if a cavity or a posterior has no positive definite covariance, that
	// is an error.
	KeepNegative
	// NarrowNegative: give the site the small variance narrow around its own mean ν/τ, as
	// García-Fernández, Tronarp & Särkkä do. Such updates need not have a fixed point: it requires
	// unconverged: accept or trust.
	NarrowNegative
)

// narrow is a small positive variance. The paper does not give its value.
const narrow = 1e-6

// Names are the policies' names.
func (NegativeSites) Names() []string { return []string{"floor", "keep", "narrow"} }

// UnmarshalText reads a policy's name.
func (p *NegativeSites) UnmarshalText(text []byte) error {
	return registry.Choose(p, "policy for negative sites", text)
}

// EvidenceForm is a way to compute the factors ∫ p(y_i|f)/t_i(f) N(f; μ_i, v_i) df of the evidence
// of a Gaussian posterior with sites t_i and marginals N(f; μ_i, v_i). The factors correct for the
// difference between sites and likelihood.
type EvidenceForm int

const (
	// CavityForm uses that the marginal divided by the site is the cavity up to a factor, and
	// computes the integral exactly.
	CavityForm EvidenceForm = iota
	// PosteriorForm is Gauss-Hermite quadrature of the ratio with respect to the marginal. It is
	// less accurate, and discontinuous in the nodes if p(y|f) jumps.
	PosteriorForm
)

// Names are the forms' names.
func (EvidenceForm) Names() []string { return []string{"cavity", "posterior"} }

// UnmarshalText reads a form's name.
func (e *EvidenceForm) UnmarshalText(text []byte) error {
	return registry.Choose(e, "form of the evidence", text)
}

// Quadrature is Gauss-Hermite quadrature instead of exact averages.
type Quadrature struct {
	// Order is the number of nodes, with respect to the cavity (EP) or the marginal (PL), for the
	// sites of a likelihood without closed form, logit; others keep their closed form. The log Z_i
	// of the cavity form are sums over these nodes too; predictions stay exact. Default: exact
	// averages. The posterior form of the evidence uses quadrature for any likelihood, of this
	// order or by default of order 10.
	Order int `yaml:"order" within:"[1,100]"`
}

const maxOrder = 100

// check validates the quadrature and the form of the evidence, and reports whether that has a
// gradient with lik.
func (q Quadrature) check(method string, e EvidenceForm, lik likelihood.Likelihood) (gradient bool, err error) {
	if q.Order < 0 || q.Order > maxOrder {
		const format = "%s: quadrature order %d must be between 1 and %d " +
			"(0 means exact averages, and 10 in evidence: posterior)"
		return false, fmt.Errorf(format, method, q.Order, maxOrder)
	}
	if _, sites := bound(lik).(likelihood.WithoutClosedForm); sites && q.Order == 1 {
		const format = "%s: quadrature of order 1 has no variance to make sites of; use order: 2 or more, such as 10"
		return false, fmt.Errorf(format, method)
	}
	_, smooth := bound(lik).(likelihood.Differentiable)
	return e == CavityForm || smooth, nil
}

// rule returns nodes for N(0, 1) and the logarithms of their weights, or nothing.
func (q Quadrature) rule(e EvidenceForm) (nodes, logWeights []float64) {
	if e == CavityForm {
		return nil, nil
	}
	return likelihood.GaussHermite(cmp.Or(q.Order, 10))
}

// moments is the likelihood for computing sites: lik, or its quadrature rule.
func (q Quadrature) moments(lik likelihood.MomentMatcher) likelihood.MomentMatcher {
	if l, ok := lik.(likelihood.WithoutClosedForm); ok && q.Order > 0 {
		return l.Quadrature(q.Order)
	}
	return lik
}

// isRule reports whether averages are computed by a quadrature rule.
func isRule(lik likelihood.Bound) bool {
	_, ok := lik.(likelihood.MomentRule)
	return ok
}

// isConcave reports whether p(y|f) is known to be log-concave, so that its sites are positive.
func isConcave(lik likelihood.Bound) bool {
	_, ok := lik.(likelihood.LogConcave)
	return ok
}
