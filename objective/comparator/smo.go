package comparator

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// separator is the solution of the dual problem of a support vector machine, GPML 6.4, with
// β_i = y_i α_i:
//
//	maximise Σ_i y_i β_i - ½ Σ_ij β_i K_ij β_j  subject to  Σ_i β_i = 0,  0 ≤ y_i β_i ≤ C_i
//
// C_i = 0 leaves case i out: its output is then from a machine trained on the others.
type separator struct {
	beta       []float64
	output     []float64 // f_i = Σ_j K_ij β_j + bias at the training cases
	bias       float64
	gap        float64 // violation of the optimality conditions, see smo
	converged  bool
	iterations int
}

// smo solves the dual problem by sequential minimal optimisation with the working sets of Fan, Chen
// and Lin (2005). Case i has the largest residual v = y - Kβ among the cases whose β can rise. Case
// j, among the cases whose β can fall, gives the objective the largest gain. The gap is max v over
// the cases whose β can rise less min v over the cases whose β can fall. It is 0 at the solution.
// smo stops when the gap is at most tolerance or the rounding error of v, or after limit
// iterations. k is the whole of K; upper has the C_i. For another order of the cases the outputs
// differ by a few times the tolerance.
func smo(
	ctx context.Context, k blas64.General, y, upper []float64, tolerance float64, limit int,
) (separator, error) {
	n := len(y)
	v := func() []float64 { return make([]float64, n) }
	d := &dual{k: k, beta: v(), lo: v(), hi: v(), v: v(), diag: v()}
	for i := range n {
		d.diag[i] = k.Data[i*k.Stride+i]
		d.v[i] = y[i]
		if y[i] > 0 {
			d.hi[i] = upper[i]
		} else {
			d.lo[i] = -upper[i]
		}
	}
	s, rounding := separator{beta: d.beta, output: d.v}, 0.0
	for ; ; s.iterations++ {
		if s.iterations%n == 0 {
			rounding = d.rounding()
		}
		if s.iterations%1024 == 0 && ctx.Err() != nil {
			return s, ctx.Err()
		}
		i, j := d.pair()
		s.gap = max(0, d.top-d.bottom)
		s.converged = s.gap <= max(tolerance, rounding)
		if s.converged || j < 0 || s.iterations >= limit {
			break
		}
		d.exchange(i, j)
		if (s.iterations+1)%(rounds*n) == 0 {
			if err := d.ascend(ctx); err != nil {
				return s, err
			}
		}
	}
	s.bias = d.threshold()
	for t, v := range d.v {
		s.output[t] = y[t] - v + s.bias
	}
	return s, nil
}

// dual is the state of smo.
type dual struct {
	k           blas64.General
	diag        []float64 // of K
	lo, hi      []float64 // bounds of β
	beta        []float64
	v           []float64 // the residual y - Kβ
	top, bottom float64   // max v where β can rise, min v where β can fall
}

// pair returns the next working set, or -1 if there is none.
func (d *dual) pair() (i, j int) {
	i, j = -1, -1
	top, bottom, v := math.Inf(-1), math.Inf(1), d.v
	for t, b := range d.beta {
		if b < d.hi[t] && v[t] > top {
			i, top = t, v[t]
		}
	}
	best, k, lo, diag := 0.0, d.k, d.lo, d.diag
	for t, b := range d.beta {
		if !(b > lo[t]) {
			continue
		}
		bottom = min(bottom, v[t])
		if rise := top - v[t]; rise > 0 {
			if gain := rise * rise / curvature(diag[i], diag[t], k.Data[i*k.Stride+t]); gain > best {
				j, best = t, gain
			}
		}
	}
	d.top, d.bottom = top, bottom
	return i, j
}

// rounding is an estimate of the rounding error of v, whose terms K_ij β_j are at most √(K_ii K_jj)
// |β_j|.
func (d *dual) rounding() float64 {
	const ulps = 16 * 0x1p-52
	largest, sum := 0.0, 0.0
	for j, b := range d.beta {
		root := math.Sqrt(max(d.diag[j], 0))
		largest, sum = max(largest, root), sum+root*math.Abs(b)
	}
	return ulps * largest * sum
}

// exchange raises β_i and lowers β_j by the same amount, to the maximum or the first bound.
func (d *dual) exchange(i, j int) {
	n, k, beta := len(d.beta), d.k, d.beta
	ki, kj := k.Data[i*k.Stride:i*k.Stride+n], k.Data[j*k.Stride:j*k.Stride+n]
	step := (d.top - d.v[j]) / curvature(d.diag[i], d.diag[j], ki[j])
	if rise := d.hi[i] - beta[i]; step >= rise && rise <= beta[j]-d.lo[j] {
		step = rise
		beta[i] = d.hi[i]
		beta[j] = max(beta[j]-step, d.lo[j])
	} else if fall := beta[j] - d.lo[j]; step >= fall {
		step = fall
		beta[j] = d.lo[j]
		beta[i] = min(beta[i]+step, d.hi[i])
	} else {
		beta[i] += step
		beta[j] -= step
	}
	v := d.v
	for t := range v {
		v[t] -= step * (ki[t] - kj[t])
	}
}

