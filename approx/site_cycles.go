package approx

import (
	"math"
	"slices"
)

// cycleDetector records the movement of the sites.
type cycleDetector struct {
	from, last        State     // the sites at the start of a window and now
	path              []float64 // distance covered by each number of the state since then
	nearest, previous float64   // the smallest distance from a fixed point in this window and in the previous one
	iterations        float64   // weighted by their damping
}

// window is the number of undamped iterations per window.
const window = 10

func newCycleDetector(s State) *cycleDetector {
	return &cycleDetector{
		from: slices.Clone(s), last: slices.Clone(s), path: make([]float64, len(s)),
		nearest: math.Inf(1), previous: math.Inf(1),
	}
}

// found records an iteration and reports, at the end of a window, whether the sites cycled: they
// came no nearer to a fixed point, and the path was at least twice as long as the displacement, in
// units of the marginal standard deviations, with variances sigma. Sites that move steadily in one
// direction, as with wide priors for dozens of iterations, come no nearer either but do not cycle.
func (c *cycleDetector) found(state State, sigma []float64, distance, damping float64) bool {
	for j, s := range state {
		c.path[j] += math.Abs(s - c.last[j])
	}
	copy(c.last, state)
	c.nearest = min(c.nearest, distance)
	if c.iterations += damping; c.iterations < window {
		return false
	}
	var path, progress float64
	n := len(sigma)
	for i, v := range sigma {
		path += c.path[i]*v + c.path[n+i]*math.Sqrt(v)
		progress += math.Abs(c.from[i]-c.last[i])*v + math.Abs(c.from[n+i]-c.last[n+i])*math.Sqrt(v)
	}
	stuck := c.nearest > 0.8*c.previous && path > 2*progress
	copy(c.from, state)
	clear(c.path)
	c.nearest, c.previous, c.iterations = math.Inf(1), c.nearest, 0
	return stuck
}
