package approx

import (
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/lowrank"
)

// inducedLaplace is the posterior of Laplace's method with one latent process and inducing inputs.
// Its log evidence is that of the prior covariance K̂, less what the correction asks for,
//
//	L = -½ aᵀ(f̂ - m) + log p(y|f̂) - ½ log|I + W K̂| - Σ_i (1-α)/2α log(1 + α D_i W_i)
//
// whose last term is ½ D_i W_i at α = 0 (Bui, Yan & Turner 2017, for Gaussian noise, W = 1/σ²).
type inducedLaplace struct {
	*cases
	modeModel
	lowRank
	mode *point
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

// part implements latentModel: a step is cheap already.
func (p *inducedLaplace) part() (latentModel, []int) { return nil, nil }

func (p *inducedLaplace) finish(at *point, length float64, iterations int) (Posterior, error) {
	for i, d := range at.delta {
		p.b[i] = at.a[i] + d
	}
	p.mode, p.state, p.diagnostics.Iterations = at, at.state(), iterations
	p.diagnostics.Jitter = p.Jitter()
	value := at.psi - p.logDet()
	for i, w := range at.w {
		value -= p.Penalty(i, w)
	}
	p.evidence = functional{value: value, adjoint: func(dst *Cov) { p.adjoint(dst, at) }}
	if at.floors > 0 { // the mode moves by the curvatures as they are, which the factor does not have
		p.evidence.err = fmt.Errorf("%w: %d of the likelihood's curvatures are below 0, and laplace with inducing "+
			"inputs takes them as 0", ErrNoGradient, at.floors)
	}
	target, rounding := p.precision(at)
	return p, p.conclude("laplace", fixedPoint{distance: length, rounding: rounding, floors: at.floors}, target)
}

// adjoint sets dst to that of the evidence: the mode moves with the prior, as in GPML (5.23).
func (p *inducedLaplace) adjoint(dst *Cov, at *point) {
	n := len(p.y)
	u, spare := make([]float64, n), make([]float64, n)
	p.Variances(u)
	for i, w := range at.w {
		slope := p.PenaltySlope(i, w)
		u[i] = at.d3[i] / 2 * (u[i] + 2*slope*p.Lacking(i))
		spare[i] = -slope * w
	}
	p.Shrink(u, u)
	p.pull(dst, lowrank.Adjoint{P: [][]float64{p.b, u}, Q: [][]float64{scaled(p.b, 0.5), p.b}, C: 1, Spare: spare})
	if dst.Mean != nil {
		floats.AddTo(dst.Mean, p.b, u)
	}
}

// LeaveOneOut implements LeaveOneOuter by the cavities of the sites τ = W at the mode. It has no
// gradient.
func (p *inducedLaplace) LeaveOneOut() (Functional, error) {
	if !p.diagnostics.Converged {
		return nil, p.evidence.err
	}
	sum, sigma := 0.0, make([]float64, len(p.y))
	p.Variances(sigma)
	for i, v := range sigma {
		c := v / max(1-p.mode.w[i]*v, eps)
		logZ, _ := p.of.lik.Moments(p.y[i], p.mode.f[i]-c*p.b[i], c)
		sum += logZ
	}
	return functional{value: sum, err: fmt.Errorf("%w of leave-one-out with inducing inputs", ErrNoGradient)}, nil
}

// Latent implements Posterior.
func (p *inducedLaplace) Latent(mean, variance []float64, cross *mat.Dense, diag []float64, class int) {
	checkLatent(mean, variance, len(diag))
	p.Sites.Latent(mean, variance, p.b, cross, diag)
}

// PredictProba implements Posterior.
func (p *inducedLaplace) PredictProba(dst *mat.Dense, cross []*mat.Dense, diag, mean [][]float64) {
	averageTwoClasses(p, p.lik, dst, cross, diag, mean)
}
