package approx

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/prior"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// laplacePosterior is the posterior of Laplace's method with one latent process, and the model
// whose mode it is at. With a prior of lower rank, K̂ takes the place of K, and the term of the
// correction is subtracted from the log evidence:
//
//	L = -½ aᵀ(f̂ - m) + log p(y|f̂) - ½ log|I + W K̂| - Σ_i (1-α)/2α log(1 + α D_i W_i)
//
// whose last term is ½ D_i W_i at α = 0 (Bui, Yan & Turner 2017, for Gaussian noise, W = 1/σ²).
type laplacePosterior struct {
	process
	model     likelihood.Differentiable
	tolerance float64
	scale     float64 // max K_ii, which bounds every |K_ij|
	mode      *point
	// the prior with -∂²log p(y|f)/∂f² instead of W, for derivatives of the mode
	moving prior.Prior
}

func newLaplacePosterior(
	work *Work, tolerance, power float64, cov []Cov, y Targets, lik likelihood.Bound,
) (*laplacePosterior, error) {
	p, err := newProcess(work, cov, y, lik, power, true)
	if err != nil {
		return nil, err
	}
	return &laplacePosterior{
		process: p, model: lik.(likelihood.Differentiable), tolerance: tolerance, scale: p.prior.LargestVariance(),
	}, nil
}

func (p *laplacePosterior) part() (latentModel, []int) {
	k, some := p.prior.Subset()
	if some == nil {
		return nil, nil
	}
	v := func() []float64 { return make([]float64, len(some)) }
	c := &cases{mean: v(), y: v(), weight: p.weight.part(some), lik: p.lik, b: v()}
	for a, i := range some {
		c.mean[a], c.y[a] = p.mean[i], p.y[i]
	}
	return &laplacePosterior{process: process{c, k}, model: p.model, tolerance: 1, scale: k.LargestVariance()}, some
}

func (p *laplacePosterior) latentAt(f, a []float64) {
	p.prior.Multiply(f, a)
	floats.Add(f, p.mean)
}

func (p *laplacePosterior) newPoint() *point {
	at := newPoint(len(p.y))
	at.d3, at.concave = make([]float64, len(p.y)), make([]float64, len(p.y))
	return at
}

func (p *laplacePosterior) differentiate(at *point) {
	const cases = 512 // a chunk takes about 0.02 ms
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
func (p *laplacePosterior) differentiatePart(at *point, i0, i1 int) (psi float64, floors int) {
	for i := i0; i < i1; i++ {
		f := at.f[i]
		logp, d1, d2, d3 := p.model.Derivs(p.y[i], f)
		if p.weight != nil {
			w := p.weight[i]
			logp, d1, d2, d3 = w*logp, w*d1, w*d2, w*d3
		}
		at.concave[i] = -d2
		if d2 > 0 {
			d2, d3 = 0, 0
			floors++
		}
		// 0-d2, because W = -0 would have the inverse -Inf
		at.g[i], at.w[i], at.d3[i], at.r[i] = d1, 0-d2, d3, d1-at.a[i]
		psi += logp - at.a[i]*(f-p.mean[i])/2
	}
	return psi, floors
}

// linearise implements latentModel, GPML Algorithm 3.1 line 6.
func (p *laplacePosterior) linearise(at *point) {
	for i, w := range at.w {
		at.r[i] = w*(at.f[i]-p.mean[i]) + at.g[i]
	}
}

// newton implements latentModel, GPML Algorithm 3.1 lines 5-7 as a change of a:
//
//	δ = (I + W K)⁻¹(W(f - m) + g) - a = (I + W K)⁻¹ r
func (p *laplacePosterior) newton(at *point) float64 {
	p.prior.Multiply(at.kr, at.r)
	copy(at.delta, at.kr)
	p.prior.Shrink(at.delta, at.r, at.delta)
	return math.Sqrt(math.Abs(dot(at.kr, at.delta)))
}

// precision implements latentModel.
//
// A step of length λ moves f_i by at most λ√Σ_ii and so changes ½ log|B| by at most λ Σ_i ½
// Σ_ii^(3/2) |∂³log p/∂f³|, with Σ_ii ≤ min(K_ii, 1/W_i). An error η in f = m + K a leaves r = W η
// and λ = √(ηᵀWΣWη) ≤ √(ηᵀWη), and |η_i| is about eps max K_jj Σ|a_j|.
func (p *laplacePosterior) precision(at *point) (target, rounding float64) {
	var reach, weight, size float64
	for i, w := range at.w {
		v := min(p.prior.Variance(i), 1/w)
		reach += math.Abs(at.d3[i]) / 2 * v * math.Sqrt(v)
		weight += w
		size += math.Abs(at.a[i])
	}
	return p.tolerance / max(1, reach), eps * p.scale * size * math.Sqrt(weight)
}
