package objective

import (
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/objective/inducing"
)

// Choices keeps the choices for models that differ only in inference, on one training set.
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
	i := o.induction()
	if i == nil {
		return nil
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.induced != nil {
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
		made, err := newChoice(ctx, o)
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

// Rechosen is the same objective with as many inducing inputs, chosen at theta, where its option
// asks for that; otherwise it is o.
func Rechosen(ctx context.Context, o *Objective, theta []float64) (*Objective, error) {
	i := o.induction()
	if i == nil || !i.option.Rechoose {
		return o, nil
	}
	if err := Choose(ctx, o, nil); err != nil {
		return nil, err
	}
	before := i.choice
	points, _ := before.Z.Dims()
	c, err := selected(ctx, o, theta, points)
	return o.with(&Choice{c, before.Tried}), err
}

// newChoice makes a choice where the hyperparameters start.
func newChoice(ctx context.Context, o *Objective) (c Choice, err error) {
	option := o.induction().option
	if option.Tolerance > 0 {
		return enough(ctx, o)
	}
	c.Choice, err = selected(ctx, o, o.Layout.Start(), option.Points)
	return c, err
}

func selected(ctx context.Context, o *Objective, theta []float64, m int) (inducing.Choice, error) {
	return o.induction().selected(ctx, o.model.Kernels[0], o.Layout.kernel(theta, 0), m)
}

// fewest is the most inducing inputs that the search for enough begins with.
const fewest = 64

// climbed is how many evaluations a climb may take with every number of inducing inputs. Those of
// few hyperparameters mostly end before.
const climbed = 20

// Climbs are the numbers of inducing inputs that a choice of some for n cases tries at most, and
// how many evaluations it may take with each; none without a tolerance.
func Climbs(option Inducing, n int) (points []int, evaluations int) {
	m := option.Points
	if option.Tolerance == 0 || m >= n {
		return nil, 0
	}
	for m > fewest {
		m = (m + 1) / 2
	}
	for ; m < option.Points; m *= 2 {
		points = append(points, m)
	}
	return append(points, option.Points), climbed
}

// enough finds how many inducing inputs are enough. It begins with the most points that there may
// be, halved until there are at most fewest, and doubles them; each time the hyperparameters climb
// the log evidence from where they start, if that has a gradient. (At hyperparameters that few
// inputs have led to, more change little: few make the length scales large, and are then enough.)
// It ends with m where twice as many change that log evidence by no more than the tolerance, in
// nats a case; with the most points; or where there are no more.
func enough(ctx context.Context, o *Objective) (c Choice, err error) {
	option, start := o.induction().option, o.Layout.Start()
	points, _ := Climbs(option, o.data.X.N())
	for _, m := range points {
		more, err := selected(ctx, o, start, m)
		if err != nil {
			return c, err
		}
		found, _ := more.Z.Dims()
		k := len(c.Tried)
		if k > 0 && found <= c.Tried[k-1].Points {
			return c, nil // as c.Fewer says
		}
		value, err := reached(ctx, o, more)
		if err != nil {
			return c, err
		}
		if c.Tried = append(c.Tried, Tried{found, value}); k > 0 {
			change := math.Abs(value-c.Tried[k-1].LogEvidence) / float64(o.data.X.N())
			if change <= option.Tolerance {
				return c, nil
			}
			if m == option.Points && more.Fewer.IsZero() {
				more.Fewer = cause.MostInducing.New("%d inducing inputs, the allowed maximum, and half as many differ "+
					"in log evidence by %.3g nats a case, more than the tolerance of %.3g",
					found, change, option.Tolerance)
			}
		}
		c.Choice = more
	}
	return c, nil
}

// reached is the log evidence with these inducing inputs where the hyperparameters have come to.
func reached(ctx context.Context, o *Objective, c inducing.Choice) (float64, error) {
	own, start := o.with(&Choice{Choice: c}), o.Layout.Start()
	own.criterion, own.induction().option.TuneInputs = LogEvidence{}, false
	var err error
	if own.gradient, err = own.criterion.Uses(o.caps); err != nil {
		return 0, fmt.Errorf("inducing inputs by a tolerance: %w", err)
	}
	if own.gradient {
		best, err := Optimize(ctx, own, o.Layout.Pick(start), Settings{Evaluations: climbed})
		return best.Value, err
	}
	p, err := own.Fit(ctx, start, nil)
	if err == nil {
		err = p.Converged()
	}
	if err != nil {
		return 0, err
	}
	return p.Value(), nil
}
