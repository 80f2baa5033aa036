package approx

import (
	"context"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/interrupt"
)

var (
	_ Approximation = PL{}
	_ LeaveOneOuter = (*siteFit)(nil)
)

// PL is posterior linearisation for two classes (García-Fernández, Tronarp & Särkkä, "Gaussian process classification
// using posterior linearisation"). The label is linearised as y = Af + b + noise of variance Ω, where A, b and Ω are
// those of statistical linear regression on the marginal N(f; μ, v) of the posterior that results from them:
//
//	A = Cov(f, E[y|f])/v,   b = E[y] - Aμ,   Ω = Var(y) - A²v
//
// that is, a Gaussian site τ = A²/Ω, ν = A(y - b)/Ω. With q± = ∫ p(±1|f) N(f; μ, v) df, for which A = 2∂q₊/∂μ and
// Var(y) = 4q₊q₋, and d± = ∂log q±/∂μ, this is
//
//	τ = D/(1 - vD),   ν - τμ = d_y/(1 - vD),   D = -d₊d₋
//
// where nothing cancels, as vD ≤ 2/π. All sites are positive, whatever the likelihood. A State holds τ and then ν, 2n
// numbers.
//
// The log evidence is that of EP at these sites, which is the paper's (18) with its factors in closed form. It is not
// stationary in them: its gradient takes the fixed point's own derivative into account (see siteFunctional). A fit that
// stops before it converges has Diagnostics.Converged false, and its adjoint is ErrNotConverged.
type PL struct {
	// Schedule is the order of the updates: sequential, parallel or mixed.
	Schedule Schedule `yaml:"schedule"`
	// Damping is the share of a site's new value that is taken, 0 < Damping ≤ 1. Default 1. It is halved, with a warning,
	// where the updates go in circles, as parallel ones do with noisy_threshold, and for a while where a parallel one
	// overshoots.
	Damping float64 `yaml:"damping" within:"(0,1]"`
	// Tolerance bounds, at every site, the change of the marginal that a further update would make, in units of its
	// standard deviation and as a share of its variance, and what all these changes do to the log evidence. Where the
	// rounding error of the marginal variances allows no better, that is the bound. Default 1e-10.
	Tolerance float64 `yaml:"tolerance" within:"(0,1)"`
	// MaxIterations bounds the sweeps, parallel updates and Newton steps together. Default 1000.
	MaxIterations int `yaml:"max_iterations" within:"[1,10000000]"`
	// Unconverged says what to do with a fit that has not converged by then: error, the default, or accept, which takes it as
	// it is, with a warning. With accept the updates are plain: no Newton steps, and no damping but Damping. The evidence,
	// the formula above at the last sites, has no gradient then, as it is not that of a fixed point. Above 0 it is an error,
	// for then the updates diverge.
	Unconverged Unconverged `yaml:"unconverged"`
	// Evidence is the form of the log evidence: cavity, the default, or the paper's.
	Evidence EvidenceForm `yaml:"evidence"`
	// Quadrature is the paper's, in place of exact averages.
	Quadrature Quadrature `yaml:"quadrature"`

	work *Work
}

func (l PL) iteration() iteration {
	return iteration{l.Schedule, l.Damping, l.Tolerance, l.MaxIterations, l.Unconverged, l.work}
}

// Uses implements Approximation: any binary likelihood that has Gaussian averages.
func (l PL) Uses(lik likelihood.Likelihood, classes int) (Caps, error) {
	if err := l.iteration().check("pl"); err != nil {
		return Caps{}, err
	}
	if err := usesBinary("pl", lik, classes, nil); err != nil {
		return Caps{}, err
	}
	smooth, err := l.Evidence.check("pl", l.Quadrature, lik)
	if err != nil {
		return Caps{}, err
	}
	slopes := knowsParameters(lik) && !l.iteration().accepts()
	return Caps{Gradient: slopes && smooth, LeaveOneOut: true, LeaveOneOutGradient: slopes, Unconverged: l.iteration().accepts()}, nil
}

