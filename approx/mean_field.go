package approx

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/interrupt"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// meanFieldTheory has the equations in which the mean-field methods of Csató et al. (2000), [MF],
// differ. meanField has everything that they share.
type meanFieldTheory struct {
	method        string
	tolerance     float64
	maxIterations int
	// fields fills λ and the constant of the log evidence, and the functions for their derivatives
	// by K.
	fields func(*meanField) error
}

// uses returns what the method can compute with lik for this number of classes: probit, and step if
// the kernel has noise.
func (t meanFieldTheory) uses(lik likelihood.Likelihood, classes int) (Caps, error) {
	if err := checkIteration(t.method, t.tolerance, t.maxIterations); err != nil {
		return Caps{}, err
	}
	var lacks error
	if _, ok := bound(lik).(likelihood.GaussianNoise); !ok {
		lacks = fmt.Errorf("%s needs labels that are the sign of f plus Gaussian noise; "+
			"use likelihood: probit, or step with a noise kernel, or inference: ep", t.method)
	}
	if err := usesBinary(t.method, lik, classes, lacks); err != nil {
		return Caps{}, err
	}
	gradient := !hasFree(lik)
	return Caps{Gradient: gradient, LeaveOneOut: true, LeaveOneOutGradient: gradient}, nil
}

func (t meanFieldTheory) fit(
	ctx context.Context, cov []Cov, y Targets, lik likelihood.Bound, start State,
) (Posterior, error) {
	return interrupt.Do(ctx, func() (Posterior, error) {
		p, err := t.begin(cov, y, lik)
		if err != nil {
			return nil, err
		}
		if start != nil {
			if err := p.set(start); err != nil {
				return nil, err
			}
		}
		return p, p.solve(ctx, cmp.Or(t.maxIterations, defaultIterations))
	})
}

func (t meanFieldTheory) restore(cov []Cov, y Targets, lik likelihood.Bound, s State) (Posterior, error) {
	p, err := t.begin(cov, y, lik)
	if err != nil {
		return nil, err
	}
	if err := p.set(s); err != nil {
		return nil, err
	}
	p.evaluate()
	if err := p.newton(); err != nil {
		return nil, err
	}
	return p, p.finish()
}

// begin checks the arguments, forms A and fills the fields.
func (t meanFieldTheory) begin(cov []Cov, y Targets, lik likelihood.Bound) (*meanField, error) {
	if err := y.takesNone(t.method); err != nil {
		return nil, err
	}
	base, err := newProcess(nil, cov, y, lik, 1, false)
	if err != nil {
		return nil, err
	}
	n := len(base.y)
	v := func() []float64 { return make([]float64, n) }
	p := &meanField{
		process: base, k: cov[0].K.RawSymmetric(), method: t.method,
		tolerance: cmp.Or(t.tolerance, defaultTolerance),
		a:         linalg.NewSym(n), lambda: v(), noise: lik.(likelihood.GaussianNoise).NoiseVariance(),
		z: v(), cut: make([]linalg.Truncated, n), product: v(), residual: v(), tau: v(), step: v(),
	}
	copyTriangle(p.a, p.k)
	for i := range n {
		p.a.Data[i*n+i] += p.noise
		p.scale = max(p.scale, p.a.Data[i*n+i])
		if !(p.a.Data[i*n+i] > 0) {
			return nil, fmt.Errorf("%w: K[%d,%d] = 0 and the likelihood has no noise; add a noise kernel",
				ErrNotPositiveDefinite, i, i)
		}
	}
	return p, t.fields(p)
}

// copyTriangle copies the upper triangle of a matrix.
func copyTriangle(dst, src blas64.Symmetric) {
	linalg.Rows(src.N, func(i0, i1 int) {
		for i := i0; i < i1; i++ {
			copy(dst.Data[i*dst.Stride+i:i*dst.Stride+src.N], src.Data[i*src.Stride+i:i*src.Stride+src.N])
		}
	})
}

// full is a symmetric matrix with both of its triangles.
func full(s blas64.Symmetric) blas64.General {
	a := linalg.NewGeneral(s.N, s.N)
	copyTriangle(blas64.Symmetric{Stride: s.N, Data: a.Data}, s)
	linalg.Reflect(blas.Lower, a, a)
	return a
}

