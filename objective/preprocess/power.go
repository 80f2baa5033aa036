package preprocess

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// Power is a transformation of an input by Box & Cox (1964), with the exponent λ and the shift c:
//
//	t(x) = ((x + c)^λ - 1) / λ     or, for λ = 0,     t(x) = log(x + c)
//
// Below the least training value the power may be undefined; there t is continued by its tangent.
type Power struct {
	Exponent float64 `json:"exponent"` // λ: -1, -½, 0, ½, or 1: x is not changed
	Shift    float64 `json:"shift"`    // c: 0, or the least value above 0 if one is 0
	Least    float64 `json:"least"`    // the least training value
}

// exponents are the values of λ that are tried in addition to 1, which does not change an input.
var exponents = []float64{-1, -0.5, 0, 0.5}

// needed is the least gain in log likelihood, in nats, over λ = 1: half of the 99 % quantile of a
// χ² variate with one degree of freedom.
const needed = 6.63 / 2

// steepest is the largest slope of the tangent at the least training value. With a larger slope,
// values below the least one could overflow.
const steepest = 1e100

// at is t(x).
func (p Power) at(x float64) float64 {
	if p.Exponent == 1 {
		return x
	}
	if x < p.Least {
		return p.at(p.Least) + p.slope()*(x-p.Least)
	}
	if p.Exponent == 0 {
		return math.Log(x + p.Shift)
	}
	return (math.Pow(x+p.Shift, p.Exponent) - 1) / p.Exponent
}

// slope is the slope of the tangent.
func (p Power) slope() float64 { return math.Pow(p.Least+p.Shift, p.Exponent-1) }

// of returns the x with this t(x).
func (p Power) of(t float64) float64 {
	switch least := p.at(p.Least); {
	case p.Exponent == 1:
		return t
	case t < least:
		return p.Least + (t-least)/p.slope()
	case p.Exponent == 0:
		return math.Exp(t) - p.Shift
	}
	return math.Pow(1+p.Exponent*t, 1/p.Exponent) - p.Shift
}

// check returns an error if a transformation from outside the program cannot be applied.
func (p Power) check() error {
	if p.Exponent == 1 {
		return nil
	}
	if !slices.Contains(exponents, p.Exponent) {
		return fmt.Errorf("exponent %v, want 1 or one of %v", p.Exponent, exponents)
	}
	if least := p.Least + p.Shift; !(least > 0) || math.IsInf(least, 0) {
		return errors.New("the least value and the shift must have a finite sum above 0")
	}
	return nil
}

// likeliest returns the power with the largest likelihood, if it gains at least needed in log
// likelihood over the values themselves; else the exponent 1. With the variance s² of the
// transformed values, and up to a constant,
//
//	log likelihood = -n log(s) + (λ - 1) Σ log(x + c)
func likeliest(column, weight []float64) Power {
	best := Power{Exponent: 1}
	sorted := slices.Sorted(slices.Values(column))
	least := sorted[0]
	if least < 0 || len(slices.Compact(slices.Clone(sorted))) < 3 {
		return best
	}
	shift := 0.0
	if least == 0 {
		shift = sorted[slices.IndexFunc(sorted, func(v float64) bool { return v > 0 })]
	}
	logs, n := 0.0, count(len(column), weight)
	for i, v := range column {
		logs += weightOf(weight, i) * math.Log(v+shift)
	}
	likelihood := func(values []float64, exponent float64) float64 {
		return (exponent-1)*logs - n*math.Log(deviation(values, weight, weightedMean(values, weight)))
	}
	most := likelihood(column, 1) + needed
	values := make([]float64, len(column))
	for _, exponent := range exponents {
		p := Power{exponent, shift, least}
		if !(p.slope() <= steepest) {
			continue
		}
		for i, v := range column {
			values[i] = p.at(v)
		}
		if l := likelihood(values, exponent); l > most {
			best, most = p, l
		}
	}
	return best
}