func (PL) powers() bool { return true }

func (l PL) in(w *Work) Approximation {
	l.work = w
	return l
}

// Memory implements Approximation.
func (l PL) Memory(s Size) Memory { return l.iteration().memory(s, false) }

// Fit implements Approximation.
func (l PL) Fit(ctx context.Context, cov []Cov, y Targets, lik likelihood.Bound, start State) (Posterior, error) {
	return interrupt.Do(ctx, func() (Posterior, error) {
		p, err := l.begin(cov, y, lik)
		if err != nil {
			return nil, err
		}
		f, err := p.run(ctx, start)
		if err != nil {
			return nil, err
		}
		return p, p.finish(f, false)
	})
}

// Restore implements Approximation.
func (l PL) Restore(cov []Cov, y Targets, lik likelihood.Bound, s State) (Posterior, error) {
	p, err := l.begin(cov, y, lik)
	if err != nil {
		return nil, err
	}
	f, err := p.restore(s)
	if err != nil {
		return nil, err
	}
	return p, p.finish(f, false)
}

func (l PL) begin(cov []Cov, y Targets, lik likelihood.Bound) (*siteFit, error) {
	p, err := newSiteFit("pl", l.iteration(), l.Evidence, l.Quadrature, cov, y, lik)
	if err == nil {
		p.rule = linearisation{p}
	}
	return p, err
}

// linearisation is the rule of PL.
type linearisation struct{ *siteFit }

// match returns the site of statistical linear regression on N(μ_i, v).
func (p linearisation) match(i int, v, _ float64) (site, error) {
	_, d := p.moments.Moments(p.y[i], p.mu[i], v)
	_, other := p.moments.Moments(-p.y[i], p.mu[i], v)
	product := -d[0] * other[0]
	rest := 1 - v*product // Ω/Var(y)
	return site{tau: product / rest, pull: d[0] / rest}, nil
}

func (linearisation) negative() bool { return false }

// slopes differentiates match.
func (p linearisation) slopes(i int) siteSlopes {
	mu, v, y := p.mu[i], p.sigma[i], p.y[i]
	own, byMean, byVariance := momentSlopes(p.moments, y, mu, v)
	other, otherByMean, otherByVariance := momentSlopes(p.moments, -y, mu, v)
	at := linearised{own[1], other[1], v}
	var s siteSlopes
	s.tauByMean, s.pullByMean = at.slope(byMean[1], otherByMean[1], 0)
	s.tauByVariance, s.pullByVariance = at.slope(byVariance[1], otherByVariance[1], 1)
	return s
}

func (p linearisation) paramSlopes(i int, tau, pull []float64) {
	mu, v, y := p.mu[i], p.sigma[i], p.y[i]
	_, d := p.lik.Moments(y, mu, v)
	_, e := p.lik.Moments(-y, mu, v)
	model, n := p.lik.(likelihood.Parametric), len(tau)
	dt, et, rest := make([]float64, n), make([]float64, n), make([]float64, n)
	model.DMoments(rest, dt, rest, y, mu, v)
	model.DMoments(rest, et, rest, -y, mu, v)
	for j := range tau {
		tau[j], pull[j] = linearised{d[0], e[0], v}.slope(dt[j], et[j], 0)
	}
}

// linearised is a site τ = D/(1 - vD), pull = d/(1 - vD), D = -de.
type linearised struct{ d, e, v float64 }

// slope returns the derivatives of τ and pull, given those of d, e and v.
func (l linearised) slope(d, e, v float64) (tau, pull float64) {
	product, slope := -l.d*l.e, -(d*l.e + l.d*e)
	rest := 1 - l.v*product
	return (slope + v*product*product) / (rest * rest), (d + l.d*(v*product+l.v*slope)/rest) / rest
}
