package approx

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/interrupt"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// siteMethod is a method of which siteFit does the work, once begin has checked the arguments.
type siteMethod interface {
	begin(cov []Cov, y Targets, lik likelihood.Bound) (*siteFit, error)
}

// fitSites is Fit of a siteMethod.
func fitSites(
	ctx context.Context, m siteMethod, cov []Cov, y Targets, lik likelihood.Bound, start State,
) (Posterior, error) {
	return interrupt.Do(ctx, func() (Posterior, error) {
		p, err := m.begin(cov, y, lik)
		if err != nil {
			return nil, err
		}
		f, err := p.run(ctx, start)
		if err != nil {
			return nil, err
		}
		return p, p.finish(f)
	})
}

// restoreSites is Restore of a siteMethod: it takes a State as it is.
func restoreSites(m siteMethod, cov []Cov, y Targets, lik likelihood.Bound, s State) (Posterior, error) {
	p, err := m.begin(cov, y, lik)
	if err != nil {
		return nil, err
	}
	if err := p.set(s); err != nil {
		return nil, err
	}
	defer p.work.release(p.work.mark())
	f, err := p.refresh(p.work.general(len(p.y), len(p.y)))
	if err != nil {
		return nil, err
	}
	return p, p.finish(f)
}

// pursuit is an iteration of sites on its way to their fixed point.
type pursuit struct {
	*siteFit
	at         fixedPoint     // how near the sites are
	v          blas64.General // workspace
	swept      *sweepWork     // nil before the first sweep
	course     *course
	schedule   Schedule // of the options, or Sequential from where Mixed goes over to it
	limit      int      // of iterations
	damping    float64  // what is taken of a new site at most
	step       float64  // and of the next parallel ones
	before     State    // the sites before the last update that may be taken back
	reached    float64  // and how near they were
	within     float64  // how near Newton's method takes over
	tried      bool     // whether it made the last update
	linearised float64  // how near the sites were whose correlations swept.sigma holds
	idle       bool     // whether the last sweep had nothing left to do
}

// move is what comes next.
type move int

const (
	done     move = iota
	takeBack      // the last update went wrong
	halve         // it went too far: half the way back
	newton        // for all sites at once
	update        // of all sites at once
	sweeps        // one site after the other
)

// run iterates from start, or from sites that say nothing, and ends in refresh.
func (p *siteFit) run(ctx context.Context, start State) (fixedPoint, error) {
	if start != nil {
		if err := p.set(start); err != nil {
			return fixedPoint{}, err
		}
	}
	defer p.work.release(p.work.mark())
	n, o := len(p.y), p.options
	r := pursuit{
		siteFit: p, v: p.work.general(n, n), course: newCourse(p.state), schedule: o.Schedule,
		limit: o.MaxIterations, damping: o.Damping, step: o.Damping, before: slices.Clone(p.state),
		reached: math.Inf(1), within: p.newtonWithin(), linearised: math.Inf(1),
	}
	for {
		var err error
		r.at, err = r.refresh(r.v)
		switch r.judge(err) {
		case done:
			return r.at, err
		case takeBack:
			copy(r.state, r.before)
		case halve:
			for j, s := range r.before {
				r.state[j] = (r.state[j] + s) / 2
			}
			r.step /= 2
			r.diagnostics.Iterations++
		case newton:
			r.stepOfNewton()
			err = ctx.Err()
		case update:
			err = r.updates(ctx)
		case sweeps:
			err = r.sweeps(ctx)
		}
		if err != nil {
			return r.at, err
		}
	}
}

const (
	// hopeless is how many iterations are spent on what double precision does not carry.
	hopeless = 50
	// overshoot is the growth of the distance from a fixed point at which a parallel update is
	// taken back.
	overshoot = 2
	// leastDamping is where lowering the damping ends.
	leastDamping = 1. / 64
	// sweepsPerRefresh bounds the sweeps before Σ is computed afresh, as rounding errors add up in
	// it.
	sweepsPerRefresh = 8
	// near is the distance from a fixed point at which Newton's method takes over from sweeps.
	near = 0.3
)

// newtonWithin is near where Newton's method is to be had, and else 0. Of several fixed points,
// which a likelihood that is not log-concave may have, it could reach one that sweeps leave.
func (p *siteFit) newtonWithin() float64 {
	if isConcave(p.moments) && p.options.Damping == 1 && !p.rule.negative() && !p.options.accepts() {
		return near
	}
	return 0
}

