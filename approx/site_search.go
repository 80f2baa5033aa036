package approx

import (
	"context"
	"math"
	"slices"

	"github.com/gpc-tune/gpc-tune/approx/prior"
	"github.com/gpc-tune/gpc-tune/internal/cause"
)

// startSearch prepares p.search, and returns the function that ends it.
func (p *siteState) startSearch() (end func()) {
	p.search = p.sited.Search()
	return func() {
		p.search.Close()
		p.search = nil // its memory is not part of the posterior
	}
}

// siteSearch is an iteration of sites towards their fixed point. If a sweep through the cases takes
// no longer than a new factor, it is a few sweeps (GPML Algorithm 3.5) and then steps of Newton's
// method for all sites at once. Where Newton's method is not used, it follows the user's schedule.
// If a sweep takes longer, all sites are updated at once, with Anderson's acceleration (Anderson
// 1965; Walker & Ni 2011). If that overshoots, as it does for a prior much wider than the
// posterior, sweeps and Newton's method take over.
type siteSearch struct {
	*siteState
	at     fixedPoint // distance of the sites from the fixed point
	cycles *cycleDetector
	// current schedule; Sequential if that is fastest, or after Mixed has switched to it
	schedule       Schedule
	limit          int     // largest number of iterations
	damping        float64 // largest fraction of a site update
	step           float64 // fraction of the next parallel updates
	before         State   // the sites before the last update that may be undone
	reached        float64 // distance of the sites in before
	rounding       float64 // rounding error of their distance
	newtonDistance float64 // the distance below which Newton's method is used
	length         float64 // length of the last update if it was a Newton step; else 0
	linearised     float64 // distance of the sites for which the Jacobian was computed
	// Newton steps have the exact Jacobian, because approximations did not converge
	exact    bool
	idle     bool        // whether the last sweep changed nothing
	anderson accelerator // acceleration of parallel updates
	together bool        // whether sweeps take longer than a new factor
}

// move is the next step of the iteration.
type move int

const (
	done     move = iota
	takeBack      // the last update increased the distance too much
	halve         // the update, or Newton step, was too long: go half the way back
	newton        // Newton step for all sites at once
	update        // parallel update of all sites
	sweeps        // sequential updates
)

// run iterates from start, or from initial sites, and ends with refresh.
func (p *siteState) run(ctx context.Context, start State) (fixedPoint, error) {
	if p.initial != nil {
		var err error
		if start, err = p.initial(ctx, start); err != nil {
			return fixedPoint{}, err
		}
	}
	if start != nil {
		if err := p.set(start); err != nil {
			return fixedPoint{}, err
		}
	}
	defer p.startSearch()()
	if r, all := p.rule.(caseRule); all {
		return r.iterate(ctx)
	}
	o := p.options
	r := siteSearch{
		siteState: p, cycles: newCycleDetector(p.state), schedule: o.Schedule, limit: o.MaxIterations,
		damping: o.Damping, step: o.Damping, before: slices.Clone(p.state), reached: math.Inf(1),
		newtonDistance: p.newtonWithin(), linearised: math.Inf(1),
	}
	if r.together = !p.search.PrefersSweeps(); r.together && o.accepts() {
		r.schedule = Parallel
	} else if r.together {
		r.schedule, r.anderson.depth = Mixed, 6
	} else if r.newtonDistance > 0 {
		// The fixed point does not depend on the schedule. Parallel updates overshoot far from it.
		r.schedule = Sequential
		if start == nil { // start at the prior marginals
			copy(p.mu, p.mean)
			if err := r.sweeps(ctx); err != nil {
				return r.at, err
			}
		}
	}
	for {
		var err error
		r.at, err = r.refresh()
		// For plain updates the target may change with each of them.
		early := err == nil && (r.newtonDistance == 0 || r.at.distance <= o.Tolerance)
		if early {
			r.computeEvidence()
		}
		next := r.judge(err)
		if next == done {
			if err == nil && !early {
				r.computeEvidence()
			}
			return r.at, err
		}
		if err := r.take(ctx, next); err != nil {
			return r.at, err
		}
	}
}

// take makes a move.
func (r *siteSearch) take(ctx context.Context, next move) error {
	switch next {
	case takeBack:
		copy(r.state, r.before)
	case halve:
		for j, s := range r.before {
			r.state[j] = (r.state[j] + s) / 2
		}
		r.step, r.length = r.step/2, r.length/2
		r.diagnostics.Iterations++
	case newton:
		r.newtonFromFactor()
		return ctx.Err()
	case update:
		return r.updates(ctx)
	case sweeps:
		return r.sweeps(ctx)
	}
	return nil
}

const (
	// iterationCap is the number of iterations after which a fit that double precision cannot carry
	// is given up.
	iterationCap = 50
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
	// roundingFactor is a factor on the estimated rounding error: below this distance, a Newton
	// step that does not reduce the distance has reached rounding, because it would otherwise
	// square the distance.
	roundingFactor = 16
)

