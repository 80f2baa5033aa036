package search

import (
	"context"
	"math"
	"path/filepath"
	"slices"
	"strconv"
)

// Evaluation is one call of a Function's Value, which finds it in its context with EvaluationOf.
type Evaluation struct {
	Trial int // index of the trial in its search
	// Seed has 32 bits. It is the same for all trials at this point, whatever their budget.
	Seed uint64
	// Slot is a number below Options.Workers that no other running trial of this process has.
	Slot int
	// Folder belongs to the point. Its trials with different budgets share it. It may not exist
	// yet; "": the run has no folder.
	Folder string
	Budget float64 // value of the budget hyperparameter; NaN: the search has none
	Output string  // set by Value: the path, in the run folder, of what it wrote; "": nothing
}

// evaluationKey is the key of an Evaluation in a context.
type evaluationKey struct{}

// EvaluationOf returns the Evaluation of a call of Function.Value, or an empty one.
func EvaluationOf(ctx context.Context) *Evaluation {
	if e, is := ctx.Value(evaluationKey{}).(*Evaluation); is {
		return e
	}
	return &Evaluation{Budget: math.NaN()}
}

// seat is the place of a worker: its slot, and the folder of the run.
type seat struct {
	slot   int
	folder string
}

// seatKey is the key of a seat in a context.
type seatKey struct{}

// evaluation is the Evaluation of a trial at theta.
func (s *Study) evaluation(ctx context.Context, index int, theta []float64) *Evaluation {
	e := &Evaluation{Trial: index, Budget: math.NaN()}
	at := slices.Clone(theta)
	if i := s.Space.index(FidelityOf(s.Strategy).Of); i >= 0 {
		e.Budget = s.Space[i].Map.Natural(theta[i])
		at = slices.Delete(at, i, i+1)
	}
	point := jobKey(s.Key, "point", 0, [][]float64{at})[:16]
	e.Seed, _ = strconv.ParseUint(point[:8], 16, 32)
	worker, _ := ctx.Value(seatKey{}).(seat)
	if e.Slot = worker.slot; worker.folder != "" {
		e.Folder = filepath.Join(worker.folder, "trials", point)
	}
	return e
}
