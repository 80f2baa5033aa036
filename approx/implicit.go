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

// weight is the derivative of a scalar with respect to what belongs to one case: the mean μ and the variance v of its
// marginal, and its site's information ν at fixed precision τ, and τ at fixed ν - τμ. It is scaled to the marginal: mu
// holds √v ∂/∂μ, v holds v ∂/∂v, nu holds ∂/∂ν/√v and tau holds ∂/∂τ/v.
type weight struct{ mu, v, nu, tau float64 }

// siteSlopes are the derivatives of a case's site, as the fixed point makes it from its marginal, with pull = ν - τμ.
type siteSlopes struct {
	tauByMean, tauByVariance, pullByMean, pullByVariance float64
	// what the mean and the variance of the marginal lack of those that the site belongs to; 0 at the fixed point
	mean, variance float64
}

// siteFunctional is a scalar of a siteFit at its fixed point. The sites follow from the marginals by the rule, and the
// marginals from K, m and the sites, so its derivative has a part that is implicit in that fixed point: with w the total
// weight on the marginals and T and M the Jacobians of the two maps,
//
//	w = w₀ + Tᵀ(s₀ + Mᵀw),   w₀, s₀ the explicit weights on marginals and sites
//
// which is solved for w with products of O(n²). From dΣ = -Σ dS Σ and dΣ = (I - KR) dK (I - RK) the weights γ_μ and γ_v on
// the marginals pull back, with u = (I - RK)γ_μ, to
//
//	Mᵀ: ν̄ = Σγ_μ,  τ̄ at fixed ν - τμ = -(Σ∘Σ)γ_v
//	G = ½(u bᵀ + b uᵀ) + (I - RK) diag(γ_v) (I - KR),   ∂/∂m = u
//
// and the evidence adds its explicit ½ b bᵀ - ½ R and b. Where the explicit weights are all 0, as for EP, that is all.
type siteFunctional struct {
	value    float64
	err      error // why there is no derivative
	fit      *siteFit
	evidence bool                        // whether it has the explicit part of the evidence
	weight   func(i int) weight          // the explicit weights; nil means that they are 0
	explicit func(grad []float64, i int) // adds case i's explicit derivative over the likelihood's parameters
	solved   *implicit
}

// implicit is the solution of the equation for w.
type implicit struct {
	total   []weight
	inverse blas64.General // B⁻¹, all of it
}

func (f *siteFunctional) Value() float64 { return f.value }

