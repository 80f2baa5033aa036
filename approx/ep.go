package approx

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/cause"
)

var _ Approximation = EP{}

// EP is expectation propagation for two classes, or for numbers (GPML 3.6): Gaussian sites of
// precision τ_i and information ν_i, chosen so that every marginal of the posterior has the mean
// and variance of its tilted distribution, the cavity N(f; m_-i, v_-i) times p(y_i|f). With Z_i the
// mass of the latter and b = K⁻¹(μ - m) the log evidence, in nats, is
//
//	L = -½ log|B| - ½ bᵀ(μ - m) + Σ_i [ log Z_i + ½ log(1 + τ_i v_-i) + ½ v_-i b_i² ]
//	B = I + S^½ K S^½
//
// which is GPML (3.65) rewritten with m_-i = μ_i - v_-i b_i: nothing large cancels, and τ_i may be
// 0. It is stationary in the sites at their fixed point, unless one of them is floored. With a
// likelihood that is not log-concave there may be several fixed points, and the schedule decides
// which is reached. A State holds τ and then ν, 2n numbers.
//
// A fit that stops before it converges has Diagnostics.Converged false; its evidence is the formula
// above at the last sites, and its adjoint is ErrNotConverged. With Alpha below 1 this is power EP.
type EP struct {
	Iteration `yaml:",inline"`
	// Structure represents the prior covariance.
	Structure Structure `yaml:",inline"`
	// Alpha is the power α of power EP; the zero value is 1, EP.
	Alpha float64 `yaml:"alpha" within:"[0.001,1]"`
	// NegativeSites is the treatment of a negative site precision.
	NegativeSites NegativeSites `yaml:"negative_sites"`
	// Evidence is the form of the log evidence; the formula above is the default, cavity.
	Evidence EvidenceForm `yaml:"evidence"`
	// Quadrature takes the place of exact moments.
	Quadrature Quadrature `yaml:"quadrature"`
}

// Uses implements Approximation: any likelihood of two classes, or of numbers, that has Gaussian
// averages.
func (e EP) Uses(lik likelihood.Likelihood, classes int) (Caps, error) {
	if err := e.Iteration.check("ep"); err != nil {
		return Caps{}, err
	}
	if e.NegativeSites == NarrowNegative && !e.accepts() {
		return Caps{}, errors.New("ep: negative_sites: narrow need not have a fixed point; " +
			"add unconverged: accept or trust")
	}
	if lik.Domain() == likelihood.Categorical {
		return e.usesClasses(lik, classes)
	}
	if err := usesOneProcess("ep", lik, classes, nil); err != nil {
		return Caps{}, err
	}
	smooth, err := e.Quadrature.check("ep", e.Evidence, lik)
	if err != nil {
		return Caps{}, err
	}
	if _, err := powerOf(bound(lik), e.Alpha, e.exact()); err != nil {
		return Caps{}, err
	}
	moments := e.Quadrature.moments(bound(lik).(likelihood.MomentMatcher))
	params := knowsParameters(lik) && !e.accepts()
	positive := isConcave(moments) // sites
	// The evidence is stationary in the sites unless a site is floored or a quadrature rule
	// computes the averages.
	stationary := e.Evidence == CavityForm && !isRule(moments) && (positive || e.NegativeSites != FloorNegative)
	implicit := positive || e.NegativeSites != KeepNegative
	cavities := power(e.Structure, 1) == 1
	return Caps{
		Gradient: params && (stationary || smooth && implicit), Unconverged: e.accepts(),
		LeaveOneOut: cavities, LeaveOneOutGradient: cavities && params && implicit, Weights: true,
	}, nil
}

// usesClasses is Uses of several latent processes.
func (e EP) usesClasses(lik likelihood.Likelihood, classes int) (Caps, error) {
	caps, err := e.usesJoint("ep", 1, e.Structure, lik, classes)
	if err == nil {
		err = exactJoint("ep", e.Evidence, e.Quadrature)
	}
	if err != nil {
		return Caps{}, err
	}
	_, err = powerOf(bound(lik).(likelihood.RandomUtility).Noise(), e.Alpha, true)
	return caps, err
}

// exact reports whether no average is computed by quadrature.
func (e EP) exact() bool { return e.Evidence == CavityForm && e.Quadrature.Order == 0 }

func (EP) scalesGeometrically() bool { return true }

func (e EP) in(w *Work) Approximation {
	e.work = w
	return e
}

// Memory implements Approximation. Where sites are floored, the adjoint of the evidence takes as
// much memory as the adjoint of leave-one-out.
func (e EP) Memory(s Size) Memory {
	if s.Classes > 2 {
		return memoryOfSites(s, true)
	}
	return e.memory(s, e.exact())
}

