package objective

import (
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/gpc-tune/gpc-tune/objective/inducing"
)

// Choices keeps the choices for a model of which only the inference differs, on one training set.
// Its zero value is ready to be used.
type Choices struct {
	mu  sync.Mutex
	all map[string]*Choice
}

// Choose makes the choice of inducing inputs, if o has any: with the hyperparameters where they
// start, and of the kernels of several classes for the first. Where the method has a tolerance,
// that comes before the first fit; elsewhere a fit chooses by itself. What kept, unless it is nil,
// has of an earlier one is taken from there.
func Choose(ctx context.Context, o *Objective, kept *Choices) error {
	i := o.inducing
	if i == nil {
		return nil
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.chosen != nil {
		return nil
	}
	if kept == nil {
		kept = new(Choices)
	}
	kept.mu.Lock()
	defer kept.mu.Unlock()
	name := fmt.Sprintf("%T %+v", o.model.Inference, i.option)
	c := kept.all[name]
	if c == nil {
		made, err := newChoice(ctx, o, o.Layout.Start(), true)
		if err != nil {
			return err
		}
		if c = &made; kept.all == nil {
			kept.all = map[string]*Choice{}
		}
		kept.all[name] = c
	}
	i.take(c)
	return nil
}

// Rechosen is the same objective with inducing inputs that are chosen at theta, where its option
// asks for that; otherwise it is o.
func Rechosen(ctx context.Context, o *Objective, theta []float64) (*Objective, error) {
	if o.inducing == nil || !o.inducing.option.Rechoose {
		return o, nil
	}
	c, err := newChoice(ctx, o, theta, false)
	return o.with(&c), err
}

// with is the same objective with these inducing inputs.
func (o *Objective) with(c *Choice) *Objective {
	own := *o
	own.room, own.inducing = nil, &induction{option: o.inducing.option, x: o.inducing.x}
	if c.Z != nil {
		own.inducing.take(c)
	}
	return &own
}

// newChoice makes a choice at theta, or where a climb from there leads.
func newChoice(ctx context.Context, o *Objective, theta []float64, climbs bool) (c Choice, err error) {
	if o.inducing.option.Tolerance > 0 {
		return doubled(ctx, o, theta, climbs)
	}
	c.Choice, err = selected(ctx, o, theta, o.inducing.option.Points)
	return c, err
}

func selected(ctx context.Context, o *Objective, theta []float64, m int) (inducing.Choice, error) {
	return o.inducing.selected(ctx, o.model.Kernels[0], o.Layout.kernel(theta, 0), m)
}

// Doublings begin with the most points that there may be, halved until they are at most fewest.
const fewest = 64

// climbed is how many evaluations the hyperparameters climb with every number of inducing inputs:
// enough for the kernel to find the scale of what it explains.
const climbed = 25

// doubled finds how many inducing inputs are enough. From few on, it climbs the log evidence with m
// of them from where it is, if that is wanted and there is a gradient; chooses twice as many where
// it has come to; and ends with m where the log evidence there changes by no more than the
// tolerance, in nats a case. It ends too with the most that the option allows, and where there are
// no more.
func doubled(ctx context.Context, o *Objective, theta []float64, climbs bool) (c Choice, err error) {
	option, n := o.inducing.option, float64(o.inducing.x.N())
	m := option.Points
	for m > fewest {
		m = (m + 1) / 2
	}
	if c.Choice, err = selected(ctx, o, theta, m); err != nil {
		return c, err
	}
	for {
		d := Doubling{Points: c.found()}
		if d.LogEvidence, theta, err = evidenceOf(ctx, o, c.Choice, theta, climbs); err != nil {
			return c, err
		}
		m = min(2*m, option.Points)
		more, err := selected(ctx, o, theta, m)
		if err != nil {
			return c, err
		}
		if found, _ := more.Z.Dims(); found <= d.Points {
			return c, nil // as c.Fewer says, or as there may be no more
		}
		if d.Doubled, _, err = evidenceOf(ctx, o, more, theta, false); err != nil {
			return c, err
		}
		c.Doublings = append(c.Doublings, d)
		change := math.Abs(d.Doubled-d.LogEvidence) / n
		if change <= option.Tolerance {
			return c, nil
		}
		if c.Choice = more; m == option.Points {
			if c.Fewer == "" {
				c.Fewer = fmt.Sprintf("%d inducing inputs, the most that there may be, change the log evidence by "+
					"%.3g nats a case from half as many, which is more than the tolerance of %.3g; allow more points",
					c.found(), change, option.Tolerance)
			}
			return c, nil
		}
	}
}

// found is how many inputs there are.
func (c Choice) found() int { n, _ := c.Z.Dims(); return n }

// evidenceOf is the log evidence with these inducing inputs, and theta: that given or, where it
// climbs, where that leads.
func evidenceOf(ctx context.Context, o *Objective, c inducing.Choice, theta []float64, climbs bool) (float64, []float64,
	error) {
	own := o.with(&Choice{Choice: c})
	own.criterion = LogEvidence{}
	gradient, err := own.criterion.Uses(o.caps)
	if err != nil {
		return 0, nil, fmt.Errorf("inducing inputs by a tolerance: %w", err)
	}
	free := o.Layout.Pick(theta)
	if own.gradient = gradient; climbs && gradient {
		best, err := Optimize(ctx, own, free, Settings{Evaluations: climbed})
		return best.Value, o.Layout.Fill(best.Theta), err
	}
	p, err := own.Fit(ctx, theta, nil)
	if err == nil {
		err = p.Converged()
	}
	if err != nil {
		return 0, nil, err
	}
	return p.Value(), theta, nil
}
