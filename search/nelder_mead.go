package search

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/optimize"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/record"
)

// NelderMead maximises with simplices, without gradients (Nelder & Mead 1965, as in gonum). Each
// starts at a point of a multi-start search (param.Start), with the other corners param.Spec.Scale
// away from it, and ends after 10 (d + 1) iterations with an improvement below 1e-6 in total. Every
// evaluation is a trial; a batch has one trial of each simplex. A point outside the bounds is
// evaluated at the nearest point within them (see frame). A failed trial is worse than all values.
type NelderMead struct {
	Restarts int `yaml:"restarts" within:"[1,10000]"` // number of simplices; 0 means 1
	Trials   int `yaml:"trials" within:"[1,1000000]"` // of all simplices; 0 means 200 for each
}

// Check implements Strategy.
func (n NelderMead) Check(s Space) error {
	err := checkSearch(s, count{"restarts", n.Restarts, 1, maxTrials}, count{"trials", n.Trials, 1, maxTrials})
	if n = n.on(); err == nil && n.Trials < n.Restarts {
		err = fmt.Errorf("trials = %d are less than one for each of restarts = %d", n.Trials, n.Restarts)
	}
	return errors.Join(s.checkContinuous(), err)
}

// on returns n with the defaults filled in.
func (n NelderMead) on() NelderMead {
	restarts := cmp.Or(n.Restarts, 1)
	return NelderMead{Restarts: restarts, Trials: cmp.Or(n.Trials, 200*restarts)}
}

// each is the number of trials of one simplex, with the defaults filled in.
func (n NelderMead) each() int { return n.Trials / n.Restarts }

// Optimizer implements Strategy.
func (NelderMead) Optimizer() string { return "" }

// Budget implements Strategy: an upper bound, because a simplex may converge earlier.
func (n NelderMead) Budget(s Space) Budget {
	n = n.on()
	return s.budget(Budget{Trials: n.each() * n.Restarts, AtMost: true, AtOnce: n.Restarts})
}

// Ask implements Strategy: the next point of every simplex, found by replaying the history.
func (n NelderMead) Ask(s Space, done []record.Trial, seed uint64) []Proposal {
	if len(s) == 0 {
		return askOnce(done)
	}
	n = n.on()
	simplices := make([]simplex, n.Restarts)
	for i := range simplices {
		simplices[i] = simplex{s.frame(param.Start(s, seed, i)), begin(len(s))}
		defer simplices[i].end()
	}
	for range n.each() {
		var asking []simplex
		var batch []Proposal
		for _, x := range simplices {
			if z := x.ask(); z != nil {
				asking, batch = append(asking, x), append(batch, x.propose(z))
			}
		}
		if len(done) == 0 {
			return batch
		}
		for i, x := range asking {
			// a failure is worse than all values; gonum's method would end at an infinite one
			x.tell(min(x.outside(x.task.X)-done[i].Value(), math.MaxFloat64))
		}
		done = done[len(asking):]
	}
	return nil
}

// simplex is the state of one simplex.
type simplex struct {
	frame
	*dialogue
}

// dialogue runs a minimisation by gonum's simplex method step by step: ask returns the next point,
// and tell receives its value. optimize.Minimize would call a function instead.
type dialogue struct {
	operations, results chan optimize.Task
	task                optimize.Task // the task that waits for its value
	ended               bool
	progress            optimize.FunctionConverge
}

// begin starts a minimisation in dim dimensions at the origin.
func begin(dim int) *dialogue {
	method := &optimize.NelderMead{SimplexSize: 1}
	method.Init(dim, 1)
	d := &dialogue{
		operations: make(chan optimize.Task, 1), results: make(chan optimize.Task, 1),
		progress: optimize.FunctionConverge{Absolute: 1e-6, Iterations: 10 * (dim + 1)},
	}
	d.progress.Init(dim)
	go method.Run(d.operations, d.results, []optimize.Task{{Location: &optimize.Location{X: make([]float64, dim)}}})
	return d
}

// ask returns the next point to evaluate; nil if the minimisation has ended.
func (d *dialogue) ask() []float64 {
	for !d.ended {
		switch d.task = <-d.operations; {
		case d.task.Op == optimize.FuncEvaluation:
			return d.task.X
		case d.task.Op == optimize.MajorIteration && d.progress.Converged(d.task.Location) == optimize.NotTerminated:
			d.results <- d.task
		default:
			d.end()
		}
	}
	return nil
}

// tell passes the value at the last point of ask to the minimisation.
func (d *dialogue) tell(f float64) {
	d.task.F = f
	d.results <- d.task
}

// end ends the minimisation and its goroutine.
func (d *dialogue) end() {
	if d.ended {
		return
	}
	d.ended = true
	d.results <- optimize.Task{Op: optimize.PostIteration}
	close(d.results)
	for range d.operations {
	}
}
