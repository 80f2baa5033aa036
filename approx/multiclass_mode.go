package approx

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// conjugateSteps is how many steps of conjugate gradients the mode may take before factorisations
// look for it: what takes the time of one, and at least 500.
func conjugateSteps(n int) int { return max(500, n/4) }

// approach implements approacher by Newton steps that are solved for by conjugate gradients, a
// product with K each. It goes as near as the tolerance asks, or as rounding allows.
func (p *multiclass) approach(
	ctx context.Context, at, next *point, start State, maxIterations int,
) (_, _ *point, iterations int, last float64, err error) {
	left, near := conjugateSteps(p.n), p.newPreconditioner()
	if start != nil {
		_, f, err := at.read(start)
		if err != nil {
			return nil, nil, 0, 0, err
		}
		copy(next.f, f)
		p.differentiate(next)
		p.linearise(next)
		p.conjugate(next, at, near, 0.1, &left)
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
		length := p.conjugate(at, next, near, short, &left)
		if !(length > short) {
			last = 0 // what is left may be rounding: a shorter step is not to be expected
			break
		}
		if length <= 2*short && length > last/2 {
			break
		}
		climb(p, at, next, at.delta, at.kr, length*length) // K r has done its work
		at, next, last = next, at, length
		if left <= 0 {
			iterations++
			break
		}
	}
	return at, next, iterations, last, nil
}

