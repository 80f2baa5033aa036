package approx

import (
	"context"
	"math"
	"slices"
)

// latentModel is a posterior of latent values whose mode is found by Newton's method, for two or
// more classes.
type latentModel interface {
	newPoint() *point
	// part returns a model of a subset of the cases, and the indices of their entries of a; nil if
	// that saves no time
	part() (latentModel, []int)
	latentAt(f, a []float64)     // f = m + K a
	differentiate(at *point)     // computes g, w, psi and r from a and f
	linearise(at *point)         // r = W(f - m) + g, for which Newton's step is the next a itself
	factorise(w []float64) error // computes the factor of I + W K for newton
	newton(at *point) float64    // δ = (I + W K)⁻¹ r and its length √(rᵀKδ)
	// precision returns the length of a step that is short enough, and the length that rounding may
	// leave in every step.
	precision(at *point) (target, rounding float64)
	// finish makes the posterior at a point for which the factor has been computed, given the
	// length of the step there.
	finish(at *point, length float64, iterations int, early bool) (Posterior, error)
}

// preconditionedModel models come near the mode without a factorisation.
type preconditionedModel interface {
	// approach iterates from at, with f = m, or from the State of a nearby fit if Ψ is larger
	// there. It returns the final point, a second point as temporary memory, the number of steps
	// and the length of the last step.
	approach(
		ctx context.Context, at, next *point, start State, maxIterations int,
	) (_, _ *point, iterations int, last float64, err error)
}

// point is a value of f = m + K a with the quantities that Newton's method needs there.
type point struct {
	a, f []float64
	// ∇log p(y|f), W and the third derivative; for several classes w is π, which determines W, and
	// d3 is nil.
	g, w, d3 []float64
	concave  []float64 // -∂²log p(y|f)/∂f², whose positive part is W; nil for several classes
	psi      float64   // Ψ = -½ aᵀ(f-m) + log p(y|f), GPML (3.12) without terms independent of f
	floors   int       // number of negative W_i

	r, kr []float64 // r = g - a, the gradient of Ψ with respect to f, and K r
	delta []float64 // the Newton step, as a change of a
}

// newPoint makes a point of n latent values, at a = 0.
func newPoint(n int) *point {
	v := func() []float64 { return make([]float64, n) }
	return &point{a: v(), f: v(), g: v(), w: v(), r: v(), kr: v(), delta: v()}
}

// state is the point as a State.
func (at *point) state() State { return slices.Concat(at.a, at.f) }

// read splits a State into a and f.
func (at *point) read(s State) (a, f []float64, err error) {
	n := len(at.a)
	if err := checkState("laplace", s, 2*n); err != nil {
		return nil, nil, err
	}
	return s[:n], s[n:], nil
}

// evaluate computes f from a, and the other quantities of the point from f.
func evaluate(p latentModel, at *point) {
	p.latentAt(at.f, at.a)
	p.differentiate(at)
}

// restore returns the point of a State and the length of the Newton step there.
func restore(p latentModel, s State) (*point, float64, error) {
	at := p.newPoint()
	a, _, err := at.read(s)
	if err != nil {
		return nil, 0, err
	}
	copy(at.a, a)
	evaluate(p, at)
	if err := p.factorise(at.w); err != nil {
		return nil, 0, err
	}
	return at, p.newton(at), nil
}

// modeSearch is the state of the search for the mode.
type modeSearch struct {
	latentModel
	at, next *point // the current point, and another one
	fresh    bool   // whether the factor was computed from W at the current point
	// lengths of the last two steps with the current factor; infinite if there were none
	last, before  float64
	d, df         []float64 // the last step, and its K d
	curvature     float64   // along it
	iterations    int
	maxIterations int
	// the shortest step and its iteration; a step counts as shorter if it is shorter by a hundredth
	shortest float64
	found    int
}

