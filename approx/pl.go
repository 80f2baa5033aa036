package approx

import (
	"context"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
)

var (
	_ Approximation = PL{}
	_ LeaveOneOuter = (*siteState)(nil)
)

// PL is posterior linearisation for two classes, or several with an order (García-Fernández,
// Tronarp & Särkkä, "Gaussian process classification using posterior linearisation"). The label is
// linearised as y = Af + b + noise of variance Ω, where A, b and Ω are those of statistical linear
// regression on the marginal N(f; μ, v) of the posterior that results from them:
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
// The log evidence is that of EP at these sites, which is the paper's (18) with its factors in
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

func (PL) scalesGeometrically() bool { return true }

func (l PL) in(w *Work) Approximation {
	l.work = w
	return l
}

// Memory implements Approximation.
func (l PL) Memory(s Size) Memory { return l.memory(s, false) }

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
	p, err := newSiteState("pl", l.Iteration, l.Evidence, l.Quadrature, power(l.Structure, 1), cov, y, lik)
	if err == nil {
		var l linearisation = plRule{p}
		if y.Classes > 2 {
			l = plRanks{p, likelihood.Labels(y.Classes)}
		}
		if p.rule = l; p.weight != nil {
			p.rule = additive{l, p}
		}
		err = p.powers(1)
	}
	return p, err
}

// plRule is the rule of PL.
type plRule struct{ *siteState }

// match returns the site of statistical linear regression on N(μ_i, v).
func (p plRule) match(i int, v, _ float64) (site, error) { return p.at(i, gaussian{p.mu[i], v}), nil }

func (p plRule) at(i int, at gaussian) site {
	v := at.variance
	own, other := p.labels(p.y[i], at)
	product := -own.d[0] * other.d[0]
	rest := 1 - v*product // Ω/Var(y)
	return site{tau: product / rest, offset: own.d[0] / rest, average: own, otherAverage: other}
}

// labels returns the averages for the label y, and for the other label.
func (p plRule) labels(y float64, at gaussian) (own, other averages) {
	both, ok := p.moments.(likelihood.Complementary)
	if !ok {
		return averaged(p.moments, y, at), averaged(p.moments, -y, at)
	}
	logZ, d := both.MomentsOfBoth(at.mean, at.variance)
	minus, plus := averages{log: logZ[0], d: d[0]}, averages{log: logZ[1], d: d[1]}
	if y < 0 {
		return minus, plus
	}
	return plus, minus
}

func (plRule) negative() bool { return false }

// stationary: no, because the evidence is EP's and the fixed point is not.
func (plRule) stationary(fixedPoint) bool { return false }

// slopes differentiates match.
func (p plRule) slopes(i int) siteSlopes {
	marginal, kept := gaussian{p.mu[i], p.sigma[i]}, p.next[i]
	own, byMean, byVariance := p.momentSlopes(kept.average, p.y[i], marginal)
	other, otherByMean, otherByVariance := p.momentSlopes(kept.otherAverage, -p.y[i], marginal)
	at := linearised{own[1], other[1], marginal.variance}
	var s siteSlopes
	s.tauByMean, s.offsetByMean = at.slope(byMean[1], otherByMean[1], 0)
	s.tauByVariance, s.offsetByVariance = at.slope(byVariance[1], otherByVariance[1], 1)
	return s
}

func (p plRule) paramSlopes(i int, tau, offset []float64) {
	mu, v, n := p.mu[i], p.sigma[i], len(tau)
	at := linearised{p.next[i].average.d[0], p.next[i].otherAverage.d[0], v}
	model := p.lik.(likelihood.Parametric)
	value, second := make([]float64, n), make([]float64, n) // memory not in use otherwise
	dt, et := make([]float64, n), make([]float64, n)
	model.DMoments(value, dt, second, p.y[i], mu, v)
	model.DMoments(value, et, second, -p.y[i], mu, v)
	for j := range tau {
		tau[j], offset[j] = at.slope(dt[j], et[j], 0)
	}
}

// linearised is a site τ = D/(1 - vD), offset d/(1 - vD), D = -de.
type linearised struct{ d, e, v float64 }

// slope returns the derivatives of τ and offset, given those of d, e and v.
func (l linearised) slope(d, e, v float64) (tau, offset float64) {
	product, slope := -l.d*l.e, -(d*l.e + l.d*e)
	rest := 1 - l.v*product
	return (slope + v*product*product) / (rest * rest), (d + l.d*(v*product+l.v*slope)/rest) / rest
}
