package search

import (
	"cmp"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/record"
)

// Design evaluates points that do not depend on values of the objective, all in one batch. They
// fill the unit cube that param.Spec.Place maps to the space: uniformly between the bounds of a
// hyperparameter if these are given, else most densely about its initial value. If no
// hyperparameter is free, one point is evaluated.
type Design struct {
	Trials int `yaml:"trials" within:"[1,1000000]"` // number of points; 0 means 64
}

const (
	defaultTrials = 64
	maxTrials     = 1_000_000 // a mistake (ten axes of twenty points) must not exhaust memory
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

// ask proposes one point per row that sample draws in the unit cube. Of points that constraints
// forbid it draws more.
func (d Design) ask(s Space, done []record.Trial, sample func(*mat.Dense)) []Proposal {
	if len(s) == 0 || len(done) > 0 {
		return askOnce(done)
	}
	n := d.Budget(s).Trials
	var proposals []Proposal
	for rows := n; len(proposals) < n; rows *= 2 {
		u := mat.NewDense(rows, len(s), nil)
		sample(u)
		proposals = proposals[:0]
		for i := 0; i < rows && len(proposals) < n; i++ {
			if theta, forbidden := s.placed(u.RawRowView(i)); !forbidden || rows > min(n*mostDrawn, mostRows) {
				proposals = append(proposals, Proposal{Points: [][]float64{theta}})
			}
		}
	}
	return proposals
}

const (
	mostDrawn = 4096    // points drawn for each allowed one, at most
	mostRows  = 1 << 24 // points drawn together, at most
)

// budget is b, or a single trial if no hyperparameter is free.
func (s Space) budget(b Budget) Budget {
	if len(s) == 0 {
		return Budget{Trials: 1}
	}
	return b
}

// askOnce proposes the one point of a space without free hyperparameters.
func askOnce(done []record.Trial) []Proposal {
	if len(done) > 0 {
		return nil
	}
	return []Proposal{{Points: [][]float64{{}}}}
}

// count is an option that counts something; 0 means its default.
type count struct {
	name        string
	value       int
	least, most int // most 0: no limit
}

// checkSearch returns an error for hyperparameters that cannot be searched, and for counts out of
// range.
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
	return errors.Join(append(errs, s.Check())...)
}