// curvature is the curvature of the objective if β_i rises and β_j falls equally; if this is 0, a
// small number.
func curvature(kii, kjj, kij float64) float64 {
	if c := kii + kjj - 2*kij; c > 0 {
		return c
	}
	return 1e-12
}

// rounds is the number of iterations per case between two calls of ascend.
const rounds = 20

// ascend maximises the objective over the cases strictly between their bounds, with the others
// fixed. It is needed where costs are much larger than 1/K: the maximum is then on a long narrow
// ridge, along which steps of two cases make little progress. A step goes to the maximum, or until
// the first case meets its bound; that case is left out of the next step.
func (d *dual) ascend(ctx context.Context) error {
	for free := d.free(); len(free) > 1; {
		if err := ctx.Err(); err != nil {
			return err
		}
		step, ok := d.newton(free)
		if !ok {
			return nil
		}
		length, blocked := 1.0, -1
		for p, i := range free {
			if most := (d.hi[i] - d.beta[i]) / step[p]; step[p] > 0 && most < length {
				length, blocked = most, p
			} else if most := (d.lo[i] - d.beta[i]) / step[p]; step[p] < 0 && most < length {
				length, blocked = most, p
			}
		}
		for p, i := range free {
			x := length * step[p]
			d.beta[i] = min(max(d.beta[i]+x, d.lo[i]), d.hi[i])
			if p == blocked {
				d.beta[i] = d.hi[i]
				if x < 0 {
					d.beta[i] = d.lo[i]
				}
			}
			for t, kt := range d.k.Data[i*d.k.Stride : i*d.k.Stride+len(d.v)] {
				d.v[t] -= x * kt
			}
		}
		if blocked < 0 {
			return nil
		}
		free = append(free[:blocked], free[blocked+1:]...)
	}
	return nil
}

// free lists the cases strictly between their bounds.
func (d *dual) free() (free []int) {
	for t, b := range d.beta {
		if d.lo[t] < b && b < d.hi[t] {
			free = append(free, t)
		}
	}
	return free
}

// newton is the step to the maximum over the free cases, of sum 0. A small ridge on K keeps it an
// ascent where K is singular; false if that is not enough.
func (d *dual) newton(free []int) (step []float64, ok bool) {
	m := len(free)
	a, rhs, x := mat.NewSymDense(m, nil), mat.NewDense(m, 2, nil), mat.NewDense(m, 2, nil)
	trace := 0.0
	for p, i := range free {
		trace += d.k.Data[i*d.k.Stride+i]
		for q, j := range free[p:] {
			a.SetSym(p, p+q, d.k.Data[i*d.k.Stride+j])
		}
		rhs.SetRow(p, []float64{d.v[i], 1})
	}
	for p := range free {
		a.SetSym(p, p, a.At(p, p)+1e-10*trace)
	}
	var f mat.Cholesky
	if !f.Factorize(a) || f.SolveTo(x, rhs) != nil {
		return nil, false
	}
	move := mat.Sum(x.ColView(0)) / mat.Sum(x.ColView(1))
	step = make([]float64, m)
	for p := range step {
		step[p] = x.At(p, 0) - move*x.At(p, 1)
	}
	return step, true
}

// threshold is the bias: the mean residual of the cases strictly between their bounds, which are on
// the margin. If there are none, it is the middle of the interval that the optimality conditions
// allow. A β that differs from its bound by rounding error counts as at the bound.
func (d *dual) threshold() float64 {
	const rounding = 1e-9 // relative to the distance between the bounds
	free, sum, top, bottom := 0, 0.0, math.Inf(-1), math.Inf(1)
	for t, v := range d.v {
		edge := rounding * (d.hi[t] - d.lo[t])
		rises, falls := d.beta[t] < d.hi[t]-edge, d.beta[t] > d.lo[t]+edge
		switch {
		case rises && falls:
			free++
			sum += v
		case rises:
			top = max(top, v)
		case falls:
			bottom = min(bottom, v)
		}
	}
	switch {
	case free > 0:
		return sum / float64(free)
	case math.IsInf(top, 0):
		return bottom
	case math.IsInf(bottom, 0):
		return top
	}
	return (top + bottom) / 2
}
