package prior

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// inducingSites is a prior with inducing inputs and sites of precision τ. With S = diag(τ),
//
//	T = (I + SΛ)⁻¹,   E = S T,   M = I + V E Vᵀ = U_MᵀU_M
//	|I + S K̂| = |I + SΛ| |M|,   R = (K̂ + S⁻¹)⁻¹ = E - E Vᵀ M⁻¹ V E
//	I - R K̂ = (I + S K̂)⁻¹ = (I - E Vᵀ M⁻¹ V) T
//	Σ = K̂ - K̂ R K̂ = Λ T + T Vᵀ M⁻¹ V T
//
// These formulas avoid cancellation. τ may be negative as long as all 1 + τ_i Λ_i are positive and
// M is positive definite, because Σ then is.
type inducingSites struct {
	*inducing
	s, left, e []float64 // τ, T, E
	um         blas64.Triangular
	squares    []float64 // |U_M⁻ᵀ v_i|²; valid for the current factor if known
	known      bool
	z, vy      []float64 // for Shrink
}

// withInducing is the prior of a Cov with inducing inputs.
func withInducing(work *Work, cov Cov, n int, power float64, _ bool, count []float64) (Prior, error) {
	if cov.Cross == nil {
		return nil, nil
	}
	k, err := newInducing(work, cov, n, power, count)
	if err != nil {
		return nil, err
	}
	return k.newSites(), nil
}

// newSites has no sites yet: τ = 0, without a factor.
func (p *inducing) newSites() *inducingSites {
	n := p.cases()
	vector := func() []float64 { return make([]float64, n) }
	return &inducingSites{inducing: p, s: vector(), left: slices.Repeat([]float64{1}, n), e: vector(),
		squares: vector(), z: vector(), vy: vector()}
}

func (p *inducingSites) WithoutSites() Prior { return p.newSites() }

// Subset implements Prior: a step is cheap, so no part is worth the time.
func (p *inducingSites) Subset() (Prior, []int) { return nil, nil }

// Factorise implements Prior: it factors M.
func (p *inducingSites) Factorise(tau []float64) error {
	copy(p.s, tau)
	p.known = false
	for i, t := range tau {
		rest := 1 + t*p.independent[i]
		if !(rest > 0) {
			return fmt.Errorf("%w: the covariance of the posterior; the site of case %d has precision %.4g and the "+
				"part of its prior that the inducing inputs do not tell variance %.4g", ErrNotPositiveDefinite, i, t,
				p.independent[i])
		}
		p.left[i] = 1 / rest
		p.e[i] = t * p.left[i]
	}
	a := linalg.NewSym(p.points())
	linalg.SyrkDiag(blas.NoTrans, 1, p.v, p.e, 0, a)
	for j := range a.N {
		a.Data[j*a.Stride+j]++
	}
	var ok bool
	if p.um, ok = linalg.Cholesky(a); !ok {
		return fmt.Errorf("%w: the matrix I + V E Vᵀ of %d inducing inputs; standardise the inputs or lower the "+
			"amplitude", ErrNotPositiveDefinite, p.points())
	}
	return nil
}

func (p *inducingSites) LogDet() float64 {
	sum := 0.0
	for i, t := range p.s {
		sum += math.Log1p(t * p.independent[i])
	}
	return sum/2 + linalg.LogDet(p.um)
}

func (p *inducingSites) Shrink(dst, x, _ []float64) {
	y := make([]float64, p.points())
	floats.MulTo(p.z, p.left, x)
	p.project(y, p.z)
	p.solve(y)
	clear(p.vy)
	p.lift(p.vy, 1, y)
	for i, e := range p.e {
		dst[i] = p.z[i] - e*p.vy[i]
	}
}

// solve sets y = M⁻¹ y.
func (p *inducingSites) solve(y []float64) {
	linalg.SolveTriVec(blas.Trans, p.um, y)
	linalg.SolveTriVec(blas.NoTrans, p.um, y)
}

// Solve implements Prior: R x is b for ν = S x and m = 0, and xᵀR x = |û|² + Σ_i (Λ_i + 1/τ_i)
// b_i².
func (p *inducingSites) Solve(x []float64) (square float64) {
	n := len(x)
	zeros, mu := make([]float64, n), make([]float64, n)
	known := p.locate(Sites{Nu: floats.MulTo(make([]float64, n), p.s, x), Mean: zeros, Mu: mu, B: x})
	square = floats.Dot(known, known)
	for i, b := range x {
		if p.s[i] > 0 {
			square += (p.independent[i] + 1/p.s[i]) * b * b
		}
	}
	return square
}

