package objective

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/sourcegraph/conc/iter"

	"github.com/gpc-tune/gpc-tune/approx/param"
)

// Restarts configures a multi-start search.
type Restarts struct {
	Count   int    // 0 is 1: the initial values alone
	Seed    uint64 // decides the random starts; the first start is always the initial values
	Workers int    // restarts run at once, each with its own memory; 0 or less is GOMAXPROCS. No result depends on it
}

// Restart is one of the local optimisations of Maximize.
type Restart struct {
	Start   []float64 // initial free hyperparameters
	Optimum Optimum
	Err     error // why there is no usable Optimum
}

// Tuning is the result of Maximize.
type Tuning struct {
	Optimum           // the best one of All
	Chosen  int       // index of the best one
	All     []Restart // every restart, in the order of their starts
}

// Maximize optimises from param.Start(free hyperparameters, Seed, i) for i = 0 … Count-1 and
// chooses by value, the earlier restart on a tie. A restart that fails is kept in All, with its
// error, and cannot win. There is an error only if all restarts fail or ctx ends, or if Count is
// too small for a start from each choice.
func Maximize(ctx context.Context, o *Objective, r Restarts, s Settings) (Tuning, error) {
	specs := o.Layout.FreeSpecs()
	if err := param.CheckStarts(specs, max(1, r.Count)); err != nil {
		return Tuning{}, fmt.Errorf("objective: %w", err)
	}
	t := Tuning{Chosen: -1, All: make([]Restart, max(1, r.Count))}
	t.Value = math.NaN() // if all restarts fail
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
