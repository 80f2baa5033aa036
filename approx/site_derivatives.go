package approx

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/prior"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// response describes how marginals and sites change with each other, in units of the marginals.
type response struct {
	// jacobian, from prior.Prior, sets dst to M x, the change of the marginals for a change x of
	// the sites, and maps weights on marginals to weights on sites, as M is symmetric.
	jacobian func(dst, x []float64)
	slopes   []siteSlopes // derivatives of the rule's sites
}

// newResponse is the response at the fixed point or near it.
func (p *siteState) newResponse(jacobian func(dst, x []float64)) response {
	n := len(p.tau)
	r := response{jacobian, make([]siteSlopes, n)}
	linalg.Rows(n, func(i0, i1 int) {
		// units of the marginal; ν at fixed τ takes the place of the offset
		for i := i0; i < i1; i++ {
			v := p.sigma[i]
			s, sd := p.rule.slopes(i), math.Sqrt(v)
			r.slopes[i] = siteSlopes{
				s.tauByMean * v * sd, s.tauByVariance * v * v,
				(s.offsetByMean + p.tau[i]) * v, s.offsetByVariance * v * sd, s.mean / sd, s.variance / v,
			}
		}
	})
	return r
}

// weights sets dst to Tᵀs: weights on the marginals for weights s on the sites computed from them.
func (r response) weights(dst, s []float64) {
	n := len(r.slopes)
	for i, t := range r.slopes {
		nu, tau := s[i], s[n+i]
		dst[i], dst[n+i] = tau*t.tauByMean+nu*t.offsetByMean, tau*t.tauByVariance+nu*t.offsetByVariance
	}
}

// newton moves all sites by a step of Newton's method towards their fixed point. r is the response
// here, and the correlations in it may belong to a nearby posterior. T and M are as in
// differentiate. ρ are the sites of the rule minus the current sites, and e are the marginals for
// which the rule was evaluated minus the current marginals. The changes x of the sites solve
//
//	x = ρ + T(M x - e)
//
// up to a relative residual of tolerance, and no precision is taken below 0.
func (p *siteState) newton(r response, tolerance float64) {
	n := len(p.tau)
	x, moved := make([]float64, 2*n), make([]float64, 2*n)
	for i, v := range p.sigma {
		t := r.slopes[i]
		x[i] = (p.next[i].offset-p.b[i])*math.Sqrt(v) - t.offsetByMean*t.mean - t.offsetByVariance*t.variance
		x[n+i] = (p.next[i].tau-p.tau[i])*v - t.tauByMean*t.mean - t.tauByVariance*t.variance
	}
	x, _ = gmres(func(dst, x []float64) {
		r.jacobian(moved, x)
		for i, t := range r.slopes {
			dst[i] = x[i] - t.offsetByMean*moved[i] - t.offsetByVariance*moved[n+i]
			dst[n+i] = x[n+i] - t.tauByMean*moved[i] - t.tauByVariance*moved[n+i]
		}
	}, x, tolerance)
	for i, v := range p.sigma {
		tau := max(0, p.tau[i]+x[n+i]/v)
		p.nu[i] += x[i]/math.Sqrt(v) + (tau-p.tau[i])*p.mu[i]
		p.tau[i] = tau
	}
}