// judge returns the next step, given the error of refresh.
func (r *siteSearch) judge(err error) move {
	distance, iterations := r.at.distance, r.diagnostics.Iterations
	if r.length > 0 {
		// Far from the fixed point the rounding error may be large: that alone settles nothing.
		settled := r.at.settled(r.target) && distance <= r.reached
		// A step that is too long may end where the rounding error is much larger than before it.
		lost := r.at.rounding > max(unresolved, 100*r.rounding) && distance > unresolved
		switch blur := roundingFactor * max(r.at.rounding, r.at.drift); {
		case err == nil && !lost && (settled || distance <= (1-r.length/4)*r.reached):
		case err == nil && r.length == 1 && distance <= min(blur, unresolved):
			r.at.drift = max(r.at.drift, distance)
			return done
		case r.length > leastLength && iterations < r.limit:
			return halve
		case r.jacobianError > 0 && !r.exact:
			r.exact, r.length = true, 0
			return takeBack
		default:
			r.newtonDistance, r.length = r.reached/10, 0
			return takeBack
		}
		r.length = 0
	}
	if err != nil {
		if r.together && r.schedule == Mixed && iterations > 0 {
			r.schedule = Sequential
			return takeBack
		}
		return done
	}
	if r.at.rounding > unresolved {
		r.limit = min(r.limit, max(iterations, iterationCap))
	}
	if r.at.settled(r.target) || (r.idle || r.stalls()) && distance <= r.at.drift || iterations >= r.limit {
		return done
	}
	tooFar := r.schedule != Sequential && !(distance <= overshoot*r.reached) && r.step > leastDamping
	switch {
	case r.jacobianError > 0 && !(distance <= overshoot*r.reached) && r.damping > leastDamping && !r.options.accepts():
		r.damping /= 2 // all cases were updated at once
		return takeBack
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
func (r *siteSearch) nearby() bool {
	return r.schedule == Sequential && r.at.distance <= r.newtonDistance && r.at.floors == 0
}

// stalls reports whether an accelerated update came no nearer.
func (r *siteSearch) stalls() bool { return r.together && !(r.at.distance <= r.reached/2) }

// newtonFromFactor moves all sites at once, after refresh. With the Jacobian of the previous step
// the remaining distance is about the product of both distances.
func (r *siteSearch) newtonFromFactor() {
	if r.exact {
		r.newtonStep(prior.AtFactorExact)
	} else if r.linearised*r.at.distance > r.target/2 {
		r.linearised = r.at.distance
		r.newtonStep(prior.Factored)
	} else {
		r.newtonStep(prior.LastCalled)
	}
}

// newtonStep takes a step with the Jacobian of this posterior.
func (r *siteSearch) newtonStep(at prior.At) {
	copy(r.before, r.state)
	r.reached, r.rounding, r.length = r.at.distance, r.at.rounding, 1
	r.newton(r.newResponse(r.search.Jacobian(r.sigma, at)), max(r.at.distance/8, r.jacobianError))
	r.diagnostics.Iterations++
}

// updates moves all sites at once, based on the same marginals.
func (r *siteSearch) updates(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	copy(r.before, r.state)
	r.reached = r.at.distance
	r.update(&r.anderson, r.step)
	r.step = min(2*r.step, r.damping)
	r.count()
	r.idle = false
	return nil
}

// sweeps makes a few sequential sweeps, and a Newton step if these come near enough, if Σ is then
// available.
func (r *siteSearch) sweeps(ctx context.Context) error {
	copy(r.before, r.state)
	r.reached = r.at.distance
	r.linearised = math.Inf(1)
	for k := range sweepsPerRefresh {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := r.sweep(k > 0); err != nil {
			return err
		}
		r.count()
		r.idle = r.at.settled(r.target)
		if r.idle || r.diagnostics.Iterations == r.limit {
			return nil
		}
		if r.newtonDistance == 0 && !r.together {
			continue
		}
		if !r.search.Swept(r.sigma) {
			return nil
		}
		for i := range r.tau {
			r.b[i] = r.nu[i] - r.tau[i]*r.mu[i]
		}
		var err error
		if r.at, err = r.proposeSites(); err != nil {
			return err
		}
		if r.at.settled(r.target) { // or only rounding errors are left, which refresh decides
			return nil
		}
		if r.nearby() {
			r.linearised = r.at.distance
			r.newtonStep(prior.AfterSweep)
			return nil
		}
	}
	return nil
}

// sweep updates one site after the other, and measures their distances from a fixed point before.
func (r *siteSearch) sweep(goOn bool) error {
	r.at = fixedPoint{}
	return r.search.Sweep(goOn, r.sites(), func(i int, v, b float64) (dTau, dOffset float64, err error) {
		next, err := r.rule.match(i, v, b)
		r.compare(i, next, v, b, &r.at)
		return r.damping * (next.tau - r.tau[i]), r.damping * (next.offset - b), err
	})
}

// count counts an iteration, and stops or damps iterations that cycle.
func (r *siteSearch) count() {
	d := &r.diagnostics
	d.Iterations++
	switch {
	case r.together || !r.cycles.found(r.state, r.sigma, r.at.distance, r.damping):
	case r.at.distance <= r.at.drift:
		r.limit = d.Iterations
	case r.schedule == Mixed:
		r.schedule = Sequential
	case r.damping > leastDamping && !r.options.accepts():
		r.damping /= 2
		r.step = min(r.step, r.damping)
		d.Warnings = []Warning{cause.Damped.New("the updates of %s went in circles; damped to %.3g from iteration "+
			"%d on", r.method, r.damping, d.Iterations)}
	}
}