func (p *inducingSites) Locate(s Sites) (uncertain float64) {
	return 4 * eps * math.Sqrt(p.LargestVariance()) * floats.Norm(p.locate(s), 2)
}

// locate sets μ and b. With û = M⁻¹ V T (ν - S m) the whitened mean of the inducing variables,
//
//	b_i = T_i (ν_i - τ_i (m_i + v_iᵀû)),   μ_i = m_i + v_iᵀû + Λ_i b_i
//
// û is refined once with the residual of V b = û, which removes rounding errors.
func (p *inducingSites) locate(s Sites) (known []float64) {
	known, rest := make([]float64, p.points()), make([]float64, p.cases()) // û, ν - S(m + Vᵀû)
	copy(s.Mu, s.Mean)
	for range 2 {
		for i, t := range p.s {
			rest[i] = p.left[i] * (s.Nu[i] - t*s.Mu[i])
		}
		step := make([]float64, p.points())
		p.project(step, rest)
		floats.Sub(step, known)
		p.solve(step)
		floats.Add(known, step)
		p.lift(s.Mu, 1, step)
	}
	for i, t := range p.s {
		s.B[i] = p.left[i] * (s.Nu[i] - t*s.Mu[i])
		s.Mu[i] += p.independent[i] * s.B[i]
	}
	return known
}

// measure computes |U_M⁻ᵀ v_i|², once per factor.
func (p *inducingSites) measure() {
	if p.known {
		return
	}
	eachPart(p.cases(), casesAtOnce, func(j0, j1 int) {
		part, giveBack := scaledColumns(p.v, j0, j1, nil)
		defer giveBack()
		linalg.SolveTri(blas.Trans, p.um, part)
		clear(p.squares[j0:j1])
		linalg.AddSquares(1, part, p.squares[j0:j1])
	})
	p.known = true
}

// Variances implements Prior: Σ_ii = Λ_i T_i + T_i² |U_M⁻ᵀ v_i|².
func (p *inducingSites) Variances() []float64 {
	p.measure()
	sigma := make([]float64, p.cases())
	for i := range sigma {
		sigma[i] = p.left[i] * (p.independent[i] + p.left[i]*p.squares[i])
	}
	return sigma
}

func (p *inducingSites) Marginals() []Marginal {
	m := make([]Marginal, p.cases())
	for i, v := range p.Variances() {
		m[i] = Marginal{Variance: v, CavityShare: max(p.left[i]*(1-p.e[i]*p.squares[i]), eps)}
		if p.s[i]*p.variance[i] > 1 {
			m[i].Rounding = 8 * eps * p.variance[i]
		}
	}
	return m
}

// Pull implements Prior. As V R = M⁻¹V E, V (I - R K̂) = M⁻¹ V T, and with Γ = γ T²
//
//	V G = ½ Σ_k (V p_k q_kᵀ + V q_k p_kᵀ) + M⁻¹ V (Γ - ½ c E) - M⁻¹ (V Γ Vᵀ) M⁻¹ V E
func (p *inducingSites) Pull(dst *Cov, adjoint func(variances []float64) Adjoint) {
	g := adjoint(p.Variances())
	inverse := linalg.InverseCholesky(copyOf(p.um)) // M⁻¹
	weights, noise, middle := p.diagonals(g, inverse)
	if g.independent != nil {
		for i, l := range noise {
			noise[i] = g.independent(i, l)
		}
	}
	outer := p.outer(g.P, g.Q)
	full := full(inverse)
	p.pull(dst, noise, g.Residual, func(x blas64.General, j0, j1 int) {
		part, giveBack := scaledColumns(p.v, j0, j1, weights)
		defer giveBack()
		linalg.Gemm(blas.NoTrans, blas.NoTrans, 1, full, part, 0, x)
		if middle.Data != nil {
			scaleColumns(part, columns(p.v, j0, j1), p.e[j0:j1])
			linalg.Gemm(blas.NoTrans, blas.NoTrans, -1, middle, part, 1, x)
		}
		outer.add(x, j0, j1)
	})
}

