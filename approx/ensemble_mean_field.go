package approx

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/interrupt"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

var _ Approximation = EnsembleMeanField{}

// EnsembleMeanField is the variational mean-field theory of Csató et al. (2000), equations (5)-(7): among the distributions
// of the noisy latent values h under which cases are independent, the one nearest to the posterior. The field on a case
// has the variance that the others leave it, λ_i = 1/[A⁻¹]_ii. See meanField for the notation; the log evidence, in nats, is
// minus the free energy,
//
//	L = Σ_i log Φ(z_i) - ½ bᵀ(m - m₀) - ½ (log|A| - Σ_i log λ_i)
//
// a lower bound on the logarithm of the true one, and exact for one case. A fit that stops before it converges has
// Diagnostics.Converged false, and its adjoint is ErrNotConverged.
//
// Where A is so nearly singular that rounding error hides a λ, as where a smooth kernel of large amplitude has little noise,
// or none, beside it, the least jitter that shows it is added to the diagonal of K. It is 4e-13 n times the largest prior
// variance, is part of the model then, and is told in Diagnostics.Jitter.
type EnsembleMeanField struct {
	// Tolerance bounds the last Newton step, in posterior standard deviations: half its square is the error of the log
	// evidence in nats. Where the rounding error of A b allows no better, that is the bound. Default 1e-10.
	Tolerance float64 `yaml:"tolerance" within:"(0,1)"`
	// MaxIterations bounds the Newton steps. Default 1000.
	MaxIterations int `yaml:"max_iterations" within:"[1,10000000]"`
}

// Uses implements Approximation: probit, and step where the kernel has the noise.
func (m EnsembleMeanField) Uses(lik likelihood.Likelihood, classes int) (Caps, error) {
	if err := checkIteration("ensemble_mean_field", m.Tolerance, m.MaxIterations); err != nil {
		return Caps{}, err
	}
	if err := usesMeanField("ensemble_mean_field", lik, classes); err != nil {
		return Caps{}, err
	}
	gradient := !hasFree(lik)
	return Caps{Gradient: gradient, LowerBound: true, LeaveOneOut: true, LeaveOneOutGradient: gradient}, nil
}

// Memory implements Approximation: A, its inverse and the factor of B.
func (m EnsembleMeanField) Memory(s Size) Memory {
	n2 := s.Cases * s.Cases
	return Memory{Fit: words(3*n2, s.Cases*s.New), Evidence: words(0, n2), LeaveOneOut: words(n2, 2*n2)}
}

// Fit implements Approximation.
func (m EnsembleMeanField) Fit(ctx context.Context, cov []Cov, y Targets, lik likelihood.Bound, start State) (Posterior, error) {
	return interrupt.Do(ctx, func() (Posterior, error) {
		p, err := m.begin(cov, y, lik)
		if err != nil {
			return nil, err
		}
		if err := p.solve(ctx, start, m.MaxIterations); err != nil {
			return nil, err
		}
		return p, nil
	})
}

// Restore implements Approximation.
func (m EnsembleMeanField) Restore(cov []Cov, y Targets, lik likelihood.Bound, s State) (Posterior, error) {
	p, err := m.begin(cov, y, lik)
	if err != nil {
		return nil, err
	}
	if err := p.restore(s); err != nil {
		return nil, err
	}
	return p, nil
}

func (m EnsembleMeanField) begin(cov []Cov, y Targets, lik likelihood.Bound) (*meanField, error) {
	p, err := newMeanField("ensemble_mean_field", m.Tolerance, cov, y, lik)
	if err != nil {
		return nil, err
	}
	n := len(p.y)
	inverse, uncertainty := p.fields()
	if !(uncertainty < unresolved) {
		p.addJitter(2 * float64(n) * eps / unresolved)
		if inverse, uncertainty = p.fields(); !(uncertainty < unresolved) {
			return nil, fmt.Errorf("%w: the covariance of the latent values with their noise has an eigenvalue below 0 that rounding does not explain; check the inputs and the kernel", ErrNotPositiveDefinite)
		}
	}
	p.evidence.adjoint = func(dst *Cov) { p.ensembleAdjoint(dst, inverse) }
	p.pullLambda = func(dst *mat.SymDense, weight []float64) { // dλ_i = λ_i² [A⁻¹ dK A⁻¹]_ii
		scaled := make([]float64, n)
		for i, l := range p.lambda {
			scaled[i] = weight[i] * l * l
		}
		linalg.SyrkDiag(blas.NoTrans, 1, full(inverse), scaled, 1, dst.RawSymmetric())
	}
	return p, nil
}

