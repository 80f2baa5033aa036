package approx

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

var _ Approximation = Laplace{}

// Laplace is Laplace's method for two classes, or for numbers (GPML 3.4): the posterior is replaced by the Gaussian at its mode f̂, with
// precision K⁻¹ + W, W_i = -∂² log p(y_i|f_i)/∂f². With a = K⁻¹(f̂ - m) the log evidence (GPML 3.32), in nats, is
//
//	L = -½ aᵀ(f̂ - m) + Σ_i log p(y_i|f̂_i) - ½ log|B|,   B = I + W^½ K W^½
//
// The mode is found by Newton's method (GPML Algorithm 3.1) with a line search. A State holds a and then f̂, 2n numbers:
// a gives the posterior back, f̂ is where a neighbour starts. A W_i below 0, where the likelihood is not log-concave, is
// taken as 0 and counted in Diagnostics.Floors.
//
// A fit that stops short of the mode has Diagnostics.Converged false: its evidence is that of the point where it
// stopped, and its adjoint is ErrNotConverged.
type Laplace struct {
	// Tolerance bounds the last Newton step δf: its length in posterior standard deviations, √(δfᵀ(K⁻¹ + W)δf), and the
	// change of ½ log|B| that goes with it, in nats. Where the rounding error of K a allows no better, that is the bound.
	// Default 1e-10.
	Tolerance float64 `yaml:"tolerance"`
	// MaxIterations bounds the steps. Default 1000.
	MaxIterations int `yaml:"max_iterations"`
}

// Uses implements Approximation: any likelihood of two classes, or of numbers, that has derivatives and Gaussian averages.
func (l Laplace) Uses(lik likelihood.Likelihood, classes int) (Caps, error) {
	if err := checkIteration("laplace", l.Tolerance, l.MaxIterations); err != nil {
		return Caps{}, err
	}
	if err := usesOneProcess("laplace", lik, classes); err != nil {
		return Caps{}, err
	}
	if _, ok := bound(lik).(likelihood.Differentiable); !ok {
		return Caps{}, fmt.Errorf("laplace needs a likelihood with derivatives; use probit or logit, or inference: ep")
	}
	_, params := bound(lik).(likelihood.DifferentiableParams)
	return Caps{Gradient: params || !hasFree(lik)}, nil
}

// Fit implements Approximation.
func (l Laplace) Fit(ctx context.Context, cov []Cov, y Targets, lik likelihood.Bound, start State) (Posterior, error) {
	p, err := l.begin(cov, y, lik)
	if err != nil {
		return nil, err
	}
	at, next := p.newPoint(), p.newPoint()
	p.evaluate(at)
	fresh, last := start == nil, math.Inf(1)
	if start != nil {
		_, f, err := p.read(start)
		if err != nil {
			return nil, err
		}
		// A neighbour's f̂ is near this one, its a need not be: Newton's a from f̂, GPML Algorithm 3.1 lines 4-6.
		copy(next.f, f)
		p.differentiate(next)
		for i, w := range next.w {
			next.r[i] = w*(f[i]-p.mean[i]) + next.g[i]
		}
		if err := p.factorise(next.w); err != nil {
			return nil, err
		}
		p.newton(next)
		copy(next.a, next.delta)
		if p.evaluate(next); next.psi > at.psi {
			at, next = next, at
		} else {
			fresh = true
		}
	}
	if fresh {
		if err := p.factorise(at.w); err != nil {
			return nil, err
		}
	}
	for ; ; p.diagnostics.Iterations++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		length := p.newton(at)
		target, rounding := p.precision(at)
		limit := cmp.Or(l.MaxIterations, defaultIterations)
		if rounding > unresolved {
			limit = min(limit, 50) // hopeless, but the nearer the better
		}
		stop := p.diagnostics.Iterations >= limit
		// The factor of an earlier W gives an ascent direction too, for O(n²). It serves while its steps shrink fast.
		if !fresh && (!(length <= last/4) || length <= target || stop) {
			if err := p.factorise(at.w); err != nil {
				return nil, err
			}
			fresh, length = true, p.newton(at)
		}
		if fresh && (length <= target || length <= min(rounding, unresolved) && length > last/2 || math.IsNaN(length)) || stop {
			return p.finish(at, length)
		}
		p.climb(at, next, length*length)
		at, next = next, at
		fresh, last = false, length
	}
}