// findMode maximises Ψ until the Newton step is short enough, or for maxIterations steps. It starts
// at f = m or at the mode of a subset of the cases. It starts at the State of a nearby fit if Ψ is
// larger there than at f = m. At the end the factor belongs to the returned point.
//
// A Newton step needs a factorisation in O(n³). With the factor of an earlier W, a step takes
// O(n²): this is preconditioned conjugate gradients (Hestenes and Stiefel's β) in the inner product
// xᵀKy, in which I + WK is symmetric.
func findMode(
	ctx context.Context, p latentModel, start State, maxIterations int,
) (at *point, length float64, iterations int, err error) {
	c := modeSearch{
		latentModel: p, at: p.newPoint(), next: p.newPoint(),
		last: math.Inf(1), before: math.Inf(1), maxIterations: maxIterations, shortest: math.Inf(1),
	}
	if err := c.chooseStart(ctx, start); err != nil {
		return nil, 0, 0, err
	}
	c.d, c.df = make([]float64, len(c.at.a)), make([]float64, len(c.at.a))
	for ; ; c.iterations++ {
		if err := ctx.Err(); err != nil {
			return nil, 0, 0, err
		}
		length, arrived, err := c.measure()
		if err != nil {
			return nil, 0, 0, err
		}
		if arrived {
			return c.at, length, c.iterations, nil
		}
		c.step(length)
	}
}

// chooseStart evaluates the start, with its factor.
func (c *modeSearch) chooseStart(ctx context.Context, start State) (err error) {
	evaluate(c.latentModel, c.at)
	c.fresh = start == nil
	if quick, ok := c.latentModel.(preconditionedModel); ok {
		c.at, c.next, c.iterations, c.last, err = quick.approach(ctx, c.at, c.next, start, c.maxIterations)
		if err != nil {
			return err
		}
		evaluate(c.latentModel, c.at) // exactly as Restore computes it
		c.fresh = true
	} else if start != nil {
		if err := c.startFromState(start); err != nil {
			return err
		}
	}
	if !c.fresh {
		return nil
	}
	c.next.psi = math.Inf(-1)
	if err := guess(ctx, c.latentModel, c.next, c.maxIterations); err != nil {
		return err
	}
	if c.next.psi > c.at.psi {
		c.at, c.next = c.next, c.at
	}
	return c.factorise(c.at.w)
}

// startFromState starts from the State of a nearby fit, if that is better. The State's f̂ is near
// the mode, but its a may be far from it. So a is computed by Newton's method from f̂, GPML
// Algorithm 3.1 lines 4-6.
func (c *modeSearch) startFromState(start State) error {
	_, f, err := c.at.read(start)
	if err != nil {
		return err
	}
	copy(c.next.f, f)
	c.differentiate(c.next)
	c.linearise(c.next)
	if err := c.factorise(c.next.w); err != nil {
		return err
	}
	c.newton(c.next)
	copy(c.next.a, c.next.delta)
	if evaluate(c.latentModel, c.next); c.next.psi > c.at.psi {
		c.at, c.next = c.next, c.at
	} else {
		c.fresh = true
	}
	return nil
}

// measure returns the length of Newton's step, with a new factor of W if an earlier one is not
// suitable, and whether the mode is reached.
func (c *modeSearch) measure() (length float64, arrived bool, err error) {
	length = c.newton(c.at)
	target, rounding := c.precision(c.at)
	limit := c.maxIterations
	if rounding > unresolved {
		limit = min(limit, 50) // convergence is unlikely, but closer is better
	}
	stop := c.iterations >= limit || c.stuck(length)
	if !c.fresh && (length <= target || stop || c.needsFactor(length, max(target, min(rounding, unresolved)))) {
		evaluate(c.latentModel, c.at) // evaluated in the same way as by Restore
		if err := c.factorise(c.at.w); err != nil {
			return 0, false, err
		}
		c.fresh, length = true, c.newton(c.at)
	}
	unresolvable := length <= min(rounding, unresolved) && length > c.last/2
	return length, c.fresh && (length <= target || unresolvable || math.IsNaN(length)) || stop, nil
}