// fields fills λ and the constant part of the log evidence, and returns A⁻¹ and what rounding makes of a λ: relative, its
// uncertainty by the rounding of A_ii, or infinity where A has no Cholesky factor.
func (p *meanField) fields() (inverse blas64.Symmetric, uncertainty float64) {
	n := len(p.y)
	inverse = linalg.NewSym(n)
	copy(inverse.Data, p.a.Data)
	u, ok := linalg.Cholesky(inverse)
	if !ok {
		return inverse, math.Inf(1)
	}
	p.constant = -linalg.LogDet(u)
	linalg.InverseCholesky(u)
	for i := range n {
		p.lambda[i] = 1 / inverse.Data[i*n+i]
		p.constant += math.Log(p.lambda[i]) / 2
		uncertainty = max(uncertainty, eps*p.a.Data[i*n+i]/p.lambda[i])
	}
	return inverse, uncertainty * float64(n)
}

// addJitter adds share times the largest prior variance to the diagonal of K, which a λ cannot fall below then.
func (p *meanField) addJitter(share float64) {
	n := len(p.y)
	k, d := linalg.NewSym(n), &p.diagnostics
	d.Jitter = share * p.largest()
	for i := range n {
		copy(k.Data[i*n+i:(i+1)*n], p.k.Data[i*p.k.Stride+i:i*p.k.Stride+n])
		k.Data[i*n+i] += d.Jitter
		p.a.Data[i*n+i] += d.Jitter
	}
	d.Warnings = append(d.Warnings, fmt.Sprintf("rounding error hides what the other cases leave of a variance; a jitter of %.1g was added to the prior variances (a noise kernel or a smaller amplitude makes it unnecessary)", d.Jitter))
	p.k, p.jitterShare = k, share
}

// pullJitter adds to dst what the jitter, a share of the largest prior variance, makes of dK.
func (p *meanField) pullJitter(dst *mat.SymDense) {
	if p.jitterShare == 0 {
		return
	}
	widest := 0
	for i := range p.y {
		if p.variance(i) > p.variance(widest) {
			widest = i
		}
	}
	dst.SetSym(widest, widest, dst.At(widest, widest)+p.jitterShare*mat.Trace(dst))
}

// ensembleAdjoint sets dst to the explicit weight on dK and on dm₀, for L is stationary in the distribution of h:
//
//	G = ½ b bᵀ + ½ A⁻¹ diag(v_i) A⁻¹ - ½ A⁻¹,   ∂L/∂m₀ = b
func (p *meanField) ensembleAdjoint(dst *Cov, inverse blas64.Symmetric) {
	n := len(p.b)
	checkAdjoint(dst.K, n)
	v := make([]float64, n)
	g := dst.K.RawSymmetric()
	for i, b := range p.b {
		v[i] = p.lambda[i] * p.cut[i].Variance
		for j := i; j < n; j++ {
			g.Data[i*g.Stride+j] = (b*p.b[j] - inverse.Data[i*n+j]) / 2
		}
	}
	linalg.SyrkDiag(blas.NoTrans, 0.5, full(inverse), v, 1, g)
	p.pullJitter(dst.K)
	if dst.Mean != nil {
		copy(dst.Mean, p.b)
	}
}

// full is a symmetric matrix with both of its triangles.
func full(s blas64.Symmetric) blas64.General {
	a := linalg.NewGeneral(s.N, s.N)
	for i := range s.N {
		for j := i; j < s.N; j++ {
			a.Data[i*a.Stride+j], a.Data[j*a.Stride+i] = s.Data[i*s.Stride+j], s.Data[i*s.Stride+j]
		}
	}
	return a
}
