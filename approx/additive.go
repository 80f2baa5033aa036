package approx

import "math"

// linearisation is a rule that makes a site from the marginal of a case alone.
type linearisation interface {
	rule
	at(i int, marginal gaussian) site
}

// additive is a linearisation whose sites are multiplied by the weights of their cases.
type additive struct {
	linearisation
	state *siteState
}

// mostVisits bounds the copies of a case that are updated one after the other.
const mostVisits = 32

// match returns the site of all copies of case i: w times the site of one copy. If this site would
// move the marginal far, all copies together would go too far, and they change one after the other
// instead. More than mostVisits copies change in mostVisits equal steps. τ_i v ≥ 1 means that the
// copies do not share one latent value; then they change at once.
func (a additive) match(i int, v, b float64) (site, error) {
	at := a.state.marginal(i, v, b)
	all := a.all(i, at.gaussian)
	visits := min(math.Ceil(a.state.weight.of(i)), mostVisits)
	if visits == 1 || at.distance(all) <= nearEnough || !(at.tau*v < 1) {
		return all, nil
	}
	s, start := all, at.mean
	for range int(visits) {
		at = at.with(s, 1/visits)
		s = a.all(i, at.gaussian)
	}
	all.tau, all.offset = at.tau, at.b+at.tau*(at.mean-start)
	return all, nil
}

// all is the site of all copies of a case.
func (a additive) all(i int, at gaussian) site {
	s, w := a.at(i, at), a.state.weight.of(i)
	s.tau, s.offset = w*s.tau, w*s.offset
	return s
}

func (a additive) slopes(i int) siteSlopes {
	s := a.linearisation.slopes(i)
	for _, slope := range []*float64{&s.tauByMean, &s.tauByVariance, &s.offsetByMean, &s.offsetByVariance} {
		*slope *= a.state.weight.of(i)
	}
	return s
}

func (a additive) paramSlopes(i int, tau, offset []float64) {
	a.linearisation.paramSlopes(i, tau, offset)
	for j := range tau {
		tau[j], offset[j] = a.state.weight.of(i)*tau[j], a.state.weight.of(i)*offset[j]
	}
}