// Adjoint implements Functional.
func (f *siteFunctional) Adjoint(dst *Cov, j int) error {
	if j != 0 {
		panic(fmt.Sprintf("approx: adjoint of covariance %d, want 0", j))
	}
	if f.err != nil {
		return f.err
	}
	p := f.fit
	if f.weight == nil {
		p.stationaryAdjoint(dst)
		return nil
	}
	if err := f.solve(); err != nil {
		return err
	}
	n := len(p.b)
	checkAdjoint(dst.K, n)
	gamma, u, weights := make([]float64, n), make([]float64, n), make([]float64, n)
	for i, w := range f.solved.total {
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
	linalg.SyrkDiag(blas.NoTrans, 1, f.solved.inverse, weights, 0, raw)
	share := 0.0
	if f.evidence {
		share = 0.5
	}
	for i, ri := range p.root {
		bi, ui := p.b[i], u[i]/2+share/2*p.b[i]
		row, inverse := raw.Data[i*raw.Stride+i:i*raw.Stride+n], f.solved.inverse.Data[i*n+i:(i+1)*n]
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
	return nil
}

// Likelihood implements Functional: the explicit derivative, and that of the sites at fixed marginals.
func (f *siteFunctional) Likelihood(grad []float64) error {
	switch _, ok := f.fit.lik.(likelihood.Parametric); {
	case f.err != nil || len(grad) == 0:
		return f.err
	case !ok:
		return fmt.Errorf("%w with respect to the likelihood's parameters", ErrNoGradient)
	}
	for i := range f.fit.b {
		f.explicit(grad, i)
	}
	if f.weight == nil {
		return nil
	}
	if err := f.solve(); err != nil {
		return err
	}
	tau, pull := make([]float64, len(grad)), make([]float64, len(grad))
	for i, w := range f.solved.total {
		v := f.fit.sigma[i]
		f.fit.rule.paramSlopes(i, tau, pull)
		floats.AddScaled(grad, w.tau*v, tau)
		floats.AddScaled(grad, w.nu*math.Sqrt(v), pull)
	}
	return nil
}

// solve finds the total weights, once.
func (f *siteFunctional) solve() error {
	if f.solved != nil {
		return nil
	}
	p, n := f.fit, len(f.fit.b)
	inverse := p.inverse()
	// The correlations of the posterior, -[B⁻¹]_ij/√(τ_i v_i τ_j v_j) off the diagonal: there B⁻¹ = I - S^½ Σ S^½.
	correlation, square := linalg.NewSym(n), linalg.NewSym(n)
	scale, slopes := make([]float64, n), make([]siteSlopes, n)
	for i, v := range p.sigma {
		sd := math.Sqrt(v)
		scale[i] = 1 / (p.root[i] * sd)
		slopes[i] = p.scaledSlopes(i)
	}
	for i := range n {
		correlation.Data[i*n+i], square.Data[i*n+i] = 1, 1
		for j := i + 1; j < n; j++ {
			c := -inverse.Data[i*n+j] * scale[i] * scale[j]
			correlation.Data[i*n+j], square.Data[i*n+j] = c, c*c
		}
	}
	// fromSites sets w to Tᵀs, toSites s to Mᵀw; vectors hold the weights on means (ν) and then on variances (τ).
	fromSites := func(w, s []float64) {
		for i, t := range slopes {
			nu, tau := s[i], s[n+i]
			w[i], w[n+i] = tau*t.tauByMean+nu*t.pullByMean, tau*t.tauByVariance+nu*t.pullByVariance
		}
	}
	toSites := func(s, w []float64) {
		linalg.Symv(1, correlation, w[:n], 0, s[:n])
		linalg.Symv(-1, square, w[n:], 0, s[n:])
	}
	own, site, right := make([]float64, 2*n), make([]float64, 2*n), make([]float64, 2*n)
	for i := range n {
		w := f.weight(i)
		own[i], own[n+i], site[i], site[n+i] = w.mu, w.v, w.nu, w.tau
	}
	fromSites(right, site)
	floats.Add(right, own)
	s := make([]float64, 2*n)
	w, residual := gmres(func(dst, x []float64) {
		toSites(s, x)
		fromSites(dst, s)
		for i, v := range x {
			dst[i] = v - dst[i]
		}
	}, right, 1e-13)
	if !(residual <= residualBound) {
		return fmt.Errorf("%w: the equation for the derivative of the fixed point of %s is solved to %.1g only; the fixed point is nearly unstable", ErrNoGradient, p.method, residual)
	}
	toSites(s, w)
	floats.Add(s, site)
	f.solved = &implicit{total: make([]weight, n), inverse: inverse}
	for i := range n {
		f.solved.total[i] = weight{w[i], w[n+i], s[i], s[n+i]}
	}
	return nil
}

// scaledSlopes is slopes in units of the marginal, for ν at fixed τ instead of pull.
func (p *siteFit) scaledSlopes(i int) siteSlopes {
	s, v := p.rule.slopes(i), p.sigma[i]
	sd := math.Sqrt(v)
	return siteSlopes{s.tauByMean * v * sd, s.tauByVariance * v * v, (s.pullByMean + p.tau[i]) * v, s.pullByVariance * v * sd, s.mean / sd, s.variance / v}
}

// moved is how far the mean and the variance of marginal i would go if case i took the site that the rule gives it.
func (p *siteFit) moved(i int) (mean, variance float64) {
	v := p.sigma[i] / (1 + (p.next[i].tau-p.tau[i])*p.sigma[i])
	return v * (p.next[i].pull - p.b[i]), v - p.sigma[i]
}

// near is the distance from a fixed point at which Newton's method takes over from sweeps.
const near = 0.3

// newtonWithin is near where Newton's method is to be had, and else 0. Of several fixed points, which a likelihood that is
// not log-concave may have, it could reach one that sweeps leave.
func (p *siteFit) newtonWithin() float64 {
	_, concave := p.moments.(likelihood.LogConcave)
	if concave && p.damping == 1 && !p.rule.negative() && !p.accepts() {
		return near
	}
	return 0
}

// correlations sets dst to the correlations of the posterior, which off the diagonal are -[B⁻¹]_ij/√(τ_i v_i τ_j v_j), given
// U⁻¹ in v, as refresh leaves it.
func (p *siteFit) correlations(dst blas64.Symmetric, v blas64.General) {
	n := len(p.tau)
	scale := make([]float64, n)
	for i, v := range p.sigma {
		scale[i] = 1 / (math.Sqrt(v) * p.root[i])
	}
	inverse := linalg.SquareTri(upper(v))
	for i := range n {
		row := dst.Data[i*n+i : (i+1)*n]
		for j, b := range inverse.Data[i*n+i : (i+1)*n] {
			row[j] = -b * scale[i] * scale[i+j]
		}
		row[0] = 1
	}
}

// newton moves all sites by a step of Newton's method towards their fixed point, given correlations of the posterior here or
// nearby, and n×n workspace for their squares: with T and M as in siteFunctional, r what the rule makes of the marginals less the sites, and e what the marginals lack of those to which
// the rule's sites belong, the changes x of the sites solve
//
//	x = r + T(M x - e)
//
// up to a relative residual of tolerance, and no precision is taken below 0.
func (p *siteFit) newton(correlation blas64.Symmetric, v blas64.General, tolerance float64) {
	n := len(p.tau)
	square := blas64.Symmetric{Uplo: blas.Upper, N: n, Stride: n, Data: v.Data}
	for i := range n {
		row := square.Data[i*n+i : (i+1)*n]
		for j, c := range correlation.Data[i*n+i : (i+1)*n] {
			row[j] = c * c
		}
	}
	sd, slopes, x := make([]float64, n), make([]siteSlopes, n), make([]float64, 2*n)
	for i, v := range p.sigma {
		sd[i] = math.Sqrt(v)
		t := p.scaledSlopes(i)
		slopes[i] = t
		x[i] = (p.next[i].pull-p.b[i])*sd[i] - t.pullByMean*t.mean - t.pullByVariance*t.variance
		x[n+i] = (p.next[i].tau-p.tau[i])*v - t.tauByMean*t.mean - t.tauByVariance*t.variance
	}
	mean, variance := make([]float64, n), make([]float64, n)
	x, _ = gmres(func(dst, x []float64) {
		linalg.Symv(1, correlation, x[:n], 0, mean)
		linalg.Symv(-1, square, x[n:], 0, variance)
		for i, t := range slopes {
			dst[i] = x[i] - t.pullByMean*mean[i] - t.pullByVariance*variance[i]
			dst[n+i] = x[n+i] - t.tauByMean*mean[i] - t.tauByVariance*variance[i]
		}
	}, x, tolerance)
	for i, v := range p.sigma {
		tau := max(0, p.tau[i]+x[n+i]/v)
		p.nu[i] += x[i]/sd[i] + (tau-p.tau[i])*p.mu[i]
		p.tau[i] = tau
	}
}

// residualBound is the relative residual with which the implicit part of a gradient keeps eight digits.
const residualBound = 1e-9

// inverse returns B⁻¹, all of it.
func (s *sites) inverse() blas64.General {
	n := len(s.root)
	a := blas64.General{Rows: n, Cols: n, Stride: n, Data: make([]float64, n*n)}
	copy(a.Data, s.u.Data)
	linalg.InverseCholesky(blas64.Triangular{Uplo: blas.Upper, Diag: blas.NonUnit, N: n, Stride: n, Data: a.Data})
	for i := range n {
		for j := range i {
			a.Data[i*n+j] = a.Data[j*n+i]
		}
	}
	return a
}

// gmres solves A x = b by the generalised minimal residual method (Saad & Schultz 1986) from x = 0, given dst ← A x, and
// returns x with its residual |b - A x|/|b|. It stops at the tolerance, or when the residual no longer falls.
func gmres(multiply func(dst, x []float64), b []float64, tolerance float64) (x []float64, residual float64) {
	const limit = 400
	x = make([]float64, len(b))
	norm := floats.Norm(b, 2)
	if norm == 0 {
		return x, 0
	}
	scaled := func(c float64, v []float64) []float64 { return floats.ScaleTo(make([]float64, len(v)), c, v) }
	basis := [][]float64{scaled(1/norm, b)} // of the Krylov space
	var columns [][]float64                 // of the triangular factor of A in that basis
	var cosines, sines []float64
	rest := []float64{norm} // b in that basis, rotated
	for k := 0; k < min(limit, len(b)); k++ {
		v, h := make([]float64, len(b)), make([]float64, k+2)
		multiply(v, basis[k])
		for range 2 { // twice is enough to make it orthogonal to rounding
			for j, q := range basis {
				c := floats.Dot(q, v)
				h[j] += c
				floats.AddScaled(v, -c, q)
			}
		}
		h[k+1] = floats.Norm(v, 2)
		for j, c := range cosines {
			h[j], h[j+1] = c*h[j]+sines[j]*h[j+1], c*h[j+1]-sines[j]*h[j]
		}
		size := math.Hypot(h[k], h[k+1])
		if size == 0 {
			break
		}
		c, s := h[k]/size, h[k+1]/size
		cosines, sines, columns = append(cosines, c), append(sines, s), append(columns, append(h[:k:k], size))
		rest = append(rest, -s*rest[k])
		rest[k] *= c
		if h[k+1] <= 1e-13*size || math.Abs(rest[k+1]) <= tolerance*norm {
			break
		}
		basis = append(basis, scaled(1/h[k+1], v))
	}
	// back substitution
	for k := len(columns) - 1; k >= 0; k-- {
		y := rest[k] / columns[k][k]
		floats.AddScaled(rest[:k], -y, columns[k][:k])
		floats.AddScaled(x, y, basis[k])
	}
	check := make([]float64, len(b))
	multiply(check, x)
	floats.Sub(check, b)
	return x, floats.Norm(check, 2) / norm
}
