package approx

import (
	"fmt"
	"math"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
)

// Power EP (Minka 2004, "Power EP"; Bui, Yan & Turner 2017) takes the power α of a site out of a
// marginal, which leaves the cavity N(m_-i, v_-i), and matches the power α of a new site to
// p(y_i|f_i)^α. So it is EP with p^α and τ, ν of α times the sites', except for the evidence,
//
//	L = -½ log|B| - ½ bᵀ(μ - m) + Σ_i 1/α [ log Z_i + ½ log(1 + α τ_i v_-i) + ½ v_-i (α b_i)² ]
//
// with Z_i the mass of N(m_-i, v_-i) times p(y_i|f)^α, whose mean is m_-i = μ_i - v_-i α b_i. L is
// stationary in the sites at their fixed point. For α → 0, log Z_i/α becomes the average of log
// p(y_i|f) over the marginal. L, the sites and their updates then equal the results of the
// variational method. For small α the differences are proportional to α.

// powerOf returns p(y|f)^α, or nil if α is 1 or 0, which stands for 1. exact means that no average
// is computed by quadrature.
func powerOf(lik likelihood.Bound, alpha float64, exact bool) (likelihood.MomentMatcher, error) {
	switch {
	case alpha == 0 || alpha == 1:
		return nil, nil
	case !(alpha >= 1e-3 && alpha < 1):
		return nil, fmt.Errorf("ep: alpha = %v must be between 0.001 and 1; for less use inference: variational, "+
			"which is the limit", alpha)
	case !exact:
		return nil, fmt.Errorf("ep: alpha = %v needs exact averages; leave out evidence and quadrature", alpha)
	}
	power, ok := likelihood.Power(lik.(likelihood.MomentMatcher), alpha)
	if !ok {
		return nil, fmt.Errorf("ep: alpha = %v needs powers of the likelihood, known for smooth ones, noisy_threshold "+
			"and step; use alpha: 1", alpha)
	}
	return power, nil
}

// raise takes the powers of the sites of p and of the likelihood.
func (p *siteState) raise(alpha float64, exact bool) error {
	power, err := powerOf(p.lik, alpha, exact)
	if err != nil {
		return err
	}
	if power != nil {
		p.alpha, p.moments = alpha, power
	}
	return p.powers()
}

// poweredSite is the site of one case in power EP.
type poweredSite struct {
	alpha  float64
	policy NegativeSites
	update func(at siteMarginal) (site, error)      // EP's, for the power
	slopes func(at siteMarginal, s site) siteSlopes // derivatives of the update s at that marginal
}

// solve returns the site of a case that is a fixed point for its full cavity N(m, c), with the
// other sites fixed. It starts from the marginal at and the update s for this marginal. Plain
// updates oscillate if the prior is wide, so it takes steps of Newton's method. It rejects a step
// that lowers the term of the case in the log evidence,
//
//	½ log v - (μ - m)²/2c + h
//
// with h of cavityTerm. A step of the fraction α towards an update never lowers it: the mean and
// the variance of a tilted distribution maximise ∫ p^α q^(1-α) as an EM step does.
func (p poweredSite) solve(at siteMarginal, s site) (site, error) {
	own, start, cavity := s.average, at.mean, at.without(1)
	added := func(at siteMarginal, s site) float64 {
		without, off, b := at.without(p.alpha), at.mean-cavity.mean, p.alpha*at.b
		h := s.average.log + (without.variance*b*b+math.Log(without.variance/at.variance))/2
		return math.Log(at.variance)/2 - off*off/(2*cavity.variance) + h/p.alpha
	}
	from := func(at siteMarginal, s site) site {
		return site{s.tau, s.offset + s.tau*(at.mean-start), s.floored, own, averages{}}
	}
	const solved = 1e-3 // Newton's method then leaves the square
	for range 10 {
		if s.floored && p.policy == NarrowNegative {
			break
		}
		next, ok := p.newton(at, s)
		if ok && at.distance(s) < solved {
			return from(next, site{tau: next.tau, offset: next.b, floored: s.floored}), nil
		}
		var further site
		var err error
		last := added(at, s)
		if ok {
			further, err = p.update(next)
			ok = added(next, further) >= last
		}
		for step := 1.0; !ok && err == nil && step > p.alpha/2; step /= 2 {
			next = at.with(s, step)
			further, err = p.update(next)
			ok = added(next, further) >= last
		}
		if err != nil {
			return s, err
		}
		if !ok { // rounding errors exceed the gain of any step
			break
		}
		at, s = next, further
	}
	return from(at, s), nil
}

// newton is a step of Newton's method for the site of one case, as siteState.newton takes for all
// sites; ok is false if it leaves the range of precisions.
func (p poweredSite) newton(at siteMarginal, s site) (next siteMarginal, ok bool) {
	r := p.slopes(at, s)
	tilted := at.with(s, p.alpha)
	mean, variance, v := tilted.mean-at.mean, tilted.variance-at.variance, at.variance
	byMean := r.offsetByMean + at.tau // derivative of ν at fixed τ
	right := [2]float64{
		s.offset - at.b - byMean*mean - r.offsetByVariance*variance,
		s.tau - at.tau - r.tauByMean*mean - r.tauByVariance*variance,
	}
	a, b, c, d := 1-byMean*v, r.offsetByVariance*v*v, -r.tauByMean*v, 1+r.tauByVariance*v*v
	determinant := a*d - b*c
	offset, tau := (d*right[0]-b*right[1])/determinant, (a*right[1]-c*right[0])/determinant
	if s.floored {
		tau = -at.tau
	}
	ok = 1+tau*v > eps && (at.tau+tau >= 0 || p.policy == KeepNegative)
	return at.with(site{tau: at.tau + tau, offset: at.b + offset}, 1), ok
}

// with returns the marginal after a step of this fraction towards the site s.
func (m siteMarginal) with(s site, fraction float64) siteMarginal {
	tau, offset := m.tau+fraction*(s.tau-m.tau), fraction*(s.offset-m.b)
	v := m.variance / (1 + (tau-m.tau)*m.variance)
	step := v * offset
	return siteMarginal{gaussian{m.mean + step, v}, tau, m.b + offset - tau*step}
}
