package approx

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/lowrank"
)

// inducedMulticlass is the posterior of Laplace's method for C > 2 classes with inducing inputs.
// Its log evidence is that of the priors K̂_c, minus the term of the correction,
//
//	L = -½ aᵀ(f̂ - m) + log p(y|f̂) - ½ log|I + W K̂| - Σ_i (1-α)/2α log|I + α W_i D_i|
//
// whose last term is ½ tr(W_i D_i) at α = 0.
type inducedMulticlass struct {
	*categories
	k     *lowrank.Classes
	count int       // number of covariances
	u     []float64 // for the adjoint; computed on first use
	r     []float64
	spare []float64
}

func newInducedMulticlass(
	work *Work, tolerance float64, points int, option Inducing, cov []Cov, y Targets, lik likelihood.Bound,
) (*inducedMulticlass, error) {
	base := newCategories(tolerance, points, cov, y, lik)
	var priors []*lowrank.Prior
	for j := range cov {
		prior, err := newLowRankPrior(work, cov[j], option.Correction.power(1))
		if err != nil {
			return nil, ofClass(err, j, cov)
		}
		priors = append(priors, prior)
		describe(&base.diagnostics, prior)
	}
	for c := range base.classes {
		base.scale = append(base.scale, share(priors, c).Largest())
	}
	p := &inducedMulticlass{categories: base, k: lowrank.NewClasses(priors, base.classes), count: len(cov)}
	return p, nil
}

// approach implements approacher.
func (p *inducedMulticlass) approach(
	ctx context.Context, at, next *point, start State, maxIterations int,
) (_, _ *point, iterations int, last float64, err error) {
	multiply := func(dst, x []float64) {
		p.diagnostics.Products++
		p.k.Multiply(dst, x)
	}
	near := &leadingInputs{categories: p.categories, Classes: p.k.Leading(), kx: make([]float64, p.classes*p.n)}
	a := ascent{p.categories, p, multiply, near, conjugateSteps(p.n)}
	return a.approach(ctx, at, next, start, maxIterations)
}

// leadingInputs is the preconditioner in which K̂ is replaced by a prior K̃ with only the first of
// the inducing inputs:
//
//	(I + Rᵀ K̃ R)⁻¹ = I - Rᵀ K̃ (I + W K̃)⁻¹ R
type leadingInputs struct {
	*categories
	*lowrank.Classes
	ok bool // false if rounding prevents the factorisation
	kx []float64
}

// factorise implements preconditioner.
func (s *leadingInputs) factorise(pi []float64) { s.ok = s.Factorise(pi) == nil }

// solve implements preconditioner.
func (s *leadingInputs) solve(dst, x, root []float64) {
	if !s.ok {
		copy(dst, x)
		return
	}
	s.uncenter(dst, x, root)
	s.Shrink(dst, dst)
	s.Multiply(s.kx, dst)
	s.center(dst, s.kx, root)
	for j, v := range x {
		dst[j] = v - dst[j]
	}
}

// latentAt implements latentModel.
func (p *inducedMulticlass) latentAt(f, a []float64) {
	p.k.Multiply(f, a)
	floats.Add(f, p.mean)
}

// factorise implements latentModel.
func (p *inducedMulticlass) factorise(pi []float64) error {
	p.diagnostics.Factorizations++
	return notDefinite(p.k.Factorise(pi))
}

// newton implements latentModel.
func (p *inducedMulticlass) newton(at *point) float64 {
	p.k.Multiply(at.kr, at.r)
	p.k.Shrink(at.delta, at.r)
	return math.Sqrt(math.Abs(dot(at.kr, at.delta)))
}

// finish implements latentModel.
func (p *inducedMulticlass) finish(at *point, length float64, iterations int) (Posterior, error) {
	value := at.psi - p.k.LogDet()
	for i := range p.n {
		value -= p.k.Penalty(i)
	}
	err := p.settle(value, at, length, iterations)
	p.storage = inducedProcesses{p.k.Told(p.b), p.k}
	return p, err
}

func (p *inducedMulticlass) condense() (State, bool) { return p.k.Told(p.b).Numbers(), true }

// Evidence implements Posterior.
func (p *inducedMulticlass) Evidence() Functional {
	return inducedMulticlassEvidence{p.evidence, p}
}

type inducedMulticlassEvidence struct {
	functional
	posterior *inducedMulticlass
}

// Adjoint implements Functional: as for two classes, and with u as in multiclass.adjoint,
//
//	G_c = ½ g_c g_cᵀ - ½ R_cc + ½ (u_c g_cᵀ + g_c u_cᵀ),   ∂L/∂m_c = g_c + u_c
func (e inducedMulticlassEvidence) Adjoint(dst *Cov, j int) error {
	p := e.posterior
	if e.err != nil {
		return e.err
	}
	if p.u == nil {
		p.differentiateMode()
	}
	b := p.b
	to := dst.lowRank()
	p.k.Pull(&to, j, lowrank.ClassesAdjoint{
		P: [][]float64{b, p.u}, Q: [][]float64{scaled(b, 0.5), b}, Information: p.r, Spare: p.spare,
	})
	if dst.Mean != nil {
		clear(dst.Mean)
		for c := range p.classes {
			if p.count == 1 || c == j {
				floats.Add(dst.Mean, p.of(c, b))
				floats.Add(dst.Mean, p.of(c, p.u))
			}
		}
	}
	return nil
}

// differentiateMode computes what the adjoints of all classes share: R_cc, the other derivatives
// with respect to D, and u.
func (p *inducedMulticlass) differentiateMode() {
	vector := func() []float64 { return make([]float64, p.classes*p.n) }
	s := vector()
	p.r, p.spare = vector(), vector()
	p.k.Variances(s, p.r)
	p.k.PenaltySlopes(p.spare)
	floats.Scale(-1, p.spare)
	floats.Mul(s, p.at.w)
	p.byLatent(s)
	p.k.Shrink(s, s)
	p.u = s
}

// inducedProcesses are processes with inducing inputs.
type inducedProcesses struct {
	told lowrank.ToldClasses
	k    *lowrank.Classes // nil: without cases
}

func (p inducedProcesses) latentMean(mean []float64, c int, cross *mat.Dense) {
	p.told.Mean(mean, c, cross)
}

func (p inducedProcesses) rows() int { return p.told.Rows() }

func (p inducedProcesses) project(q []float64, x blas64.General, c int, cross *mat.Dense, diag []float64) {
	p.told.Project(q, x, c, cross, diag)
}

func (p inducedProcesses) couple(blas64.General) {}

func (p inducedProcesses) marginals(visit func(i int, q, left []float64, s *mat.SymDense)) {
	p.k.Covariances(visit)
}
