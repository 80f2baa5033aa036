package objective

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/interrupt"
	"github.com/gpc-tune/gpc-tune/internal/panicked"
	"github.com/gpc-tune/gpc-tune/internal/registry"
)

// Gradients is the source of the gradients of a local optimisation.
type Gradients int

const (
	// Exact gradients come from the adjoint of a fit.
	Exact Gradients = iota
	// Differences are central differences of values: two more fits for each free hyperparameter.
	// All fits start cold, so that the value is a function of theta alone. Differences are for
	// criteria without an exact gradient. Their error is about 1e-7 of the value.
	Differences
)

// Names are the names of the sources.
func (Gradients) Names() []string { return []string{"exact", "differences"} }

// UnmarshalText reads one of the names.
func (g *Gradients) UnmarshalText(text []byte) error {
	return registry.Choose(g, "gradient", text)
}

// threshold is the default of Settings.GradientThreshold.
func (g Gradients) threshold() float64 {
	if g == Differences { // the error of a difference is about a hundredth of this
		return 1e-5
	}
	return 1e-6
}

// Evaluations is the number of fits for a value and its gradient by this number of free
// hyperparameters.
func (g Gradients) Evaluations(free int) int {
	if g == Differences {
		return 2*free + 1
	}
	return 1
}

// Run is a sequence of evaluations of an Objective. It starts each fit from a state extrapolated
// from the last fits that converged, unless the result of a fit would depend on its start. It
// remembers the last point, reuses its memory, turns panics into errors, and keeps every failure.
// Each value is determined by the sequence of evaluations up to it. It is not safe for concurrent
// use.
type Run struct {
	Evaluations int // fits, also failed ones, without repetitions of the last point
	Limit       int // evaluations after which a Problem stops; 0: none
	// Fails has the errors of fits and gradients, in order, including fits that did not converge.
	// The end of the context is no failure.
	Fails []error

	gradients Gradients
	ctx       context.Context
	objective *Objective
	last      []waypoint // the fits that converged, the latest first, at most furthest

	free        []float64 // free hyperparameters of the last evaluation
	point       *Point    // nil: it failed with err
	err         error
	unconverged error     // error of Point.Converged
	gradient    []float64 // nil: not computed yet, or failed with gradErr
	gradErr     error
	best        best
	tilt        []float64 // tiltᵀfree is subtracted from a Problem's criterion; nil: 0
}

// waypoint is the free hyperparameters of a fit that converged, and its state.
type waypoint struct {
	free  []float64
	state approx.State
}

// keptStates is the largest number of fits from which a state is extrapolated. Along a row of a
// grid, more fits gain little.
const keptStates = 5

// start is the state from which the fit at free starts: the value at free of the polynomial through
// the last states that lie on a line through free and the latest. The absolute weights of k states
// must not exceed 2^k in sum, because they magnify the errors of the states; for equally spaced
// points they do not.
func (r *Run) start(free []float64) approx.State {
	if len(r.last) == 0 || r.gradients == Differences || r.objective.caps.Unconverged {
		return nil
	}
	latest := r.last[0]
	line, apart := floats.SubTo(make([]float64, len(free)), free, latest.free), make([]float64, len(free))
	square := floats.Dot(line, line)
	var at []float64 // positions on the line, from 0 at the latest to 1 at free
	var states []approx.State
	weights := []float64{1}
	for _, c := range r.last {
		floats.SubTo(apart, c.free, latest.free)
		reach, t := floats.Norm(apart, 2), floats.Dot(apart, line)/square
		floats.AddScaled(apart, -t, line)
		if len(c.state) != len(latest.state) || !(floats.Norm(apart, 2) <= 1e-9*reach) {
			break
		}
		at, states = append(at, t), append(states, c.state)
		w := lagrange(at)
		if !(floats.Norm(w, 1) <= math.Exp2(float64(len(w)))) {
			break
		}
		weights = w
	}
	if len(weights) == 1 {
		return r.fromNeighbours(free)
	}
	return approx.Extrapolate(r.objective.model.Inference, states[:len(weights)], weights)
}

