package approx

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
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
// Without noise in likelihood or kernel A is K, whose inverse is lost in rounding error for smooth kernels; that is an
// error.
type EnsembleMeanField struct {
	// Tolerance bounds the last Newton step, in posterior standard deviations: half its square is the error of the log
	// evidence in nats. Where the rounding error of A b allows no better, that is the bound. Default 1e-10.
	Tolerance float64 `yaml:"tolerance"`
	// MaxIterations bounds the Newton steps. Default 1000.
	MaxIterations int `yaml:"max_iterations"`
}

// Uses implements Approximation: probit, and step where the kernel has the noise.
func (m EnsembleMeanField) Uses(lik likelihood.Likelihood, classes int) (Caps, error) {
	if err := checkIteration("ensemble_mean_field", m.Tolerance, m.MaxIterations); err != nil {
		return Caps{}, err
	}
	if err := usesMeanField("ensemble_mean_field", lik, classes); err != nil {
		return Caps{}, err
	}
	return Caps{Gradient: true, LowerBound: true, LeaveOneOut: true, LeaveOneOutGradient: true}, nil
}

// Fit implements Approximation.
func (m EnsembleMeanField) Fit(ctx context.Context, cov []Cov, y Targets, lik likelihood.Bound, start State) (Posterior, error) {
	p, err := m.begin(cov, y, lik)
	if err != nil {
		return nil, err
	}
	if err := p.solve(ctx, start, m.MaxIterations); err != nil {
		return nil, err
	}
	return p, nil
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
	inverse := linalg.NewSym(n)
	copy(inverse.Data, p.a.Data)
	u, ok := linalg.Cholesky(inverse)
	if !ok {
		return nil, fmt.Errorf("%w: the covariance of the latent values with their noise; add a noise kernel", ErrNotPositiveDefinite)
	}
	p.constant = -linalg.LogDet(u)
	linalg.InverseCholesky(u)
	uncertainty := 0.0 // relative, of a λ: the rounding of A_ii
	for i := range n {
		p.lambda[i] = 1 / inverse.Data[i*n+i]
		p.constant += math.Log(p.lambda[i]) / 2
		uncertainty = max(uncertainty, eps*p.a.Data[i*n+i]/p.lambda[i])
	}
	if uncertainty *= float64(n); !(uncertainty < unresolved) {
		return nil, fmt.Errorf("%w: rounding error hides what the other cases leave of a variance, to a relative %.1g; add a noise kernel or lower the amplitude", ErrNotPositiveDefinite, uncertainty)
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
