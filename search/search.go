// Package search proposes hyperparameters and runs the jobs that follow from them.
//
// A Space is the box of the hyperparameters to be tuned, on the scale of theta. A Strategy (random
// and quasi-random designs, grids, local and Bayesian optimisation, Markov chains; one file each)
// works by ask and tell: given the trials so far, it says which points to try next, and ends by
// asking for none. Values are maximised. Proposals depend on the seed and on the trials alone.
//
// Run takes studies, each a space, a strategy and the functions that evaluate a point, and works
// through them in parallel. Every finished job goes into a journal, from which an interrupted run
// goes on. Its results are the same for any number of workers.
//
// The package knows theta and scalar values, never data, kernels or classifiers. A new strategy is
// tested with package searchtest and registered with Register.
package search

import (
	"fmt"
	"math"

	"github.com/gpc-tune/gpc-tune/objective/param"
)

// Space is the set of free hyperparameters: every Spec has Fixed false and a finite Init.
type Space []param.Spec

// Proposal is the unit of work that a strategy asks for: theta vectors evaluated in this order in
// one job, each warm- started by the one before. Under a local optimiser or a Sampler there is one,
// the start point.
type Proposal struct {
	Points [][]float64
}

// Trial is what became of a proposal. Where a local optimiser started at its point, there is one:
// where that ended. None are known of a trial that failed before it began.
type Trial struct {
	Points []Point
}

// Point is a vector of hyperparameters that was evaluated.
type Point struct {
	Theta []float64 // on the theta scale, in the order of the Space
	Value float64   // of the objective, which is maximised; NaN where there is none
}

// Value is that of the first point, -Inf where there is none.
func (t Trial) Value() float64 {
	if len(t.Points) == 0 || math.IsNaN(t.Points[0].Value) {
		return math.Inf(-1)
	}
	return t.Points[0].Value
}

// Strategy proposes points. It keeps no state: history is an argument, so resuming needs only the
// journal.
type Strategy interface {
	// Check says why the strategy cannot search s: asked when the plan is made, before any data are
	// read, so an Init that comes from the data may still be NaN. Ask is only called on spaces that
	// pass.
	Check(s Space) error
	// Ask returns the next proposals given the finished trials, in the order of their Index; none
	// means finished. The batch depends only on the arguments, never on the number of workers.
	Ask(s Space, done []Trial, seed uint64) []Proposal
	// Budget is how many proposals Ask makes in all.
	Budget(s Space) Budget
	// Optimizer names the local optimiser of package objective that starts at each proposed point
	// ("bfgs"), or "" if points are evaluated as they are.
	Optimizer() string
}

// Budget is how many trials a strategy makes.
type Budget struct {
	Trials int
	AtMost bool // it may finish earlier, by what they come to
	AtOnce int  // it asks for so many at a time, once the first batch is done; 0: there is no other
}

// Sampler is a Strategy whose proposals are starts of Markov chains over theta. What is maximised
// must be a log posterior density, and the assessment averages over the points of all trials.
type Sampler interface {
	Strategy
	// Length of a chain: moves before the first sample, samples kept, moves for each; 0 is the
	// default.
	Length() (burn, samples, thin int)
}

// Edges says, one warning each, which hyperparameters are at an end of where a search without a
// local optimiser looked: a bound, or where none was given the search box.
func (s Space) Edges(theta []float64) (warnings []string) {
	for j, p := range s {
		lo, hi := p.ThetaBounds()
		boxLo, boxHi := p.Box()
		near := 1e-9 * (boxHi - boxLo)
		for _, e := range []struct {
			side       string
			bound, box float64
		}{{"lower", lo, boxLo}, {"upper", hi, boxHi}} {
			switch {
			case math.Abs(theta[j]-e.bound) <= near:
				warnings = append(warnings, fmt.Sprintf("%s ended at its %s bound %.6g: "+
					"wider bounds may hold a better value", p.Name, e.side, p.Map.Natural(e.bound)))
			case math.Abs(theta[j]-e.box) <= near:
				warnings = append(warnings, fmt.Sprintf("%s ended at the %s end %.6g of its search box; to "+
					"search a wider range, set its bounds: [lo, hi]", p.Name, e.side, p.Map.Natural(e.box)))
			}
		}
	}
	return warnings
}

// checkStart says if a hyperparameter starts outside its bounds.
func checkStart(p param.Spec) error {
	if p.Init < p.Lo || p.Init > p.Hi {
		return fmt.Errorf("%s starts at %v, outside its bounds [%v, %v]; give it an init inside them",
			p.Name, p.Init, p.Lo, p.Hi)
	}
	return nil
}

// start is theta at the initial values.
func (s Space) start() []float64 {
	theta := make([]float64, len(s))
	for i, p := range s {
		theta[i] = p.Map.Theta(p.Init)
	}
	return theta
}
