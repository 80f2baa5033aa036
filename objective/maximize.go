package objective

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/sourcegraph/conc/iter"

	"github.com/gpc-tune/gpc-tune/approx/param"
)

// Restarts say where a multi-start search begins and how much runs at once.
type Restarts struct {
	Count   int    // 0 is 1: the initial values alone
	Seed    uint64 // decides the random starts; the first start is always the initial values
	Workers int    // restarts run at once, each with its own memory; 0 or less is GOMAXPROCS. No result depends on it
}

// Restart is one local optimisation of several.
type Restart struct {
	Start   []float64 // the free hyperparameters that it started from
	Optimum Optimum
	Err     error // why there is no usable Optimum
}

// Tuning is the result of Maximize.
type Tuning struct {
	Optimum           // the winner's
	Chosen  int       // its index
	All     []Restart // every restart, in the order of their starts
}

// Maximize optimises from param.Start(free hyperparameters, Seed, i) for i = 0 … Count-1 and
// chooses by value, the earlier restart on a tie. A restart that fails is kept, with its error, and
// cannot win; only if all fail, or ctx ends, there is an error. Every restart's end point is in
// All. A Count with which a choice would not be tried is an error.
func Maximize(ctx context.Context, o *Objective, r Restarts, s Settings) (Tuning, error) {
	specs := o.Layout.FreeSpecs()
	if err := param.CheckStarts(specs, max(1, r.Count)); err != nil {
		return Tuning{}, fmt.Errorf("objective: %w", err)
	}
	t := Tuning{Chosen: -1, All: make([]Restart, max(1, r.Count))}
	t.Value = math.NaN() // unless a restart has one
	for i := range t.All {
		t.All[i].Start = param.Start(specs, r.Seed, i)
	}
	(iter.Iterator[Restart]{MaxGoroutines: max(0, r.Workers)}).ForEach(t.All, func(a *Restart) {
		a.Optimum, a.Err = Optimize(ctx, o, a.Start, s)
	})
	var errs []error
	for i, a := range t.All {
		switch {
		case a.Err != nil:
			errs = append(errs, fmt.Errorf("restart %d: %w", i+1, a.Err))
		case t.Chosen < 0 || a.Optimum.Value > t.Value:
			t.Optimum, t.Chosen = a.Optimum, i
		}
	}
	if ctx.Err() != nil {
		return t, ctx.Err()
	}
	if t.Chosen < 0 {
		return t, errors.Join(errs...)
	}
	return t, nil
}