// Fit implements Approximation.
func (e EP) Fit(ctx context.Context, cov []Cov, y Targets, lik likelihood.Bound, start State) (Posterior, error) {
	return fitSites(ctx, e, cov, y, lik, start)
}

// Restore implements Approximation.
func (e EP) Restore(cov []Cov, y Targets, lik likelihood.Bound, s State) (Posterior, error) {
	return restoreSites(e, cov, y, lik, s)
}

func (e EP) structure() Structure { return e.Structure }

func (e EP) with(s Structure) (Approximation, bool) {
	e.Structure = s
	return e, true
}

func (e EP) begin(cov []Cov, y Targets, lik likelihood.Bound) (*siteState, error) {
	p, err := newSites("ep", e.Iteration, e.Evidence, e.Quadrature, power(e.Structure, 1), cov, y, lik)
	if err != nil {
		return nil, err
	}
	p.rule = epRule{p, e.NegativeSites}
	return p, p.raise(e.Alpha, e.exact())
}

// NegativeCavity is the ErrNotPositiveDefinite of EP at a cavity without a positive variance, which
// only negative sites can make.
type NegativeCavity struct {
	Case      int
	Variance  float64
	Iteration int // from 1
}

func (e *NegativeCavity) Error() string {
	return fmt.Sprintf("%v: ep: the cavity of case %d has variance %.4g in iteration %d; use negative_sites: floor, "+
		"damping, or inference: pl, whose sites are positive", ErrNotPositiveDefinite, e.Case, e.Variance, e.Iteration)
}

// Cause is cause.NegativeCavity.
func (e *NegativeCavity) Cause() cause.Kind { return cause.NegativeCavity }

// Unwrap returns ErrNotPositiveDefinite.
func (e *NegativeCavity) Unwrap() error { return ErrNotPositiveDefinite }

// epRule is EP's rule: the marginal of a case, with its site, has the moments of the tilted
// distribution. The cavity of the tilted distribution is the marginal without the fraction share(i)
// of the site.
type epRule struct {
	*siteState
	policy NegativeSites
}

// byQuadrature reports whether a quadrature rule computes the averages.
func (p epRule) byQuadrature() bool { return p.nodes != nil || isRule(p.moments) }

// correctable reports whether marginals have the moments of the tilted distributions themselves.
func (p epRule) correctable() bool { return p.alpha == 1 && !p.byQuadrature() }

// match gives the site of case i: an update, and with a share below 1 their fixed point.
func (p epRule) match(i int, v, b float64) (site, error) {
	at := p.marginal(i, v, b)
	s, err := p.update(i, at)
	alpha := p.share(i)
	// τ v ≥ 1 if copies do not have one latent value
	if err != nil || alpha == 1 || p.weight != nil && !(at.tau*v < 1) {
		return s, err
	}
	update := func(at siteMarginal) (site, error) { return p.update(i, at) }
	slopes := func(at siteMarginal, s site) siteSlopes { return p.slopesAt(i, at, s) }
	return poweredSite{alpha, p.policy, update, slopes}.solve(at, s)
}

// update returns the site of case i. The cavity times the site to the power share(i) has the
// moments of the tilted distribution, GPML (3.59).
func (p epRule) update(i int, at siteMarginal) (site, error) {
	alpha := p.share(i)
	if rest := 1 - alpha*at.tau*at.variance; rest <= 0 && p.policy == KeepNegative {
		return site{}, &NegativeCavity{i, at.variance / rest, p.diagnostics.Iterations + 1}
	}
	c, b := at.without(alpha), alpha*at.b
	own := averaged(p.ofCopy(i), p.y[i], c)
	if own.proper {
		tau := max(1/own.tilted.variance-1/c.variance, 0)
		offset := (own.tilted.mean-at.mean)/own.tilted.variance + b
		return site{tau: tau / alpha, offset: offset / alpha, average: own}, nil
	}
	d := own.d
	s := site{tau: -d[1] / max(1+c.variance*d[1], eps), average: own}
	if s.tau < 0 && p.policy != KeepNegative {
		s.floored = s.tau*c.variance < -negligible
		if s.floored && p.policy == NarrowNegative { // the mean ν/τ stays as it was
			mean := at.mean + (d[0]+s.tau*c.variance*(d[0]-b))/s.tau
			s.tau = 1 / narrow
			s.offset = s.tau * (mean - at.mean)
			return s, nil
		}
		s.tau = 0
	}
	s.tau, s.offset = s.tau/alpha, (d[0]+s.tau*c.variance*(d[0]-b))/alpha
	return s, nil
}

func (p epRule) negative() bool { return p.policy == KeepNegative }

// stationary: the cavity form is, at the fixed point of exact moments, without floors.
func (p epRule) stationary(f fixedPoint) bool {
	return f.floors == 0 && !p.byQuadrature() && !p.options.accepts()
}

