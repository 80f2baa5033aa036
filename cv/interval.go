package cv

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Estimate is the value of a score on a sample of cases, with its 95 % confidence interval for
// random samples of cases. Lo and Hi are NaN if there is no interval.
type Estimate struct{ Value, Lo, Hi float64 }

func withoutInterval(value float64) Estimate { return Estimate{value, math.NaN(), math.NaN()} }

// z95 is the 97.5 % quantile of the standard normal, 1.95996…
var z95 = distuv.UnitNormal.Quantile(0.975)

// rowsOf is some rows, with a value each.
type rowsOf struct {
	v      []float64
	cases  []int
	weight []float64 // nil: 1 each
}

// estimate is the mean with its normal 95 % interval, where cases are independent.
func (s rowsOf) estimate() Estimate {
	m := stat.Mean(s.v, s.weight)
	return normal(m, math.Sqrt(s.variance(m)))
}

func normal(value, standardError float64) Estimate {
	return Estimate{value, value - z95*standardError, value + z95*standardError}
}

// known reports whether every value is finite; an infinite value is only a bound.
func known(rows []float64) bool {
	return !slices.ContainsFunc(rows, func(v float64) bool { return math.IsInf(v, 0) })
}

// variance estimates the variance of the mean if the G cases are independent but the rows of one
// case are not:
//
//	G/(G-1) Σ_g (Σ_{i in g} w_i (v_i - mean))² / (Σ w_i)²,
//
// Without weights this is s²/m if every row is its own case. If all cases have the same number of
// rows, it equals the variance computed from the means per case. It is NaN for a single case.
func (s rowsOf) variance(mean float64) float64 {
	// index of a case in sums; cases are in order of first appearance
	place := make(map[int]int, len(s.cases))
	var sums []float64
	m := float64(len(s.v))
	if s.weight != nil {
		m = floats.Sum(s.weight)
	}
	for i, c := range s.cases {
		g, seen := place[c]
		if !seen {
			g = len(sums)
			place[c] = g
			sums = append(sums, 0)
		}
		d := s.v[i] - mean
		if s.weight != nil {
			d *= s.weight[i]
		}
		sums[g] += d
	}
	if len(sums) < 2 {
		return math.NaN()
	}
	ss := 0.0
	for _, d := range sums {
		ss += d * d
	}
	g := float64(len(sums))
	return g / (g - 1) * ss / (m * m)
}

// growing is a sample to which rows are added, with its mean and the terms of meanVariance, at a
// constant cost per row. Let d_g be Σ_{i in g} w_i (v_i - mean) and m_g the weight of the rows of
// case g, without weights the number of these rows. If the mean grows by δ, every d_g falls by m_g
// δ.
type growing struct {
	rows       int
	weight     float64 // sum over the rows
	uneven     bool    // a row has another weight than 1
	sum, mean  float64
	dd, dm, mm float64 // Σ_g d_g², Σ_g d_g m_g, Σ_g m_g²
	cases      map[int]ofCase
}

// ofCase sums the rows of one case.
type ofCase struct{ weight, sum float64 }

// add adds a row of weight w.
func (s *growing) add(of int, v, w float64) {
	s.rows++
	s.weight += w
	s.uneven = s.uneven || w != 1
	s.sum += w * v
	before := s.mean
	s.mean = s.sum / s.weight
	shift := s.mean - before
	s.dd += shift * (shift*s.mm - 2*s.dm)
	s.dm -= shift * s.mm
	c := s.cases[of]
	d, more := c.sum-c.weight*s.mean, w*(v-s.mean)
	s.dd += more * (2*d + more)
	s.dm += w*d + (c.weight+w)*more
	s.mm += w * (2*c.weight + w)
	s.cases[of] = ofCase{c.weight + w, c.sum + w*v}
}

// effective is Kish's effective number of cases, as in Predictions: without weights the number of
// cases.
func (s *growing) effective() float64 {
	if !s.uneven {
		return float64(len(s.cases))
	}
	return s.weight * s.weight / s.mm
}

// interval is the normal 95 % interval of the mean over cases; NaN for a single case.
func (s *growing) interval() (lo, hi float64) {
	g, m := float64(len(s.cases)), s.weight
	if g < 2 {
		return math.NaN(), math.NaN()
	}
	e := normal(s.mean, math.Sqrt(g/(g-1)*max(s.dd, 0)/(m*m)))
	return e.Lo, e.Hi
}

// distinct counts the cases.
func distinct(cases []int) int {
	seen := make(map[int]bool, len(cases))
	for _, c := range cases {
		seen[c] = true
	}
	return len(seen)
}

// wilson is Wilson's score interval for a rate p observed on n cases: all π with |p - π| ≤ z
// √(π(1-π)/n). They are the roots of (n+z²) π² - (2np+z²) π + np² = 0; the lower one is taken from
// the product of the two, which does not cancel and is exactly 0 at p = 0, the upper one by
// symmetry.
func wilson(p, n float64) (lo, hi float64) {
	lower := func(p float64) float64 {
		z2 := z95 * z95
		larger := (2*n*p + z2 + math.Sqrt(z2*(z2+4*n*p*(1-p)))) / (2 * (n + z2))
		return n * p * p / ((n + z2) * larger)
	}
	return lower(p), 1 - lower(1-p)
}
