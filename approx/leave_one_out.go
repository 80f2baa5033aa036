package approx

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

var (
	_ LeaveOneOuter = (*laplacePosterior)(nil)
	_ LeaveOneOuter = (*meanField)(nil)
)

// cavities are what Gaussian sites τ ≥ 0 leave of the marginals N(μ_i, v_i) without their own site, N(μ_i - c_i b_i, c_i)
// with c_i = v_i/(1 - τ_i v_i), and the leave-one-out sum Σ_i log Z_i = Σ_i log ∫ p(y_i|f) N(f; μ_i - c_i b_i, c_i) df ≈
// Σ_i log p(y_i|y_-i) over them, as if the other sites stayed where they are. The derivatives of log Z_i are explicit: each
// by one of μ_i, v_i, τ_i and b_i, the others held.
type cavities struct {
	sum            float64
	mean, variance []float64
	byMu, byV      []float64
	byTau, byB     []float64
	inverse        blas64.General // B⁻¹
}

// cavities fills all of it, given the marginal means.
func (s *sites) cavities(mu []float64) (*cavities, error) {
	n := len(s.b)
	vector := func() []float64 { return make([]float64, n) }
	c := &cavities{mean: vector(), variance: vector(), byMu: vector(), byV: vector(), byTau: vector(), byB: vector(), inverse: s.inverse()}
	projected := vector() // Σ_ii as K_ii less a square
	v := linalg.NewGeneral(n, n)
	s.project(v)
	for i := range projected {
		projected[i] = s.variance(i)
	}
	subtractSquares(projected, v)
	rounding := 0.0 // relative, of a cavity's variance where the posterior's is (1 - share)/τ
	for i, b := range s.b {
		// Both 1 - τ_i v_i and K_ii less what the other cases know of f_i may cancel; the share 1 - τ_i v_i = [B⁻¹]_ii does not.
		tau, share, v := s.root[i]*s.root[i], c.inverse.Data[i*n+i], projected[i]
		if tau*s.variance(i) > 1 {
			v = (1 - share) / tau
			rounding = max(rounding, 8*eps*tau*s.variance(i)/(share*(1-share)))
		}
		c.variance[i] = max(v, 0) / share
		c.mean[i] = mu[i] - c.variance[i]*b
		logZ, d1, d2 := s.lik.LogZ(s.y[i], c.mean[i], c.variance[i])
		c.sum += logZ
		byVariance := (d2+d1*d1)/2 - d1*b // of the cavity
		c.byMu[i], c.byB[i] = d1, -c.variance[i]*d1
		c.byV[i], c.byTau[i] = byVariance/(share*share), byVariance*c.variance[i]*c.variance[i]
	}
	if !(rounding < unresolved) {
		return nil, fmt.Errorf("%w: leave-one-out needs what the other cases leave of a variance, which rounding error hides to a relative %.1g; a smaller amplitude or noise in the kernel helps", ErrNotConverged, rounding)
	}
	if !finite(c.sum) {
		return nil, fmt.Errorf("%w: leave-one-out sum %v; the prior variances overflow", ErrNotConverged, c.sum)
	}
	return c, nil
}

// precisions adds to byTau what a change of τ_j does to all v_i, by dv_i = -Σ_ij² dτ_j, where Σ = S^-½(I - B⁻¹)S^-½.
func (s *sites) precisions(c *cavities) {
	n := len(s.b)
	for j, rj := range s.root {
		for i, ri := range s.root {
			sigma := -c.inverse.Data[j*n+i] / ri / rj
			if i == j {
				sigma = c.variance[i] * c.inverse.Data[i*n+i]
			}
			c.byTau[j] -= c.byV[i] * sigma * sigma
		}
	}
}

// pullBack sets dst to what weights γ_v on the marginal variances and u = (I - RK)γ_μ on the means, which move by
// dμ = (I - KR)(dK b + dm), make of dK and dm:
//
//	G = ½(u bᵀ + b uᵀ) + (I - RK) diag(γ_v) (I - KR),   ∂/∂m = u,   I - RK = S^½ B⁻¹ S^-½
func (s *sites) pullBack(dst *Cov, inverse blas64.General, u, gamma []float64) {
	n := len(s.b)
	checkAdjoint(dst.K, n)
	weights := make([]float64, n)
	for i, r := range s.root {
		weights[i] = gamma[i] / r / r
	}
	raw := dst.K.RawSymmetric()
	linalg.SyrkDiag(blas.NoTrans, 1, inverse, weights, 0, raw)
	for i, b := range s.b {
		row := raw.Data[i*raw.Stride+i : i*raw.Stride+n]
		for j, x := range row {
			row[j] = s.root[i]*s.root[i+j]*x + (u[i]*s.b[i+j]+b*u[i+j])/2
		}
	}
	if dst.Mean != nil {
		copy(dst.Mean, u)
	}
}

