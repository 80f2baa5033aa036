package approx

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/registry"
)

// Iteration is how EP and PL come to their fixed points: options of both.
type Iteration struct {
	// Schedule is the order of the updates: sequential (GPML Algorithm 3.5), parallel or mixed.
	// Where p(y|f) is log-concave, nothing is damped and Unconverged is error, all of them go the
	// same way to the same fixed point, the quickest: a few sequential sweeps and then steps of
	// Newton's method for all sites at once.
	Schedule Schedule `yaml:"schedule"`
	// Damping is the share of a site's new value that is taken, 0 < Damping ≤ 1. Default 1. It is
	// halved, with a warning, where the updates go in circles, as parallel ones of PL do with
	// noisy_threshold, and for a while where a parallel one overshoots.
	Damping float64 `yaml:"damping" within:"(0,1]"`
	// Tolerance bounds, at every site, the change of the marginal that a further update would make,
	// in units of its standard deviation and as a share of its variance, and what all these changes
	// do to the log evidence. Where the rounding error of the marginal variances allows no better,
	// that is the bound. Default 1e-10.
	Tolerance float64 `yaml:"tolerance" within:"(0,1)"`
	// MaxIterations bounds the sweeps, parallel updates and Newton steps together. Default 1000.
	MaxIterations int `yaml:"max_iterations" within:"[1,10000000]"`
	// Unconverged says what to do with a fit that has not converged by then: error, the default, or
	// accept, which takes it as it is, with a warning. With accept the updates are plain: no Newton
	// steps, and no damping but Damping. The evidence, the method's formula at the last sites, has
	// no gradient then, as it is not that of a fixed point. Above 0 it is an error, for then the
	// updates diverge; trust takes that as well.
	Unconverged Unconverged `yaml:"unconverged"`

	work *Work
}

// check says what is wrong with the options.
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

// filled is o with its defaults.
func (o Iteration) filled() Iteration {
	o.Damping, o.Tolerance = cmp.Or(o.Damping, 1), cmp.Or(o.Tolerance, defaultTolerance)
	o.MaxIterations = cmp.Or(o.MaxIterations, defaultIterations)
	return o
}

// accepts says whether a fit that has not converged is taken as it is. Then its updates are plain
// ones: it would not be told from their number what others came to.
func (o Iteration) accepts() bool { return o.Unconverged != RefuseUnconverged }

// block is how many sites share one update of Σ in a sweep.
const block = 128

// memory: the factor, in whose place Σ or the correlations are on the way, stays; U⁻¹ or U⁻ᵀ S^½ K,
// and the columns of a block of sites, do not. stationary says that the evidence does not change
// with the sites; the derivative of what does takes B⁻¹, the correlations and their squares.
func (o Iteration) memory(s Size, stationary bool) Memory {
	n2 := s.Cases * s.Cases
	m := Memory{Fit: words(n2, n2+s.Cases*(min(block, s.Cases)+s.New)), LeaveOneOutAdjoint: words(n2, 2*n2)}
	if !stationary {
		m.Evidence = m.LeaveOneOutAdjoint
	}
	return m
}

// Schedule is the order in which a method updates its sites.
type Schedule int

const (
	// Sequential: one after the other, in the order of the cases, each on the marginals that the
	// one before left.
	Sequential Schedule = iota
	// Parallel: all of them on the same marginals: one factorisation per iteration, but more
	// iterations where the prior is wide.
	Parallel
	// Mixed: parallel, and sequential from where that draws no nearer.
	Mixed
)

// Names are the schedules' names.
func (Schedule) Names() []string { return []string{"sequential", "parallel", "mixed"} }

// UnmarshalText reads a schedule's name.
func (s *Schedule) UnmarshalText(text []byte) error { return choose(s, "schedule", text) }

// Unconverged is what becomes of a fit that has not converged after so many iterations as it may
// take.
type Unconverged int

const (
	RefuseUnconverged Unconverged = iota // nothing is made of it
	AcceptUnconverged                    // it is taken as it is, with a warning
	TrustUnconverged                     // and with a log evidence above 0 too, which a search then follows
)

// Names are the names of what may become of it.
func (Unconverged) Names() []string { return []string{"error", "accept", "trust"} }

