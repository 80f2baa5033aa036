// Package param describes hyperparameters: their names, bounds, starting values, priors, and the
// transform between a value v in natural units, which a user writes, and θ, the number without
// bounds that optimisers move:
//
//	Log       θ = ln v            v > 0: an amplitude of 3.2 is θ = 1.163
//	Logit     θ = ln(v/(1 - v))   0 < v < 1
//	Identity  θ = v
//	Whole     θ = v             a whole number
//	Choice    θ = v             the number, from 0, of one of several values without an order
//	Stepped   θ = v             a number some steps above the least one
//
// It is the only place that takes the exponential or logarithm of θ. A Prior has the density p(v);
// over θ it is p(v) |dv/dθ|, so that a mode is one over θ.
//
// The package knows no kernel and no likelihood, and never holds the current value of a
// hyperparameter: θ is always an argument.
package param

import "math"

// Transform maps a hyperparameter between natural units and theta.
type Transform int

const (
	Log      Transform = iota // theta = ln v, v > 0
	Logit                     // theta = ln(v/(1-v)), 0 < v < 1
	Identity                  // theta = v
	Whole                     // theta = v, a whole number
	Choice                    // theta = v, a number of one of Spec.Choices, from 0
	Stepped                   // theta = v, one of Spec.Lo, Spec.Lo + Spec.Step, …
)

// Prefix is the prefix of a theta name before the natural name: "log_", "logit_" or nothing.
func (t Transform) Prefix() string {
	return [...]string{Log: "log_", Logit: "logit_", Stepped: ""}[t]
}

// Natural maps theta u to natural units.
func (t Transform) Natural(u float64) float64 {
	switch t {
	case Log:
		return math.Exp(u)
	case Logit:
		if u < 0 {
			e := math.Exp(u)
			return e / (1 + e)
		}
		return 1 / (1 + math.Exp(-u))
	}
	return u
}

// Theta maps a value in natural units to the unconstrained scale. A value outside the transform's
// domain gives NaN or an infinity; Setting.Check refuses it where the user wrote it.
func (t Transform) Theta(v float64) float64 {
	switch t {
	case Log:
		return math.Log(v)
	case Logit:
		return math.Log(v) - math.Log1p(-v)
	}
	return v
}

// Discrete reports whether only some numbers are values: a search moves from one to another, and no
// gradient leads it.
func (t Transform) Discrete() bool { return t.whole() || t == Stepped }

// whole reports whether all values are whole numbers.
func (t Transform) whole() bool { return t == Whole || t == Choice }

// domain describes the valid values in natural units.
var domain = [...]string{
	Log: "greater than 0", Logit: "between 0 and 1", Identity: "finite", Whole: "whole", Choice: "whole",
	Stepped: "finite",
}
