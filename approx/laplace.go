package approx

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/interrupt"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

var _ Approximation = Laplace{}

// Laplace is Laplace's method (GPML 3.4, 3.5): the posterior is replaced by the Gaussian at its mode f̂, with precision
// K⁻¹ + W, W = -∂² log p(y|f)/∂f². With a = K⁻¹(f̂ - m) the log evidence (GPML 3.32), in nats, is
//
//	L = -½ aᵀ(f̂ - m) + log p(y|f̂) - ½ log|I + W K|
//
// For two classes, and for numbers, there is one latent process and W is diagonal. A W_i below 0, where the likelihood is
// not log-concave, is taken as 0 and counted in Diagnostics.Floors. For C > 2 classes the likelihood is softmax with a
// latent process each, K is block diagonal, and a fit takes O(C n³) time and O(C n²) memory. What is common to all classes
// of a case does not show in softmax, nor does a prior mean that they share: its derivative is 0.
//
// The mode is found by Newton's method (GPML Algorithms 3.1 and 3.3) with a line search; of several classes, by steps that
// conjugate gradients solve for and one factorisation at the mode. A State holds a and then f̂, 2n or 2Cn numbers, of one
// class after the other: a gives the posterior back, f̂ is where a neighbour starts.
//
// A fit that stops short of the mode has Diagnostics.Converged false: its evidence is that of the point where it
// stopped, and its adjoint is ErrNotConverged.
type Laplace struct {
	// Tolerance bounds the last Newton step δf: its length in posterior standard deviations, √(δfᵀ(K⁻¹ + W)δf), and the
	// change of ½ log|I + W K| that goes with it, in nats. Where the rounding error of K a allows no better, that is the bound.
	// Default 1e-10.
	Tolerance float64 `yaml:"tolerance" within:"(0,1)"`
	// MaxIterations bounds the steps. Default 1000.
	MaxIterations int `yaml:"max_iterations" within:"[1,10000000]"`
	// Points is how many points of the latent space the average of a prediction for more than two classes takes, up to 1048576, rounded down to a
	// multiple of 8. By default it takes what brings the error estimate of every probability to 1e-5, but at most 65536 points of a lattice.
	// An estimate above 1e-5 is a warning. A diagonal posterior covariance takes no points.
	Points int `yaml:"points" within:"[1,1048576]"`

	work *Work
}

// Uses implements Approximation: any likelihood of two classes, or of numbers, that has derivatives and Gaussian averages,
// and softmax.
func (l Laplace) Uses(lik likelihood.Likelihood, classes int) (Caps, error) {
	if err := checkIteration("laplace", l.Tolerance, l.MaxIterations); err != nil {
		return Caps{}, err
	}
	if l.Points < 0 || l.Points > likelihood.MostPoints {
		return Caps{}, fmt.Errorf("laplace: points = %d must be from 0, which means as many as an error of 1e-5 takes, to %d", l.Points, likelihood.MostPoints)
	}
	if lik.Domain() == likelihood.Categorical {
		return Caps{Gradient: !hasFree(lik), LeaveOneOut: true}, usesMulticlass(lik, classes)
	}
	var lacks error
	if _, ok := bound(lik).(likelihood.Differentiable); !ok {
		lacks = errors.New("laplace needs a likelihood with derivatives; use probit or logit, or inference: ep")
	}
	if err := usesOneProcess("laplace", lik, classes, lacks); err != nil {
		return Caps{}, err
	}
	gradient := knowsParameters(lik)
	return Caps{Gradient: gradient, LeaveOneOut: true, LeaveOneOutGradient: gradient}, nil
}

// Memory implements Approximation. Merging cases takes a covariance, a factor and an R of the distinct values; parts of the
// cases, a third of them, a ninth and so on, take an eighth of what the matrices of all do.
func (l Laplace) Memory(s Size) Memory {
	n2 := s.Cases * s.Cases
	if s.Classes > 2 {
		const block = 64 // of covariances, whose work a prediction needs
		points := s.Classes * cmp.Or(l.Points, likelihood.DefaultPoints)
		return Memory{
			Fit:      words((s.Classes+2)*n2, s.Classes*s.Cases*min(block, s.New)+points),
			Evidence: words(s.Kernels*n2, s.Classes*n2), LeaveOneOut: words(0, s.Kernels*n2+s.Classes*s.Cases*block),
		}
	}
	m := Memory{Fit: words(n2, n2/4+s.Cases*s.New), LeaveOneOut: words(n2, n2)}
	switch {
	case s.Classes == 0: // the likelihood has a parameter
		m.Evidence = words(0, n2)
	case s.Distinct < s.Cases:
		m2 := s.Distinct * s.Distinct
		m.Fit, m.Evidence, m.LeaveOneOut = words(2*m2, m2/4+2*s.Distinct*s.New), words(0, m2), words(2*n2, n2)
	}
	return m
}

func (l Laplace) in(w *Work) Approximation {
	l.work = w
	return l
}

