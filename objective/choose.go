package objective

import (
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/objective/inducing"
)

// Choices keeps the chosen inducing inputs for models that differ only in inference, on one
// training set. Its zero value is ready to be used.
type Choices struct {
	mu  sync.Mutex
	all map[string]*Choice
}

// Choose chooses the inducing inputs, if o has any, at the initial hyperparameters. If every class
// has a kernel, the first kernel decides. A method with a tolerance needs this call before the
// first fit; without one, a fit chooses by itself. A choice that kept already holds is reused; kept
// may be nil.
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

// Rechosen is the same objective with the same number of inducing inputs, chosen at theta, if
// Inducing.Rechoose is set; otherwise it is o.
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

// newChoice makes a choice at the initial hyperparameters.
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

// fewest is the largest number of inducing inputs with which enough begins its search.
const fewest = 64

// climbed is the largest number of evaluations of a climb with one number of inducing inputs.
// Climbs over few hyperparameters mostly end earlier.
const climbed = 20

// Climbs returns all numbers of inducing inputs that Choose may try for n cases, and the largest
// number of evaluations with each of them. Without a tolerance there are none.
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

// enough finds the smallest sufficient number of inducing inputs. It begins with the maximum,
// halved until it is at most fewest, and doubles it. For each number a local optimiser climbs the
// log evidence from the initial hyperparameters, if there is a gradient. (Hyperparameters tuned
// with fewer inputs are no start: few inputs lead to large length scales, for which few inputs
// suffice.) It ends with m if 2m inputs change the reached log evidence by at most the tolerance,
// in nats per case; with the maximum; or if the method finds no more inputs.
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
			return c, nil // the method finds no more inputs; c.Fewer has the reason
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

// reached is the log evidence with these inducing inputs at the end of a climb over the
// hyperparameters.
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