// Restore implements Approximation.
func (l Laplace) Restore(cov []Cov, y Targets, lik likelihood.Bound, s State) (Posterior, error) {
	p, err := l.begin(cov, y, lik)
	if err != nil {
		return nil, err
	}
	a, _, err := p.read(s)
	if err != nil {
		return nil, err
	}
	at := p.newPoint()
	copy(at.a, a)
	p.evaluate(at)
	if err := p.factorise(at.w); err != nil {
		return nil, err
	}
	return p.finish(at, p.newton(at))
}

func (l Laplace) begin(cov []Cov, y Targets, lik likelihood.Bound) (*laplacePosterior, error) {
	s, err := newSites(cov, y, lik)
	if err != nil {
		return nil, err
	}
	p := &laplacePosterior{sites: s, model: lik.(likelihood.Differentiable), tolerance: cmp.Or(l.Tolerance, defaultTolerance)}
	for i := range s.y {
		p.scale = max(p.scale, s.variance(i))
	}
	return p, nil
}

type laplacePosterior struct {
	*sites
	model     likelihood.Differentiable
	tolerance float64
	scale     float64 // max K_ii, which bounds every |K_ij|
}

// point is a value of f = m + K a with what Newton's method needs there.
type point struct {
	a, f     []float64
	g, w, d3 []float64 // ∇log p(y|f), W and the third derivative
	psi      float64   // Ψ = -½ aᵀ(f-m) + log p(y|f), GPML (3.12) less what does not depend on f
	floors   int       // how many W_i were negative

	r, kr []float64 // r = g - a, the gradient of Ψ with respect to f, and K r
	delta []float64 // the Newton step, as a change of a
}

func (p *laplacePosterior) newPoint() *point {
	v := func() []float64 { return make([]float64, len(p.y)) }
	return &point{a: v(), f: v(), g: v(), w: v(), d3: v(), r: v(), kr: v(), delta: v()}
}

// read splits a State.
func (p *laplacePosterior) read(s State) (a, f []float64, err error) {
	n := len(p.y)
	if err := checkState("laplace", s, 2*n); err != nil {
		return nil, nil, err
	}
	return s[:n], s[n:], nil
}

// evaluate fills f and what follows from it, given a.
func (p *laplacePosterior) evaluate(at *point) {
	p.latentAt(at.f, at.a)
	p.differentiate(at)
}

