package lowrank

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// Sites is the posterior of a prior with one Gaussian site of precision τ per case. With S =
// diag(τ),
//
//	T = (I + SΛ)⁻¹,   E = S T,   M = I + V E Vᵀ = U_MᵀU_M
//	|I + S K̂| = |I + SΛ| |M|,   R = (K̂ + S⁻¹)⁻¹ = E - E Vᵀ M⁻¹ V E
//	I - R K̂ = (I + S K̂)⁻¹ = (I - E Vᵀ M⁻¹ V) T
//	Σ = K̂ - K̂ R K̂ = Λ T + T Vᵀ M⁻¹ V T
//
// These formulas avoid cancellation. τ may be negative as long as all 1 + τ_i Λ_i are positive and
// M is positive definite, because Σ then is.
type Sites struct {
	*Prior
	s, left, e []float64 // τ, T, E
	um         blas64.Triangular
	squares    []float64 // |U_M⁻ᵀ v_i|²
	z, vy      []float64 // for Shrink
}

// NewSites has no sites yet: τ = 0, without a factor.
func NewSites(p *Prior) *Sites {
	n := p.Cases()
	vector := func() []float64 { return make([]float64, n) }
	return &Sites{Prior: p, s: vector(), left: slices.Repeat([]float64{1}, n), e: vector(), squares: vector(),
		z: vector(), vy: vector()}
}

// Factorise sets S = diag(tau) and factors M.
func (p *Sites) Factorise(tau []float64) error {
	copy(p.s, tau)
	for i, t := range tau {
		rest := 1 + t*p.lambda[i]
		if !(rest > 0) {
			return fmt.Errorf("the covariance of the posterior; the site of case %d has precision %.4g and the "+
				"part of its prior that the inducing inputs do not tell variance %.4g", i, t, p.lambda[i])
		}
		p.left[i] = 1 / rest
		p.e[i] = t * p.left[i]
	}
	a := linalg.NewSym(p.Points())
	linalg.SyrkDiag(blas.NoTrans, 1, p.v, p.e, 0, a)
	for j := range a.N {
		a.Data[j*a.Stride+j]++
	}
	var ok bool
	if p.um, ok = linalg.Cholesky(a); !ok {
		return fmt.Errorf("the matrix I + V E Vᵀ of %d inducing inputs; standardise the inputs or lower the amplitude",
			p.Points())
	}
	return nil
}

// LogDet returns ½ log|I + S K̂|.
func (p *Sites) LogDet() float64 {
	sum := 0.0
	for i, t := range p.s {
		sum += math.Log1p(t * p.lambda[i])
	}
	return sum/2 + linalg.LogDet(p.um)
}