// fromNeighbours is the state from which the fit at free starts if the last fits do not lie on a
// line with it: a combination of their states with weights w of sum 1. A state at p_k departs from
// one that is linear in theta by an error of about bend |p_k - free|². The weights minimise
//
//	|Σ_k w_k (p_k - free)|² + bend² Σ_k w_k² |p_k - free|⁴
func (r *Run) fromNeighbours(free []float64) approx.State {
	latest := r.last[0].state
	var apart [][]float64
	var states []approx.State
	for _, c := range r.last {
		if len(c.state) == len(latest) {
			apart = append(apart, floats.SubTo(make([]float64, len(free)), c.free, free))
			states = append(states, c.state)
		}
	}
	n := len(states)
	errors, w := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
	for i, a := range apart {
		for j := range i + 1 {
			errors.SetSym(i, j, floats.Dot(a, apart[j]))
		}
		square := floats.Dot(a, a)
		errors.SetSym(i, i, square+curvatureShare*curvatureShare*square*square)
		w.SetVec(i, 1)
	}
	var factor mat.Cholesky
	if !factor.Factorize(errors) || factor.SolveVecTo(w, w) != nil {
		return latest
	}
	w.ScaleVec(1/mat.Sum(w), w)
	return approx.Extrapolate(r.objective.model.Inference, states, w.RawVector().Data)
}

// curvatureShare is the second-order error of states relative to their slope, per unit of theta.
const curvatureShare = 0.3

// lagrange returns the weights with which the values at these positions give the value at 1 of the
// polynomial through them.
func lagrange(at []float64) []float64 {
	w := make([]float64, len(at))
	for i, t := range at {
		w[i] = 1
		for j, s := range at {
			if j != i {
				w[i] *= (1 - s) / (t - s)
			}
		}
	}
	return w
}

// NewRun starts a run, cold. The end of ctx fails later evaluations.
func NewRun(ctx context.Context, o *Objective) *Run {
	own := *o
	work := new(approx.Work)
	own.model.Inference = approx.In(work, o.model.Inference)
	own.room = &room{work: work, cross: make([][]float64, len(o.model.Kernels))}
	return &Run{ctx: ctx, objective: &own}
}

// Reset forgets the last point and all states, so that the next fit starts cold.
func (r *Run) Reset() { r.last, r.free = nil, nil }

// At fits at the given free hyperparameters, or returns the last point if it was fitted there. The
// point is valid until the next call of At, or of Gradient with Differences. A fit that fails, or
// does not converge, from a warm start is repeated from a cold one, so that failures do not depend
// on earlier fits. A panic becomes an error.
func (r *Run) At(free []float64) (*Point, error) {
	if r.free != nil && slices.Equal(r.free, free) {
		return r.point, r.err
	}
	r.Evaluations++
	r.free, r.gradient, r.gradErr, r.unconverged = slices.Clone(free), nil, nil, nil
	for start := r.start(free); ; start = nil {
		r.point, r.err = nil, nil
		own, theta := r.objective.at(free)
		theta = own.Layout.Fill(theta)
		if err := panicked.Try(func() {
			r.point, r.err = own.Fit(r.ctx, theta, start)
		}); err != nil {
			r.err = cause.At("objective: at "+own.Layout.describe(theta), err)
		}
		ended := r.err == nil && r.point.Diagnostics().Converged
		if ended {
			before := r.last[:min(len(r.last), keptStates-1)]
			r.last = slices.Insert(before, 0, waypoint{r.free, r.point.Posterior.State()})
		}
		if ended || start == nil || r.ctx.Err() != nil {
			break
		}
	}
	if r.err == nil {
		r.unconverged = r.point.Converged()
	}
	if err := cmp.Or(r.err, r.unconverged); err != nil && r.ctx.Err() == nil {
		r.Fails = append(r.Fails, err)
	}
	return r.point, r.err
}

// Converged is At, with an error where the fit did not converge.
func (r *Run) Converged(free []float64) (*Point, error) {
	p, err := r.At(free)
	if err = cmp.Or(err, r.unconverged); err != nil {
		return nil, err
	}
	return p, nil
}

// Gradient sets dst to the gradient at the given free hyperparameters, where the fit converged.
func (r *Run) Gradient(dst, free []float64) error {
	p, err := r.Converged(free)
	if err != nil {
		return err
	}
	if r.gradient == nil && r.gradErr == nil {
		var g []float64
		if err := panicked.Try(func() {
			if r.gradients == Differences {
				g, r.gradErr = r.differences()
				return
			}
			g, r.gradErr = interrupt.Do(r.ctx, func() ([]float64, error) {
				g := make([]float64, len(free))
				return g, p.gradientBy(g)
			})
		}); err != nil {
			r.gradErr = cause.At("objective: gradient at "+r.objective.Layout.describe(p.Theta), err)
		}
		switch {
		case r.gradErr == nil:
			r.gradient = g
		case r.ctx.Err() == nil:
			r.Fails = append(r.Fails, r.gradErr)
		}
	}
	copy(dst, r.gradient)
	return r.gradErr
}

