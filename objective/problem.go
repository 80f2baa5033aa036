package objective

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/optimize"
)

// Box bounds the free hyperparameters: Lo[i] < θ_i < Hi[i], both finite. A minimiser without bounds
// moves real numbers u_i instead,
//
//	θ_i = Lo_i + h_i (1 + sin(u_i/h_i)),   h_i = (Hi_i - Lo_i)/2
//
// so that f is smooth in u also where its maximum lies at an edge of the box, and there are no
// maxima outside the box.
type Box struct{ Lo, Hi []float64 }

// half is h_i.
func (b Box) half(i int) float64 { return (b.Hi[i] - b.Lo[i]) / 2 }

// Theta returns the free hyperparameters at u.
func (b Box) Theta(u []float64) []float64 {
	theta := make([]float64, len(u))
	for i, v := range u {
		theta[i] = b.Lo[i] + b.half(i)*(1+math.Sin(v/b.half(i)))
	}
	return theta
}

// U returns the u with Theta(u) = theta. A coordinate of theta outside the box, or nearer to an
// edge than a hundredth of the width, is first moved to that distance from the edge: at an edge all
// derivatives by u are 0.
func (b Box) U(theta []float64) []float64 {
	u := make([]float64, len(theta))
	for i, v := range theta {
		const most = 0.98
		u[i] = b.half(i) * math.Asin(max(-most, min(most, (v-b.Lo[i])/b.half(i)-1)))
	}
	return u
}

// Problem is the function u ↦ -f(b.Theta(u)) with its gradient, for gonum's minimisers. Grad is nil
// if the objective has none. A failed evaluation is +Inf, from which gonum's bisection steps back,
// with its cause in Fails. The minimisation stops at the end of the context, or after Limit
// evaluations.
//
// Set GradientThreshold of the optimize.Settings to 1e-4 nats or so, which the precision of the
// fits can reach. With gonum's default of 1e-12 its line searches stop finding lower values before
// that threshold is met, and most of its methods return that as an error. A box without interior,
// or with an edge that is not finite, panics.
func (r *Run) Problem(b Box) optimize.Problem {
	if len(b.Lo) != len(b.Hi) {
		panic(fmt.Sprintf("objective: a box of %d lower and %d upper edges", len(b.Lo), len(b.Hi)))
	}
	for i := range b.Lo {
		if h := b.half(i); !(h > 0) || math.IsInf(h, 0) {
			panic(fmt.Sprintf("objective: side %d (counted from 0) of the box is from %v to %v", i, b.Lo[i], b.Hi[i]))
		}
	}
	p := r.problem(b.Lo, b.Hi)
	value, gradient := p.Func, p.Grad
	p.Func = func(u []float64) float64 { return value(b.Theta(u)) }
	if gradient != nil {
		p.Grad = func(grad, u []float64) {
			gradient(grad, b.Theta(u))
			for i := range grad {
				grad[i] *= math.Cos(u[i] / b.half(i))
			}
		}
	}
	return p
}
