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

// response is how marginals and sites of a siteFit move with each other, in units of the marginals:
// the correlations of the posterior and their squares, and the slopes of the rule.
type response struct {
	correlation, square blas64.Symmetric
	slopes              []siteSlopes
}

// newResponse is that at the fixed point or near it, given the correlations and memory for the
// squares.
func (p *siteFit) newResponse(correlation, square blas64.Symmetric) response {
	n := len(p.tau)
	for i := range n {
		row := square.Data[i*n+i : (i+1)*n]
		for j, c := range correlation.Data[i*n+i : (i+1)*n] {
			row[j] = c * c
		}
	}
	r := response{correlation, square, make([]siteSlopes, n)}
	for i, v := range p.sigma { // in units of the marginal, for ν at fixed τ instead of pull
		s, sd := p.rule.slopes(i), math.Sqrt(v)
		r.slopes[i] = siteSlopes{
			s.tauByMean * v * sd, s.tauByVariance * v * v, (s.pullByMean + p.tau[i]) * v, s.pullByVariance * v * sd,
			s.mean / sd, s.variance / v,
		}
	}
	return r
}

// marginals sets dst to what the sites' changes x make of the marginals, M x, and weights on
// marginals to those on the sites, as M is symmetric. Vectors hold ν or means first, and then τ or
// variances.
func (r response) marginals(dst, x []float64) {
	n := len(r.slopes)
	linalg.Symv(1, r.correlation, x[:n], 0, dst[:n])
	linalg.Symv(-1, r.square, x[n:], 0, dst[n:])
}

// weights sets dst to Tᵀs: weights on the sites as those on the marginals that they are made from.
func (r response) weights(dst, s []float64) {
	n := len(r.slopes)
	for i, t := range r.slopes {
		nu, tau := s[i], s[n+i]
		dst[i], dst[n+i] = tau*t.tauByMean+nu*t.pullByMean, tau*t.tauByVariance+nu*t.pullByVariance
	}
}

// correlate sets dst to the correlations of the posterior, which off the diagonal are
// -[B⁻¹]_ij/√(τ_i v_i τ_j v_j), as B⁻¹ = I - S^½ Σ S^½. inverse holds B⁻¹ in its upper triangle.
func (p *siteFit) correlate(dst blas64.Symmetric, inverse []float64) {
	n := len(p.tau)
	scale := make([]float64, n)
	for i, v := range p.sigma {
		scale[i] = 1 / (math.Sqrt(v) * p.root[i])
	}
	for i := range n {
		row := dst.Data[i*n+i : (i+1)*n]
		for j, b := range inverse[i*n+i : (i+1)*n] {
			row[j] = -b * scale[i] * scale[i+j]
		}
		row[0] = 1
	}
}

// newton moves all sites by a step of Newton's method towards their fixed point, given correlations
// of the posterior here or nearby, and n×n workspace for their squares: with T and M as in
// differentiate, r what the rule makes of the marginals less the sites, and e what the marginals
// lack of those to which the rule's sites belong, the changes x of the sites solve
//
//	x = r + T(M x - e)
//
// up to a relative residual of tolerance, and no precision is taken below 0.
func (p *siteFit) newton(correlation blas64.Symmetric, v blas64.General, tolerance float64) {
	n := len(p.tau)
	square := blas64.Symmetric{Uplo: blas.Upper, N: n, Stride: n, Data: v.Data}
	r := p.newResponse(correlation, square)
	x, moved := make([]float64, 2*n), make([]float64, 2*n)
	for i, v := range p.sigma {
		t := r.slopes[i]
		x[i] = (p.next[i].pull-p.b[i])*math.Sqrt(v) - t.pullByMean*t.mean - t.pullByVariance*t.variance
		x[n+i] = (p.next[i].tau-p.tau[i])*v - t.tauByMean*t.mean - t.tauByVariance*t.variance
	}
	x, _ = gmres(func(dst, x []float64) {
		r.marginals(moved, x)
		for i, t := range r.slopes {
			dst[i] = x[i] - t.pullByMean*moved[i] - t.pullByVariance*moved[n+i]
			dst[n+i] = x[n+i] - t.tauByMean*moved[i] - t.tauByVariance*moved[n+i]
		}
	}, x, tolerance)
	for i, v := range p.sigma {
		tau := max(0, p.tau[i]+x[n+i]/v)
		p.nu[i] += x[i]/math.Sqrt(v) + (tau-p.tau[i])*p.mu[i]
		p.tau[i] = tau
	}
}

