package approx

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// laplacePosterior is the posterior of Laplace's method with one latent process.
type laplacePosterior struct {
	*sites
	model     likelihood.Differentiable
	tolerance float64
	scale     float64 // max K_ii, which bounds every |K_ij|
	mode      *point
	moving    *sites // how the mode moves: -∂²log p(y|f)/∂f² in place of W
}

func newLaplacePosterior(
	work *Work, tolerance float64, cov []Cov, y Targets, lik likelihood.Bound,
) (*laplacePosterior, error) {
	s, err := newSites(cov, y, lik)
	if err != nil {
		return nil, err
	}
	s.work = work
	model := lik.(likelihood.Differentiable)
	return &laplacePosterior{sites: s, model: model, tolerance: tolerance, scale: s.largest()}, nil
}

func (p *laplacePosterior) newPoint() *point {
	at := newPoint(len(p.y))
	at.d3, at.concave = make([]float64, len(p.y)), make([]float64, len(p.y))
	return at
}

// differentiate fills what follows from a and f.
func (p *laplacePosterior) differentiate(at *point) {
	at.psi, at.floors = 0, 0
	for i, f := range at.f {
		logp, d1, d2, d3 := p.model.Derivs(p.y[i], f)
		at.concave[i] = -d2
		if d2 > 0 {
			d2, d3 = 0, 0
			at.floors++
		}
		at.g[i], at.w[i], at.d3[i], at.r[i] = d1, 0-d2, d3, d1-at.a[i] // W = -0 would have the inverse -Inf
		at.psi += logp - at.a[i]*(f-p.mean[i])/2
	}
}

// linearise sets r = W(f - m) + g.
func (p *laplacePosterior) linearise(at *point) {
	for i, w := range at.w {
		at.r[i] = w*(at.f[i]-p.mean[i]) + at.g[i]
	}
}

// newton fills the Newton step from at, GPML Algorithm 3.1 lines 5-6 as a change of a,
//
//	δ = (I + W K)⁻¹(W(f - m) + g) - a = (I + W K)⁻¹ r
//
// and returns its length √(rᵀ K δ) = √(δfᵀ(K⁻¹ + W)δf), the square root of Newton's decrement.
func (p *laplacePosterior) newton(at *point) float64 {
	linalg.Symv(1, p.k, at.r, 0, at.kr)
	copy(at.delta, at.kr)
	p.shrink(at.delta, at.r, at.delta)
	return math.Sqrt(math.Abs(dot(at.kr, at.delta)))
}

// precision returns the length of a Newton step that is short enough, and one that rounding may
// leave in every step.
//
// A step of length λ moves f_i by at most λ√Σ_ii and so changes ½ log|B| by at most λ Σ_i ½
// Σ_ii^(3/2) |∂³log p/∂f³|, with Σ_ii ≤ min(K_ii, 1/W_i). An error η in f = m + K a leaves r = W η
// and λ = √(ηᵀWΣWη) ≤ √(ηᵀWη), and |η_i| is about eps max K_jj Σ|a_j|.
func (p *laplacePosterior) precision(at *point) (target, rounding float64) {
	var reach, weight, size float64
	for i, w := range at.w {
		v := min(p.variance(i), 1/w)
		reach += math.Abs(at.d3[i]) / 2 * v * math.Sqrt(v)
		weight += w
		size += math.Abs(at.a[i])
	}
	return p.tolerance / max(1, reach), eps * p.scale * size * math.Sqrt(weight)
}

// part is the model of every third case, whose log evidence need not be right to more than a nat.
func (p *laplacePosterior) part() (latentModel, []int) {
	cases := everyThird(len(p.y))
	if cases == nil {
		return nil, nil
	}
	mean, y := make([]float64, len(cases)), make([]float64, len(cases))
	for a, i := range cases {
		mean[a], y[a] = p.mean[i], p.y[i]
	}
	prior := []Cov{{K: principal(p.k, cases), Mean: mean}}
	part, err := newLaplacePosterior(nil, 1, prior, Targets{Classes: 2, Value: y}, p.lik)
	if err != nil {
		return nil, nil
	}
	part.model = p.model
	return part, cases
}

// everyThird case, nil if that were few.
func everyThird(n int) (cases []int) {
	if n < 150 {
		return nil
	}
	for i := 0; i < n; i += 3 {
		cases = append(cases, i)
	}
	return cases
}

// principal is the submatrix of some cases, in ascending order.
func principal(k blas64.Symmetric, cases []int) *mat.SymDense {
	out := linalg.NewSym(len(cases))
	for a, i := range cases {
		row := k.Data[i*k.Stride : i*k.Stride+k.N]
		for b, j := range cases[a:] {
			out.Data[a*out.Stride+a+b] = row[j]
		}
	}
	var s mat.SymDense
	s.SetRawSymmetric(out)
	return &s
}