// differentiate sets the derivatives of a scalar at the fixed point, where the sites are functions
// of the marginals by the rule, and the marginals are functions of K, m and the sites. So the
// derivative has an implicit part: with w the total weight on the marginals and T and M the
// Jacobians of the two maps,
//
//	w = w₀ + Tᵀ(s₀ + Mᵀw),   w₀, s₀ the explicit weights on marginals and sites
//
// which is solved for w with products of O(n²). From dΣ = -Σ dS Σ and dΣ = (I - KR) dK (I - RK) the
// weights γ_μ and γ_v on the marginals offset back, with u = (I - RK)γ_μ, to
//
//	Mᵀ: ν̄ = Σγ_μ,  τ̄ at fixed ν - τμ = -(Σ∘Σ)γ_v
//	G = ½(u bᵀ + b uᵀ) + (I - RK) diag(γ_v) (I - KR),   ∂/∂m = u
//
// and the share σ of the evidence, 1 or 0, adds its explicit σ(½ b bᵀ - ½ R) and σb. weights are
// the explicit ones of a case, and explicit adds its explicit derivative over the likelihood's
// parameters.
func (p *siteState) differentiate(
	value, share float64, weights func(i int) weight, explicit func(grad []float64, i int),
) functional {
	var total []weight
	f := functional{
		value: value,
		solve: func() (err error) {
			if total == nil {
				total, err = p.implicit(p.newResponse(p.jacobian(p.sigma)), weights)
			}
			return err
		},
		adjoint: func(dst *Cov, j int) { p.pull(dst, j, total, share) },
	}
	if _, ok := p.lik.(likelihood.Parametric); ok {
		f.likelihood = func(grad []float64) {
			for i := range p.tau {
				explicit(grad, i)
			}
			tau, offset := make([]float64, len(grad)), make([]float64, len(grad))
			for i, w := range total { // weights of the sites at fixed marginals
				v := p.sigma[i]
				p.rule.paramSlopes(i, tau, offset)
				floats.AddScaled(grad, w.tau*v, tau)
				floats.AddScaled(grad, w.nu*math.Sqrt(v), offset)
			}
		}
	}
	return f
}

// residualBound is the relative residual for which the implicit part of a gradient has eight
// correct digits.
const residualBound = 1e-9

// implicit solves the equation for w.
func (p *siteState) implicit(r response, weights func(i int) weight) ([]weight, error) {
	n := len(p.tau)
	vector := func() []float64 { return make([]float64, 2*n) }
	own, site, right, s := vector(), vector(), vector(), vector()
	for i := range n {
		w := weights(i)
		own[i], own[n+i], site[i], site[n+i] = w.mu, w.v, w.nu, w.tau
	}
	r.weights(right, site)
	floats.Add(right, own)
	w, residual := gmres(func(dst, x []float64) {
		r.jacobian(s, x)
		r.weights(dst, s)
		for i, v := range x {
			dst[i] = v - dst[i]
		}
	}, right, 1e-13)
	if !(residual <= residualBound) {
		return nil, fmt.Errorf("%w: the equation for the derivative of the fixed point of %s is solved to %.1g only; "+
			"the fixed point is nearly unstable", ErrNoGradient, p.method, residual)
	}
	r.jacobian(s, w)
	floats.Add(s, site)
	total := make([]weight, n)
	for i := range n {
		total[i] = weight{w[i], w[n+i], s[i], s[n+i]}
	}
	return total, nil
}

// pullImplicit sets dst to the adjoint of differentiate or, without total, to the explicit weight
// on dK and on dm, GPML (5.27), of an evidence that is stationary in the sites.
func (p *siteState) pullImplicit(dst *Cov, _ int, total []weight, share float64) {
	n := len(p.tau)
	u, by := make([]float64, n), scaled(p.b, share/2)
	g := prior.Adjoint{P: [][]float64{p.b}, Q: [][]float64{by}, C: share}
	if total != nil {
		g.Gamma = make([]float64, n)
		for i, w := range total {
			u[i], g.Gamma[i] = w.mu/math.Sqrt(p.sigma[i]), w.v/p.sigma[i]
		}
		ku := make([]float64, n)
		p.prior.Multiply(ku, u)
		p.prior.Shrink(u, u, ku)
		floats.AddScaledTo(by, u, share/2, p.b)
	}
	if share > 0 {
		g.Residual = p.residualWeights()
	}
	p.prior.Pull(dst, g.Constant)
	if dst.Mean != nil {
		floats.AddScaledTo(dst.Mean, u, share, p.b)
	}
}

// residualWeights returns derivatives of the log evidence with respect to D, the residual variances
// of a prior of lower rank. Derivatives through the prior are not included. nil means 0.
func (p *siteState) residualWeights() []float64 {
	rest := 1 - p.prior.Power()
	if rest == 0 {
		return nil
	}
	w := make([]float64, len(p.tau))
	for i, t := range p.tau {
		if p.penalised {
			w[i] = -p.prior.PenaltySlope(i, t) * t
		} else { // the average of log p(y|f) has ∂/∂v = ½ ∂²/∂μ²
			w[i] = rest / 2 * p.next[i].average.d[1]
		}
	}
	return w
}
