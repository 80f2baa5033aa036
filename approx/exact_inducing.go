package approx

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/lowrank"
)

var _ LeaveOneOuter = (*inducedExact)(nil)

// inducedExact is regression with Gaussian noise and inducing inputs. Its log evidence is that of
// the prior covariance K̂, minus the term of the correction. With R = (K̂ + σ²I)⁻¹ and b = R(y -
// m),
//
//	L = -½ bᵀ(y - m) - ½ log|I + K̂/σ²| - ½ n log 2πσ² - Σ_i (1-α)/2α log(1 + α D_i/σ²)
//
// and at α = 0 Titsias' (2009) bound, whose last term is Σ_i D_i/2σ².
type inducedExact struct {
	*cases
	lowRank
	noise float64 // σ²
}

func newInducedExact(option Inducing, cov []Cov, y Targets, lik likelihood.Bound) (*inducedExact, error) {
	c, err := newCases(cov, y, lik)
	if err != nil {
		return nil, err
	}
	prior, err := newLowRank(nil, cov[0], option.Correction.power(1))
	if err != nil {
		return nil, err
	}
	p := &inducedExact{cases: c, lowRank: prior, noise: lik.(likelihood.GaussianNoise).NoiseVariance()}
	p.diagnostics.Factorizations++
	n := len(p.y)
	if err := p.factorise(slices.Repeat([]float64{1 / p.noise}, n)); err != nil {
		return nil, err
	}
	norm := p.Locate(make([]float64, n), p.b, scaled(p.y, 1/p.noise), p.mean)
	fit := norm * norm // (y - m)ᵀR(y - m) = |V b|² + Σ_i (Λ_i + σ²) b_i²
	value := 0.0
	for i, b := range p.b {
		fit += (p.Own(i) + p.noise) * b * b
		value -= p.Penalty(i, 1/p.noise)
	}
	value -= fit/2 + p.logDet() + float64(n)*math.Log(2*math.Pi*p.noise)/2
	if !finite(value) {
		return nil, fmt.Errorf("%w: exact, log evidence %v; the targets or the prior variances overflow",
			ErrNotPositiveDefinite, value)
	}
	p.Variances(make([]float64, n)) // and keeps what the derivatives need
	p.evidence = p.functional(value, lowrank.Adjoint{
		P: [][]float64{p.b}, Q: [][]float64{scaled(p.b, 0.5)}, C: 1, Spare: p.spareWeights(),
	}, p.b)
	p.diagnostics.Converged = true
	describe(&p.diagnostics, p.Prior)
	return p, nil
}

// spareWeights are the derivatives of the evidence with respect to D, apart from those through the
// prior.
func (p *inducedExact) spareWeights() []float64 {
	w := make([]float64, len(p.y))
	for i := range w {
		w[i] = -p.PenaltySlope(i, 1/p.noise) / p.noise
	}
	return w
}

// functional is a scalar with its adjoint; mean is the derivative with respect to m. The noise is
// part of the diagonal of K̂ + σ²I; apart from that, D enters as D/σ².
func (p *inducedExact) functional(value float64, g lowrank.Adjoint, mean []float64) functional {
	f := functional{value: value, adjoint: func(dst *Cov) {
		p.pull(dst, g)
		if dst.Mean != nil {
			copy(dst.Mean, mean)
		}
	}}
	if isGaussian(p.lik.Likelihood()) {
		f.likelihood = func(grad []float64) {
			grad[0] += 2 * p.noise * floats.Sum(p.Diagonal(g))
			for i, w := range g.Spare {
				grad[0] -= 2 * w * p.Lacking(i)
			}
		}
	}
	return f
}

// LeaveOneOut implements LeaveOneOuter as exactPosterior does, of K̂: with R_ii, q_i = b_i/R_ii and
// C_ii = ½ (1 + b_i q_i)/R_ii the adjoint is ½ (R q bᵀ + b (R q)ᵀ) - R C R, and R = (I - R K̂)/σ².
func (p *inducedExact) LeaveOneOut() (Functional, error) {
	n := len(p.y)
	value, q, gamma := -float64(n)*math.Log(2*math.Pi)/2, make([]float64, n), make([]float64, n)
	for i, b := range p.b {
		r := p.Information(i)
		value += (math.Log(r) - b*b/r) / 2
		q[i] = b / r / p.noise
		gamma[i] = -(1 + b*b/r) / r / 2 / (p.noise * p.noise)
	}
	p.Shrink(q, q)
	return p.functional(value, lowrank.Adjoint{P: [][]float64{p.b}, Q: [][]float64{q}, Gamma: gamma}, q), nil
}

// Latent implements Posterior.
func (p *inducedExact) Latent(mean, variance []float64, cross *mat.Dense, diag []float64, class int) {
	checkLatent(mean, variance, len(diag))
	p.Told(p.b).Latent(mean, variance, cross, diag)
}

// PredictProba implements Posterior.
func (p *inducedExact) PredictProba(dst *mat.Dense, cross []*mat.Dense, diag, mean [][]float64) {
	averageTwoClasses(p, p.lik, dst, cross, diag, mean)
}
