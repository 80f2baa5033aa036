package approx

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/approx/prior"
)

// boundSearch maximises the bound of the variational method for softmax. Its utilities have Gumbel
// noise, so that the factors of a case are exp(-y_c x_c - exp(-x_c)), with the average logarithm
//
//	Σ_c (-y_c E x_c - λ_c),   λ_c = exp(½ Var x_c - E x_c)
//
// λ are the precisions of the sites, and λ - y the offsets. Because g has a flat prior, Σ_c λ_c is
// 1, and E f = m + K(y - λ). The λ of the largest bound minimise the dual function (Khan, Aravkin,
// Friedlander & Seeger 2013)
//
//	D = Σ λ log λ + ½ log|Cov x| + ½ (y - λ)ᵀK(y - λ) + mᵀ(y - λ)
//	∂D/∂λ = log λ - E f - ½ Var x   up to what is the same for all classes of a case
//	∂²D/∂λ² = diag 1/λ + K + ½ Cov x ∘ Cov x
//
// D is convex, so that Newton's method finds its minimum from any start. For a prior much wider
// than the posterior that would take many steps: then the first steps have the prior K/t, and t
// falls to 1.
type boundSearch struct {
	*siteState
	sites    *prior.Contrasts
	n        int // cases
	t        float64
	lambda   []float64
	dual     float64                // D at lambda
	variance []float64              // t Var x at lambda
	f, slope []float64              // E f and ∂D/∂λ, less its average over a case by λ
	at       prior.At               // of jacobian
	jacobian func(dst, x []float64) // of Contrasts
	in, out  []float64              // of jacobian
	w, kw    []float64
}

const (
	boundSteps     = 100 // steps of Newton's method, for all t together
	conjugateLimit = 200 // steps of conjugate gradients in a step of Newton's method
	boundWide      = 30  // a prior variance from which Newton's method takes few steps
	boundFalls     = 5   // factor by which t is divided
	boundNear      = 0.3 // the decrement, in nats, at which the minimum for one t is near enough
	mostStalls     = 5   // steps in a row that shorten little: only rounding errors are left
	// largest decrease of log λ in a step; a λ much too small rises in several steps
	mostFall    = 5
	leastWeight = 1e-290 // smallest λ; the exact one may be exp(-1000)
)

// atLargestBound returns the sites of the variational method for softmax; nil where rounding errors
// do not permit that.
func atLargestBound(
	ctx context.Context, p *siteState, sites *prior.Contrasts, classes int, start State,
) (State, error) {
	size := len(p.tau)
	v := func(n int) []float64 { return make([]float64, n) }
	s := &boundSearch{
		siteState: p, sites: sites, n: size / classes, t: 1, lambda: v(size), variance: v(size), f: v(size),
		slope: v(size), in: v(2 * size), out: v(2 * size), w: v(size), kw: v(size),
	}
	if start == nil {
		s.t = max(1, p.sited.LargestVariance()/boundWide)
		for j := range s.lambda {
			s.lambda[j] = 1 / float64(classes)
		}
	} else if err := p.set(start); err != nil {
		return nil, err
	} else {
		s.share(s.lambda, p.tau)
	}
	defer p.startSearch()()
	if s.evaluate(s.lambda) != nil {
		return nil, nil
	}
	enough, before, stalls := p.options.Tolerance*p.options.Tolerance/8, math.Inf(1), 0
	for range boundSteps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		d, decrement := s.direction(min(1, before))
		switch {
		case s.t > 1 && math.Abs(decrement) < boundNear:
			s.t, before = max(1, s.t/boundFalls), math.Inf(1)
			if s.evaluate(s.lambda) != nil {
				return nil, nil
			}
			continue
		case s.at != prior.AtFactorExact && (decrement > before/2 || decrement < 1 && decrement > before/10):
			s.at, before = prior.AtFactorExact, math.Inf(1)
			continue
		case math.Abs(decrement) < 1e-6 && (!(decrement > enough) || stalls == mostStalls):
			return s.end(), nil
		case !(decrement > 0) || !s.step(d, decrement):
			return nil, nil
		case !math.IsInf(before, 1) && decrement*decrement/before < enough: // the next decrement
			return s.end(), nil
		}
		if stalls++; decrement > 1e-6 || decrement < before/4 {
			stalls = 0
		}
		if before = decrement; p.diagnostics.Iterations >= p.options.MaxIterations {
			return s.end(), nil
		}
	}
	return nil, nil
}

// average is Σ_c λ_c x_c of case i.
func (s *boundSearch) average(i int, x []float64) (sum float64) {
	for j := i; j < len(x); j += s.n {
		sum += s.lambda[j] * x[j]
	}
	return sum
}

// share sets dst to x divided by its sum over the classes of a case.
func (s *boundSearch) share(dst, x []float64) {
	for i := range s.n {
		sum := 0.0
		for j := i; j < len(x); j += s.n {
			sum += x[j]
		}
		for j := i; j < len(x); j += s.n {
			dst[j] = max(leastWeight, x[j]/sum)
		}
	}
}