// term reuses the averages from which the site was made, except with a quadrature rule.
func (p epRule) term(i int) term {
	if p.byQuadrature() {
		return p.siteState.term(i)
	}
	return p.cavityTerm(i, p.next[i].average, p.share(i))
}

// negligible is the largest rounding error of a site precision, relative to the cavity precision. A
// site precision below 0 by no more than this counts as 0.
const negligible = 1e-12

// tilt has the derivatives of a site, to the power α, with respect to the cavity N(m, c) that it is
// matched to. The tilted moments are μ = m + c d1 and v = c + c² d2, and the site has ν - τμ = d1
// and τ = -d2/(1 + c d2).
type tilt struct {
	cavity           gaussian
	byMean, byC      [4]float64 // derivatives of μ, v, τ and ν - τμ by m and by c
	determinant, one float64    // determinant of the derivatives of μ and v; one is 1 + c d2
}

func (p epRule) tilt(i int, cavity gaussian, a averages) tilt {
	t := tilt{cavity: cavity}
	c := t.cavity.variance
	at, by, byC := p.momentSlopes(a, p.y[i], t.cavity)
	d1, d2 := at[1], at[2]
	t.one = 1 + c*d2
	t.byMean = [4]float64{1 + c*by[1], c * c * by[2], -by[2] / (t.one * t.one), by[1]}
	t.byC = [4]float64{d1 + c*byC[1], 1 + 2*c*d2 + c*c*byC[2], (d2*d2 - byC[2]) / (t.one * t.one), byC[1]}
	t.determinant = t.byMean[0]*t.byC[1] - t.byMean[1]*t.byC[0]
	return t
}

// along returns the derivatives of τ and ν - τμ along that change of the cavity which changes (μ,
// v) as given.
func (t tilt) along(mu, v float64) (tau, offset float64) {
	m := (mu*t.byC[1] - v*t.byC[0]) / t.determinant
	c := (v*t.byMean[0] - mu*t.byMean[1]) / t.determinant
	return m*t.byMean[2] + c*t.byC[2], m*t.byMean[3] + c*t.byC[3]
}

func (p epRule) slopes(i int) siteSlopes {
	s := p.slopesAt(i, p.marginal(i, p.sigma[i], p.b[i]), p.next[i])
	if !p.next[i].floored {
		s.mean, s.variance = p.moved(i)
	}
	return s
}

// constant is a bound on the tilted variance, relative to the cavity variance. Below it a site is
// nearly constant, and its computed slopes are rounding errors.
const constant = 1e-6

// slopesAt returns the derivatives of the site s by the marginal from which it was made. The cavity
// is a function of the marginal: its tilted moments are the moments of the marginal. For a floored
// site c = v, and τ stays 0.
func (p epRule) slopesAt(i int, at siteMarginal, s site) (by siteSlopes) {
	alpha := p.share(i)
	if a := s.average; a.proper && a.tilted.variance < constant*at.without(alpha).variance {
		return siteSlopes{offsetByMean: -s.tau}
	}
	t := p.tilt(i, at.without(alpha), s.average)
	if s.floored {
		by.offsetByMean = t.byMean[3] / t.byMean[0]
		by.offsetByVariance = (t.byC[3] - t.byMean[3]*alpha*at.b) / t.byMean[0]
	} else {
		by.tauByMean, by.offsetByMean = t.along(1, 0)
		by.tauByVariance, by.offsetByVariance = t.along(0, 1)
	}
	for _, slope := range []*float64{&by.tauByMean, &by.tauByVariance, &by.offsetByMean, &by.offsetByVariance} {
		*slope /= alpha
	}
	return by
}

// paramSlopes: the cavity moves so that the tilted moments stay.
func (p epRule) paramSlopes(i int, tau, offset []float64) {
	model, ok := p.ofCopy(i).(likelihood.Parametric)
	if !ok { // a rule, without derivatives of its own
		model = p.lik.(likelihood.Parametric)
	}
	alpha := p.share(i)
	t, n := p.tilt(i, p.cavity(i, alpha), p.next[i].average), len(tau)
	c := t.cavity.variance
	rest, d1, d2 := make([]float64, n), make([]float64, n), make([]float64, n)
	model.DMoments(rest, d1, d2, p.y[i], t.cavity.mean, c)
	for j := range tau {
		if p.next[i].floored {
			tau[j], offset[j] = 0, d1[j]/t.byMean[0]/alpha
			continue
		}
		tau[j], offset[j] = t.along(-c*d1[j], -c*c*d2[j])
		tau[j] = (tau[j] - d2[j]/(t.one*t.one)) / alpha
		offset[j] = (offset[j] + d1[j]) / alpha
	}
}
