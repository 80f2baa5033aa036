package approx

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/prior"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// NaiveMeanField is the naive mean-field theory of Csató et al. (2000), equation (9): the field of
// a case is the sum of the contributions of the other cases, with its prior variance, λ_i = A_ii.
// See meanField for the notation; the log evidence, in nats, is
//
//	L = Σ_i log Φ(z_i) - ½ bᵀ(m - m₀)
//
// It is exact for one case and for independent cases; otherwise it is not a bound. A fit that stops
// before it converges has Diagnostics.Converged false, and its adjoint is ErrNotConverged.
type NaiveMeanField struct {
	// Tolerance bounds the last Newton step, in posterior standard deviations: half its square is
	// the error of the log evidence in nats. If the rounding error of A b is larger, that is the
	// bound. Default 1e-10.
	Tolerance float64 `yaml:"tolerance" within:"(0,1)"`
	// MaxIterations bounds the Newton steps. Default 1000.
	MaxIterations int `yaml:"max_iterations" within:"[1,10000000]"`
}

func (m NaiveMeanField) theory() meanFieldTheory {
	return meanFieldTheory{"naive_mean_field", m.Tolerance, m.MaxIterations, (*meanField).naiveFields}
}

// Uses implements Approximation: probit, and step if the kernel has noise.
func (m NaiveMeanField) Uses(lik likelihood.Likelihood, classes int) (Caps, error) {
	return m.theory().uses(lik, classes)
}

// Memory implements Approximation: A and the factor of B.
func (m NaiveMeanField) Memory(s Size) Memory {
	n2 := s.Cases * s.Cases
	return Memory{Fit: words(2*n2, s.Cases*s.New), LeaveOneOut: words(n2, 0), LeaveOneOutAdjoint: words(0, n2)}
}

// Fit implements Approximation.
func (m NaiveMeanField) Fit(
	ctx context.Context, cov []Cov, y Targets, lik likelihood.Bound, start State,
) (Posterior, error) {
	return m.theory().fit(ctx, cov, y, lik, start)
}

// Restore implements Approximation.
func (m NaiveMeanField) Restore(cov []Cov, y Targets, lik likelihood.Bound, s State) (Posterior, error) {
	return m.theory().restore(cov, y, lik, s)
}

// naiveFields sets λ_i = A_ii.
func (p *meanField) naiveFields() error {
	for i := range p.lambda {
		p.lambda[i] = p.a.Data[i*p.a.Stride+i]
	}
	p.evidence.adjoint = p.naiveAdjoint
	p.pullLambda = func(dst *mat.SymDense, weight []float64) {
		for i, w := range weight {
			dst.SetSym(i, i, dst.At(i, i)+w)
		}
	}
	return nil
}

// naiveAdjoint sets dst to the explicit weight on dK and on dm₀, for L is stationary in b:
//
//	G_ij = ½ b_i b_j,   G_ii = -½ b_i m_i/λ_i,   ∂L/∂m₀ = b
func (p *meanField) naiveAdjoint(dst *Cov, _ int) {
	n := len(p.b)
	prior.CheckAdjoint(dst.K, n)
	raw := dst.K.RawSymmetric()
	linalg.Rows(n, func(i0, i1 int) {
		for i := i0; i < i1; i++ {
			row, b := raw.Data[i*raw.Stride+i:i*raw.Stride+n], p.b[i]
			for j := range row {
				row[j] = b * p.b[i+j] / 2
			}
			row[0] = -p.cut[i].Hazard * p.z[i] / p.lambda[i] / 2
		}
	})
	if dst.Mean != nil {
		copy(dst.Mean, p.b)
	}
}