// judge says what comes next, given the error of refresh.
func (r *pursuit) judge(err error) move {
	distance, iterations := r.at.distance, r.diagnostics.Iterations
	if r.tried {
		r.tried = false
		if err != nil || !(distance <= r.reached/2) {
			r.within = r.reached / 10
			return takeBack
		}
	}
	if err != nil {
		return done
	}
	if r.at.rounding > unresolved {
		r.limit = min(r.limit, max(iterations, hopeless))
	}
	if r.at.settled(r.target) || r.idle && distance <= r.at.drift || iterations >= r.limit {
		return done
	}
	tooFar := r.schedule != Sequential && !(distance <= overshoot*r.reached) && r.step > leastDamping
	switch {
	case tooFar && r.schedule == Mixed:
		r.schedule = Sequential
		return takeBack
	case tooFar && !r.options.accepts():
		return halve
	case math.IsNaN(distance):
		return done
	case r.schedule != Sequential:
		return update
	case r.nearby():
		return newton
	}
	return sweeps
}

// nearby says whether Newton's method may take over.
func (r *pursuit) nearby() bool { return r.at.distance <= r.within && r.at.floors == 0 }

// stepOfNewton moves all sites at once. The correlations of a step ago leave about the product of
// both distances.
func (r *pursuit) stepOfNewton() {
	r.room()
	copy(r.before, r.state)
	r.reached, r.tried = r.at.distance, true
	if r.linearised*r.at.distance > r.target/2 {
		r.correlate(r.swept.sigma, linalg.SquareTri(upper(r.v)).Data)
		r.linearised = r.at.distance
	}
	r.newton(r.swept.sigma, r.v, r.at.distance/8)
	r.diagnostics.Iterations++
}

// updates moves all sites at once, on the same marginals.
func (r *pursuit) updates(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	copy(r.before, r.state)
	r.reached = r.at.distance
	r.update(r.step)
	r.step = min(2*r.step, r.damping)
	r.count()
	r.idle = false
	return nil
}

// sweeps goes through the sites a few times.
func (r *pursuit) sweeps(ctx context.Context) (err error) {
	r.room()
	if r.negative.f.Rows == 0 {
		r.project(r.v)
	}
	r.covariance(r.swept.sigma, r.v)
	r.linearised = math.Inf(1)
	for range sweepsPerRefresh {
		if err := ctx.Err(); err != nil {
			return err
		}
		if r.at, err = r.sweep(r.swept, r.damping); err != nil {
			return err
		}
		r.count()
		r.idle = r.at.settled(r.target)
		if r.idle || r.diagnostics.Iterations == r.limit || r.nearby() {
			return nil
		}
	}
	return nil
}

// room takes the memory of sweeps, once.
func (r *pursuit) room() {
	if r.swept == nil {
		r.swept = newSweep(r.work, len(r.y))
	}
}

// count counts an iteration, and ends or damps what goes in circles.
func (r *pursuit) count() {
	d := &r.diagnostics
	d.Iterations++
	switch {
	case !r.course.circles(r.state, r.sigma, r.at.distance, r.damping):
	case r.at.distance <= r.at.drift:
		r.limit = d.Iterations
	case r.schedule == Mixed:
		r.schedule = Sequential
	case r.damping > leastDamping && !r.options.accepts():
		r.damping /= 2
		r.step = min(r.step, r.damping)
		d.Warnings = []string{fmt.Sprintf("the updates of %s went in circles; damped to %.3g from iteration %d on",
			r.method, r.damping, d.Iterations)}
	}
}

// course watches where the sites go.
type course struct {
	from, last        State     // the sites at the start of a window and now
	path              []float64 // how far each number of the state went since
	nearest, previous float64   // the least distance from a fixed point in this window and the one before
	iterations        float64   // weighted by their damping
}

// window is the length of a course's window, in undamped iterations.
const window = 10

func newCourse(s State) *course {
	return &course{
		from: slices.Clone(s), last: slices.Clone(s), path: make([]float64, len(s)),
		nearest: math.Inf(1), previous: math.Inf(1),
	}
}