func (p *inducingSites) Diagonal(g Adjoint) []float64 {
	p.measure()
	_, noise, _ := p.diagonals(g, linalg.InverseCholesky(copyOf(p.um)))
	return noise
}

// diagonals returns Γ - ½ c E, ℓ = diag G and, if there is a γ, M⁻¹ (V Γ Vᵀ) M⁻¹, given M⁻¹.
func (p *inducingSites) diagonals(
	g Adjoint, inverse blas64.Symmetric,
) (weights, noise []float64, middle blas64.General) {
	n := p.cases()
	weights, noise = make([]float64, n), make([]float64, n)
	for i, e := range p.e {
		weights[i] = -g.C / 2 * e
		noise[i] = -g.C / 2 * (e - e*e*p.squares[i])
	}
	for r := range g.P {
		for i := range noise {
			noise[i] += g.P[r][i] * g.Q[r][i]
		}
	}
	if g.Gamma == nil {
		return weights, noise, middle
	}
	gamma, inner := make([]float64, n), linalg.NewSym(p.points())
	for i, v := range g.Gamma {
		gamma[i] = v * p.left[i] * p.left[i]
	}
	linalg.SyrkDiag(blas.NoTrans, 1, p.v, gamma, 0, inner)
	middle = sandwich(inner, inverse)
	square := make([]float64, n) // v_iᵀ M⁻¹ (V Γ Vᵀ) M⁻¹ v_i
	p.quadratic(square, middle)
	for i, e := range p.e {
		weights[i] += gamma[i]
		noise[i] += gamma[i]*(1-2*e*p.squares[i]) + e*e*square[i]
	}
	return weights, noise, middle
}

// quadratic sets dst[i] = v_iᵀ A v_i.
func (p *inducing) quadratic(dst []float64, a blas64.General) {
	eachPart(p.cases(), casesAtOnce, func(j0, j1 int) {
		v := columns(p.v, j0, j1)
		x, giveBack := borrow(v.Rows, v.Cols)
		defer giveBack()
		linalg.Gemm(blas.NoTrans, blas.NoTrans, 1, a, v, 0, x)
		out := dst[j0:j1]
		clear(out)
		for k := range v.Rows {
			vk, xk := v.Data[k*v.Stride:k*v.Stride+v.Cols], x.Data[k*x.Stride:k*x.Stride+x.Cols]
			for j := range out {
				out[j] += vk[j] * xk[j]
			}
		}
	})
}

// sandwich is B A B of symmetric matrices.
func sandwich(a, b blas64.Symmetric) blas64.General {
	left, out := linalg.NewGeneral(a.N, a.N), linalg.NewGeneral(a.N, a.N)
	fb := full(b)
	linalg.Symm(1, a, fb, 0, left)
	linalg.Gemm(blas.NoTrans, blas.NoTrans, 1, fb, left, 0, out)
	return out
}

// Jacobian implements Prior. With a_i = U_M⁻ᵀ v_i T_i/√σ_i the correlations are a_iᵀa_j off the
// diagonal, and of their squares
//
//	Σ_j (a_iᵀa_j)² x_j = a_iᵀ (Σ_j x_j a_j a_jᵀ) a_i
func (p *inducingSites) Jacobian(sigma []float64) func(dst, x []float64) {
	p.measure()
	n, m := p.cases(), p.points()
	scale, own := make([]float64, n), make([]float64, n) // T/√σ, |a_i|²
	for i, v := range sigma {
		scale[i] = p.left[i] / math.Sqrt(v)
		own[i] = scale[i] * scale[i] * p.squares[i]
	}
	inverse := linalg.InverseCholesky(copyOf(p.um))
	return func(dst, x []float64) {
		y, z := make([]float64, m), make([]float64, n)
		floats.MulTo(z, scale, x[:n])
		p.project(y, z)
		p.solve(y)
		clear(z)
		p.lift(z, 1, y)
		for i, a := range own {
			dst[i] = scale[i]*z[i] + (1-a)*x[i]
			z[i] = x[n+i] * scale[i] * scale[i]
		}
		inner := linalg.NewSym(m)
		linalg.SyrkDiag(blas.NoTrans, 1, p.v, z, 0, inner)
		p.quadratic(dst[n:], sandwich(inner, inverse))
		for i, a := range own {
			dst[n+i] = -(scale[i]*scale[i]*dst[n+i] + (1-a*a)*x[n+i])
		}
	}
}