// differentiate gives a scalar of the fixed point its derivatives, where the sites follow from the
// marginals by the rule, and the marginals from K, m and the sites. So there is a part that is
// implicit in that fixed point: with w the total weight on the marginals and T and M the Jacobians
// of the two maps,
//
//	w = w₀ + Tᵀ(s₀ + Mᵀw),   w₀, s₀ the explicit weights on marginals and sites
//
// which is solved for w with products of O(n²). From dΣ = -Σ dS Σ and dΣ = (I - KR) dK (I - RK) the
// weights γ_μ and γ_v on the marginals pull back, with u = (I - RK)γ_μ, to
//
//	Mᵀ: ν̄ = Σγ_μ,  τ̄ at fixed ν - τμ = -(Σ∘Σ)γ_v
//	G = ½(u bᵀ + b uᵀ) + (I - RK) diag(γ_v) (I - KR),   ∂/∂m = u
//
// and the share σ of the evidence, 1 or 0, adds its explicit σ(½ b bᵀ - ½ R) and σb. weights are
// the explicit ones of a case, and explicit adds its explicit derivative over the likelihood's
// parameters.
func (p *siteFit) differentiate(
	value, share float64, weights func(i int) weight, explicit func(grad []float64, i int),
) functional {
	var solved *implicit
	f := functional{
		value: value,
		solve: func() (err error) {
			if solved == nil {
				solved, err = p.implicit(weights)
			}
			return err
		},
		adjoint: func(dst *Cov) { p.pullImplicit(dst, solved, share/2) },
	}
	if _, ok := p.lik.(likelihood.Parametric); ok {
		f.likelihood = func(grad []float64) {
			for i := range p.b {
				explicit(grad, i)
			}
			tau, pull := make([]float64, len(grad)), make([]float64, len(grad))
			for i, w := range solved.total { // those of the sites at fixed marginals
				v := p.sigma[i]
				p.rule.paramSlopes(i, tau, pull)
				floats.AddScaled(grad, w.tau*v, tau)
				floats.AddScaled(grad, w.nu*math.Sqrt(v), pull)
			}
		}
	}
	return f
}

// implicit is the solution of the equation for w.
type implicit struct {
	total   []weight
	inverse blas64.General // B⁻¹, all of it
}

// residualBound is the relative residual with which the implicit part of a gradient keeps eight
// digits.
const residualBound = 1e-9

// implicit solves the equation for w.
func (p *siteFit) implicit(weights func(i int) weight) (*implicit, error) {
	n := len(p.b)
	inverse, correlation := p.inverse(), linalg.NewSym(n)
	p.correlate(correlation, inverse.Data)
	r := p.newResponse(correlation, linalg.NewSym(n))
	vector := func() []float64 { return make([]float64, 2*n) }
	own, site, right, s := vector(), vector(), vector(), vector()
	for i := range n {
		w := weights(i)
		own[i], own[n+i], site[i], site[n+i] = w.mu, w.v, w.nu, w.tau
	}
	r.weights(right, site)
	floats.Add(right, own)
	w, residual := gmres(func(dst, x []float64) {
		r.marginals(s, x)
		r.weights(dst, s)
		for i, v := range x {
			dst[i] = v - dst[i]
		}
	}, right, 1e-13)
	if !(residual <= residualBound) {
		return nil, fmt.Errorf("%w: the equation for the derivative of the fixed point of %s is solved to %.1g only; "+
			"the fixed point is nearly unstable", ErrNoGradient, p.method, residual)
	}
	r.marginals(s, w)
	floats.Add(s, site)
	solved := &implicit{make([]weight, n), inverse}
	for i := range n {
		solved.total[i] = weight{w[i], w[n+i], s[i], s[n+i]}
	}
	return solved, nil
}

// pullImplicit sets dst to G and u, with share times b bᵀ - R and 2 share times b.
func (p *siteFit) pullImplicit(dst *Cov, solved *implicit, share float64) {
	n := len(p.b)
	checkAdjoint(dst.K, n)
	gamma, u, weights := make([]float64, n), make([]float64, n), make([]float64, n)
	for i, w := range solved.total {
		sd := math.Sqrt(p.sigma[i])
		gamma[i] = w.mu / sd
		weights[i] = w.v / (p.root[i] * sd) / (p.root[i] * sd) // γ_v/τ, as I - RK = S^½ B⁻¹ S^-½
	}
	p.latentAt(u, gamma)
	for i, m := range p.mean {
		u[i] -= m
	}
	p.shrink(u, gamma, u)
	raw := dst.K.RawSymmetric()
	linalg.SyrkDiag(blas.NoTrans, 1, solved.inverse, weights, 0, raw)
	for i, ri := range p.root {
		bi, ui := p.b[i], u[i]/2+share/2*p.b[i]
		row, inverse := raw.Data[i*raw.Stride+i:i*raw.Stride+n], solved.inverse.Data[i*n+i:(i+1)*n]
		for j := range row {
			bj, uj := p.b[i+j], u[i+j]/2+share/2*p.b[i+j]
			row[j] = ri*p.root[i+j]*(row[j]-share*inverse[j]) + bi*uj + ui*bj
		}
	}
	if dst.Mean != nil {
		for i, b := range p.b {
			dst.Mean[i] = u[i] + 2*share*b
		}
	}
}