// failed is a warning with the number of failed evaluations and the error of the first, or none.
func (r *Run) failed(what string) []approx.Warning {
	if len(r.Fails) == 0 {
		return nil
	}
	first, _, _ := strings.Cut(r.Fails[0].Error(), "\n")
	return []approx.Warning{cause.Unevaluated.New("%d of %d evaluations %s, the first with: %s",
		len(r.Fails), r.Evaluations, what, first)}
}

// HasGradient reports whether Gradient can be called.
func (r *Run) HasGradient() bool { return r.gradients == Differences || r.objective.HasGradient() }

// differenceStep is the step in theta of Differences. Their error is h²/6 of the third derivative,
// plus the convergence error of a fit, 1e-10 of its value, over h.
const differenceStep = 0x1p-11

// differences are central differences of the value around the last point.
func (r *Run) differences() ([]float64, error) {
	dst, x := make([]float64, len(r.free)), slices.Clone(r.free)
	for i, at := range r.free {
		var value [2]float64
		for side, step := range [2]float64{-differenceStep, differenceStep} {
			x[i] = at + step
			r.Evaluations++
			p, err := r.objective.Fit(r.ctx, r.objective.Layout.Fill(x), nil)
			if err == nil {
				err = p.Converged()
			}
			if err != nil {
				return nil, cause.At("difference by "+r.objective.Layout.FreeSpecs()[i].ThetaName(), err)
			}
			value[side] = p.value
		}
		x[i] = at
		dst[i] = (value[1] - value[0]) / (2 * differenceStep)
	}
	return dst, nil
}

// best is the best point that a Problem evaluated.
type best struct {
	free, gradient []float64
	value          float64
	worth          float64 // value less the tilt
	diagnostics    approx.Diagnostics
}

// try evaluates the criterion less the tilt. If this exceeds the best value so far it also computes
// the gradient, if the objective has one. A point without its gradient counts as failed, because no
// optimiser can go on from it. A fit that did not converge counts as failed too, because its value
// depends on the iteration at which it stopped.
func (r *Run) try(free []float64) (float64, error) {
	p, err := r.Converged(free)
	if err != nil {
		return 0, err
	}
	worth := p.value
	for i, t := range r.tilt {
		worth -= t * free[i]
	}
	if r.best.free != nil && worth < r.best.worth {
		return worth, nil
	}
	if len(free) > 0 && r.HasGradient() {
		if err := r.Gradient(make([]float64, len(free)), free); err != nil {
			return 0, err
		}
	}
	r.best = best{free: r.free, gradient: r.gradient, value: p.value, worth: worth, diagnostics: p.Diagnostics()}
	return worth, nil
}

// problem is the function that gonum minimises for Optimize: u ↦ -f(clip(u)). clip moves u into the
// box [lo, hi], and f is the criterion less the tilt. The gradient's entry is 0 where u is outside
// the box, and where u is at the edge and f rises outwards. All else is as in Problem.
func (r *Run) problem(lo, hi []float64) optimize.Problem {
	p := optimize.Problem{
		Func: func(u []float64) float64 {
			if v, err := r.try(clip(u, lo, hi)); err == nil {
				return -v
			}
			return math.Inf(1)
		},
		Status: func() (optimize.Status, error) {
			if err := r.ctx.Err(); err != nil {
				return optimize.Failure, err
			}
			if r.Limit > 0 && r.Evaluations >= r.Limit {
				return optimize.FunctionEvaluationLimit, nil
			}
			return optimize.NotTerminated, nil
		},
	}
	if r.HasGradient() {
		p.Grad = func(grad, u []float64) {
			err := r.Gradient(grad, clip(u, lo, hi))
			for i, t := range r.tilt {
				grad[i] -= t
			}
			for i := range grad {
				switch {
				case err != nil:
					grad[i] = math.NaN()
				case u[i] < lo[i] || u[i] > hi[i]:
					grad[i] = 0
				default:
					grad[i] = -inward(grad[i], u[i], lo[i], hi[i])
				}
			}
		}
	}
	return p
}

// clip is the point of the box [lo, hi] that is nearest to u.
func clip(u, lo, hi []float64) []float64 {
	x := make([]float64, len(u))
	for i := range u {
		x[i] = min(max(u[i], lo[i]), hi[i])
	}
	return x
}

// inward is the derivative g of a function to be maximised at x, or 0 if x is at an edge of [lo,
// hi] and the function rises outwards there.
func inward(g, x, lo, hi float64) float64 {
	if x <= lo && g < 0 || x >= hi && g > 0 {
		return 0
	}
	return g
}
