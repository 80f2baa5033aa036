package reports

import (
	"math"
	"slices"
)

// Optima summarises the restarts of a local optimiser; a log evidence may have several maxima.
type Optima struct {
	Restarts int
	Failed   int // restarts without a finite value
	Distinct int // number of optima; values that differ by at most SameOptimum count as equal
	AtBest   int // number of restarts that reached the best optimum
	Lo, Hi   float64
	Second   float64 // the second best optimum, if there are two
}

// SameOptimum is far above the tolerance of the optimisers and far below relevant differences of
// log evidence, in nats.
const SameOptimum = 1e-3

// Starts returns the restarts. If another inference method tunes from their best optimum, its
// restart is left out.
func (c Configuration) Starts() (out []Restart) {
	for _, r := range c.Restarts {
		if r.Preliminary != "" {
			out = append(out, r)
		}
	}
	if out == nil {
		return c.Restarts
	}
	return out
}

// Optima counts the distinct optima that the restarts reached. Only restarts with the same choices
// as the best one count.
func (c Configuration) Optima() Optima {
	restarts, highest := slices.Clone(c.Starts()), math.Inf(-1)
	var best Values
	for _, r := range restarts {
		if v := float64(r.Value); v > highest && !math.IsInf(v, 0) {
			highest, best = v, choices(r.Start)
		}
	}
	if best != nil {
		restarts = slices.DeleteFunc(restarts, func(r Restart) bool { return !slices.Equal(choices(r.Start), best) })
	}
	o := Optima{Restarts: len(restarts)}
	var ends []float64
	for _, r := range restarts {
		if v := float64(r.Value); !math.IsNaN(v) && !math.IsInf(v, 0) {
			ends = append(ends, v)
		}
	}
	slices.Sort(ends)
	o.Failed = len(restarts) - len(ends)
	for i, v := range ends {
		if i == 0 || v-ends[i-1] > SameOptimum {
			o.Distinct++
			o.AtBest = 0
			o.Second = ends[max(0, i-1)]
		}
		o.AtBest++
	}
	if len(ends) > 0 {
		o.Lo, o.Hi = ends[0], ends[len(ends)-1]
	}
	return o
}

// choices returns the values that are choices, not numbers.
func choices(v Values) (all Values) {
	for _, n := range v {
		if n.Text != "" {
			all = append(all, n)
		}
	}
	return all
}
