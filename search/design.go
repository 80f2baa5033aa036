package search

import (
	"cmp"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// Design evaluates points that are chosen before anything is known of the objective, all in one
// batch. They fill the box of the space (param.Spec.Box): the bounds of a hyperparameter where they
// are given, else a factor e² to either side of its initial value. With no free hyperparameter one
// point is evaluated.
type Design struct {
	Trials int `yaml:"trials" within:"[1,1000000]"` // number of points; 0 means 64
}

const (
	defaultTrials = 64
	maxTrials     = 1_000_000 // keeps a slip of the pen (ten axes of twenty points) from exhausting memory
)

// Check implements Strategy.
func (d Design) Check(s Space) error {
	return checkSearch(s, count{"trials", d.Trials, 1, maxTrials})
}

// Optimizer implements Strategy.
func (Design) Optimizer() string { return "" }

// Budget implements Strategy.
func (d Design) Budget(s Space) Budget {
	return s.budget(Budget{Trials: cmp.Or(d.Trials, defaultTrials)})
}

// ask proposes the points whose places in the unit cube sample draws, one a row.
func (d Design) ask(s Space, done []Trial, sample func(*mat.Dense)) []Proposal {
	if len(s) == 0 || len(done) > 0 {
		return askOnce(done)
	}
	n := d.Budget(s).Trials
	u := mat.NewDense(n, len(s), nil)
	sample(u)
	proposals := make([]Proposal, n)
	for i := range proposals {
		proposals[i].Points = [][]float64{s.place(u.RawRowView(i))}
	}
	return proposals
}

// budget is b, or a single trial where nothing is free.
func (s Space) budget(b Budget) Budget {
	if len(s) == 0 {
		return Budget{Trials: 1}
	}
	return b
}

// askOnce proposes the one point of a space without free hyperparameters.
func askOnce(done []Trial) []Proposal {
	if len(done) > 0 {
		return nil
	}
	return []Proposal{{Points: [][]float64{{}}}}
}

// place maps the unit cube to the box.
func (s Space) place(u []float64) []float64 {
	theta := make([]float64, len(s))
	for j, p := range s {
		lo, hi := p.Box()
		theta[j] = min(lo+(hi-lo)*u[j], hi)
	}
	return theta
}

// count is an option that is a number of something; 0 stands for its default.
type count struct {
	name        string
	value       int
	least, most int // most 0: no limit
}

// checkSearch finds starts outside their bounds and counts out of range.
func checkSearch(s Space, counts ...count) error {
	var errs []error
	for _, c := range counts {
		switch {
		case c.value == 0 || c.value >= c.least && (c.most == 0 || c.value <= c.most):
		case c.most == 0:
			errs = append(errs, fmt.Errorf("%s = %d must be at least %d", c.name, c.value, c.least))
		default:
			errs = append(errs, fmt.Errorf("%s = %d must be from %d to %d", c.name, c.value, c.least, c.most))
		}
	}
	for _, p := range s {
		errs = append(errs, checkStart(p))
	}
	return errors.Join(errs...)
}
