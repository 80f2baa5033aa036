package approx

import (
	"context"
	"math"
)

// conjugateSteps is how many steps of conjugate gradients the mode may take before factorisations
// look for it: what takes the time of one, and at least 500.
func conjugateSteps(n int) int { return max(500, n/4) }

// ascent is Newton's method for the mode of several classes, with steps that are solved for by
// conjugate gradients, a product with K each.
type ascent struct {
	*categories
	model     latentModel
	multiplyK func(dst, x []float64) // dst = K x, which share no memory
	near      preconditioner
	left      int // steps of conjugate gradients that it may still take
}

// preconditioner is B = I + Rᵀ K R of conjugate with a simpler matrix in place of K.
type preconditioner interface {
	// factorise makes it at π.
	factorise(pi []float64)
	// solve sets dst to its inverse times x, given D^½; where rounding leaves none that is x.
	solve(dst, x, root []float64)
}

// approach is that of approacher. It goes as near as the tolerance asks, or as rounding allows.
func (p *ascent) approach(
	ctx context.Context, at, next *point, start State, maxIterations int,
) (_, _ *point, iterations int, last float64, err error) {
	if start != nil {
		_, f, err := at.read(start)
		if err != nil {
			return nil, nil, 0, 0, err
		}
		copy(next.f, f)
		p.differentiate(next)
		p.linearise(next)
		p.conjugate(next, at, 0.1)
		copy(next.a, next.delta)
		if evaluate(p.model, next); next.psi > at.psi {
			at, next = next, at
		} else {
			evaluate(p.model, at)
		}
	}
	for last = math.Inf(1); iterations < maxIterations; iterations++ {
		if err := ctx.Err(); err != nil {
			return nil, nil, 0, 0, err
		}
		target, rounding := p.precision(at)
		short := max(target, min(rounding, unresolved)) / 2
		length := p.conjugate(at, next, short)
		if !(length > short) {
			last = 0 // what is left may be rounding: a shorter step is not to be expected
			break
		}
		if length <= 2*short && length > last/2 {
			break
		}
		climb(p.model, at, next, at.delta, at.kr, length*length) // K r has done its work
		at, next, last = next, at, length
		if p.left <= 0 {
			iterations++
			break
		}
	}
	return at, next, iterations, last, nil
}

// conjugate fills δ ≈ (I + W K)⁻¹ r. It returns √(rᵀKδ), or where that is at most the floor a bound
// on it, √(rᵀK r), and leaves K r in at. With
//
//	W = R Rᵀ,   R = D^½ (I - √π√πᵀ),   B = I + Rᵀ K R,   δ = r - R v,   B v = Rᵀ K r
//
// it is the method of conjugate gradients for v, preconditioned. The error of δ in posterior
// standard deviations is at most |ρ|, where ρ is the residual. It falls to a tenth of the step, and
// to a tenth of its square where that is less, as the next step will be of that order; or to the
// floor.
func (p *ascent) conjugate(at, scratch *point, floor float64) float64 {
	v, residual, z, d, kd, root := at.delta, scratch.r, scratch.g, scratch.delta, scratch.kr, scratch.w
	rd := p.b // free up to finish
	p.multiplyK(at.kr, at.r)
	clear(v)
	square0 := dot(at.r, at.kr)
	length := math.Sqrt(square0) // never below √(rᵀKδ)
	if length <= floor {
		return length
	}
	for j, pi := range at.w {
		root[j] = math.Sqrt(pi)
	}
	p.near.factorise(at.w)
	p.center(residual, at.kr, root)
	clear(d)
	taken, last := 0.0, math.Inf(1)
	for ; p.left > 0 && !(math.Sqrt(dot(residual, residual)) <= max(floor, length*min(1, length)/10)); p.left-- {
		p.near.solve(z, residual, root)
		square := dot(residual, z)
		for j, v := range z {
			d[j] = v + square/last*d[j]
		}
		p.uncenter(rd, d, root)
		p.multiplyK(kd, rd)
		p.center(kd, kd, root) // B d - d
		curvature := dot(d, d) + dot(d, kd)
		if !(curvature > 0) { // K has no more digits, or a negative eigenvalue, of which factorise knows
			clear(v)
			return 0
		}
		alpha := square / curvature
		for j, d := range d {
			v[j] += alpha * d
			residual[j] -= alpha * (d + kd[j])
		}
		taken, last = taken+alpha*square, square
		length = math.Sqrt(max(0, square0-taken))
	}
	p.uncenter(v, v, root)
	for j, r := range at.r {
		v[j] = r - v[j]
	}
	return math.Sqrt(math.Abs(dot(at.kr, v)))
}

// center sets dst = Rᵀ x, given D^½; dst may be x.
func (p *categories) center(dst, x, root []float64) {
	clear(p.z) // Σ_c π_c x_c
	for c := range p.classes {
		x := p.of(c, x)
		for i, r := range p.of(c, root) {
			p.z[i] += r * r * x[i]
		}
	}
	for c := range p.classes {
		dst, x := p.of(c, dst), p.of(c, x)
		for i, r := range p.of(c, root) {
			dst[i] = r * (x[i] - p.z[i])
		}
	}
}

// uncenter sets dst = R x, given D^½; dst may be x.
func (p *categories) uncenter(dst, x, root []float64) {
	clear(p.z) // Σ_c √π_c x_c
	for c := range p.classes {
		x := p.of(c, x)
		for i, r := range p.of(c, root) {
			p.z[i] += r * x[i]
		}
	}
	for c := range p.classes {
		dst, x := p.of(c, dst), p.of(c, x)
		for i, r := range p.of(c, root) {
			dst[i] = r * (x[i] - r*p.z[i])
		}
	}
}