// UnmarshalText reads one of the names.
func (u *Unconverged) UnmarshalText(text []byte) error {
	return choose(u, "value of unconverged", text)
}

// NegativeSites is what EP does with a negative site precision, which likelihoods that are not
// log-concave call for.
type NegativeSites int

const (
	FloorNegative  NegativeSites = iota // set it to 0 and count it in Diagnostics.Floors
	RefuseNegative                      // stop with an error
	// KeepNegative: keep it; a cavity or a posterior without a positive definite covariance is an
	// error.
	KeepNegative
	// NarrowNegative: give the site the small variance narrow about the mean ν/τ that it has, as
	// García-Fernández, Tronarp & Särkkä do. Such updates need not have a fixed point: it takes
	// unconverged: accept or trust.
	NarrowNegative
)

// narrow is a small positive variance. The paper does not print its own.
const narrow = 1e-6

// Names are the policies' names.
func (NegativeSites) Names() []string { return []string{"floor", "error", "keep", "narrow"} }

// UnmarshalText reads a policy's name.
func (p *NegativeSites) UnmarshalText(text []byte) error {
	return choose(p, "policy for negative sites", text)
}

// EvidenceForm is how the log evidence of a Gaussian posterior with sites t_i accounts for what the
// sites leave out of the likelihood: by factors ∫ p(y_i|f)/t_i(f) N(f; μ_i, v_i) df, N(f; μ_i, v_i)
// the marginal.
type EvidenceForm int

const (
	// CavityForm takes the marginal over the site as the cavity, which it is up to a factor, and
	// the integral exactly.
	CavityForm EvidenceForm = iota
	// PosteriorForm is Gauss-Hermite quadrature of the ratio as it stands against the marginal. It
	// is less accurate, and where p(y|f) jumps it jumps with the nodes.
	PosteriorForm
)

// Names are the forms' names.
func (EvidenceForm) Names() []string { return []string{"cavity", "posterior"} }

// UnmarshalText reads a form's name.
func (e *EvidenceForm) UnmarshalText(text []byte) error {
	return choose(e, "form of the evidence", text)
}

// choose sets dst to the value of a name; what says what was wanted.
func choose[T interface {
	~int
	Names() []string
}](dst *T, what string, text []byte) error {
	have := (*dst).Names()
	i := slices.Index(have, string(text))
	if i < 0 {
		return fmt.Errorf("unknown %s %q%s", what, text, registry.Suggest(string(text), have))
	}
	*dst = T(i)
	return nil
}

// Quadrature is Gauss-Hermite quadrature in place of exact averages.
type Quadrature struct {
	// Order is the number of nodes, against the cavity (EP) or the marginal (PL) wherever a site is
	// made of a likelihood without closed form, logit; others keep theirs. The log Z_i of the
	// cavity form are sums over these nodes too, predictions are not. Default: exact averages. The
	// posterior form of the evidence is quadrature with any likelihood, of this order or by default
	// of order 10.
	Order int `yaml:"order" within:"[1,100]"`
}

const maxOrder = 100

// check says what is wrong with the quadrature and the form of the evidence, or whether that has a
// gradient with lik.
func (q Quadrature) check(method string, e EvidenceForm, lik likelihood.Likelihood) (gradient bool, err error) {
	if q.Order < 0 || q.Order > maxOrder {
		const format = "%s: quadrature order %d must be between 1 and %d " +
			"(0 means exact averages, and 10 in evidence: posterior)"
		return false, fmt.Errorf(format, method, q.Order, maxOrder)
	}
	if _, sites := bound(lik).(likelihood.Quadrable); sites && q.Order == 1 {
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

// moments returns what makes the sites: lik, or its rule.
func (q Quadrature) moments(lik likelihood.MomentMatcher) likelihood.MomentMatcher {
	if l, ok := lik.(likelihood.Quadrable); ok && q.Order > 0 {
		return l.Quadrature(q.Order)
	}
	return lik
}

// isRule says whether averages are those of a rule.
func isRule(lik likelihood.Bound) bool {
	_, ok := lik.(likelihood.MomentRule)
	return ok
}

// isConcave says whether p(y|f) is known to be log-concave, and its sites so to be positive.
func isConcave(lik likelihood.Bound) bool {
	_, ok := lik.(likelihood.LogConcave)
	return ok
}
