package approx

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

var _ LeaveOneOuter = (*laplacePosterior)(nil)

// cavities are the marginals N(μ_i, v_i) of Gaussian sites τ without their own site, N(μ_i - c_i
// b_i, c_i) with c_i = v_i/(1 - τ_i v_i), and the leave-one-out sum Σ_i log Z_i = Σ_i log ∫
// p(y_i|f) N(f; μ_i - c_i b_i, c_i) df ≈ Σ_i log p(y_i|y_-i) with the other sites held fixed. The
// derivatives of log Z_i are partial derivatives with respect to μ_i, v_i, τ_i and b_i.
type cavities struct {
	sum            float64
	rounding       float64   // relative, of a cavity's variance
	marginal       []float64 // v
	mean, variance []float64
	byMu, byV      []float64
	byTau, byB     []float64
	inverse        blas64.General // U⁻¹ and, once completed, B⁻¹, of the sites τ ≥ 0
	completed      bool
}

// cavities fills what the sum needs, given the marginal means.
func (s *sites) cavities(mu []float64) (*cavities, error) {
	c := newCavities(len(s.b))
	var marginals []marginal
	marginals, c.inverse = s.marginals()
	for i, m := range marginals {
		c.add(i, m, s.root[i]*s.root[i], s.b[i], mu[i], s.lik, s.y[i])
	}
	return c, c.check()
}

// newCavities makes those of n cases.
func newCavities(n int) *cavities {
	vector := func() []float64 { return make([]float64, n) }
	return &cavities{
		marginal: vector(), mean: vector(), variance: vector(),
		byMu: vector(), byV: vector(), byTau: vector(), byB: vector(),
	}
}

// marginal is the variance v of a latent value, 1 - τv with the precision τ of its sites, and the
// rounding error of v.
type marginal struct{ v, share, blur float64 }

// marginals returns the marginals of all values, and U⁻¹.
func (s *sites) marginals() (m []marginal, inverse blas64.General) {
	n := len(s.b)
	inverse = linalg.NewGeneral(n, n)
	shares := s.invert(inverse) // [B⁻¹]_ii
	var weak []int
	for i, r := range s.root {
		if !(r*r*s.variance(i) > 1) {
			weak = append(weak, i)
		}
	}
	left, raised := make([]float64, n), make([]float64, n) // v, and the part of it due to sites of negative precision
	s.remaining(left, weak)
	linalg.AddSquares(1, s.negative.fk, raised)
	m = make([]marginal, n)
	for i, v := range left {
		// Both 1 - τ_i v_i and the difference of K_ii and what the other cases explain may cancel;
		// 1 - τ_i v_i = [B⁻¹]_ii does not.
		tau, share := s.root[i]*s.root[i], shares[i]
		if tau*s.variance(i) > 1 {
			v, m[i].blur = (1-share)/tau, 8*eps*s.variance(i)
		}
		v += raised[i]
		m[i].v, m[i].share = max(v, 0), max(share-tau*raised[i]-s.negative.tau[i]*v, eps)
	}
	return m, inverse
}

// add adds case i, with the precision of its own site, its b and its marginal mean.
func (c *cavities) add(i int, m marginal, tau, b, mu float64, lik likelihood.MomentMatcher, y float64) {
	c.marginal[i], c.variance[i] = m.v, m.v/m.share
	c.mean[i] = mu - c.variance[i]*b
	logZ, d := lik.Moments(y, c.mean[i], c.variance[i])
	c.sum += logZ
	byVariance := (d[1]+d[0]*d[0])/2 - d[0]*b // of the cavity
	c.byMu[i], c.byB[i] = d[0], -c.variance[i]*d[0]
	c.byV[i], c.byTau[i] = byVariance/(m.share*m.share), byVariance*c.variance[i]*c.variance[i]
	if m.blur > 0 {
		c.rounding = max(c.rounding, m.blur*(1/m.v+tau/m.share))
	}
}

// check returns the reason why the sum is unreliable, if it is.
func (c *cavities) check() error {
	if !(c.rounding < unresolved) {
		return fmt.Errorf("%w: leave-one-out needs what the other cases leave of a variance, which rounding "+
			"error hides to a relative %.1g; a smaller amplitude or noise in the kernel "+
			"helps", ErrNotConverged, c.rounding)
	}
	if !finite(c.sum) {
		return fmt.Errorf("%w: leave-one-out sum %v; the prior variances overflow", ErrNotConverged, c.sum)
	}
	return nil
}

