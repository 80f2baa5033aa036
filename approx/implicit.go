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

// response describes how marginals and sites change with each other, in units of the marginals.
type response struct {
	// marginals sets dst to M x, the change of the marginals for a change x of the sites. It also
	// maps weights on marginals to weights on sites, as M is symmetric: correlations of the
	// posterior, and minus their squares. Vectors contain ν or means first, and then τ or
	// variances.
	marginals func(dst, x []float64)
	slopes    []siteSlopes // of the rule
}

// newResponse is the response at the fixed point or near it.
func (p *marginals) newResponse(marginals func(dst, x []float64)) response {
	n := len(p.tau)
	r := response{marginals, make([]siteSlopes, n)}
	linalg.Rows(n, func(i0, i1 int) {
		for i := i0; i < i1; i++ { // in units of the marginal, for ν at fixed τ instead of pull
			v := p.sigma[i]
			s, sd := p.rule.slopes(i), math.Sqrt(v)
			r.slopes[i] = siteSlopes{
				s.tauByMean * v * sd, s.tauByVariance * v * v, (s.pullByMean + p.tau[i]) * v, s.pullByVariance * v * sd,
				s.mean / sd, s.variance / v,
			}
		}
	})
	return r
}

// byCorrelation returns the function marginals of a response, given the correlations and their
// squares.
func byCorrelation(correlation, square blas64.Symmetric) func(dst, x []float64) {
	n := correlation.N
	row := func(x []float64) blas64.General { return blas64.General{Rows: 1, Cols: n, Stride: n, Data: x} }
	return func(dst, x []float64) {
		linalg.SymvRows(1, correlation, row(x[:n]), 0, row(dst[:n])) // on several threads, unlike Symv
		linalg.SymvRows(-1, square, row(x[n:]), 0, row(dst[n:]))
	}
}

// weights sets dst to Tᵀs: weights on the marginals for weights s on the sites computed from them.
func (r response) weights(dst, s []float64) {
	n := len(r.slopes)
	for i, t := range r.slopes {
		nu, tau := s[i], s[n+i]
		dst[i], dst[n+i] = tau*t.tauByMean+nu*t.pullByMean, tau*t.tauByVariance+nu*t.pullByVariance
	}
}

// correlate sets dst to the correlations of the posterior, which off the diagonal are
// -[B⁻¹]_ij/√(τ_i v_i τ_j v_j), as B⁻¹ = I - S^½ Σ S^½, and square to their squares. Any of the
// three may share memory.
func (p *sites) correlate(sigma []float64, dst, square, inverse blas64.Symmetric) {
	scale := make([]float64, len(sigma))
	for i, v := range sigma {
		scale[i] = 1 / (math.Sqrt(v) * p.root[i])
	}
	correlations(dst, square, inverse, -1, scale)
}

// scale makes Σ the correlations of the posterior, and sets square to their squares.
func (p *siteFit) scale(sigma, square blas64.Symmetric) {
	scale := make([]float64, len(p.tau))
	for i, v := range p.sigma {
		scale[i] = 1 / math.Sqrt(v)
	}
	correlations(sigma, square, sigma, 1, scale)
}

// correlations sets dst to sign s_i s_j a_ij, and to 1 on the diagonal, and square to the squares.
func correlations(dst, square, a blas64.Symmetric, sign float64, s []float64) {
	n := a.N
	linalg.Rows(n, func(i0, i1 int) {
		for i := i0; i < i1; i++ {
			scale, row, squares := sign*s[i], dst.Data[i*n+i:(i+1)*n], square.Data[i*n+i:(i+1)*n]
			for j, v := range a.Data[i*n+i : (i+1)*n] {
				c := v * scale * s[i+j]
				row[j], squares[j] = c, c*c
			}
			row[0], squares[0] = 1, 1
		}
	})
}

// squares sets dst to the squares of the entries of a.
func squares(a, dst blas64.Symmetric) {
	n := a.N
	linalg.Rows(n, func(i0, i1 int) {
		for i := i0; i < i1; i++ {
			row := dst.Data[i*n+i : (i+1)*n]
			for j, c := range a.Data[i*n+i : (i+1)*n] {
				row[j] = c * c
			}
		}
	})
}