// circles notes an iteration and reports, at the end of a window, whether the sites went in
// circles: they drew no nearer to a fixed point and went at least twice as far as they got, in
// units of the marginals, of variances sigma. Sites that move straight on, as those of wide priors
// do for dozens of iterations, draw no nearer either, but are on their way.
func (c *course) circles(state State, sigma []float64, distance, damping float64) bool {
	for j, s := range state {
		c.path[j] += math.Abs(s - c.last[j])
	}
	copy(c.last, state)
	c.nearest = min(c.nearest, distance)
	if c.iterations += damping; c.iterations < window {
		return false
	}
	var path, progress float64
	n := len(sigma)
	for i, v := range sigma {
		path += c.path[i]*v + c.path[n+i]*math.Sqrt(v)
		progress += math.Abs(c.from[i]-c.last[i])*v + math.Abs(c.from[n+i]-c.last[n+i])*math.Sqrt(v)
	}
	stuck := c.nearest > 0.8*c.previous && path > 2*progress
	copy(c.from, state)
	clear(c.path)
	c.nearest, c.previous, c.iterations = math.Inf(1), c.nearest, 0
	return stuck
}

// finish makes the posterior's evidence where the iteration ended.
func (p *siteFit) finish(f fixedPoint) error {
	err := p.conclude(p.method, f, p.target)
	if err == nil && !p.diagnostics.Converged {
		p.explain(p.method, f, p.sharpest)
		if p.options.accepts() {
			err = p.accept(f)
		}
	}
	value, failure := p.evidence.value, p.evidence.err
	if p.rule.stationary(f) {
		p.evidence = functional{value: value, adjoint: p.stationaryAdjoint}
		if _, ok := p.lik.(likelihood.Parametric); ok {
			p.evidence.likelihood = func(grad []float64) {
				for i := range p.b {
					p.rule.explicit(grad, i)
				}
			}
		}
	} else {
		p.evidence = p.differentiate(value, 1, func(i int) weight { return p.terms[i].weight }, p.rule.explicit)
		p.evidence.err = p.noGradient(true)
	}
	if failure != nil {
		p.evidence.err = failure
	}
	return err
}

// accept takes a fit that has not converged as it is.
func (p *siteFit) accept(f fixedPoint) error {
	d := &p.diagnostics
	if p.evidence.value > 0 && p.lik.Likelihood().Domain() != likelihood.Numeric {
		return fmt.Errorf("%w: the updates of %s diverge: after %d of them the log evidence is %.3g, "+
			"and no labels have a probability above 1; lower "+
			"damping", ErrNotConverged, p.method, d.Iterations, p.evidence.value)
	}
	p.evidence.err = nil                                      // noGradient has another
	within := math.Pow(10, math.Ceil(math.Log10(f.distance))) // so that fits that are alike say the same
	d.Warnings = append(d.Warnings, fmt.Sprintf("%s stopped unconverged, within %.0g posterior standard deviations "+
		"of its fixed point, and is taken as it is", p.method, within))
	return nil
}

// noGradient says why the implicit part of a derivative cannot be had, of the evidence or of
// another scalar; nil where it can.
func (p *siteFit) noGradient(evidence bool) error {
	_, smooth := p.lik.(likelihood.Differentiable)
	switch {
	case p.options.accepts():
		return fmt.Errorf("%w: unconverged: accept takes a fit where it stops, not at a fixed point", ErrNoGradient)
	case evidence && p.nodes != nil && !smooth:
		return fmt.Errorf("%w: p(y|f) jumps, and its quadrature with it", ErrNoGradient)
	case p.rule.negative() && !isConcave(p.moments): // at this point or at the next: Uses promises none
		return fmt.Errorf("%w: sites may have negative precision, and are kept", ErrNoGradient)
	}
	return nil
}

// LeaveOneOut implements LeaveOneOuter by the cavities: Σ_i log p(y_i|y_-i) ≈
// Σ_i log ∫ p(y_i|f) N(f; m_-i, v_-i) df. The cavity N(m, c) is a function of marginal and site:
// 1/c = 1/v - τ, m = μ - c(ν - τμ).
func (p *siteFit) LeaveOneOut() (Functional, error) {
	if !p.diagnostics.Converged && !p.options.accepts() {
		return nil, p.evidence.err
	}
	sum, weights := 0.0, make([]weight, len(p.y))
	for i := range p.y {
		c, v := p.cavity(i), p.sigma[i]
		a := averaged(p.lik, p.y[i], c)
		sum += a.log
		ratio := c.variance / v
		byVariance := ((a.d[1]+a.d[0]*a.d[0])/2 - a.d[0]*p.b[i]) * ratio * c.variance // ∂log Z/∂v · v
		byMean := a.d[0] * ratio * math.Sqrt(v)
		weights[i] = weight{byMean, byVariance, -byMean, byVariance}
	}
	f := p.differentiate(sum, 0, func(i int) weight { return weights[i] }, func(grad []float64, i int) {
		p.byParams(grad, 1, i, p.cavity(i))
	})
	f.err = p.noGradient(false)
	return f, nil
}
