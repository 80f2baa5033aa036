package approx

import (
	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/approx/prior"
)

// finish implements latentModel. The factors must have been computed at this point, so that all
// results belong to the same f.
func (p *categories) finish(at *point, length float64, iterations int, early bool) (Posterior, error) {
	value := at.psi - p.prior.LogDet()
	for i := range p.n {
		value -= p.prior.Penalty(i)
	}
	for j, d := range at.delta {
		p.b[j] = at.a[j] + d // see laplacePosterior.finish
	}
	p.at, p.state, p.diagnostics.Iterations = at, at.state(), iterations
	p.evidence = functional{value: value, adjoint: p.adjoint, several: p.count}
	p.posterior = p.prior.Posterior(p.b)
	target, rounding := p.precision(at)
	return p, p.conclude("laplace", fixedPoint{distance: length, rounding: rounding, early: early}, target)
}

// adjoint sets dst to the weights on dK_c and dm_c, summed over the classes that share them. As for
// two classes, GPML (5.20)-(5.24),
//
//	G_c = ½ b_c b_cᵀ - ½ R_cc + ½ (u_c b_cᵀ + b_c u_cᵀ),   ∂L/∂m_c = b_c + u_c,
//	u = (I + W K)⁻¹ s,   s_i^c = ∂(-½ log|I + W K|)/∂f_i^c = -½ tr(Σ_i ∂W_i/∂f_i^c)
//
// with R = (K + W⁻¹)⁻¹ and Σ_i the C×C posterior covariance of case i, and for priors of lower rank
// the terms of the correction.
func (p *categories) adjoint(dst *Cov, j int) {
	p.prior.Pull(dst, j, func(variances []float64) prior.Adjoint {
		if p.u == nil {
			p.u = p.implicit(variances)
		}
		return prior.Adjoint{P: [][]float64{p.b, p.u}, Q: [][]float64{scaled(p.b, 0.5), p.b}, C: 1}
	})
	if dst.Mean != nil {
		clear(dst.Mean)
		for c := range p.classes {
			if p.count == 1 || c == j {
				floats.Add(dst.Mean, p.of(c, p.b))
				floats.Add(dst.Mean, p.of(c, p.u))
			}
		}
	}
}

// implicit returns u, given the π_c q_c, q_c the posterior variance of the difference f_c - Σ_d π_d
// f_d. As ∂W_i/∂f_i is the third cumulant of the class, s is -½ π_c (q_c - Σ_d π_d q_d).
func (p *categories) implicit(variances []float64) (u []float64) {
	u = make([]float64, len(variances))
	total := make([]float64, p.n) // Σ_c π_c q_c
	for j, v := range variances {
		total[j%p.n] += v
	}
	for j, d := range p.at.w {
		u[j] = (d/p.weight.of(j%p.n)*total[j%p.n] - variances[j]) / 2
	}
	ku := make([]float64, len(u))
	p.multiply(ku, u)
	p.prior.Shrink(u, u, ku)
	return u
}

// LeaveOneOut implements LeaveOneOut by block cavities, over which softmax is averaged as in
// predictions. It has no derivatives.
func (p *categories) LeaveOneOut() (Functional, error) {
	if !p.diagnostics.Converged {
		return nil, p.evidence.err
	}
	return p.leaveOut(p.prior, classSites{d: p.at.w, f: p.at.f, b: p.b, weight: p.weight}, p.y, p.weight)
}