// Shrink sets dst = (I + S K̂)⁻¹ x; dst may be x.
func (p *Sites) Shrink(dst, x []float64) {
	y := make([]float64, p.Points())
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
func (p *Sites) solve(y []float64) {
	linalg.SolveTriVec(blas.Trans, p.um, y)
	linalg.SolveTriVec(blas.NoTrans, p.um, y)
}

// Locate sets μ and b = K̂⁻¹(μ - m) for sites with ν = S f, for a prior mean m and targets f. With
// û = M⁻¹ V T (ν - S m) the whitened mean of the inducing variables,
//
//	b_i = T_i (ν_i - τ_i (m_i + v_iᵀû)),   μ_i = m_i + v_iᵀû + Λ_i b_i
//
// û is refined once with the residual of V b = û, which removes rounding errors. It returns |û|.
func (p *Sites) Locate(mu, b, nu, mean []float64) float64 {
	known, rest := make([]float64, p.Points()), make([]float64, p.Cases()) // û, ν - S(m + Vᵀû)
	copy(mu, mean)
	for range 2 {
		for i, t := range p.s {
			rest[i] = p.left[i] * (nu[i] - t*mu[i])
		}
		step := make([]float64, p.Points())
		p.project(step, rest)
		floats.Sub(step, known)
		p.solve(step)
		floats.Add(known, step)
		p.lift(mu, 1, step)
	}
	for i, t := range p.s {
		b[i] = p.left[i] * (nu[i] - t*mu[i])
		mu[i] += p.lambda[i] * b[i]
	}
	return floats.Norm(known, 2)
}

// Variances sets sigma to Σ_ii = Λ_i T_i + T_i² |U_M⁻ᵀ v_i|², and keeps what Information, Remains,
// Diagonal and Pull need.
func (p *Sites) Variances(sigma []float64) {
	eachPart(p.Cases(), casesAtOnce, func(j0, j1 int) {
		part, giveBack := scaledColumns(p.v, j0, j1, nil)
		defer giveBack()
		linalg.SolveTri(blas.Trans, p.um, part)
		clear(p.squares[j0:j1])
		linalg.AddSquares(1, part, p.squares[j0:j1])
	})
	for i := range sigma {
		sigma[i] = p.left[i] * (p.lambda[i] + p.left[i]*p.squares[i])
	}
}

// Information is R_ii, and Remains 1 - τ_i Σ_ii; call Variances before.
func (p *Sites) Information(i int) float64 { return p.e[i] * (1 - p.e[i]*p.squares[i]) }
func (p *Sites) Remains(i int) float64     { return p.left[i] * (1 - p.e[i]*p.squares[i]) }

// Adjoint is the derivative G of a scalar with respect to K̂, in terms of its parts:
//
//	G = ½ Σ_k (p_k q_kᵀ + q_k p_kᵀ) - ½ c R + (I - R K̂) diag(γ) (I - K̂ R)
type Adjoint struct {
	P, Q  [][]float64
	C     float64
	Gamma []float64 // nil: 0
	Spare []float64 // other derivatives with respect to D; nil: 0
}

// Pull sets dst to the derivative with respect to K_zz, K_zx, the variances and the noise; call
// Variances before. As V R = M⁻¹V E, V (I - R K̂) = M⁻¹ V T, and with Γ = γ T²
//
//	V G = ½ Σ_k (V p_k q_kᵀ + V q_k p_kᵀ) + M⁻¹ V (Γ - ½ c E) - M⁻¹ (V Γ Vᵀ) M⁻¹ V E
func (p *Sites) Pull(dst *Cov, g Adjoint) {
	inverse := linalg.InverseCholesky(copyOf(p.um)) // M⁻¹
	weights, noise, middle := p.diagonals(g, inverse)
	outer := p.outer(g.P, g.Q)
	full := full(inverse)
	p.pull(dst, noise, g.Spare, func(x blas64.General, j0, j1 int) {
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

// Diagonal is ℓ = diag G; call Variances before.
func (p *Sites) Diagonal(g Adjoint) []float64 {
	_, noise, _ := p.diagonals(g, linalg.InverseCholesky(copyOf(p.um)))
	return noise
}

// diagonals returns Γ - ½ c E, ℓ = diag G and, if there is a γ, M⁻¹ (V Γ Vᵀ) M⁻¹, given M⁻¹.
func (p *Sites) diagonals(g Adjoint, inverse blas64.Symmetric) (weights, noise []float64, middle blas64.General) {
	n := p.Cases()
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
	gamma, inner := make([]float64, n), linalg.NewSym(p.Points())
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
func (p *Prior) quadratic(dst []float64, a blas64.General) {
	eachPart(p.Cases(), casesAtOnce, func(j0, j1 int) {
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

// Response sets dst to the changes of the marginals for changes x of the sites: both have n numbers
// for ν or means and then n for τ or variances, in units of the marginals, whose variances are
// sigma. The coefficients are the correlations of the posterior and minus their squares. With a_i =
// U_M⁻ᵀ v_i T_i/√σ_i the correlations are a_iᵀa_j off the diagonal, and of their squares
//
//	Σ_j (a_iᵀa_j)² x_j = a_iᵀ (Σ_j x_j a_j a_jᵀ) a_i
func (p *Sites) Response(sigma []float64) func(dst, x []float64) {
	n, m := p.Cases(), p.Points()
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
