package schedule

import (
	"context"
	"errors"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/search"
)

// Evaluation is one call of a Function's Value, which finds it in its context with EvaluationOf.
type Evaluation struct {
	Trial int // index of the trial in its search
	// Seed has 32 bits. It is the same for all trials at this point, whatever their budget. With
	// Function.Noise every trial has its own.
	Seed uint64
	// Slot is a number below Options.Workers that no other running trial of this process has.
	Slot int
	// Folder belongs to the point. Its trials with different budgets share it. It may not exist
	// yet; "": the run has no folder.
	Folder string
	Budget float64 // value of the budget hyperparameter; NaN: the search has none
	Output string  // set by Value: the path, in the run folder, of what it wrote; "": nothing

	rule     EarlyStop // nil: trials run to their end
	earlier  [][]record.Interim
	minimize bool

	mu     sync.Mutex // guards sofar and early
	sofar  []record.Interim
	early  bool
	values map[string]record.Number
	// number of values on the way that are not finite, or whose step does not grow
	ignored int
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

// evaluation is the Evaluation of a trial at theta, compared with earlier trials.
func (s *Study) evaluation(ctx context.Context, index int, theta []float64, earlier [][]record.Interim) *Evaluation {
	e := &Evaluation{Trial: index, Budget: math.NaN(), rule: s.Early, earlier: earlier, minimize: s.Minimize}
	at := slices.Clone(theta)
	if i := s.Space.Index(search.FidelityOf(s.Strategy).Of); i >= 0 {
		e.Budget = s.Space[i].Map.Natural(theta[i])
		at = slices.Delete(at, i, i+1)
	}
	point := jobKey(s.Key, "point", 0, [][]float64{at})[:16]
	seed := point
	if s.Noise {
		seed = jobKey(s.Key, "noise", index, [][]float64{at})
	}
	e.Seed, _ = strconv.ParseUint(seed[:8], 16, 32)
	worker, _ := ctx.Value(seatKey{}).(seat)
	if e.Slot = worker.slot; worker.folder != "" {
		e.Folder = filepath.Join(worker.folder, "trials", point)
	}
	return e
}

// Set records a named value of the trial: one of several objectives, or one with a required bound.
func (e *Evaluation) Set(name string, value float64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.values == nil {
		e.values = map[string]record.Number{}
	}
	e.values[name] = record.Number(value)
}

// set returns the named values so far.
func (e *Evaluation) set() map[string]record.Number {
	e.mu.Lock()
	defer e.mu.Unlock()
	return maps.Clone(e.values)
}

// Report records a value on the way: the objective after a step, such as an epoch. It returns true
// if the trial is to end. Values and steps that are not finite, and steps that do not grow, are
// ignored.
func (e *Evaluation) Report(step, value float64) (stop bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.minimize {
		value = -value
	}
	if e.early { // a value that comes before the trial has ended does not count
		return true
	}
	at, last := record.Interim{Step: step, Value: record.Number(value)}, len(e.sofar)-1
	finite := at.Value.Finite() && record.Number(step).Finite()
	if !finite || last >= 0 && !(step > e.sofar[last].Step) {
		e.ignored++
		return e.early
	}
	if len(e.sofar) == mostInterim {
		return e.early
	}
	e.sofar = append(e.sofar, at)
	e.early = e.early || e.rule != nil && e.rule.Stops(e.sofar, e.earlier)
	return e.early
}

// reported returns the values on the way so far. Those of a search that minimises have the sign of
// the maximised objective.
func (e *Evaluation) reported() []record.Interim {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.sofar[:len(e.sofar):len(e.sofar)]
}

// unusable is the number of values on the way that Report ignored.
func (e *Evaluation) unusable() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.ignored
}

// trial evaluates the points of a proposal by Value. With an error it has only what Value wrote.
func (s *Study) trial(
	ctx context.Context, index int, p search.Proposal, earlier [][]record.Interim,
) (record.Trial, error) {
	t := record.Trial{Status: "evaluated", Evaluations: len(p.Points)}
	for _, theta := range p.Points {
		e := s.evaluation(ctx, index, theta, earlier)
		value, err := s.Value(context.WithValue(ctx, evaluationKey{}, e), theta)
		t.Output, t.Interim = e.Output, e.reported()
		if n := e.unusable(); n > 0 {
			t.Warnings = append(t.Warnings, cause.IgnoredSteps.New("values on the way that were ignored: %d; a value "+
				"has to be finite, and its step larger than the one before", n))
		}
		if errors.Is(err, ErrEarly) && len(t.Interim) > 0 {
			value, err = float64(t.Interim[len(t.Interim)-1].Value), nil
			t.Early, t.Status = true, earlyStatus
		}
		if ctx.Err() != nil {
			return t, ctx.Err()
		}
		at := s.evaluated(theta, value).Points[0]
		at.Values = e.set()
		if t.Outside = err == nil && !within(s.Require, at.Values); t.Outside {
			t.Status = outsideStatus
		}
		for _, name := range s.Objectives {
			if v, found := at.Values[name]; err == nil && !(found && v.Finite()) {
				err = cause.Program.New("the objective %q has no finite value", name)
			}
		}
		if err == nil && !at.Value.Finite() {
			err = cause.NotFinite.New("the objective is %v", value)
		}
		if err != nil {
			if len(p.Points) == 1 {
				return t, err // an error fails the whole trial, which can run again
			}
			at.Value, at.Failure = record.Number(math.NaN()), cause.Failed(err)
		}
		t.Points = append(t.Points, at)
	}
	return t, nil
}
