package approx

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/interrupt"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// siteMethod is a method that iterates with siteFit, after begin has checked the arguments.
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

// restoreSites is Restore of a siteMethod: it uses a State without iterating.
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
	p.account()
	return p, p.finish(f)
}

// pursuit is an iteration of sites towards their fixed point.
type pursuit struct {
	*siteFit
	at         fixedPoint     // distance of the sites from the fixed point
	v          blas64.General // workspace
	swept      *sweepWork     // nil before the first sweep
	course     *course
	schedule   Schedule // current schedule: Sequential too if that is fastest, or when Mixed has switched to it
	limit      int      // of iterations
	damping    float64  // largest fraction of a site update
	step       float64  // fraction of the next parallel updates
	before     State    // the sites before the last update that may be undone
	reached    float64  // their distance
	within     float64  // distance below which Newton's method is used
	length     float64  // of the last update if it was a Newton step; else 0
	linearised float64  // distance of the sites whose correlations are stored
	idle       bool     // whether the last sweep changed nothing
}

// move is the next step of the iteration.
type move int

const (
	done     move = iota
	takeBack      // the last update increased the distance too much
	halve         // the update was too long: go half the way back
	shorten       // likewise, after a Newton step
	newton        // Newton step for all sites at once
	update        // parallel update of all sites
	sweeps        // sequential updates
)

// run iterates from start, or from sites of zero precision, and ends with refresh.
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
	if r.within > 0 { // the fixed point does not depend on the method; parallel updates overshoot far from it
		r.schedule = Sequential
		if start == nil { // the marginals are those of the prior
			copy(p.mu, p.mean)
			if err := r.sweeps(ctx); err != nil {
				return r.at, err
			}
		}
	}
	for {
		var err error
		r.at, err = r.refresh(r.v)
		// For plain updates the target may change with each of them.
		early := err == nil && (r.within == 0 || r.at.distance <= o.Tolerance)
		if early {
			r.account()
		}
		switch r.judge(err) {
		case done:
			if err == nil && !early {
				r.account()
			}
			return r.at, err
		case takeBack:
			copy(r.state, r.before)
		case halve:
			for j, s := range r.before {
				r.state[j] = (r.state[j] + s) / 2
			}
			r.step /= 2
			r.diagnostics.Iterations++
		case shorten:
			for j, s := range r.before {
				r.state[j] = (r.state[j] + s) / 2
			}
			r.length /= 2
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
	// hopeless is the number of iterations after which a fit that double precision cannot carry is
	// given up.
	hopeless = 50
	// overshoot is the growth of the distance from a fixed point at which a parallel update is
	// undone.
	overshoot = 2
	// leastDamping is the smallest damping that is tried.
	leastDamping = 1. / 64
	// sweepsPerRefresh limits the sweeps before Σ is recomputed, because rounding errors accumulate
	// in it.
	sweepsPerRefresh = 8
	// leastLength is the shortest fraction of a Newton step that is tried.
	leastLength = 0.25
	// blurred is a factor on the estimated rounding error: below this distance, a Newton step that
	// does not reduce the distance has reached rounding, because it would otherwise square the
	// distance.
	blurred = 16
)

// judge returns the next step, given the error of refresh.
func (r *pursuit) judge(err error) move {
	distance, iterations := r.at.distance, r.diagnostics.Iterations
	if r.length > 0 {
		switch blur := blurred * max(r.at.rounding, r.at.drift); {
		case err == nil && (r.at.settled(r.target) || distance <= (1-r.length/4)*r.reached):
		case err == nil && r.length == 1 && distance <= min(blur, unresolved):
			r.at.drift = max(r.at.drift, distance)
			return done
		case r.length > leastLength && iterations < r.limit:
			return shorten
		default:
			r.within, r.length = r.reached/10, 0
			return takeBack
		}
		r.length = 0
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
	case r.nearby():
		return newton
	case r.schedule != Sequential:
		return update
	}
	return sweeps
}

// nearby reports whether Newton's method may be used.
func (r *pursuit) nearby() bool { return r.at.distance <= r.within && r.at.floors == 0 }

// stepOfNewton moves all sites at once, after refresh. With the correlations of the previous step
// the remaining distance is about the product of both distances. No step needs the factor, which
// the next refresh recomputes: the correlations are stored in its place, below its diagonal.
func (r *pursuit) stepOfNewton() {
	r.room()
	square := blas64.Symmetric{Uplo: blas.Upper, N: len(r.y), Stride: r.v.Stride, Data: r.v.Data}
	if r.linearised*r.at.distance > r.target/2 {
		r.linearised = r.at.distance
		r.correlate(r.sigma, r.swept.sigma, square, linalg.SquareTri(upper(r.v)))
	} else {
		factor := all(r.swept.sigma)
		linalg.Reflect(blas.Upper, factor, factor)
		for i := range r.y {
			factor.Data[i*(factor.Stride+1)] = 1
		}
		squares(r.swept.sigma, square)
	}
	r.follow(square)
}

// follow takes the step, given the squares of the correlations.
func (r *pursuit) follow(square blas64.Symmetric) {
	copy(r.before, r.state)
	r.reached, r.length = r.at.distance, 1
	r.newton(r.newResponse(byCorrelation(r.swept.sigma, square)), r.at.distance/8)
	linalg.Reflect(blas.Lower, all(r.swept.sigma), all(r.swept.sigma))
	r.diagnostics.Iterations++
}

// updates moves all sites at once, based on the same marginals.
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

// sweeps makes a few sequential sweeps, and a Newton step if these come near enough, since Σ is
// then available.
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
		if r.idle || r.diagnostics.Iterations == r.limit {
			return nil
		}
		if r.within == 0 {
			continue
		}
		sigma := r.swept.sigma
		for i := range r.tau {
			r.sigma[i], r.b[i] = sigma.Data[i*sigma.Stride+i], r.nu[i]-r.tau[i]*r.mu[i]
		}
		if r.at, err = r.consult(); err != nil {
			return err
		}
		if r.at.settled(r.target) { // or only rounding errors are left, which refresh decides
			return nil
		}
		if r.nearby() {
			square := blas64.Symmetric{Uplo: blas.Upper, N: sigma.N, Stride: r.v.Stride, Data: r.v.Data}
			r.linearised = r.at.distance
			r.scale(sigma, square)
			r.follow(square)
			return nil
		}
	}
	return nil
}

// room allocates the memory of sweeps, once.
func (r *pursuit) room() {
	if r.swept == nil {
		r.swept = newSweep(r.work, r.u)
	}
}

// count counts an iteration, and stops or damps iterations that cycle.
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

// course records the movement of the sites.
type course struct {
	from, last        State     // the sites at the start of a window and now
	path              []float64 // distance covered by each number of the state since then
	nearest, previous float64   // the smallest distance from a fixed point in this window and in the previous one
	iterations        float64   // weighted by their damping
}

// window is the number of undamped iterations per window.
const window = 10

func newCourse(s State) *course {
	return &course{
		from: slices.Clone(s), last: slices.Clone(s), path: make([]float64, len(s)),
		nearest: math.Inf(1), previous: math.Inf(1),
	}
}

// circles records an iteration and reports, at the end of a window, whether the sites cycled: they
// came no nearer to a fixed point, and the path was at least twice as long as the displacement, in
// units of the marginal standard deviations, with variances sigma. Sites that move steadily in one
// direction, as with wide priors for dozens of iterations, come no nearer either but do not cycle.
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