// complete adds what derivatives need: B⁻¹, and to byTau the effect of a change of τ_j on all v_i,
// dv_i = -Σ_ij² dτ_j, where Σ = S^-½(I - B⁻¹)S^-½ plus the part due to sites of negative precision.
func (s *sites) complete(c *cavities) {
	if c.completed {
		return
	}
	c.completed = true
	n := len(s.b)
	linalg.SquareTri(upper(c.inverse))
	linalg.Reflect(blas.Lower, c.inverse, c.inverse)
	var raised blas64.General
	if s.negative.fk.Rows > 0 {
		raised = linalg.NewGeneral(n, n)
		linalg.Gemm(blas.Trans, blas.NoTrans, 1, s.negative.fk, s.negative.fk, 0, raised)
	}
	linalg.Rows(n, func(j0, j1 int) {
		for j := j0; j < j1; j++ {
			for i, ri := range s.root {
				sigma := -c.inverse.Data[j*n+i] / ri / s.root[j]
				switch {
				case i == j:
					sigma = c.marginal[i]
				case raised.Data != nil:
					sigma += raised.Data[j*n+i]
				}
				c.byTau[j] -= c.byV[i] * sigma * sigma
			}
		}
	})
}

// pullBack sets dst to the weights on dK and dm for weights γ_v on the marginal variances and u =
// (I - RK)γ_μ on the means, which move by dμ = (I - KR)(dK b + dm):
//
//	G = ½(u bᵀ + b uᵀ) + (I - RK) diag(γ_v) (I - KR),   ∂/∂m = u,   I - RK = S^½ B⁻¹ S^-½ + FᵀFK
func (s *sites) pullBack(dst *Cov, inverse blas64.General, u, gamma []float64) {
	n := len(s.b)
	checkAdjoint(dst.K, n)
	rest := linalg.NewGeneral(n, n) // I - RK
	linalg.Rows(n, func(i0, i1 int) {
		for i := i0; i < i1; i++ {
			ri := s.root[i]
			for j, rj := range s.root {
				rest.Data[i*n+j] = ri * inverse.Data[i*n+j] / rj
			}
		}
	})
	if s.negative.f.Rows > 0 {
		linalg.Gemm(blas.Trans, blas.NoTrans, 1, s.negative.f, s.negative.fk, 1, rest)
	}
	raw := dst.K.RawSymmetric()
	linalg.SyrkDiag(blas.NoTrans, 1, rest, gamma, 0, raw)
	linalg.Rows(n, func(i0, i1 int) {
		for i := i0; i < i1; i++ {
			row, b := raw.Data[i*raw.Stride+i:i*raw.Stride+n], s.b[i]
			for j := range row {
				row[j] += (u[i]*s.b[i+j] + b*u[i+j]) / 2
			}
		}
	})
	if dst.Mean != nil {
		copy(dst.Mean, u)
	}
}

// LeaveOneOut implements LeaveOneOuter with the cavities of the sites τ = W, b = ∇log p at the
// mode. Mode and W move with K: the weight on f̂ is the weight on μ, minus W times the weight on b,
// minus ∂³log p/∂f³ times the weight on τ.
func (p *laplacePosterior) LeaveOneOut() (Functional, error) {
	if !p.diagnostics.Converged {
		return nil, p.evidence.err
	}
	c, err := p.cavities(p.mode.f)
	if err != nil {
		return nil, err
	}
	f := p.leaveOneOut(p.mode, c, p.moving, func() { p.complete(c) }, func(dst *Cov, u []float64) {
		p.pullBack(dst, c.inverse, u, c.byV)
	})
	f.err = p.evidence.err
	return f, nil
}

// leaveOneOut is the sum over cavities at the mode, with its derivatives. complete adds to c what
// they need. pull sets dst to the result for byV and u = (I - R K)γ, where γ is the weight on the
// mode, and moving is the prior with the sites that determine how the mode moves.
func (p *modeModel) leaveOneOut(
	at *point, c *cavities, moving prior, complete func(), pull func(dst *Cov, u []float64),
) functional {
	solve := func() (u []float64) {
		complete()
		n := len(at.f)
		gamma, u := make([]float64, n), make([]float64, n)
		for i, w := range at.concave {
			gamma[i] = c.byMu[i] - c.byB[i]*w - c.byTau[i]*at.d3[i]
		}
		p.prior.multiply(u, gamma)
		moving.shrink(u, gamma, u)
		return u
	}
	f := functional{value: c.sum, adjoint: func(dst *Cov) { pull(dst, solve()) }}
	if model, ok := p.of.lik.(likelihood.Parametric); ok {
		f.likelihood = func(grad []float64) {
			u := solve()
			ku := make([]float64, len(u))
			p.prior.multiply(ku, u) // a change of ∇log p by δ moves the mode by Σδ, and Σγ = K u
			d, d1, d2 := make([]float64, len(grad)), make([]float64, len(grad)), make([]float64, len(grad))
			for i, y := range p.of.y {
				model.DMoments(d, d1, d2, y, c.mean[i], c.variance[i])
				floats.Add(grad, d)
				model.DMoments(d, d1, d2, y, at.f[i], 0)
				floats.AddScaled(grad, ku[i]+c.byB[i], d1)
				if at.w[i] > 0 {
					floats.AddScaled(grad, -c.byTau[i], d2)
				}
			}
		}
	}
	return f
}