// meanField is the posterior of the mean-field methods. They describe a case by its noisy latent
// value h_i = f_i + e_i, whose sign is y_i, by a Gaussian N(h; m_i, λ_i) truncated at 0.
// With A = K + vI the covariance of h, m₀ its prior mean, z_i = y_i m_i/√λ_i and r_i =
// N(z_i)/Φ(z_i), the truncated Gaussian has the mean and variance
//
//	<h>_i = m_i + λ_i b_i,   v_i = λ_i (1 - r_i (z_i + r_i)),   b_i = y_i r_i/√λ_i
//
// and the equations [MF 5, 6, 9] of all methods read
//
//	<h> = m₀ + A b
//
// with a λ that does not depend on b. They have one solution, because they are the stationarity
// conditions of the strictly convex function
//
//	D(b) = ½ bᵀA b + m₀ᵀb - Σ_i W_i(b_i),
//	W_i = b_i m_i + ½ λ_i b_i² - log Φ(z_i),   dW_i/db_i = <h>_i
//
// whose minimum is the log evidence up to a constant: Σ_i log Φ(z_i) - ½ bᵀ(m - m₀).
//
// A new latent value has mean k*ᵀb. For its variance, which [MF] does not give, each case becomes
// the Gaussian site that matches b_i and v_i in linear response. Its precision for h is 1/v_i -
// 1/λ_i, and for f, without the noise, it is
//
//	τ_i = r_i (z_i + r_i)/(v_i + v r_i (z_i + r_i))
//
// A State has z, n numbers.
type meanField struct {
	process
	k         blas64.Symmetric // K
	method    string
	tolerance float64
	a         blas64.Symmetric // A
	scale     float64          // max A_ii, which bounds every |A_ij|
	lambda    []float64
	noise     float64 // v
	constant  float64 // the difference between log evidence and D
	// pullLambda adds to dst the derivative Σ_i weight_i ∂λ_i/∂K, including the derivative of a
	// jitter.
	pullLambda func(dst *mat.SymDense, weight []float64)

	z        []float64
	cut      []linalg.Truncated // at z
	product  []float64          // A b
	residual []float64          // m₀ + A b - <h>, the gradient of D
	d        float64            // D
	size     float64            // Σ|b_i|
	slack    float64            // the rounding error of D
	tau      []float64
	step     []float64 // Newton's step of z
	length   float64   // length of Newton's step, in units of D's curvature
}

// set copies a State.
func (p *meanField) set(s State) error {
	if err := checkState(p.method, s, len(p.z)); err != nil {
		return err
	}
	copy(p.z, s)
	return nil
}

// remembered is the number of last values of D whose maximum a step may reach.
const remembered = 10

// solve minimises D by Newton's method in z: b changes rapidly with z for cases far on the correct
// side, and <h> for cases far on the wrong side, but z changes steadily with both.
//
// D need not decrease with every step, only below the largest of its last values (Grippo,
// Lampariello & Lucidi 1986, SIAM J. Numer. Anal. 23:707). If D had to decrease each time, a few
// cases that change sides would keep the steps of all others short: for dozens of steps if there is
// no noise and λ is tiny compared with A_ii.
func (p *meanField) solve(ctx context.Context, maxIterations int) error {
	p.evaluate()
	z, last := make([]float64, len(p.z)), math.Inf(1)
	var values []float64 // the last ones of D
	for ; ; p.diagnostics.Iterations++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := p.newton(); err != nil {
			return err
		}
		if p.length <= p.tolerance || p.length <= p.rounding() && p.length > last/2 ||
			p.diagnostics.Iterations == maxIterations || math.IsNaN(p.length) {
			return p.finish()
		}
		last = p.length
		copy(z, p.z)
		values = append(values, p.d)
		values = values[max(0, len(values)-remembered):]
		target := slices.Max(values) + p.slack
		for s := 1.0; s > 1e-12; s /= 2 {
			for i, d := range p.step {
				p.z[i] = z[i] + s*d
			}
			if p.evaluate(); p.d <= target-1e-4*s*last*last {
				break
			}
		}
	}
}

// evaluate computes the truncated Gaussians, b, D and its gradient from z.
func (p *meanField) evaluate() {
	for i, z := range p.z {
		p.cut[i] = linalg.TruncatedNormal(z)
		p.b[i] = p.y[i] * p.cut[i].Hazard / math.Sqrt(p.lambda[i])
	}
	linalg.Symv(1, p.a, p.b, 0, p.product)
	p.d, p.slack, p.size = 0, 0, 0
	for i, c := range p.cut {
		p.size += math.Abs(p.b[i])
		quadratic, linear := p.b[i]*p.product[i]/2, p.b[i]*p.mean[i]
		w := c.Hazard*(p.z[i]+c.Hazard/2) - c.LogMass
		if p.z[i] < 0 { // the same without cancellation, by log Φ(z) = log N(z) - log r
			w = c.Mean*c.Mean/2 + math.Log(2*math.Pi)/2 + math.Log(c.Hazard)
		}
		p.d += quadratic + linear - w
		p.slack += 8 * eps * (math.Abs(quadratic) + math.Abs(linear) + math.Abs(w))
		p.residual[i] = p.mean[i] + p.product[i] - p.y[i]*math.Sqrt(p.lambda[i])*c.Mean
		curvature, d := p.response(i)
		p.tau[i] = curvature / d
	}
	p.slack += eps * p.scale * p.size * p.size
}

