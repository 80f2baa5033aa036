package approx

import "github.com/gpc-tune/gpc-tune/approx/likelihood"

// plRule is the rule of PL.
type plRule struct{ *siteState }

// match returns the site of statistical linear regression on N(μ_i, v).
func (p plRule) match(i int, v, _ float64) (site, error) { return p.at(i, gaussian{p.mu[i], v}), nil }

func (p plRule) at(i int, at gaussian) site {
	v := at.variance
	own, other := p.labels(p.y[i], at)
	product := max(0, -own.d[0]*other.d[0]) // below 0 by rounding, where the label is certain
	rest := 1 - v*product                   // Ω/Var(y)
	return site{tau: product / rest, offset: own.d[0] / rest, average: own, otherAverage: other}
}

// labels returns the averages for the label y, and for the other label.
func (p plRule) labels(y float64, at gaussian) (own, other averages) {
	both, ok := p.moments.(likelihood.Complementary)
	if !ok {
		return averaged(p.moments, y, at), averaged(p.moments, otherLabel(y), at)
	}
	logZ, d := both.MomentsOfBoth(at.mean, at.variance)
	minus, plus := averages{log: logZ[0], d: d[0]}, averages{log: logZ[1], d: d[1]}
	if y < 0 {
		return minus, plus
	}
	return plus, minus
}

// otherLabel returns the label of the event that did not happen: -y for two classes, and -1 for the
// label y = 0 of Noise.
func otherLabel(y float64) float64 {
	if y == 0 {
		return -1
	}
	return -y
}

func (plRule) negative() bool { return false }

// stationary: no, because the evidence is EP's and the fixed point is not.
func (plRule) stationary(fixedPoint) bool { return false }

// slopes differentiates match.
func (p plRule) slopes(i int) siteSlopes {
	marginal, kept := gaussian{p.mu[i], p.sigma[i]}, p.next[i]
	own, byMean, byVariance := p.momentSlopes(kept.average, p.y[i], marginal)
	other, otherByMean, otherByVariance := p.momentSlopes(kept.otherAverage, otherLabel(p.y[i]), marginal)
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

// slope returns the derivatives of τ and of the offset. d, e and v are the derivatives of l.d, l.e
// and l.v.
func (l linearised) slope(d, e, v float64) (tau, offset float64) {
	product, slope := -l.d*l.e, -(d*l.e + l.d*e)
	rest := 1 - l.v*product
	return (slope + v*product*product) / (rest * rest), (d + l.d*(v*product+l.v*slope)/rest) / rest
}