// conjugate fills δ ≈ (I + W K)⁻¹ r. It returns √(rᵀKδ), or where that is at most the floor a bound
// on it, √(rᵀK r), and leaves K r in at. For every step it takes one off left. With
//
//	W = R Rᵀ,   R = D^½ (I - √π√πᵀ),   B = I + Rᵀ K R,   δ = r - R v,   B v = Rᵀ K r
//
// it is the method of conjugate gradients for v, preconditioned. The error of δ in posterior
// standard deviations is at most |ρ|, where ρ is the residual. It falls to a tenth of the step, and
// to a tenth of its square where that is less, as the next step will be of that order; or to the
// floor.
func (p *multiclass) conjugate(at, scratch *point, near *preconditioner, floor float64, left *int) float64 {
	v, residual, z, d, kd, root := at.delta, scratch.r, scratch.g, scratch.delta, scratch.kr, scratch.w
	rd := p.b // free up to finish
	p.multiplyK(at.r, 0, at.kr)
	clear(v)
	square0 := dot(at.r, at.kr)
	length := math.Sqrt(square0) // never below √(rᵀKδ)
	if length <= floor {
		return length
	}
	for j, pi := range at.w {
		root[j] = math.Sqrt(pi)
	}
	near.factorise(at.w)
	p.center(residual, at.kr, root)
	clear(d)
	taken, last := 0.0, math.Inf(1)
	for ; *left > 0 && !(math.Sqrt(dot(residual, residual)) <= max(floor, length*min(1, length)/10)); *left-- {
		near.solve(z, residual, root)
		square := dot(residual, z)
		for j, v := range z {
			d[j] = v + square/last*d[j]
		}
		p.uncenter(rd, d, root)
		p.multiplyK(rd, 0, kd)
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
func (p *multiclass) center(dst, x, root []float64) {
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
func (p *multiclass) uncenter(dst, x, root []float64) {
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

// preconditioner is B with V Vᵀ in place of K, where V, n×r, has r columns of K's Cholesky factor
// with pivots:
//
//	(I + Rᵀ V Vᵀ R)⁻¹ = I - Rᵀ V (I + Vᵀ W V)⁻¹ Vᵀ R
//
// At r = 40 it takes a third of the steps, on 1200 digits. It lies in memory of the factors that
// are made at the mode.
type preconditioner struct {
	*multiclass
	rank, size int              // r and Cr
	v          []blas64.General // one per covariance
	weighted   blas64.General   // n×Cr, D_c V_c side by side
	inner      blas64.Symmetric
	factor     blas64.Triangular // of I + VᵀWV
	ok         bool              // whether rounding leaves one
	t          []float64         // Cr
}

// newPreconditioner makes V. A pivot is the case that the columns before explain the least.
func (p *multiclass) newPreconditioner() *preconditioner {
	n, rank := p.n, min(16+p.n/(8*p.classes), p.n/p.classes)
	size := p.classes * rank
	s := &preconditioner{
		multiclass: p, rank: rank, size: size, t: p.m.Data[:size],
		weighted: blas64.General{Rows: n, Cols: size, Stride: max(1, size), Data: p.u[1].Data[:n*size]},
		inner:    blas64.Symmetric{Uplo: blas.Upper, N: size, Stride: max(1, size), Data: p.u[2].Data[:size*size]},
	}
	rest := make([]float64, n)
	for q, k := range p.k {
		v := blas64.General{Rows: n, Cols: rank, Stride: max(1, rank), Data: p.u[0].Data[q*n*rank : (q+1)*n*rank]}
		for i := range rest {
			rest[i] = k.Data[i*k.Stride+i]
		}
		for r := range rank {
			pivot := floats.MaxIdx(rest)
			scale := 0.0
			if d := rest[pivot]; d > 0 {
				scale = 1 / math.Sqrt(d)
			}
			own := v.Data[pivot*rank : pivot*rank+r]
			for i := range rest {
				row := v.Data[i*rank : i*rank+r+1]
				row[r] = (k.Data[min(i, pivot)*k.Stride+max(i, pivot)] - dot(row[:r], own)) * scale
				rest[i] -= row[r] * row[r]
			}
		}
		s.v = append(s.v, v)
	}
	return s
}

// factorise makes the factor at π.
func (s *preconditioner) factorise(pi []float64) {
	if s.size == 0 {
		return
	}
	for c := range s.classes {
		v := share(s.v, c)
		for i, w := range s.of(c, pi) {
			to := s.weighted.Data[i*s.size+c*s.rank:]
			for j, x := range v.Data[i*s.rank : (i+1)*s.rank] {
				to[j] = w * x
			}
		}
	}
	linalg.Syrk(blas.Trans, -1, s.weighted, 0, s.inner)
	for c := range s.classes {
		own := s.inner
		own.N, own.Data = s.rank, s.inner.Data[c*s.rank*(s.size+1):]
		linalg.SyrkDiag(blas.Trans, 1, share(s.v, c), s.of(c, pi), 1, own)
	}
	for j := range s.size {
		s.inner.Data[j*(s.size+1)]++
	}
	s.factor, s.ok = linalg.Cholesky(s.inner)
}

// solve sets dst to the preconditioner's inverse times x, given D^½; without a factor that is x.
func (s *preconditioner) solve(dst, x, root []float64) {
	if !s.ok {
		copy(dst, x)
		return
	}
	s.uncenter(dst, x, root)
	sharing := s.classes / len(s.v)
	for j, v := range s.v {
		rows, t := s.rows(dst, j*sharing, sharing), s.inners(j*sharing, sharing)
		linalg.Gemm(blas.NoTrans, blas.NoTrans, 1, rows, v, 0, t)
	}
	linalg.SolveTriVec(blas.Trans, s.factor, s.t)
	linalg.SolveTriVec(blas.NoTrans, s.factor, s.t)
	for j, v := range s.v {
		rows, t := s.rows(dst, j*sharing, sharing), s.inners(j*sharing, sharing)
		linalg.Gemm(blas.NoTrans, blas.Trans, 1, t, v, 0, rows)
	}
	s.center(dst, dst, root)
	for j, v := range x {
		dst[j] = v - dst[j]
	}
}

// rows has a row for each of some classes, and inners a row of t.
func (s *preconditioner) rows(x []float64, from, classes int) blas64.General {
	return blas64.General{Rows: classes, Cols: s.n, Stride: s.n, Data: x[from*s.n : (from+classes)*s.n]}
}

func (s *preconditioner) inners(from, classes int) blas64.General {
	return blas64.General{Rows: classes, Cols: s.rank, Stride: s.rank, Data: s.t[from*s.rank : (from+classes)*s.rank]}
}
