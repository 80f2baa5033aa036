package objective

import (
	"math"
	"slices"
)

// The evidence may rise with an amplitude without end, ever more slowly, as where the classes can be
// separated: as ln σ goes to infinity it comes near to the evidence of a likelihood that is a step.
// Where a climb ends is then a matter of its last step. So the estimate of such an amplitude is the
// smallest one above which the criterion gains less than plateau for a factor of e: the maximum of
//
//	f(θ) - plateau·ln σ
//
// over all hyperparameters. It does not depend on the way there.

// plateau is a slope in nats for a unit of ln σ, below which a criterion does not determine the
// amplitude σ.
const plateau = 0.01

// undetermined is the standard error of ln σ from which on, by the curvature of a criterion, an
// amplitude σ is not determined: a factor of e away from the maximum f is then less than plateau/2
// lower.
const undetermined = 10

// doubtful is the variance of ln σ, by an estimate of the curvature, from which on it is tried
// whether an amplitude is determined.
const doubtful = undetermined * undetermined / 4

// amplitudes are the free amplitudes.
func (c *climb) amplitudes() (amplitudes []int) {
	for i, p := range c.objective.Layout.FreeSpecs() {
		if p.Component() == "amplitude" && !p.Map.Discrete() {
			amplitudes = append(amplitudes, i)
		}
	}
	return amplitudes
}

// findFlat finds the amplitudes that the criterion does not determine at the best point: one by one
// or, where there is none of these, all together. It takes one evaluation for each that the
// estimated curvature leaves in doubt. The error is the end of the context.
func (c *climb) findFlat() error {
	if c.flat != nil || c.best.gradient == nil || c.objective.guesses(c.best.value) {
		return nil
	}
	var tried []int
	for _, i := range c.amplitudes() {
		if c.inverse == nil || c.inverse.At(i, i) > doubtful || c.hardlyMoved(i) {
			tried = append(tried, i)
		}
	}
	for _, i := range tried {
		if flat, err := c.isFlat([]int{i}); err != nil {
			return err
		} else if flat {
			c.flat = append(c.flat, i)
		}
	}
	if c.flat == nil && len(tried) > 1 {
		if flat, err := c.isFlat(tried); err != nil {
			return err
		} else if flat {
			c.flat = tried
		}
	}
	return nil
}

// hardlyMoved reports that the path tells little of the curvature along a hyperparameter.
func (c *climb) hardlyMoved(i int) bool {
	lo, hi := c.best.free[i], c.best.free[i]
	for _, s := range c.path {
		lo, hi = min(lo, s.Theta[i]), max(hi, s.Theta[i])
	}
	return hi-lo < 0.5
}

// isFlat reports whether the criterion has a slope below plateau along some amplitudes together,
// and is hardly lower a factor of e further up, or at a bound further down, but lower where the
// amplitudes are at their least: else they do not matter at all.
func (c *climb) isFlat(amplitudes []int) (bool, error) {
	slope, step := 0.0, 1.0
	for _, i := range amplitudes {
		slope += c.best.gradient[i]
		if c.best.free[i]+1 > c.hi[i] {
			step = -1
		}
	}
	if math.Abs(slope) > plateau || c.Evaluations+2 > c.Limit {
		return false, nil
	}
	beside, off := slices.Clone(c.best.free), slices.Clone(c.best.free)
	for _, i := range amplitudes {
		beside[i], off[i] = beside[i]+step, c.lo[i]
	}
	p, err := c.Converged(clip(beside, c.lo, c.hi))
	if err != nil || !(p.value >= c.best.value-0.5/(undetermined*undetermined)) {
		return false, c.ctx.Err()
	}
	p, err = c.Converged(off)
	return !(err == nil && p.value >= c.best.value-plateau), c.ctx.Err()
}

// settle climbs to the smallest of the amplitudes that are not determined, with all others.
func (c *climb) settle(optimizer Optimizer) (Status, error) {
	c.tilt = make([]float64, len(c.best.free))
	for _, i := range c.flat {
		c.tilt[i] = plateau / float64(len(c.flat))
	}
	c.best.worth = c.best.value
	for i, t := range c.tilt {
		c.best.worth -= t * c.best.free[i]
	}
	c.threshold = min(c.threshold, plateau/1000/max(1, math.Abs(c.best.value)))
	status, err := c.up(optimizer)
	if status == Stalled && c.steepness()*max(1, math.Abs(c.best.value)) <= plateau/10 {
		status = Converged // as near as the rounding of the fits allows
	}
	return status, err
}
