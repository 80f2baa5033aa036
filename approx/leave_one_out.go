package approx

import (
	"fmt"

	"github.com/gpc-tune/gpc-tune/approx/prior"
)

// cavities are the marginals N(μ_i, v_i) of Gaussian sites τ without their own site, N(μ_i - c_i
// b_i, c_i) with c_i = v_i/(1 - τ_i v_i), and the leave-one-out sum Σ_i log Z_i = Σ_i log ∫
// p(y_i|f) N(f; μ_i - c_i b_i, c_i) df ≈ Σ_i log p(y_i|y_-i) with the other sites held fixed. The
// derivatives of log Z_i are partial derivatives with respect to μ_i, v_i, τ_i and b_i. Of the
// copies of a case one is left out, with its share of τ and b, and log Z counts for all.
type cavities struct {
	sum            float64
	rounding       float64   // relative, of a cavity's variance
	marginal       []float64 // v
	mean, variance []float64
	byMu, byV      []float64
	byTau, byB     []float64
	completed      bool
}

// cavities are those of the prior's sites, whose precisions are tau and marginal means mu. If
// rounding hides their variances, that is an error.
func (p *process) cavities(tau, mu []float64) (*cavities, error) {
	vector := func() []float64 { return make([]float64, len(p.b)) }
	c := &cavities{
		marginal: vector(), mean: vector(), variance: vector(),
		byMu: vector(), byV: vector(), byTau: vector(), byB: vector(),
	}
	for i, m := range p.prior.Marginals() {
		w, share := p.weight.of(i), p.weight.copyShare(i)
		b, left := share*p.b[i], m.CavityShare
		if share < 1 {
			left = 1 - share*(1-left)
		}
		c.marginal[i], c.variance[i] = m.Variance, m.Variance/left
		c.mean[i] = mu[i] - c.variance[i]*b
		logZ, d := p.lik.Moments(p.y[i], c.mean[i], c.variance[i])
		c.sum += w * logZ
		byVariance := w * ((d[1]+d[0]*d[0])/2 - d[0]*b) // of the cavity
		c.byMu[i], c.byB[i] = w*d[0], -share*w*c.variance[i]*d[0]
		c.byV[i], c.byTau[i] = byVariance/(left*left), share*byVariance*c.variance[i]*c.variance[i]
		if m.Rounding > 0 {
			c.rounding = max(c.rounding, m.Rounding*(1/m.Variance+share*tau[i]/left))
		}
	}
	if !(c.rounding < unresolved) {
		return nil, fmt.Errorf("%w: leave-one-out needs what the other cases leave of a variance, which rounding "+
			"error hides to a relative %.1g; a smaller amplitude or noise in the kernel "+
			"helps", errImprecise, c.rounding)
	}
	if !finite(c.sum) {
		return nil, fmt.Errorf("%w: leave-one-out sum %v; the prior variances overflow", errImprecise, c.sum)
	}
	return c, nil
}

// complete adds to byTau the effect of a change of τ_j on all v_i, dv_i = -Σ_ij² dτ_j, unless it
// has done so.
func (c *cavities) complete(k prior.Prior) {
	if c.completed {
		return
	}
	c.completed = true
	n := len(c.byV)
	x, dst := make([]float64, 2*n), make([]float64, 2*n)
	for i, v := range c.byV {
		x[n+i] = v * c.marginal[i]
	}
	k.Jacobian(c.marginal)(dst, x) // minus the squares of correlations
	for j, v := range dst[n:] {
		c.byTau[j] += c.marginal[j] * v
	}
}

// pullMarginals sets dst to the weights on dK and dm for weights γ_v on the marginal variances and
// u = (I - RK)γ_μ on the means, which move by dμ = (I - KR)(dK b + dm).
func (p *process) pullMarginals(dst *Cov, u, gamma []float64) {
	p.prior.Pull(dst, prior.Adjoint{P: [][]float64{p.b}, Q: [][]float64{u}, Gamma: gamma}.Constant)
	if dst.Mean != nil {
		copy(dst.Mean, u)
	}
}
