package approx

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/prior"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// EnsembleMeanField is the variational mean-field theory of Csató et al. (2000), equations (5)-(7):
// the distribution of the noisy latent values h with independent cases that is nearest to the
// posterior. The field of a case has its conditional prior variance given the others, λ_i =
// 1/[A⁻¹]_ii. See meanField for the notation; the log evidence, in nats, is minus the free energy,
//
//	L = Σ_i log Φ(z_i) - ½ bᵀ(m - m₀) - ½ (log|A| - Σ_i log λ_i)
//
// a lower bound on the true log evidence, and exact for one case. A fit that stops before it
// converges has Diagnostics.Converged false, and its adjoint is ErrNotConverged.
//
// A can be so nearly singular that a λ is lost in rounding errors: with a smooth kernel of large
// amplitude and little or no noise. The smallest sufficient jitter is then added to the diagonal of
// K. It is 4e-13 n times the largest prior variance, becomes part of the model, and is reported in
// Diagnostics.Jitter.
type EnsembleMeanField struct {
	// Tolerance bounds the last Newton step, in posterior standard deviations: half its square is
	// the error of the log evidence in nats. If the rounding error of A b is larger, that is the
	// bound. Default 1e-10.
	Tolerance float64 `yaml:"tolerance" within:"(0,1)"`
	// MaxIterations bounds the Newton steps. Default 1000.
	MaxIterations int `yaml:"max_iterations" within:"[1,10000000]"`
}

func (m EnsembleMeanField) theory() meanFieldTheory {
	return meanFieldTheory{"ensemble_mean_field", m.Tolerance, m.MaxIterations, (*meanField).ensembleFields}
}

// Uses implements Approximation: probit, and step if the kernel has noise.
func (m EnsembleMeanField) Uses(lik likelihood.Likelihood, classes int) (Caps, error) {
	caps, err := m.theory().uses(lik, classes)
	caps.LowerBound = err == nil
	return caps, err
}

// Memory implements Approximation: A, its inverse and the factor of B.
func (m EnsembleMeanField) Memory(s Size) Memory {
	n2 := s.Cases * s.Cases
	return Memory{
		Fit: words(3*n2, s.Cases*s.New), Evidence: words(0, n2), LeaveOneOut: words(n2, 0),
		LeaveOneOutAdjoint: words(0, 2*n2),
	}
}

// Fit implements Approximation.
func (m EnsembleMeanField) Fit(
	ctx context.Context, cov []Cov, y Targets, lik likelihood.Bound, start State,
) (Posterior, error) {
	return m.theory().fit(ctx, cov, y, lik, start)
}

// Restore implements Approximation.
func (m EnsembleMeanField) Restore(cov []Cov, y Targets, lik likelihood.Bound, s State) (Posterior, error) {
	return m.theory().restore(cov, y, lik, s)
}

// ensembleFields sets λ_i = 1/[A⁻¹]_ii, with a jitter in K if it is needed to compute them.
func (p *meanField) ensembleFields() error {
	n, jitter := len(p.y), 0.0 // jitter: relative to the largest prior variance
	inverse, uncertainty := p.independent()
	if !(uncertainty < unresolved) {
		jitter = 2 * float64(n) * eps / unresolved
		if err := p.addJitter(jitter); err != nil {
			return err
		}
		if inverse, uncertainty = p.independent(); !(uncertainty < unresolved) {
			return fmt.Errorf("%w: the covariance of the latent values with their noise has an eigenvalue below 0 "+
				"that rounding does not explain; check the inputs and the kernel", ErrNotPositiveDefinite)
		}
	}
	pullJitter := func(dst *mat.SymDense) {
		if jitter == 0 {
			return
		}
		widest := 0
		for i := range n {
			if p.prior.Variance(i) > p.prior.Variance(widest) {
				widest = i
			}
		}
		dst.SetSym(widest, widest, dst.At(widest, widest)+jitter*mat.Trace(dst))
	}
	p.evidence.adjoint = func(dst *Cov, _ int) {
		p.ensembleAdjoint(dst, inverse)
		pullJitter(dst.K)
	}
	p.pullLambda = func(dst *mat.SymDense, weight []float64) { // dλ_i = λ_i² [A⁻¹ dK A⁻¹]_ii
		scaled := make([]float64, n)
		for i, l := range p.lambda {
			scaled[i] = weight[i] * l * l
		}
		linalg.SyrkDiag(blas.NoTrans, 1, full(inverse), scaled, 1, dst.RawSymmetric())
		pullJitter(dst)
	}
	return nil
}

// independent fills λ and the constant part of the log evidence. It returns A⁻¹ and the relative
// uncertainty of a λ caused by the rounding of A_ii, or infinity if A has no Cholesky factor.
func (p *meanField) independent() (inverse blas64.Symmetric, uncertainty float64) {
	n := len(p.y)
	inverse = linalg.NewSym(n)
	copyTriangle(inverse, p.a)
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

// addJitter adds share times the largest prior variance to the diagonal of K; this is then a lower
// bound of every λ.
func (p *meanField) addJitter(share float64) (err error) {
	n := len(p.y)
	jittered, d := mat.NewSymDense(n, nil), &p.diagnostics
	k := jittered.RawSymmetric()
	d.Jitter = share * p.prior.LargestVariance()
	copyTriangle(k, p.k)
	for i := range n {
		k.Data[i*n+i] += d.Jitter
		p.a.Data[i*n+i] += d.Jitter
	}
	d.Warnings = append(d.Warnings, cause.Rounding.New("rounding error hides what the other cases leave of a "+
		"variance; a jitter of %.1g was added to the prior variances (a noise kernel or a smaller "+
		"amplitude makes it unnecessary)",
		d.Jitter))
	p.k = k
	p.prior, err = prior.NewDense(nil, Cov{K: jittered}, n)
	return err
}

// ensembleAdjoint sets dst to the explicit weight on dK and on dm₀, for L is stationary in the
// distribution of h:
//
//	G = ½ b bᵀ + ½ A⁻¹ diag(v_i) A⁻¹ - ½ A⁻¹,   ∂L/∂m₀ = b
func (p *meanField) ensembleAdjoint(dst *Cov, inverse blas64.Symmetric) {
	n := len(p.b)
	prior.CheckAdjoint(dst.K, n)
	v := make([]float64, n)
	g := dst.K.RawSymmetric()
	linalg.Rows(n, func(i0, i1 int) {
		for i := i0; i < i1; i++ {
			v[i] = p.lambda[i] * p.cut[i].Variance
			row, b := g.Data[i*g.Stride+i:i*g.Stride+n], p.b[i]
			for j, r := range inverse.Data[i*n+i : (i+1)*n] {
				row[j] = (b*p.b[i+j] - r) / 2
			}
		}
	})
	linalg.SyrkDiag(blas.NoTrans, 0.5, full(inverse), v, 1, g)
	if dst.Mean != nil {
		copy(dst.Mean, p.b)
	}
}