// Fit implements Approximation.
func (l Laplace) Fit(ctx context.Context, cov []Cov, y Targets, lik likelihood.Bound, start State) (Posterior, error) {
	return interrupt.Do(ctx, func() (Posterior, error) {
		p, start, err := l.begin(cov, y, lik, start)
		if err != nil {
			return nil, err
		}
		at, length, iterations, err := seek(ctx, p, start, cmp.Or(l.MaxIterations, defaultIterations))
		if err != nil {
			return nil, err
		}
		return p.finish(at, length, iterations)
	})
}

// Restore implements Approximation.
func (l Laplace) Restore(cov []Cov, y Targets, lik likelihood.Bound, s State) (Posterior, error) {
	p, s, err := l.begin(cov, y, lik, s)
	if err != nil {
		return nil, err
	}
	at, length, err := restore(p, s)
	if err != nil {
		return nil, err
	}
	return p.finish(at, length, 0)
}

// begin checks the arguments; the state it returns is that of the model it returns.
func (l Laplace) begin(cov []Cov, y Targets, lik likelihood.Bound, s State) (latentModel, State, error) {
	l.work.release(0)
	if y.Classes > 2 {
		p, err := newMulticlass(l, cov, y, lik)
		return p, s, err
	}
	p, err := l.binary(cov, y, lik)
	if err != nil || len(lik.Likelihood().Params()) > 0 {
		return p, s, err
	}
	return l.tie(p, cov, y, s)
}

func (l Laplace) binary(cov []Cov, y Targets, lik likelihood.Bound) (*laplacePosterior, error) {
	s, err := newSites(cov, y, lik)
	if err != nil {
		return nil, err
	}
	s.work = l.work
	return &laplacePosterior{sites: s, model: lik.(likelihood.Differentiable), tolerance: cmp.Or(l.Tolerance, defaultTolerance), scale: s.largest()}, nil
}

type laplacePosterior struct {
	*sites
	model     likelihood.Differentiable
	tolerance float64
	scale     float64 // max K_ii, which bounds every |K_ij|
	mode      *point
	moving    *sites // how the mode moves: -∂²log p(y|f)/∂f² in place of W
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
	part, err := Laplace{Tolerance: 1}.binary([]Cov{{K: principal(p.k, cases), Mean: mean}}, Targets{Classes: 2, Value: y}, p.lik)
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

// finish makes the posterior at a point, given the length of the Newton step there. W and the factor of B must be those of
// the point, so that everything belongs to one and the same f.
func (p *laplacePosterior) finish(at *point, length float64, iterations int) (Posterior, error) {
	// At the mode a = g. Of the two, a is the more accurate in the directions that K magnifies and g in those that it does
	// not show; one more Newton step of a takes the best of both.
	for i, d := range at.delta {
		p.b[i] = at.a[i] + d
	}
	p.mode, p.state, p.diagnostics.Iterations = at, at.state(), iterations
	p.evidence = functional{value: at.psi - linalg.LogDet(p.u), adjoint: func(dst *Cov) { p.adjoint(dst, at) }, likelihood: p.likelihoodGradient(at)}
	p.evidence.err = p.move(at)
	target, rounding := p.precision(at)
	return p, p.conclude("laplace", fixedPoint{distance: length, rounding: rounding, floors: at.floors}, target)
}

// move fills p.moving. The mode is where the gradient of Ψ is 0, whatever is taken for W elsewhere, so that a change of ∇log p
// by δ moves it by (K⁻¹ - ∂²log p/∂f²)⁻¹ δ. Where that matrix is not positive definite the mode is none, and there is no
// gradient.
func (p *laplacePosterior) move(at *point) error {
	p.moving = p.sites
	if at.floors == 0 {
		return nil
	}
	p.moving = &sites{k: p.k, mean: p.mean, y: p.y, lik: p.lik, root: make([]float64, len(p.y)), b: p.b}
	if err := p.moving.factorise(at.concave); err != nil {
		return fmt.Errorf("%w: with %d of the likelihood's curvatures below 0 laplace ended where the posterior density has no maximum", ErrNoGradient, at.floors)
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

// implicit gives what derivatives take from the mode: it sets r to R, and returns the Σ_ii, 0 where W_i is, and
//
//	u = (I + W K)⁻¹ s,   s_i = ∂(-½ log|B|)/∂f_i = ½ Σ_ii ∂³log p(y_i|f_i)/∂f³
//
// with Σ s = K u, so that a change of ∇log p by δ moves the mode by Σ δ and L by (K u)ᵀδ. A W_i that was floored stays 0, and so
// s_i is; in W K and Σ, which say how the mode moves, it is below 0.
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
	p.moving.shrink(u, u, ku)
	linalg.Symv(1, p.k, u, 0, ku)
	return u, ku, variance
}

// likelihoodGradient returns what adds ∂L/∂θ of the likelihood's parameters: of log p, of -½ log|B| through W, and through
// the mode.
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
