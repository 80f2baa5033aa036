package approx

import (
	"context"
	"math"
	"slices"
)

// latentModel is a posterior of latent values whose mode Newton's method finds, binary or with several classes.
type latentModel interface {
	newPoint() *point
	latentAt(f, a []float64)     // f = m + K a
	differentiate(at *point)     // g, w, psi and r from a and f
	linearise(at *point)         // r = W(f - m) + g, of which Newton's step is the next a itself
	factorise(w []float64) error // what newton needs of I + W K
	newton(at *point) float64    // δ = (I + W K)⁻¹ r and its length √(rᵀKδ)
	// precision returns the length of a step that is short enough, and one that rounding may leave in every step.
	precision(at *point) (target, rounding float64)
	// finish makes the posterior at a point whose factor is at hand, given the length of the step there.
	finish(at *point, length float64, iterations int) (Posterior, error)
}

// approacher models come near the mode without a factorisation.
type approacher interface {
	// approach takes steps from at, f = m, or from a neighbour's State if Ψ is larger there, and returns two points, at being
	// where it arrived, the number of steps and the length of the last.
	approach(ctx context.Context, at, next *point, start State, maxIterations int) (_, _ *point, iterations int, last float64, err error)
}

// point is a value of f = m + K a with what Newton's method needs there.
type point struct {
	a, f     []float64
	g, w, d3 []float64 // ∇log p(y|f), W and the third derivative; of several classes w is π, which gives W, and d3 is nil
	psi      float64   // Ψ = -½ aᵀ(f-m) + log p(y|f), GPML (3.12) less what does not depend on f
	floors   int       // how many W_i were negative

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

// evaluate fills f and what follows from it, given a.
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

// seek takes Newton steps from f = m, or from the State of a neighbour if Ψ is larger there, until their length says that
// the mode is reached, or maxIterations of them. The factor is then that of the point it returns.
func seek(ctx context.Context, p latentModel, start State, maxIterations int) (at *point, length float64, iterations int, err error) {
	at, next := p.newPoint(), p.newPoint()
	evaluate(p, at)
	fresh, last := start == nil, math.Inf(1)
	if quick, ok := p.(approacher); ok {
		if at, next, iterations, last, err = quick.approach(ctx, at, next, start, maxIterations); err != nil {
			return nil, 0, 0, err
		}
		fresh = true
	} else if start != nil {
		_, f, err := at.read(start)
		if err != nil {
			return nil, 0, 0, err
		}
		// A neighbour's f̂ is near this one, its a need not be: Newton's a from f̂, GPML Algorithm 3.1 lines 4-6.
		copy(next.f, f)
		p.differentiate(next)
		p.linearise(next)
		if err := p.factorise(next.w); err != nil {
			return nil, 0, 0, err
		}
		p.newton(next)
		copy(next.a, next.delta)
		if evaluate(p, next); next.psi > at.psi {
			at, next = next, at
		} else {
			fresh = true
		}
	}
	if fresh {
		if err := p.factorise(at.w); err != nil {
			return nil, 0, 0, err
		}
	}
	for ; ; iterations++ {
		if err := ctx.Err(); err != nil {
			return nil, 0, 0, err
		}
		length := p.newton(at)
		target, rounding := p.precision(at)
		limit := maxIterations
		if rounding > unresolved {
			limit = min(limit, 50) // hopeless, but the nearer the better
		}
		stop := iterations >= limit
		// The factor of an earlier W gives an ascent direction too, for O(n²). It serves while its steps shrink fast.
		if !fresh && (!(length <= last/4) || length <= target || stop) {
			if err := p.factorise(at.w); err != nil {
				return nil, 0, 0, err
			}
			fresh, length = true, p.newton(at)
		}
		if fresh && (length <= target || length <= min(rounding, unresolved) && length > last/2 || math.IsNaN(length)) || stop {
			return at, length, iterations, nil
		}
		climb(p, at, next, length*length)
		at, next = next, at
		fresh, last = false, length
	}
}

// climb sets next to a + sδ with the step 0 < s ≤ 2 that, along δ, takes nine tenths off the slope of Ψ, at first
// λ² = rᵀKδ > 0. As Ψ is concave it cannot fall up to its maximum, and past it the bound on the slope stops it. Near the
// mode s = 1; far from it, where the likelihood's tails are nearly straight, longer and much shorter steps occur. In the
// directions that K does not show δ = g - a, so that more than twice δ would take a away from g for good.
func climb(p latentModel, at, next *point, slope float64) {
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
		evaluate(p, next) // the same f as Restore will find
	}
}