// differentiate fills what follows from a and f.
func (p *laplacePosterior) differentiate(at *point) {
	at.psi, at.floors = 0, 0
	for i, f := range at.f {
		logp, d1, d2, d3 := p.model.Derivs(p.y[i], f)
		if d2 > 0 {
			d2, d3 = 0, 0
			at.floors++
		}
		at.g[i], at.w[i], at.d3[i], at.r[i] = d1, -d2, d3, d1-at.a[i]
		at.psi += logp - at.a[i]*(f-p.mean[i])/2
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

// precision returns the length of a Newton step that is short enough, and one that rounding may leave in every step.
//
// A step of length λ moves f_i by at most λ√Σ_ii and so changes ½ log|B| by at most λ Σ_i ½ Σ_ii^(3/2) |∂³log p/∂f³|,
// with Σ_ii ≤ min(K_ii, 1/W_i). An error η in f = m + K a leaves r = W η and λ = √(ηᵀWΣWη) ≤ √(ηᵀWη), and |η_i| is
// about eps max K_jj Σ|a_j|.
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

// climb sets next to a + sδ with the step 0 < s ≤ 2 that, along δ, takes nine tenths off the slope of Ψ, at first
// λ² = rᵀKδ > 0. As Ψ is concave it cannot fall up to its maximum, and past it the bound on the slope stops it. Near the
// mode s = 1; far from it, where the likelihood's tails are nearly straight, longer and much shorter steps occur. In the
// directions that K does not show δ = g - a, so that more than twice δ would take a away from g for good.
func (p *laplacePosterior) climb(at, next *point, slope float64) {
	for i, d := range at.delta {
		next.a[i] = at.a[i] + d
	}
	p.latentAt(next.f, next.a)
	df := at.kr // its work is done
	for i, f := range next.f {
		df[i] = f - at.f[i]
	}
	s, lo, hi := 1.0, 0.0, math.Inf(1)
	atLo, atHi := slope, 0.0 // slopes
	for range 60 {
		p.differentiate(next)
		now := dot(next.r, df)
		if math.Abs(now) <= slope/10 || now > 0 && s == 2 {
			break
		}
		if now > 0 {
			lo, atLo = s, now
		} else {
			hi, atHi = s, now
		}
		if math.IsInf(hi, 1) {
			s = 2
		} else {
			s = lo + (hi-lo)*min(max(atLo/(atLo-atHi), 0.1), 0.9)
		}
		for i, d := range at.delta {
			next.a[i], next.f[i] = at.a[i]+s*d, at.f[i]+s*df[i]
		}
	}
	if s != 1 {
		p.evaluate(next) // the same f as Restore will find
	}
}

// finish makes the posterior at a point, given the length of the Newton step there. W and the factor of B must be those of
// the point, so that everything belongs to one and the same f.
func (p *laplacePosterior) finish(at *point, length float64) (Posterior, error) {
	// At the mode a = g. Of the two, a is the more accurate in the directions that K magnifies and g in those that it does
	// not show; one more Newton step of a takes the best of both.
	for i, d := range at.delta {
		p.b[i] = at.a[i] + d
	}
	p.state = slices.Concat(at.a, at.f)
	p.evidence = functional{value: at.psi - linalg.LogDet(p.u), adjoint: func(dst *Cov) { p.adjoint(dst, at) }, likelihood: p.likelihoodGradient(at)}
	target, rounding := p.precision(at)
	return p, p.conclude("laplace", fixedPoint{distance: length, rounding: rounding, floors: at.floors}, target)
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

// implicit gives what derivatives take from the mode: it sets r to R, and returns the Σ_ii, 0 where W_i is, and
//
//	u = (I + W K)⁻¹ s,   s_i = ∂(-½ log|B|)/∂f_i = ½ Σ_ii ∂³log p(y_i|f_i)/∂f³
//
// with Σ s = K u, so that a change of ∇log p by δ moves the mode by Σ δ and L by (K u)ᵀδ.
func (p *laplacePosterior) implicit(r *mat.SymDense, at *point) (u, ku, variance []float64) {
	n := len(p.y)
	u, ku, variance = make([]float64, n), make([]float64, n), make([]float64, n)
	p.information(r, variance)
	for i, w := range at.w {
		// W_i Σ_ii = 1 - [B⁻¹]_ii. The error of the quotient grows as W_i falls, but the third derivative falls with it.
		if variance[i] = 1 - variance[i]; w > 0 {
			variance[i] /= w
		}
		u[i] = variance[i] / 2 * at.d3[i]
	}
	linalg.Symv(1, p.k, u, 0, ku)
	p.shrink(u, u, ku)
	linalg.Symv(1, p.k, u, 0, ku)
	return u, ku, variance
}

// likelihoodGradient returns what adds ∂L/∂θ of the likelihood's parameters: of log p, of -½ log|B| through W, and through
// the mode.
func (p *laplacePosterior) likelihoodGradient(at *point) func(grad []float64) {
	model, ok := p.lik.(likelihood.DifferentiableParams)
	if !ok {
		return nil
	}
	return func(grad []float64) {
		_, ku, variance := p.implicit(mat.NewSymDense(len(p.y), nil), at)
		d, d1, d2 := make([]float64, len(grad)), make([]float64, len(grad)), make([]float64, len(grad))
		for i, f := range at.f {
			model.ParamDerivs(d, d1, d2, p.y[i], f)
			if at.w[i] == 0 {
				clear(d2) // W_i is held at 0
			}
			for j := range grad {
				grad[j] += d[j] + ku[i]*d1[j] + variance[i]/2*d2[j]
			}
		}
	}
}