// LeaveOneOut implements LeaveOneOuter by the cavities of the sites τ = W, b = ∇log p at the mode. Mode and W move with K:
// the weight on f̂ is that on μ, that on b times -W and that on τ times -∂³log p/∂f³.
func (p *laplacePosterior) LeaveOneOut() (Functional, error) {
	if !p.diagnostics.Converged {
		return nil, p.evidence.err
	}
	c, err := p.cavities(p.mode.f)
	if err != nil {
		return nil, err
	}
	solve := func() (gamma, u []float64) {
		n := len(p.b)
		gamma, u = make([]float64, n), make([]float64, n)
		for i, w := range p.mode.w {
			gamma[i] = c.byMu[i] - c.byB[i]*w - c.byTau[i]*p.mode.d3[i]
		}
		linalg.Symv(1, p.k, gamma, 0, u)
		p.shrink(u, gamma, u)
		return gamma, u
	}
	p.precisions(c)
	f := functional{value: c.sum, err: p.evidence.err, adjoint: func(dst *Cov) {
		_, u := solve()
		p.pullBack(dst, c.inverse, u, c.byV)
	}}
	explicit, ok1 := p.lik.(likelihood.MomentParams)
	model, ok2 := p.lik.(likelihood.DifferentiableParams)
	if ok1 && ok2 {
		f.likelihood = func(grad []float64) {
			n := len(p.b)
			_, u := solve()
			ku := make([]float64, n)
			linalg.Symv(1, p.k, u, 0, ku) // a change of ∇log p by δ moves the mode by Σδ, and Σγ = K u
			d, d1, d2 := make([]float64, len(grad)), make([]float64, len(grad)), make([]float64, len(grad))
			for i := range n {
				explicit.DLogZ(d, d1, d2, p.y[i], c.mean[i], c.variance[i])
				floats.Add(grad, d)
				model.ParamDerivs(d, d1, d2, p.y[i], p.mode.f[i])
				floats.AddScaled(grad, ku[i]+c.byB[i], d1)
				if p.mode.w[i] > 0 {
					floats.AddScaled(grad, -c.byTau[i], d2)
				}
			}
		}
	}
	return f, nil
}

// LeaveOneOut implements LeaveOneOuter by the cavities of the sites in linear response. Fields z, with b and τ, move with K
// as m₀ + A b = <h> says, and so do the λ.
func (p *meanField) LeaveOneOut() (Functional, error) {
	if !p.diagnostics.Converged {
		return nil, p.evidence.err
	}
	mu := make([]float64, len(p.b))
	p.latentAt(mu, p.b)
	c, err := p.cavities(mu)
	if err != nil {
		return nil, err
	}
	p.precisions(c)
	return functional{value: c.sum, err: p.evidence.err, adjoint: func(dst *Cov) { p.leaveOneOutAdjoint(dst, c) }}, nil
}

// leaveOneOutAdjoint: with C_i = r_i (z_i + r_i) and V_i = 1 - C_i a site is τ = C/D, D = λV + vC, b = yr/√λ, and the
// derivatives by z are ∂C = -∂³log Φ, ∂b = -yC/√λ and ∂<h> = y√λ V. So weights b̄ and τ̄ are, at fixed λ, ζ = Rρ on
// -(m₀ + A b - <h>), with ρ = b̄ + τ̄ y λ^(3/2) ∂³log Φ/(C D²).
func (p *meanField) leaveOneOutAdjoint(dst *Cov, c *cavities) {
	n := len(p.b)
	byB, rho, zeta, shift := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	copy(byB, c.byB)
	linalg.Symv(1, p.k, c.byMu, 1, byB) // μ = m₀ + K b
	for i, l := range p.lambda {
		curvature, d := p.response(i)
		if rho[i] = byB[i]; curvature > 0 {
			rho[i] += c.byTau[i] * p.y[i] * l * math.Sqrt(l) * p.cut[i].Third / curvature / (d * d)
		}
		zeta[i] = p.root[i] * rho[i]
	}
	linalg.SolveTriVec(blas.Trans, p.u, zeta)
	linalg.SolveTriVec(blas.NoTrans, p.u, zeta)
	for i, r := range p.root {
		zeta[i] *= r
	}
	linalg.Symv(1, p.a, zeta, 0, shift)
	u, byLambda := make([]float64, n), make([]float64, n)
	for i, l := range p.lambda {
		curvature, d := p.response(i)
		h := p.y[i] * math.Sqrt(l) * p.cut[i].Mean
		u[i] = c.byMu[i] - zeta[i]
		byLambda[i] = -c.byTau[i]*curvature*p.cut[i].Variance/(d*d) + (zeta[i]*h-p.b[i]*(byB[i]-shift[i]))/(2*l)
	}
	p.pullBack(dst, c.inverse, u, c.byV)
	p.pullLambda(dst.K, byLambda)
	p.pullJitter(dst.K)
}

// response is C_i and D_i of the site τ_i = C_i/D_i.
func (p *meanField) response(i int) (curvature, d float64) {
	curvature = p.cut[i].Hazard * p.cut[i].Mean
	return curvature, p.lambda[i]*p.cut[i].Variance + p.noise*curvature
}
