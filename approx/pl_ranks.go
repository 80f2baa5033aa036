package approx

import (
	"math"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
)

// plRanks is the rule of PL for more than two classes in order: y is the number of the class. With
// Z_c = ∫ p(c|f) N(f; μ, v) df, d_c = ∂log Z_c/∂μ, and δ_c = c - l for the likeliest class l,
//
//	e = Σ δ_c Z_c,  A = Σ δ_c Z_c d_c,  Ω = Σ δ_c² Z_c - e² - A²v
//	τ = A²/Ω,  ν - τμ = A(y - l - e)/Ω
//
// Where a class is nearly certain all sums are proportional to the other Z_c, and nothing cancels.
type plRanks struct {
	*siteState
	labels []float64
}

func (plRanks) negative() bool             { return false }
func (plRanks) stationary(fixedPoint) bool { return false } // as plRule

// linearisedRank are e, A, the sum of δ² Z, and y - l of a case, or the derivatives of the first
// three.
type linearisedRank struct{ e, a, square, y float64 }

// add adds the terms of a class: z is Z or a derivative of Z, and zd is Z d or the same derivative
// of Z d.
func (r *linearisedRank) add(delta, z, zd float64) {
	r.e += delta * z
	r.a += delta * zd
	r.square += delta * delta * z
}

// site is the site on a marginal of variance v. If the probability of a class rounds to 1, the site
// is 0.
func (r linearisedRank) site(v float64) (tau, offset, omega float64) {
	omega = r.square - r.e*r.e - r.a*r.a*v
	if !(omega > 0) {
		return 0, 0, math.Inf(1)
	}
	return r.a * r.a / omega, r.a * (r.y - r.e) / omega, omega
}

// slope returns the derivatives of τ and of the offset, given by and byV, the derivatives of r and
// of v.
func (r linearisedRank) slope(by linearisedRank, v, byV float64) (tau, offset float64) {
	tau, offset, omega := r.site(v)
	byOmega := by.square - 2*r.e*by.e - 2*r.a*by.a*v - r.a*r.a*byV
	return (2*r.a*by.a - tau*byOmega) / omega, (by.a*(r.y-r.e) - r.a*by.e - offset*byOmega) / omega
}

// each calls f for every class with δ, Z and its averages, and returns y - l.
func (p plRanks) each(i int, at gaussian, f func(label, delta, z float64, d [4]float64)) float64 {
	all, likeliest := make([]averages, len(p.labels)), 0
	for k, label := range p.labels {
		if all[k] = averaged(p.moments, label, at); all[k].log > all[likeliest].log {
			likeliest = k
		}
	}
	for k, a := range all {
		f(p.labels[k], float64(k-likeliest), math.Exp(a.log), a.d)
	}
	return p.y[i] - p.labels[likeliest]
}

func (p plRanks) linearised(i int, at gaussian) (r linearisedRank) {
	r.y = p.each(i, at, func(_, delta, z float64, d [4]float64) { r.add(delta, z, z*d[0]) })
	return r
}

func (p plRanks) match(i int, v, _ float64) (site, error) { return p.at(i, gaussian{p.mu[i], v}), nil }

func (p plRanks) at(i int, at gaussian) site {
	tau, offset, _ := p.linearised(i, at).site(at.variance)
	return site{tau: tau, offset: offset, average: averaged(p.moments, p.y[i], at)}
}

func (p plRanks) slopes(i int) (s siteSlopes) {
	v, at := p.sigma[i], gaussian{p.mu[i], p.sigma[i]}
	var byMean, byVariance linearisedRank
	p.each(i, at, func(_, delta, z float64, d [4]float64) {
		byMean.add(delta, z*d[0], z*(d[0]*d[0]+d[1]))
		half := (d[1] + d[0]*d[0]) / 2 // the heat equation
		byVariance.add(delta, z*half, z*(half*d[0]+d[2]/2+d[0]*d[1]))
	})
	r := p.linearised(i, at)
	s.tauByMean, s.offsetByMean = r.slope(byMean, v, 0)
	s.tauByVariance, s.offsetByVariance = r.slope(byVariance, v, 1)
	return s
}

func (p plRanks) paramSlopes(i int, tau, offset []float64) {
	v, at, n := p.sigma[i], gaussian{p.mu[i], p.sigma[i]}, len(tau)
	by := make([]linearisedRank, n)
	log, d1, d2 := make([]float64, n), make([]float64, n), make([]float64, n)
	p.each(i, at, func(label, delta, z float64, d [4]float64) {
		p.lik.(likelihood.Parametric).DMoments(log, d1, d2, label, p.mu[i], v)
		for j := range by {
			by[j].add(delta, z*log[j], z*(log[j]*d[0]+d1[j]))
		}
	})
	r := p.linearised(i, at)
	for j := range by {
		tau[j], offset[j] = r.slope(by[j], v, 0)
	}
}