// response is r_i (z_i + r_i) and v_i + v r_i (z_i + r_i), whose ratio is τ_i.
func (p *meanField) response(i int) (curvature, d float64) {
	curvature = p.cut[i].Hazard * p.cut[i].Mean
	return curvature, p.lambda[i]*p.cut[i].Variance + p.noise*curvature
}

// newton fills the Newton step. In b it is -x, x = (A + T)⁻¹ residual with
// T_i = d<h>_i/d(-b_i) = v_i/(r_i (z_i + r_i)); and A + T = K + S⁻¹. In m it is
// x_i λ_i/(r_i (z_i + r_i)), which is also (residual - A x)_i/(1 - r_i (z_i + r_i)).
func (p *meanField) newton() error {
	if err := p.factorise(p.tau); err != nil {
		return err
	}
	x := slices.Clone(p.residual)
	p.length = math.Sqrt(p.prior.Solve(x))
	copy(p.step, p.residual)
	linalg.Symv(-1, p.a, x, 1, p.step)
	for i, c := range p.cut {
		if curvature := c.Hazard * c.Mean; curvature > 0.5 {
			p.step[i] = x[i] * p.lambda[i] / curvature
		} else {
			p.step[i] /= c.Variance
		}
		p.step[i] *= p.y[i] / math.Sqrt(p.lambda[i])
	}
	return nil
}

// rounding is the length of a Newton step that rounding may leave: an error η of A b gives √(ηᵀ(A +
// T)⁻¹η) ≤ √(ηᵀSη). A sum of n terms has an error of some √n ε times the sum of their absolute
// values (Higham & Mary 2019, SIAM J. Sci. Comput. 41:A2815), here Σ_j |A_ij b_j|. This bound is
// attained, up to a factor, if the cases are sorted by class: partial sums then reach half of that
// sum, and each of the n additions rounds one. Steps that still shrink to half continue below this
// bound.
func (p *meanField) rounding() float64 {
	weight := 0.0
	for _, t := range p.tau {
		weight += t
	}
	return eps * p.scale * p.size * math.Sqrt(weight*float64(len(p.b)))
}

// finish makes the posterior at z, whose factor of B must have been computed.
func (p *meanField) finish() error {
	p.state = p.z
	p.evidence.value = p.d + p.constant
	return p.conclude(p.method, fixedPoint{distance: p.length, rounding: p.rounding()}, p.tolerance)
}

// LeaveOneOut implements LeaveOneOut with the cavities of the sites in linear response. The
// fields z, with b and τ, move with K by m₀ + A b = <h>, and so do the λ.
func (p *meanField) LeaveOneOut() (Functional, error) {
	if !p.diagnostics.Converged {
		return nil, p.evidence.err
	}
	mu := make([]float64, len(p.b))
	p.prior.Multiply(mu, p.b)
	floats.Add(mu, p.mean)
	c, err := p.cavities(p.tau, mu)
	if err != nil {
		return nil, err
	}
	adjoint := func(dst *Cov, _ int) { p.leaveOneOutAdjoint(dst, c) }
	return functional{value: c.sum, err: p.evidence.err, adjoint: adjoint}, nil
}

// leaveOneOutAdjoint uses C_i = r_i (z_i + r_i), V_i = 1 - C_i and D = λV + vC. A site has τ = C/D
// and b = yr/√λ. The derivatives by z are ∂C = -∂³log Φ, ∂b = -yC/√λ and ∂<h> = y√λ V. So weights
// b̄ and τ̄ become, at fixed λ, the weight ζ = Rρ on -(m₀ + A b - <h>), with ρ = b̄ + τ̄ y λ^(3/2)
// ∂³log Φ/(C D²).
func (p *meanField) leaveOneOutAdjoint(dst *Cov, c *cavities) {
	c.complete(p.prior)
	n := len(p.b)
	byB, rho, zeta, shift := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	copy(byB, c.byB)
	linalg.Symv(1, p.k, c.byMu, 1, byB) // μ = m₀ + K b
	for i, l := range p.lambda {
		curvature, d := p.response(i)
		if rho[i] = byB[i]; curvature > 0 {
			rho[i] += c.byTau[i] * p.y[i] * l * math.Sqrt(l) * p.cut[i].Third / curvature / (d * d)
		}
	}
	copy(zeta, rho)
	p.prior.Solve(zeta)
	linalg.Symv(1, p.a, zeta, 0, shift)
	u, byLambda := make([]float64, n), make([]float64, n)
	for i, l := range p.lambda {
		curvature, d := p.response(i)
		h := p.y[i] * math.Sqrt(l) * p.cut[i].Mean
		u[i] = c.byMu[i] - zeta[i]
		byLambda[i] = -c.byTau[i]*curvature*p.cut[i].Variance/(d*d) + (zeta[i]*h-p.b[i]*(byB[i]-shift[i]))/(2*l)
	}
	p.pullMarginals(dst, u, c.byV)
	p.pullLambda(dst.K, byLambda)
}