// newton moves all sites by a step of Newton's method towards their fixed point, given how they
// respond here, with correlations of the posterior here or nearby: with T and M as in
// differentiate, ρ the sites of the rule at these marginals minus the current sites, and e the
// difference between the marginals for which the rule was evaluated and the current ones, the
// changes x of the sites solve
//
//	x = ρ + T(M x - e)
//
// up to a relative residual of tolerance, and no precision is taken below 0.
func (p *marginals) newton(r response, tolerance float64) {
	n := len(p.tau)
	x, moved := make([]float64, 2*n), make([]float64, 2*n)
	for i, v := range p.sigma {
		t := r.slopes[i]
		x[i] = (p.next[i].pull-p.of.b[i])*math.Sqrt(v) - t.pullByMean*t.mean - t.pullByVariance*t.variance
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

// differentiate sets the derivatives of a scalar at the fixed point, where the sites are functions
// of the marginals by the rule, and the marginals are functions of K, m and the sites. So the
// derivative has an implicit part: with w the total weight on the marginals and T and M the
// Jacobians of the two maps,
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
func (p *marginals) differentiate(
	value, share float64, weights func(i int) weight, explicit func(grad []float64, i int),
) functional {
	var total []weight
	var pull func(dst *Cov, total []weight, share float64)
	f := functional{
		value: value,
		solve: func() (err error) {
			if total == nil {
				var marginals func(dst, x []float64)
				marginals, pull = p.storage.respond(p)
				total, err = p.implicit(p.newResponse(marginals), weights)
			}
			return err
		},
		adjoint: func(dst *Cov) { pull(dst, total, share) },
	}
	if _, ok := p.of.lik.(likelihood.Parametric); ok {
		f.likelihood = func(grad []float64) {
			for i := range p.tau {
				explicit(grad, i)
			}
			tau, pull := make([]float64, len(grad)), make([]float64, len(grad))
			for i, w := range total { // weights of the sites at fixed marginals
				v := p.sigma[i]
				p.rule.paramSlopes(i, tau, pull)
				floats.AddScaled(grad, w.tau*v, tau)
				floats.AddScaled(grad, w.nu*math.Sqrt(v), pull)
			}
		}
	}
	return f
}

// residualBound is the relative residual for which the implicit part of a gradient has eight
// correct digits.
const residualBound = 1e-9

// implicit solves the equation for w.
func (p *marginals) implicit(r response, weights func(i int) weight) ([]weight, error) {
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
	total := make([]weight, n)
	for i := range n {
		total[i] = weight{w[i], w[n+i], s[i], s[n+i]}
	}
	return total, nil
}

// respond implements storage, with B⁻¹ and the correlations.
func (s *sites) respond(p *marginals) (
	marginals func(dst, x []float64), pull func(dst *Cov, total []weight, share float64),
) {
	n := len(s.b)
	inverse, correlation, square := s.inverse(), linalg.NewSym(n), linalg.NewSym(n)
	symmetric := blas64.Symmetric{Uplo: blas.Upper, N: n, Stride: n, Data: inverse.Data}
	s.correlate(p.sigma, correlation, square, symmetric)
	return byCorrelation(correlation, square), func(dst *Cov, total []weight, share float64) {
		s.pullImplicit(dst, inverse, p.sigma, total, share/2)
	}
}

// pullImplicit sets dst to G and u, with share times b bᵀ - R and 2 share times b.
func (p *sites) pullImplicit(dst *Cov, inverse blas64.General, sigma []float64, total []weight, share float64) {
	n := len(p.b)
	checkAdjoint(dst.K, n)
	gamma, u, weights := make([]float64, n), make([]float64, n), make([]float64, n)
	for i, w := range total {
		sd := math.Sqrt(sigma[i])
		gamma[i] = w.mu / sd
		weights[i] = w.v / (p.root[i] * sd) / (p.root[i] * sd) // γ_v/τ, as I - RK = S^½ B⁻¹ S^-½
	}
	p.multiply(u, gamma)
	p.shrink(u, gamma, u)
	raw := dst.K.RawSymmetric()
	linalg.SyrkDiag(blas.NoTrans, 1, inverse, weights, 0, raw)
	linalg.Rows(n, func(i0, i1 int) {
		for i := i0; i < i1; i++ {
			ri, bi, ui := p.root[i], p.b[i], u[i]/2+share/2*p.b[i]
			row, inverse := raw.Data[i*raw.Stride+i:i*raw.Stride+n], inverse.Data[i*n+i:(i+1)*n]
			for j := range row {
				bj, uj := p.b[i+j], u[i+j]/2+share/2*p.b[i+j]
				row[j] = ri*p.root[i+j]*(row[j]-share*inverse[j]) + bi*uj + ui*bj
			}
		}
	})
	if dst.Mean != nil {
		for i, b := range p.b {
			dst.Mean[i] = u[i] + 2*share*b
		}
	}
}
