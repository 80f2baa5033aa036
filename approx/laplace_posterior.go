package approx

import (
	"fmt"

	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/prior"
)

var _ LeaveOneOut = (*laplacePosterior)(nil)

// finish implements latentModel. W and the factor of B must have been computed at this point, so
// that all results belong to the same f.
func (p *laplacePosterior) finish(at *point, length float64, iterations int, early bool) (Posterior, error) {
	// At the mode a = g. Numerically, a is more accurate in the directions that K magnifies, and g
	// is more accurate in the directions that K suppresses. One more Newton step of a combines
	// both.
	value := at.psi - p.prior.LogDet() // GPML Algorithm 3.1 line 10
	for i, d := range at.delta {
		p.b[i] = at.a[i] + d
		value -= p.prior.Penalty(i, at.w[i])
	}
	p.mode, p.state, p.diagnostics.Iterations = at, at.state(), iterations
	p.evidence = functional{value: value, err: p.move(at), adjoint: p.adjoint}
	if model, ok := p.lik.(likelihood.Parametric); ok {
		p.evidence.likelihood = func(grad []float64) { p.addParameters(grad, model) }
	}
	target, rounding := p.precision(at)
	reached := fixedPoint{distance: length, rounding: rounding, floors: at.floors, early: early}
	return p, p.conclude("laplace", reached, target)
}

// move fills p.moving. At the mode the gradient of Ψ is 0, independently of W, so that a change of
// ∇log p by δ moves it by (K⁻¹ - ∂²log p/∂f²)⁻¹ δ. If that matrix is not positive definite, the
// point is not a mode, and there is no gradient.
func (p *laplacePosterior) move(at *point) error {
	if p.moving = p.prior; at.floors == 0 {
		return nil
	}
	p.moving = p.prior.WithoutSites()
	if err := p.moving.Factorise(at.concave); err != nil {
		return fmt.Errorf("%w: with %d of the likelihood's curvatures below 0 laplace ended where the posterior "+
			"density has no maximum", ErrNoGradient, at.floors)
	}
	return nil
}

// adjoint sets dst to GPML (5.20)-(5.24), Algorithm 5.1, as a weight on dK and on dm: the mode
// moves with both.
//
//	G = ½ b bᵀ - ½ R + ½ (u bᵀ + b uᵀ),   ∂L/∂m = b + u
//
// The derivative by D includes the term of the correction.
func (p *laplacePosterior) adjoint(dst *Cov, _ int) {
	var u []float64
	p.prior.Pull(dst, func(variances []float64) prior.Adjoint {
		u = p.implicit(variances)
		residual := make([]float64, len(p.b))
		for i, w := range p.mode.w {
			residual[i] = -p.prior.PenaltySlope(i, w) * w
		}
		return prior.Adjoint{P: [][]float64{p.b, u}, Q: [][]float64{scaled(p.b, 0.5), p.b}, C: 1, Residual: residual}
	})
	if dst.Mean != nil {
		floats.AddTo(dst.Mean, p.b, u)
	}
}

// implicit returns u, from which the part of a derivative follows that is due to a change of the
// mode,
//
//	u = (I + W K)⁻¹ s,   s_i = ∂(-½ log|B|)/∂f_i = ½ Σ_ii ∂³log p(y_i|f_i)/∂f³
//
// with Σ s = K u, so that a change of ∇log p by δ moves the mode by Σ δ and L by (K u)ᵀδ. It adds
// the term of the correction to variances, the Σ_ii, so that the derivative of L with respect to W
// is -½ variances. For a W_i that was floored, s_i is 0. The change of the mode is computed with
// the negative W_i, in W K and in Σ.
func (p *laplacePosterior) implicit(variances []float64) (u []float64) {
	u = make([]float64, len(p.b))
	for i, w := range p.mode.w {
		variances[i] += 2 * p.prior.PenaltySlope(i, w) * p.prior.ResidualVariance(i)
		u[i] = p.mode.d3[i] / 2 * variances[i]
	}
	p.shrinkMoving(u)
	return u
}

// shrinkMoving replaces x by (I + W K)⁻¹ x, with the W that determines how the mode moves.
func (p *laplacePosterior) shrinkMoving(x []float64) {
	kx := make([]float64, len(x))
	p.prior.Multiply(kx, x)
	p.moving.Shrink(x, x, kx)
}

// addParameters adds the derivative of the log evidence with respect to the likelihood's
// parameters.
func (p *laplacePosterior) addParameters(grad []float64, model likelihood.Parametric) {
	variances := p.prior.Variances()
	u, ku := p.implicit(variances), make([]float64, len(variances))
	p.prior.Multiply(ku, u)
	d, d1, d2 := make([]float64, len(grad)), make([]float64, len(grad)), make([]float64, len(grad))
	for i, f := range p.mode.f {
		model.DMoments(d, d1, d2, p.y[i], f, 0)
		if p.mode.w[i] == 0 {
			clear(d2) // W_i is held at 0
		}
		for j := range grad {
			grad[j] += p.weight.of(i) * (d[j] + ku[i]*d1[j] + variances[i]/2*d2[j])
		}
	}
}

// LeaveOneOut implements LeaveOneOut with the cavities of the sites τ = W, b = ∇log p at the
// mode. Mode and W move with K: the weight on f̂ is the weight on μ, minus W times the weight on b,
// minus ∂³log p/∂f³ times the weight on τ.
func (p *laplacePosterior) LeaveOneOut() (Functional, error) {
	if !p.diagnostics.Converged {
		return nil, p.evidence.err
	}
	at := p.mode
	c, err := p.cavities(at.w, at.f)
	if err != nil {
		return nil, err
	}
	var u []float64 // (I - R K)γ, γ the weight on the mode
	f := functional{value: c.sum, err: p.evidence.err, solve: func() error {
		if u == nil {
			c.complete(p.prior)
			u = make([]float64, len(at.f))
			for i, w := range at.concave {
				u[i] = c.byMu[i] - c.byB[i]*w - c.byTau[i]*at.d3[i]
			}
			p.shrinkMoving(u)
		}
		return nil
	}}
	f.adjoint = func(dst *Cov, _ int) { p.pullMarginals(dst, u, c.byV) }
	if model, ok := p.lik.(likelihood.Parametric); ok {
		f.likelihood = func(grad []float64) {
			ku := make([]float64, len(u))
			p.prior.Multiply(ku, u) // a change of ∇log p by δ moves the mode by Σδ, and Σγ = K u
			d, d1, d2 := make([]float64, len(grad)), make([]float64, len(grad)), make([]float64, len(grad))
			for i, y := range p.y {
				w := p.weight.of(i)
				model.DMoments(d, d1, d2, y, c.mean[i], c.variance[i])
				floats.AddScaled(grad, w, d)
				model.DMoments(d, d1, d2, y, at.f[i], 0)
				floats.AddScaled(grad, w*(ku[i]+c.byB[i]), d1)
				if at.w[i] > 0 {
					floats.AddScaled(grad, -w*c.byTau[i], d2)
				}
			}
		}
	}
	return f, nil
}