// finish makes the posterior at a point, given the length of the Newton step there. W and the
// factor of B must be those of the point, so that everything belongs to one and the same f.
func (p *laplacePosterior) finish(at *point, length float64, iterations int) (Posterior, error) {
	// At the mode a = g. Of the two, a is the more accurate in the directions that K magnifies and
	// g in those that it does not show; one more Newton step of a takes the best of both.
	for i, d := range at.delta {
		p.b[i] = at.a[i] + d
	}
	p.mode, p.state, p.diagnostics.Iterations = at, at.state(), iterations
	p.evidence = functional{value: at.psi - linalg.LogDet(p.u), adjoint: func(dst *Cov) { p.adjoint(dst, at) },
		likelihood: p.likelihoodGradient(at)}
	p.evidence.err = p.move(at)
	target, rounding := p.precision(at)
	return p, p.conclude("laplace", fixedPoint{distance: length, rounding: rounding, floors: at.floors}, target)
}

// move fills p.moving. The mode is where the gradient of Ψ is 0, whatever is taken for W elsewhere,
// so that a change of ∇log p by δ moves it by (K⁻¹ - ∂²log p/∂f²)⁻¹ δ. Where that matrix is not
// positive definite the mode is none, and there is no gradient.
func (p *laplacePosterior) move(at *point) error {
	p.moving = p.sites
	if at.floors == 0 {
		return nil
	}
	p.moving = &sites{k: p.k, mean: p.mean, y: p.y, lik: p.lik, root: make([]float64, len(p.y)), b: p.b}
	if err := p.moving.factorise(at.concave); err != nil {
		return fmt.Errorf("%w: with %d of the likelihood's curvatures below 0 laplace ended where the posterior "+
			"density has no maximum", ErrNoGradient, at.floors)
	}
	return nil
}

// adjoint sets dst to GPML (5.20)-(5.24) as a weight on dK and on dm: the mode moves with both.
//
//	G = ½ g gᵀ - ½ R + ½ (u gᵀ + g uᵀ),   ∂L/∂m = g + u
func (p *laplacePosterior) adjoint(dst *Cov, at *point) {
	n := len(p.y)
	u, _, _ := p.implicit(dst.K, at)
	raw := dst.K.RawSymmetric()
	for i, g := range p.b {
		row := raw.Data[i*raw.Stride+i : i*raw.Stride+n]
		for j, r := range row {
			gj, uj := p.b[i+j], u[i+j]
			row[j] = (g*gj - r + u[i]*gj + g*uj) / 2
		}
		if dst.Mean != nil {
			dst.Mean[i] = g + u[i]
		}
	}
}

// implicit gives what derivatives take from the mode: it sets r to R, and returns the Σ_ii, 0 where
// W_i is, and
//
//	u = (I + W K)⁻¹ s,   s_i = ∂(-½ log|B|)/∂f_i = ½ Σ_ii ∂³log p(y_i|f_i)/∂f³
//
// with Σ s = K u, so that a change of ∇log p by δ moves the mode by Σ δ and L by (K u)ᵀδ. A W_i
// that was floored stays 0, and so s_i is; in W K and Σ, which say how the mode moves, it is below
// 0.
func (p *laplacePosterior) implicit(r *mat.SymDense, at *point) (u, ku, variance []float64) {
	n := len(p.y)
	u, ku, variance = make([]float64, n), make([]float64, n), make([]float64, n)
	p.information(r, variance)
	for i, w := range at.w {
		// W_i Σ_ii = 1 - [B⁻¹]_ii. The error of the quotient grows as W_i falls, but the third
		// derivative falls with it.
		if variance[i] = 1 - variance[i]; w > 0 {
			variance[i] /= w
		}
		u[i] = variance[i] / 2 * at.d3[i]
	}
	linalg.Symv(1, p.k, u, 0, ku)
	p.moving.shrink(u, u, ku)
	linalg.Symv(1, p.k, u, 0, ku)
	return u, ku, variance
}

// likelihoodGradient returns what adds ∂L/∂θ of the likelihood's parameters: of log p, of -½ log|B|
// through W, and through the mode.
func (p *laplacePosterior) likelihoodGradient(at *point) func(grad []float64) {
	model, ok := p.lik.(likelihood.Parametric)
	if !ok {
		return nil
	}
	return func(grad []float64) {
		_, ku, variance := p.implicit(mat.NewSymDense(len(p.y), nil), at)
		d, d1, d2 := make([]float64, len(grad)), make([]float64, len(grad)), make([]float64, len(grad))
		for i, f := range at.f {
			model.DMoments(d, d1, d2, p.y[i], f, 0)
			if at.w[i] == 0 {
				clear(d2) // W_i is held at 0
			}
			for j := range grad {
				grad[j] += d[j] + ku[i]*d1[j] + variance[i]/2*d2[j]
			}
		}
	}
}
