package comparator

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// separator is the solution of the dual problem of a support vector machine, GPML 6.4, with β_i =
// y_i α_i:
//
//	maximise Σ_i y_i β_i - ½ Σ_ij β_i K_ij β_j  subject to  Σ_i β_i = 0,  0 ≤ y_i β_i ≤ C_i
//
// C_i = 0 leaves a case out: its output is then that of a machine trained on the others.
type separator struct {
	beta       []float64
	output     []float64 // f_i = Σ_j K_ij β_j + bias at the training cases
	bias       float64
	gap        float64 // by how much the optimality conditions are violated
	iterations int
}

// smo solves it by sequential minimal optimisation with the working sets of Fan, Chen and Lin
// (2005): i is the case of largest residual v = y - Kβ whose β can rise, j that of those whose β
// can fall with which the objective gains most. It stops when max v over the first kind less min v
// over the second, 0 at the solution, is at most tolerance, or after so many iterations. k is the
// whole of K; upper has the C_i.
func smo(ctx context.Context, k blas64.General, y, upper []float64, tolerance float64, limit int) (separator, error) {
	n := len(y)
	s := separator{beta: make([]float64, n)}
	lo, hi := make([]float64, n), make([]float64, n)
	v, diag := make([]float64, n), make([]float64, n)
	for i := range n {
		diag[i] = k.Data[i*k.Stride+i]
		v[i] = y[i]
		if y[i] > 0 {
			hi[i] = upper[i]
		} else {
			lo[i] = -upper[i]
		}
	}
	var top, bottom float64
	for ; ; s.iterations++ {
		if s.iterations%1024 == 0 && ctx.Err() != nil {
			return s, ctx.Err()
		}
		i, j := -1, -1
		top, bottom = math.Inf(-1), math.Inf(1)
		for t, b := range s.beta {
			if b < hi[t] && v[t] > top {
				i, top = t, v[t]
			}
		}
		best := 0.0
		for t, b := range s.beta {
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
		if s.gap = max(0, top-bottom); s.gap <= tolerance || j < 0 || s.iterations >= limit {
			break
		}
		ki, kj := k.Data[i*k.Stride:i*k.Stride+n], k.Data[j*k.Stride:j*k.Stride+n]
		step := (top - v[j]) / curvature(diag[i], diag[j], ki[j])
		if rise := hi[i] - s.beta[i]; step >= rise && rise <= s.beta[j]-lo[j] {
			step = rise
			s.beta[i] = hi[i]
			s.beta[j] = max(s.beta[j]-step, lo[j])
		} else if fall := s.beta[j] - lo[j]; step >= fall {
			step = fall
			s.beta[j] = lo[j]
			s.beta[i] = min(s.beta[i]+step, hi[i])
		} else {
			s.beta[i] += step
			s.beta[j] -= step
		}
		for t := range v {
			v[t] -= step * (ki[t] - kj[t])
		}
		if (s.iterations+1)%(rounds*n) == 0 {
			if err := ascend(ctx, k, s.beta, v, lo, hi); err != nil {
				return s, err
			}
		}
	}
	s.bias = threshold(s.beta, v, lo, hi, top, bottom)
	s.output = v
	for t := range v {
		s.output[t] = y[t] - v[t] + s.bias
	}
	return s, nil
}

// rounds is after how many iterations a case ascend takes its steps, again and again.
const rounds = 20

// ascend maximises the objective over the cases strictly between their bounds, all others held:
// steps of two cases at a time get nowhere where costs are large beside 1/K, as the maximum is a
// long narrow ridge then. A step goes to the maximum, or to where the first case meets its bound,
// which takes that case out of the next. A small ridge on K keeps the step an ascent where K is
// singular.
func ascend(ctx context.Context, k blas64.General, beta, v, lo, hi []float64) error {
	n := len(beta)
	var free []int
	for t, b := range beta {
		if lo[t] < b && b < hi[t] {
			free = append(free, t)
		}
	}
	for len(free) > 1 {
		if err := ctx.Err(); err != nil {
			return err
		}
		m := len(free)
		a, rhs, d := mat.NewSymDense(m, nil), mat.NewDense(m, 2, nil), mat.NewDense(m, 2, nil)
		trace := 0.0
		for p, i := range free {
			trace += k.Data[i*k.Stride+i]
			for q, j := range free[p:] {
				a.SetSym(p, p+q, k.Data[i*k.Stride+j])
			}
			rhs.SetRow(p, []float64{v[i], 1})
		}
		for p := range free {
			a.SetSym(p, p, a.At(p, p)+1e-10*trace)
		}
		var f mat.Cholesky
		if !f.Factorize(a) || f.SolveTo(d, rhs) != nil {
			return nil
		}
		move := mat.Sum(d.ColView(0)) / mat.Sum(d.ColView(1))
		length, blocked := 1.0, -1
		step := make([]float64, m)
		for p, i := range free {
			step[p] = d.At(p, 0) - move*d.At(p, 1)
			if most := (hi[i] - beta[i]) / step[p]; step[p] > 0 && most < length {
				length, blocked = most, p
			} else if most := (lo[i] - beta[i]) / step[p]; step[p] < 0 && most < length {
				length, blocked = most, p
			}
		}
		for p, i := range free {
			x := length * step[p]
			beta[i] = min(max(beta[i]+x, lo[i]), hi[i])
			if p == blocked {
				beta[i] = hi[i]
				if x < 0 {
					beta[i] = lo[i]
				}
			}
			for t, kt := range k.Data[i*k.Stride : i*k.Stride+n] {
				v[t] -= x * kt
			}
		}
		if blocked < 0 {
			return nil
		}
		free = append(free[:blocked], free[blocked+1:]...)
	}
	return nil
}

// curvature of the objective along a change of β_i and an opposite one of β_j; where it is flat,
// nearly 0.
func curvature(kii, kjj, kij float64) float64 {
	if c := kii + kjj - 2*kij; c > 0 {
		return c
	}
	return 1e-12
}

// threshold is the mean residual of the cases strictly between their bounds, on the margin, or
// where there are none the middle of what the conditions allow.
func threshold(beta, v, lo, hi []float64, top, bottom float64) float64 {
	sum, free := 0.0, 0
	for t, b := range beta {
		if lo[t] < b && b < hi[t] {
			sum += v[t]
			free++
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
