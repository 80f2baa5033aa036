package approx

import (
	"context"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
)

var (
	_ Approximation = PL{}
	_ LeaveOneOut   = (*siteState)(nil)
)

// PL is posterior linearisation for two or more classes, in order or not (García-Fernández, Tronarp
// & Särkkä, "Gaussian process classification using posterior linearisation"). The label is
// linearised as y = Af + b + noise of variance Ω, where A, b and Ω come from statistical linear
// regression on the marginal N(f; μ, v) of the posterior. The posterior in turn results from A, b
// and Ω:
//
//	A = Cov(f, E[y|f])/v,   b = E[y] - Aμ,   Ω = Var(y) - A²v
//
// that is, a Gaussian site τ = A²/Ω, ν = A(y - b)/Ω. With q± = ∫ p(±1|f) N(f; μ, v) df, for which A
// = 2∂q₊/∂μ and Var(y) = 4q₊q₋, and d± = ∂log q±/∂μ, this is
//
//	τ = D/(1 - vD),   ν - τμ = d_y/(1 - vD),   D = -d₊d₋
//
// without cancellation, as vD ≤ 2/π. All sites are positive, for any likelihood. A State has τ and
// then ν, 2n numbers.
//
// The log evidence is computed from these sites as in EP: the paper's (18) with its factors in
// closed form. It is not stationary in them, so its gradient includes the derivative of the fixed
// point (see siteFunctional). A fit that stops before it converges has Diagnostics.Converged false,
// and its adjoint is ErrNotConverged.
type PL struct {
	Iteration `yaml:",inline"`
	// Structure represents the prior covariance.
	Structure Structure `yaml:",inline"`
	// Evidence is the form of the log evidence: cavity, the default, or the paper's.
	Evidence EvidenceForm `yaml:"evidence"`
	// Quadrature selects the paper's quadrature instead of exact averages.
	Quadrature Quadrature `yaml:"quadrature"`
}

// Uses implements Approximation: any binary likelihood with Gaussian averages.
func (l PL) Uses(lik likelihood.Likelihood, classes int) (Caps, error) {
	if err := l.Iteration.check("pl"); err != nil {
		return Caps{}, err
	}
	if lik.Domain() == likelihood.Categorical {
		return l.usesClasses(lik, classes)
	}
	if err := usesBinary("pl", lik, classes, nil); err != nil {
		return Caps{}, err
	}
	smooth, err := l.Quadrature.check("pl", l.Evidence, lik)
	if err != nil {
		return Caps{}, err
	}
	slopes := knowsParameters(lik) && !l.accepts()
	cavities := power(l.Structure, 1) == 1
	return Caps{
		Gradient: slopes && smooth, Unconverged: l.accepts(),
		LeaveOneOut: cavities, LeaveOneOutGradient: cavities && slopes, Weights: true,
	}, nil
}

// usesClasses is Uses of several latent processes.
func (l PL) usesClasses(lik likelihood.Likelihood, classes int) (Caps, error) {
	caps, err := l.usesJoint("pl", 1, l.Structure, lik, classes)
	if err == nil {
		err = exactJoint("pl", l.Evidence, l.Quadrature)
	}
	return caps, err
}

func (PL) scalesGeometrically() bool { return true }

func (l PL) in(w *Work) Approximation {
	l.work = w
	return l
}

// Memory implements Approximation.
func (l PL) Memory(s Size) Memory {
	if s.Classes > 2 {
		return memoryOfSites(s, false)
	}
	return l.memory(s, false)
}

// Fit implements Approximation.
func (l PL) Fit(ctx context.Context, cov []Cov, y Targets, lik likelihood.Bound, start State) (Posterior, error) {
	return fitSites(ctx, l, cov, y, lik, start)
}

// Restore implements Approximation.
func (l PL) Restore(cov []Cov, y Targets, lik likelihood.Bound, s State) (Posterior, error) {
	return restoreSites(l, cov, y, lik, s)
}

func (l PL) structure() Structure { return l.Structure }

func (l PL) with(s Structure) (Approximation, bool) {
	l.Structure = s
	return l, true
}

func (l PL) begin(cov []Cov, y Targets, lik likelihood.Bound) (*siteState, error) {
	p, err := newSites("pl", l.Iteration, l.Evidence, l.Quadrature, power(l.Structure, 1), cov, y, lik)
	if err == nil {
		var l linearisation = plRule{p}
		if utility, ok := lik.(likelihood.RandomUtility); ok {
			l = newPLUtilities(p, utility)
		} else if y.Classes > 2 {
			l = plRanks{p, likelihood.Labels(y.Classes)}
		}
		if p.rule = l; p.weight != nil {
			p.rule = additive{l, p}
		}
		err = p.powers()
	}
	return p, err
}