// stuck reports whether steps have not become shorter for half of the iterations, and for at least
// 100 of them. Rounding then decides where they lead.
func (c *modeSearch) stuck(length float64) bool {
	if length < 0.99*c.shortest {
		c.shortest, c.found = length, c.iterations
	}
	return c.iterations-c.found > max(100, c.iterations/2)
}

// step moves to the next point.
func (c *modeSearch) step(length float64) {
	beta := 0.0
	if !c.fresh && c.curvature > 0 {
		beta = max(0, (length*length-dot(c.next.kr, c.at.delta))/c.curvature)
	}
	for i, z := range c.at.delta {
		c.d[i] = z + beta*c.d[i]
	}
	slope := dot(c.at.kr, c.d)
	if !(slope > 0) {
		copy(c.d, c.at.delta)
		slope = length * length
	}
	c.curvature = climb(c.latentModel, c.at, c.next, c.d, c.df, slope)
	c.at, c.next = c.next, c.at
	c.before = c.last
	if c.fresh {
		c.before = math.Inf(1)
	}
	c.fresh, c.last = false, length
}

// guess computes next from the mode of a subset of the cases. K extends this mode to the other
// cases. It does nothing if p has no such subset, or if the subset has no mode.
func guess(ctx context.Context, p latentModel, next *point, maxIterations int) error {
	part, cases := p.part()
	if part == nil {
		return nil
	}
	mode, _, _, err := findMode(ctx, part, nil, maxIterations)
	if err != nil {
		return ctx.Err()
	}
	for k, i := range cases {
		next.a[i] = mode.a[k]
	}
	evaluate(p, next)
	return nil
}

// needsFactor reports whether a new factor is better than the current one, which belongs to an
// earlier W: far from the mode, if steps no longer shrink by half; near it, if the expected number
// of remaining steps at the current rate costs more than a factorisation; and if no more steps
// remain.
func (c *modeSearch) needsFactor(length, goal float64) bool {
	shrinks := length <= c.last/2
	switch {
	case length >= 0.1 || length <= goal:
		return !shrinks
	case math.IsInf(c.before, 1):
		return !(math.Log(length/goal) <= math.Log(c.last/length)*c.factorCost())
	default:
		return !(math.Log(length/goal) <= math.Log(c.before/length)/2*c.factorCost())
	}
}

// factorCost is the number of steps that take as long as a factorisation: n/64, and at most 16,
// because steps with large matrices are limited by memory bandwidth.
func (c *modeSearch) factorCost() float64 { return min(float64(len(c.at.a))/64, 16) }

// climb sets next to a + sd, 0 < s ≤ 2. The step s reduces the slope of Ψ along d, initially slope
// = rᵀKd > 0, to at most a tenth, or s is 2. climb returns the reduction. Ψ is concave, so it does
// not decrease up to its maximum along d, and the bound on the slope limits steps beyond it. Near
// the mode s is about 1; far from it, where the tails of the likelihood are nearly straight, much
// longer and shorter steps occur. In directions that K suppresses, Newton's step is g - a, so more
// than twice that would move a away from g permanently. It sets df = Kd.
func climb(p latentModel, at, next *point, d, df []float64, slope float64) float64 {
	for i, v := range d {
		next.a[i] = at.a[i] + v
	}
	p.latentAt(next.f, next.a)
	for i, f := range next.f {
		df[i] = f - at.f[i]
	}
	s, lo, hi := 1.0, 0.0, math.Inf(1)
	atLo, atHi := slope, 0.0 // slopes
	now := slope
	for range 60 {
		p.differentiate(next)
		now = dot(next.r, df)
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
		for i, v := range d {
			next.a[i], next.f[i] = at.a[i]+s*v, at.f[i]+s*df[i]
		}
	}
	return slope - now
}
