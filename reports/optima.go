package reports

import (
	"math"
	"slices"
)

// Optima sums up the restarts of a local optimiser: a log evidence may have many maxima.
type Optima struct {
	Restarts int
	Failed   int // without a finite value
	Distinct int // optima; values that differ by at most sameOptimum count as one
	AtBest   int // restarts that reached the best of them
	Lo, Hi   float64
}

// SameOptimum is far above the optimisers' tolerance and far below what matters in log evidence, in
// nats.
const SameOptimum = 1e-3

// Optima counts the distinct optima that the restarts reached.
func (c Configuration) Optima() Optima {
	o := Optima{Restarts: len(c.Restarts)}
	var ends []float64
	for _, r := range c.Restarts {
		if v := float64(r.Value); !math.IsNaN(v) && !math.IsInf(v, 0) {
			ends = append(ends, v)
		}
	}
	slices.Sort(ends)
	o.Failed = len(c.Restarts) - len(ends)
	for i, v := range ends {
		if i == 0 || v-ends[i-1] > SameOptimum {
			o.Distinct++
			o.AtBest = 0
		}
		o.AtBest++
	}
	if len(ends) > 0 {
		o.Lo, o.Hi = ends[0], ends[len(ends)-1]
	}
	return o
}
