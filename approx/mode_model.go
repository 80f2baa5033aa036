package approx

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// prior is the covariance of one latent process at the training inputs, for one kind of storage,
// with the sites for which it was last factored.
type prior interface {
	variance(i int) float64
	largest() float64              // largest prior variance
	multiply(dst, x []float64)     // K x
	factorise(tau []float64) error // for S = diag(tau)
	shrink(dst, x, kx []float64)   // (I + S K)⁻¹ x, given K x, which it may overwrite
	logDet() float64               // ½ log|I + S K|
}

// modeModel is a model of one latent process for Newton's method.
type modeModel struct {
	of        *cases
	prior     prior
	model     likelihood.Differentiable
	tolerance float64
	scale     float64 // max K_ii, which bounds every |K_ij|
}

func newModeModel(c *cases, k prior, lik likelihood.Bound, tolerance float64) modeModel {
	return modeModel{c, k, lik.(likelihood.Differentiable), tolerance, k.largest()}
}

// latentAt sets f = m + K a.
func (p *modeModel) latentAt(f, a []float64) {
	p.prior.multiply(f, a)
	floats.Add(f, p.of.mean)
}

func (p *modeModel) newPoint() *point {
	at := newPoint(len(p.of.y))
	at.d3, at.concave = make([]float64, len(p.of.y)), make([]float64, len(p.of.y))
	return at
}

// differentiate fills what depends on a and f.
func (p *modeModel) differentiate(at *point) {
	const cases = 512 // at a time: about 0.02 ms of work
	n := len(at.f)
	parts := make([]struct {
		psi    float64
		floors int
	}, (n+cases-1)/cases)
	linalg.Parallel(len(parts), func(part int) {
		parts[part].psi, parts[part].floors = p.differentiatePart(at, part*cases, min(n, (part+1)*cases))
	})
	at.psi, at.floors = 0, 0
	for _, part := range parts {
		at.psi, at.floors = at.psi+part.psi, at.floors+part.floors
	}
}

// differentiatePart does this for cases i0 to i1, and returns their contributions to Ψ and to the
// floors.
func (p *modeModel) differentiatePart(at *point, i0, i1 int) (psi float64, floors int) {
	for i := i0; i < i1; i++ {
		f := at.f[i]
		logp, d1, d2, d3 := p.model.Derivs(p.of.y[i], f)
		at.concave[i] = -d2
		if d2 > 0 {
			d2, d3 = 0, 0
			floors++
		}
		at.g[i], at.w[i], at.d3[i], at.r[i] = d1, 0-d2, d3, d1-at.a[i] // W = -0 would have the inverse -Inf
		psi += logp - at.a[i]*(f-p.of.mean[i])/2
	}
	return psi, floors
}

// linearise sets r = W(f - m) + g.
func (p *modeModel) linearise(at *point) {
	for i, w := range at.w {
		at.r[i] = w*(at.f[i]-p.of.mean[i]) + at.g[i]
	}
}

// newton fills the Newton step from at, GPML Algorithm 3.1 lines 5-6 as a change of a,
//
//	δ = (I + W K)⁻¹(W(f - m) + g) - a = (I + W K)⁻¹ r
//
// and returns its length √(rᵀ K δ) = √(δfᵀ(K⁻¹ + W)δf), the square root of Newton's decrement.
func (p *modeModel) newton(at *point) float64 {
	p.prior.multiply(at.kr, at.r)
	copy(at.delta, at.kr)
	p.prior.shrink(at.delta, at.r, at.delta)
	return math.Sqrt(math.Abs(dot(at.kr, at.delta)))
}

// precision returns the length of a Newton step that is short enough, and one that rounding may
// leave in every step.
//
// A step of length λ moves f_i by at most λ√Σ_ii and so changes ½ log|B| by at most λ Σ_i ½
// Σ_ii^(3/2) |∂³log p/∂f³|, with Σ_ii ≤ min(K_ii, 1/W_i). An error η in f = m + K a leaves r = W η
// and λ = √(ηᵀWΣWη) ≤ √(ηᵀWη), and |η_i| is about eps max K_jj Σ|a_j|.
func (p *modeModel) precision(at *point) (target, rounding float64) {
	var reach, weight, size float64
	for i, w := range at.w {
		v := min(p.prior.variance(i), 1/w)
		reach += math.Abs(at.d3[i]) / 2 * v * math.Sqrt(v)
		weight += w
		size += math.Abs(at.a[i])
	}
	return p.tolerance / max(1, reach), eps * p.scale * size * math.Sqrt(weight)
}

// byParameters returns the function that adds the derivative of the log evidence with respect to
// the likelihood's parameters; nil if the likelihood does not have it. implicit returns the
// derivative with respect to ∇log p through the mode, and the variances Σ_ii, whose product with -½
// is the derivative with respect to W.
func (p *modeModel) byParameters(at *point, implicit func() (ku, variance []float64)) func(grad []float64) {
	model, ok := p.of.lik.(likelihood.Parametric)
	if !ok {
		return nil
	}
	return func(grad []float64) {
		ku, variance := implicit()
		d, d1, d2 := make([]float64, len(grad)), make([]float64, len(grad)), make([]float64, len(grad))
		for i, f := range at.f {
			model.DMoments(d, d1, d2, p.of.y[i], f, 0)
			if at.w[i] == 0 {
				clear(d2) // W_i is held at 0
			}
			for j := range grad {
				grad[j] += d[j] + ku[i]*d1[j] + variance[i]/2*d2[j]
			}
		}
	}
}
