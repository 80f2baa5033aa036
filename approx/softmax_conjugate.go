package approx

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/approx/prior"
)

// conjugateSteps is the maximum number of steps of conjugate gradients for the mode before
// factorisations are used: about the cost of one factorisation, and at least 500.
func conjugateSteps(n int) int { return max(500, n/4) }

// approach implements preconditionedModel: it is Newton's method with steps solved by conjugate
// gradients, each with one product with K, to the tolerance, or as far as rounding allows.
func (p *categories) approach(
	ctx context.Context, at, next *point, start State, maxIterations int,
) (_, _ *point, iterations int, last float64, err error) {
	left, near := conjugateSteps(p.n), newPreconditioner(p)
	if start != nil {
		_, f, err := at.read(start)
		if err != nil {
			return nil, nil, 0, 0, err
		}
		copy(next.f, f)
		p.differentiate(next)
		p.linearise(next)
		near.conjugate(next, at, 0.1, &left)
		copy(next.a, next.delta)
		if evaluate(p, next); next.psi > at.psi {
			at, next = next, at
		} else {
			evaluate(p, at)
		}
	}
	for last = math.Inf(1); iterations < maxIterations; iterations++ {
		if err := ctx.Err(); err != nil {
			return nil, nil, 0, 0, err
		}
		target, rounding := p.precision(at)
		short := max(target, min(rounding, unresolved)) / 2
		length := near.conjugate(at, next, short, &left)
		if !(length > short) {
			last = 0 // the rest may be rounding error: do not expect shorter steps
			break
		}
		if length <= 2*short && length > last/2 {
			break
		}
		climb(p, at, next, at.delta, at.kr, length*length) // K r is not needed any more
		at, next, last = next, at, length
		if left <= 0 {
			iterations++
			break
		}
	}
	return at, next, iterations, last, nil
}

// preconditioner is the matrix B = I + Rᵀ K R of conjugate with a similar prior K̃ in the place of
// K. Its inverse is I - Rᵀ K̃ (I + W K̃)⁻¹ R.
type preconditioner struct {
	*categories
	near prior.Preconditioner
	ok   bool // false if rounding prevents the factorisation: then it is I
	rx   []float64
}

func newPreconditioner(p *categories) *preconditioner {
	return &preconditioner{categories: p, near: p.prior.Preconditioner(), rx: make([]float64, len(p.b))}
}

// solve sets dst to the inverse times x, given D^½.
func (p *preconditioner) solve(dst, x, root []float64) {
	if !p.ok {
		copy(dst, x)
		return
	}
	p.uncenter(p.rx, x, root)
	p.near.Covariance(dst, p.rx)
	p.center(dst, dst, root)
	for j, v := range x {
		dst[j] = v - dst[j]
	}
}

// conjugate fills δ ≈ (I + W K)⁻¹ r. It returns √(rᵀKδ), or if that is at most the floor an upper
// bound, √(rᵀK r), and sets K r in at. With
//
//	W = R Rᵀ,   R = D^½ (I - √π√πᵀ),   B = I + Rᵀ K R,   δ = r - R v,   B v = Rᵀ K r
//
// it is the method of conjugate gradients for v, preconditioned. The error of δ in posterior
// standard deviations is at most |ρ|, where ρ is the residual. Iteration stops at a tenth of the
// step, at a tenth of its square if that is less, since the next step will be of that order, or at
// the floor.
func (p *preconditioner) conjugate(at, scratch *point, floor float64, left *int) float64 {
	v, residual, z, d, kd, root := at.delta, scratch.r, scratch.g, scratch.delta, scratch.kr, scratch.w
	rd := p.b // not in use before finish
	p.multiply(at.kr, at.r)
	clear(v)
	square0 := dot(at.r, at.kr)
	length := math.Sqrt(square0) // never below √(rᵀKδ)
	if length <= floor {
		return length
	}
	for j, pi := range at.w {
		root[j] = math.Sqrt(pi)
	}
	p.ok = p.near.Factorise(at.w)
	p.center(residual, at.kr, root)
	clear(d)
	taken, last := 0.0, math.Inf(1)
	for ; *left > 0 && !(math.Sqrt(dot(residual, residual)) <= max(floor, length*min(1, length)/10)); *left-- {
		p.solve(z, residual, root)
		square := dot(residual, z)
		for j, v := range z {
			d[j] = v + square/last*d[j]
		}
		p.uncenter(rd, d, root)
		p.multiply(kd, rd)
		p.center(kd, kd, root) // B d - d
		curvature := dot(d, d) + dot(d, kd)
		// Rounding errors dominate, or K has a negative eigenvalue, which factorise will report.
		if !(curvature > 0) {
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

// normalise divides z by the weights, if there are any.
func (p *categories) normalise(z []float64) {
	if p.weight != nil {
		floats.Div(z, p.weight)
	}
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
	p.normalise(p.z)
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
	p.normalise(p.z)
	for c := range p.classes {
		dst, x := p.of(c, dst), p.of(c, x)
		for i, r := range p.of(c, root) {
			dst[i] = r * (x[i] - r*p.z[i])
		}
	}
}
