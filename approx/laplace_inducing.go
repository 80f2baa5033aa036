package approx

import (
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/lowrank"
)

// inducedLaplace is the posterior of Laplace's method with one latent process and inducing inputs.
// Its log evidence is that of the prior covariance K̂, minus the term of the correction,
//
//	L = -½ aᵀ(f̂ - m) + log p(y|f̂) - ½ log|I + W K̂| - Σ_i (1-α)/2α log(1 + α D_i W_i)
//
// whose last term is ½ D_i W_i at α = 0 (Bui, Yan & Turner 2017, for Gaussian noise, W = 1/σ²).
type inducedLaplace struct {
	*cases
	modeModel
	lowRank
	mode   *point
	moving lowRank // for derivatives of the mode: -∂²log p(y|f)/∂f² instead of W
}

func newInducedLaplace(
	work *Work, tolerance float64, option Inducing, cov []Cov, y Targets, lik likelihood.Bound,
) (*inducedLaplace, error) {
	c, err := newCases(cov, y, lik)
	if err != nil {
		return nil, err
	}
	prior, err := newLowRank(work, cov[0], option.Correction.power(1))
	if err != nil {
		return nil, err
	}
	return &inducedLaplace{cases: c, modeModel: newModeModel(c, prior, lik, tolerance), lowRank: prior}, nil
}

// part implements latentModel: a step is cheap, so no part is needed.
func (p *inducedLaplace) part() (latentModel, []int) { return nil, nil }

func (p *inducedLaplace) finish(at *point, length float64, iterations int) (Posterior, error) {
	for i, d := range at.delta {
		p.b[i] = at.a[i] + d
	}
	p.mode, p.state, p.diagnostics.Iterations = at, at.state(), iterations
	describe(&p.diagnostics, p.Prior)
	value := at.psi - p.logDet()
	for i, w := range at.w {
		value -= p.Penalty(i, w)
	}
	p.evidence = functional{value: value, adjoint: func(dst *Cov) { p.adjoint(dst, at) }}
	p.evidence.likelihood = p.byParameters(at, func() (ku, variance []float64) {
		u, variance, _ := p.implicit(at)
		ku = make([]float64, len(u))
		p.Multiply(ku, u)
		return ku, variance
	})
	p.evidence.err = p.move(at)
	target, rounding := p.precision(at)
	return p, p.conclude("laplace", fixedPoint{distance: length, rounding: rounding, floors: at.floors}, target)
}

// move fills p.moving, as laplacePosterior.move does.
func (p *inducedLaplace) move(at *point) error {
	p.moving = p.lowRank
	if at.floors == 0 {
		return nil
	}
	p.moving = lowRank{lowrank.NewSites(p.Prior)}
	if err := p.moving.factorise(at.concave); err != nil {
		return fmt.Errorf("%w: with %d of the likelihood's curvatures below 0 laplace ended where the posterior "+
			"density has no maximum", ErrNoGradient, at.floors)
	}
	return nil
}

// implicit returns u = (I + W K̂)⁻¹ s as laplacePosterior.implicit does; the variances, including
// those of the correction, whose product with ½ ∂³log p/∂f³ is s; and the other derivatives with
// respect to D.
func (p *inducedLaplace) implicit(at *point) (u, variance, spare []float64) {
	n := len(p.y)
	u, variance, spare = make([]float64, n), make([]float64, n), make([]float64, n)
	p.Variances(variance)
	for i, w := range at.w {
		slope := p.PenaltySlope(i, w)
		variance[i] += 2 * slope * p.Lacking(i)
		u[i] = at.d3[i] / 2 * variance[i]
		spare[i] = -slope * w
	}
	p.moving.Shrink(u, u)
	return u, variance, spare
}

// adjoint sets dst to the adjoint of the evidence: the mode moves with the prior, as in GPML
// (5.23).
func (p *inducedLaplace) adjoint(dst *Cov, at *point) {
	u, _, spare := p.implicit(at)
	p.pull(dst, lowrank.Adjoint{P: [][]float64{p.b, u}, Q: [][]float64{scaled(p.b, 0.5), p.b}, C: 1, Spare: spare})
	if dst.Mean != nil {
		floats.AddTo(dst.Mean, p.b, u)
	}
}

// LeaveOneOut implements LeaveOneOuter with the cavities of the sites τ = W at the mode.
func (p *inducedLaplace) LeaveOneOut() (Functional, error) {
	if !p.diagnostics.Converged {
		return nil, p.evidence.err
	}
	n := len(p.y)
	c, sigma := newCavities(n), make([]float64, n)
	p.Variances(sigma)
	for i, w := range p.mode.w {
		m := marginal{v: sigma[i], share: max(p.Remains(i), eps)}
		if w*p.variance(i) > 1 {
			m.blur = 8 * eps * p.variance(i)
		}
		c.add(i, m, w, p.b[i], p.mode.f[i], p.lik, p.y[i])
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	f := p.leaveOneOut(p.mode, c, p.moving, func() { p.complete(c, sigma) }, func(dst *Cov, u []float64) {
		p.pull(dst, lowrank.Adjoint{P: [][]float64{p.b}, Q: [][]float64{u}, Gamma: c.byV})
		if dst.Mean != nil {
			copy(dst.Mean, u)
		}
	})
	f.err = p.evidence.err
	return f, nil
}

// complete adds to byTau the effect of a change of τ_j on all Σ_ii: dΣ_ii = -Σ_ij² dτ_j.
func (p *inducedLaplace) complete(c *cavities, sigma []float64) {
	if c.completed {
		return
	}
	c.completed = true
	n := len(sigma)
	x, dst := make([]float64, 2*n), make([]float64, 2*n)
	for i, v := range c.byV {
		x[n+i] = v * sigma[i]
	}
	p.Response(sigma)(dst, x) // minus the squares of correlations
	for j, v := range dst[n:] {
		c.byTau[j] += sigma[j] * v
	}
}

// Latent implements Posterior.
func (p *inducedLaplace) Latent(mean, variance []float64, cross *mat.Dense, diag []float64, class int) {
	checkLatent(mean, variance, len(diag))
	p.Told(p.b).Latent(mean, variance, cross, diag)
}

// PredictProba implements Posterior.
func (p *inducedLaplace) PredictProba(dst *mat.Dense, cross []*mat.Dense, diag, mean [][]float64) {
	averageTwoClasses(p, p.lik, dst, cross, diag, mean)
}
