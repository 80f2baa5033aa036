package approx

import (
	"fmt"

	"github.com/gpc-tune/gpc-tune/approx/prior"
)

// cavities has the cavity of every case and the leave-one-out sum. A posterior with Gaussian sites
// τ has the marginals N(μ_i, v_i). Without the site of case i, the marginal is the cavity N(μ_i -
// c_i b_i, c_i) with c_i = v_i/(1 - τ_i v_i). The sum is Σ_i log Z_i with Z_i = ∫ p(y_i|f) N(f; μ_i
// - c_i b_i, c_i) df ≈ p(y_i|y_-i), the other sites held fixed. The derivatives of log Z_i are
// partial derivatives with respect to μ_i, v_i, τ_i and b_i. If a case has several copies, one copy
// is left out, with its fraction of τ and b, and log Z counts for every copy.
type cavities struct {
	sum            float64
	rounding       float64   // relative rounding error of a cavity's variance
	marginal       []float64 // v
	mean, variance []float64
	byMu, byV      []float64
	byTau, byB     []float64
	completed      bool
}

// cavities returns the cavities of the sites in p.prior, whose precisions are tau and whose
// marginal means are mu. It is an error if a cavity's variance is lost in rounding errors.
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
		// derivative with respect to the cavity's variance
		byVariance := w * ((d[1]+d[0]*d[0])/2 - d[0]*b)
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

// pullMarginals sets dst to the derivatives by K and m of a scalar that depends on the marginals.
// gamma is its derivative by the marginal variances. u is (I - RK)γ_μ, with γ_μ the derivative by
// the marginal means, which move by dμ = (I - KR)(dK b + dm).
func (p *process) pullMarginals(dst *Cov, u, gamma []float64) {
	p.prior.Pull(dst, prior.Adjoint{P: [][]float64{p.b}, Q: [][]float64{u}, Gamma: gamma}.Constant)
	if dst.Mean != nil {
		copy(dst.Mean, u)
	}
}
