package approx

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

var (
	_ Approximation = Exact{}
	_ LeaveOneOuter = (*exactPosterior)(nil)
)

// Exact is regression with Gaussian noise of variance σ² (GPML 2.2), where nothing needs to be approximated: every case is
// a Gaussian site of precision 1/σ² at y_i. With R = (K + σ²I)⁻¹ and b = R(y - m) the log evidence (GPML 2.30), in nats, is
//
//	L = -½ bᵀ(y - m) - ½ log|I + K/σ²| - ½ n log 2πσ²
//
// Latent gives the process without the noise, GPML (2.25)-(2.26). A State is empty.
type Exact struct{}

// Uses implements Approximation: numeric targets with the gaussian likelihood.
func (Exact) Uses(lik likelihood.Likelihood, classes int) (Caps, error) {
	_, gaussian := bound(lik).(likelihood.GaussianNoise)
	switch gaussian = gaussian && lik.Domain() == likelihood.Numeric; {
	case classes == 0 && !gaussian:
		return Caps{}, errors.New("exact needs Gaussian noise; use likelihood: gaussian")
	case !gaussian:
		return Caps{}, errors.New("exact needs likelihood: gaussian, whose posterior is Gaussian, and numeric targets; for classes use inference: ep with likelihood: probit, or laplace with softmax")
	case classes != 0:
		return Caps{}, errors.New("exact explains numeric targets; for classes use likelihood: probit with inference: ep, or softmax with laplace")
	}
	return Caps{Gradient: true, LeaveOneOut: true, LeaveOneOutGradient: true}, nil
}

// Memory implements Approximation: the factor; the derivative by the noise takes an adjoint of its own.
func (Exact) Memory(s Size) Memory {
	n2 := s.Cases * s.Cases
	return Memory{Fit: words(n2, s.Cases*s.New), Evidence: words(0, n2), LeaveOneOut: words(n2, 2*n2)}
}

// Fit implements Approximation.
func (e Exact) Fit(ctx context.Context, cov []Cov, y Targets, lik likelihood.Bound, start State) (Posterior, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return e.Restore(cov, y, lik, start)
}

// Restore implements Approximation, GPML Algorithm 2.1 lines 2-3 and 7.
func (Exact) Restore(cov []Cov, y Targets, lik likelihood.Bound, s State) (Posterior, error) {
	base, err := newSites(cov, y, lik)
	if err != nil {
		return nil, err
	}
	if err := checkState("exact", s, 0); err != nil {
		return nil, err
	}
	n := len(base.y)
	p := &exactPosterior{sites: base, noise: lik.(likelihood.GaussianNoise).NoiseVariance()}
	tau := make([]float64, n)
	for i := range tau {
		tau[i] = 1 / p.noise
	}
	if err := p.factorise(tau); err != nil {
		return nil, err
	}
	for i, m := range p.mean {
		p.b[i] = p.root[i] * (p.y[i] - m)
	}
	linalg.SolveTriVec(blas.Trans, p.u, p.b)
	fit := dot(p.b, p.b) // (y - m)ᵀR(y - m)
	linalg.SolveTriVec(blas.NoTrans, p.u, p.b)
	for i, r := range p.root {
		p.b[i] *= r
	}
	value := -fit/2 - linalg.LogDet(p.u) - float64(n)*math.Log(2*math.Pi*p.noise)/2
	if !finite(value) {
		return nil, fmt.Errorf("%w: exact, log evidence %v; the targets or the prior variances overflow", ErrNotPositiveDefinite, value)
	}
	p.evidence = p.functional(value, p.stationaryAdjoint)
	p.diagnostics.Converged = true
	return p, nil
}

type exactPosterior struct {
	*sites
	noise float64 // σ²
}

// functional adds the derivative with respect to log σ, 2σ² tr(G): the noise is part of the diagonal of K + σ²I.
func (p *exactPosterior) functional(value float64, adjoint func(dst *Cov)) functional {
	return functional{value: value, adjoint: adjoint, likelihood: func(grad []float64) {
		dst := Cov{K: mat.NewSymDense(len(p.y), nil)}
		adjoint(&dst)
		grad[0] += 2 * p.noise * mat.Trace(dst.K)
	}}
}

// LeaveOneOut implements LeaveOneOuter, GPML (5.10)-(5.12):
//
//	Σ_i log p(y_i|y_-i) = Σ_i [ ½ log R_ii - ½ b_i²/R_ii - ½ log 2π ]
func (p *exactPosterior) LeaveOneOut() (Functional, error) {
	r := mat.NewSymDense(len(p.y), nil)
	p.information(r, nil)
	value := -float64(len(p.y)) * math.Log(2*math.Pi) / 2
	for i, b := range p.b {
		value += (math.Log(r.At(i, i)) - b*b/r.At(i, i)) / 2
	}
	return p.functional(value, func(dst *Cov) { p.leaveOneOutAdjoint(dst, r) }), nil
}

// leaveOneOutAdjoint sets dst to the weight on dK and on dm that GPML (5.13) contracts with ∂K/∂θ, from dR = -R dK R and
// db = -R dK b - R dm:
//
//	G = ½ (R q bᵀ + b (R q)ᵀ) - R C R,   ∂L/∂m = R q,   q_i = b_i/R_ii,   C_ii = ½ (1 + b_i²/R_ii)/R_ii
func (p *exactPosterior) leaveOneOutAdjoint(dst *Cov, r *mat.SymDense) {
	n := len(p.y)
	q, c, rq := make([]float64, n), make([]float64, n), make([]float64, n)
	full := linalg.NewGeneral(n, n)
	for i, b := range p.b {
		q[i] = b / r.At(i, i)
		c[i] = (1 + b*q[i]) / r.At(i, i) / 2
		for j := range n {
			full.Data[i*n+j] = r.At(i, j)
		}
	}
	linalg.Symv(1, r.RawSymmetric(), q, 0, rq)
	checkAdjoint(dst.K, n)
	g := dst.K.RawSymmetric()
	for i, b := range p.b {
		for j := i; j < n; j++ {
			g.Data[i*g.Stride+j] = (rq[i]*p.b[j] + b*rq[j]) / 2
		}
	}
	linalg.SyrkDiag(blas.NoTrans, -1, full, c, 1, g)
	if dst.Mean != nil {
		copy(dst.Mean, rq)
	}
}