// evaluate computes D, its slope and the moments at λ. Sites λ with the prior K/t have 1/t times
// the covariances of sites λ/t with the prior K.
func (s *boundSearch) evaluate(lambda []float64) error {
	copy(s.lambda, lambda)
	floats.ScaleTo(s.w, 1/s.t, lambda)
	s.diagnostics.Factorizations++
	if err := s.sites.Factorise(s.w); err != nil {
		return err
	}
	s.search.Variances(s.variance)
	floats.SubTo(s.w, s.y, lambda)
	s.sites.Multiply(s.f, s.w)
	s.dual = dot(s.w, s.f)/s.t/2 - dot(s.w, s.mean) - s.sites.LogDet()
	for j, l := range lambda {
		s.dual += l * math.Log(l)
		s.f[j] = s.f[j]/s.t - s.mean[j] // s.mean is -m, the prior mean of x
		s.slope[j] = math.Log(l) - s.f[j] - s.variance[j]/s.t/2
	}
	for i := range s.n {
		common := s.average(i, s.slope)
		for j := i; j < len(lambda); j += s.n {
			s.slope[j] -= common
		}
	}
	return nil
}

// curve sets dst to ∂²D/∂λ² x.
func (s *boundSearch) curve(dst, x []float64) {
	size := len(x)
	for j, v := range s.variance {
		s.in[size+j] = v * x[j]
	}
	s.jacobian(s.out, s.in)
	s.sites.Multiply(dst, x)
	for j, v := range s.variance {
		dst[j] = dst[j]/s.t + x[j]/s.lambda[j] - v*s.out[size+j]/s.t/s.t/2
	}
}

// precondition sets dst to (diag 1/λ + K/t)⁻¹ r for changes of λ whose sum over the classes is 0.
func (s *boundSearch) precondition(dst, r []float64) {
	for i := range s.n {
		common := s.average(i, r)
		for j := i; j < len(r); j += s.n {
			s.w[j] = s.lambda[j] * (r[j] - common)
		}
	}
	s.sites.Multiply(s.kw, s.w)
	s.sites.Shrink(dst, s.w, s.kw)
	for i := range s.n { // rounding errors
		sum := 0.0
		for j := i; j < len(r); j += s.n {
			sum += dst[j]
		}
		for j := i; j < len(r); j += s.n {
			dst[j] -= s.lambda[j] * sum
		}
	}
}

// direction is Newton's step, and its decrement: about twice the distance of D from its minimum, in
// nats. Where rounding errors are larger than that, it may be negative. Conjugate gradients solve
// for the step to a hundredth, or more exactly where near, the decrement before, is small.
func (s *boundSearch) direction(near float64) (step []float64, decrement float64) {
	size := len(s.lambda)
	s.jacobian = s.search.Jacobian(s.variance, s.at)
	d, r, z, hq := make([]float64, size), scaled(s.slope, -1), make([]float64, size), make([]float64, size)
	s.precondition(z, r)
	q, rest := append([]float64(nil), z...), dot(r, z)
	if !(rest > 0) {
		return d, rest
	}
	end := max(1e-4*near, 1e-16) * rest
	for k := 0; k < conjugateLimit && rest > end; k++ {
		s.curve(hq, q)
		length := rest / dot(q, hq)
		floats.AddScaled(d, length, q)
		floats.AddScaled(r, -length, hq)
		s.precondition(z, r)
		last := rest
		rest = dot(r, z)
		floats.AddScaledTo(q, z, rest/last, q)
	}
	return d, -dot(s.slope, d)
}

// step moves along d, as far as that lowers D, and reports whether it does. A weight falls by a
// factor, so that it stays above 0.
func (s *boundSearch) step(d []float64, decrement float64) bool {
	from, next := append([]float64(nil), s.lambda...), make([]float64, len(d))
	dual := s.dual
	for length := 1.0; length > 1e-6; length /= 2 {
		for j, x := range d {
			if next[j] = from[j] + length*x; x < 0 {
				next[j] = from[j] * math.Exp(max(-mostFall, length*x/from[j]))
			}
		}
		s.share(next, next)
		s.diagnostics.Iterations++
		if s.evaluate(next) == nil && (decrement < 1e-6 || s.dual <= dual-1e-4*length*decrement) {
			return true
		}
	}
	return false
}

// end is the State of λ.
func (s *boundSearch) end() State {
	size := len(s.lambda)
	state := make(State, 2*size)
	for j, l := range s.lambda {
		s.w[j] = s.f[j] + s.variance[j]/2 - math.Log(l)
	}
	for i := range s.n {
		g := s.average(i, s.w)
		for j := i; j < size; j += s.n {
			l := s.lambda[j]
			state[j], state[size+j] = l, l-s.y[j]+l*(g-s.f[j])
		}
	}
	return state
}
