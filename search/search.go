// Package search proposes hyperparameters.
//
// A Space is the box of the hyperparameters to be tuned, on the scale of theta. A Strategy (random
// and quasi-random designs, grids, local and Bayesian optimisation, Markov chains; one file each)
// works by ask and tell: given the trials so far, it proposes the next points, and ends by
// proposing none. Values are maximised. Proposals depend on the seed and on the trials alone.
//
// The package handles theta and scalar values only, no data, kernels or classifiers. Package
// schedule runs the trials. A new strategy is tested with package searchtest and registered with
// Register.
package search

import (
	"errors"
	"math"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/record"
)

// Space is the set of free hyperparameters: every Spec has Fixed false and a finite Init. Some may
// be discrete. Some matter only for certain values of an earlier discrete one.
type Space []param.Spec

// Proposal is one job: theta vectors to evaluate in this order, each with a warm start from the one
// before. For a local optimiser or a Sampler it has one vector, the start.
type Proposal struct {
	Points [][]float64
	// Gain is the expected improvement on the best value so far, in units of the objective; nil: it
	// is not known.
	Gain *float64
	// Short is a bound of the maximum less the best value so far, in units of the objective; nil:
	// it is not known.
	Short *float64
	// Preliminary proposals are for a cheaper objective: of a study with Study.Preliminary, or with
	// a fraction of the budget.
	Preliminary bool
	// Share is the fraction of the budget that a Partial strategy gives the trial; zero: all of it.
	Share record.Share
	// Enqueued is the number of the enqueued point, from 1; 0: the strategy has proposed the point.
	Enqueued int
}

// Strategy proposes points. It keeps no state: the history is an argument, so the journal suffices
// to resume.
type Strategy interface {
	// Check returns an error if the strategy cannot search s. It is called when the plan is made.
	// Ask is only called on spaces that pass.
	Check(s Space) error
	// Ask returns the next proposals given the finished trials in the order of their Index, each
	// with its Theta and Value; none: the search is finished. The batch depends on the arguments
	// only, never on the number of workers.
	Ask(s Space, done []record.Trial, seed uint64) []Proposal
	// Budget is the total number of proposals.
	Budget(s Space) Budget
	// Optimizer is the name of the local optimiser of package objective that starts at each
	// proposed point ("bfgs"), or "" if points are evaluated as they are.
	Optimizer() string
}

// Asynchronous is a Strategy that can propose a trial while others are under way.
type Asynchronous interface {
	Strategy
	// UnderWay is the number of trials that are always under way; 0: the strategy proposes batches.
	// If it is not 0, the history for Ask has the finished trials in the order in which they ended,
	// and after them the trials under way (record.Trial.UnderWay). Ask then returns one proposal,
	// or none until another trial has ended.
	UnderWay() int
}

// Learner is a Strategy that learns from enqueued points. The history for Ask then begins with the
// finished trials of these points (record.Trial.Enqueued).
type Learner interface {
	Strategy
	Learns()
}

// Guided is a Strategy that names the strategy to use if the objective has a gradient. This may be
// itself; nil also stands for itself.
type Guided interface {
	Strategy
	WithGradient(s Space) Strategy
}

// FitsModel reports whether a strategy fits a model to the points and the values of its history.
// Any other strategy replays its history, and would propose other points than the recorded ones if
// a value changed.
func FitsModel(s Strategy) bool {
	_, is := s.(interface{ models() })
	return is
}

// Overlap is the option of a strategy that can be Asynchronous.
type Overlap struct {
	// number of trials that are always under way. Each is proposed when another has ended; 0:
	// batches.
	Asynchronous int `yaml:"asynchronous" within:"[2,1000]"`
}

// Window is the option of a strategy that can propose a trial without the results of the last ones.
// The trials are the same for any number of workers.
type Window struct {
	// number of trials that can be under way at once. Trial i is proposed from the results of the
	// trials up to i - Parallel and the points of the others, whichever end first; 0: batches.
	Parallel int `yaml:"parallel" within:"[1,1000]"`
}

// overlaps returns an error if more than one way to have several trials under way is given.
func overlaps(o Overlap, w Window, batch int) error {
	given := 0
	for _, n := range []int{o.Asynchronous, w.Parallel, batch - 1} {
		if n > 0 {
			given++
		}
	}
	if given > 1 {
		return errors.New("batch, parallel and asynchronous exclude each other; keep one of them")
	}
	return nil
}

// window is Parallel.
func (w Window) window() int { return w.Parallel }

// Waits reports whether a strategy waits for each trial before it proposes the next, although it
// need not: Window.Parallel and Overlap are not given.
func Waits(s Strategy) bool {
	of, is := s.(interface{ waits() bool })
	return is && of.waits()
}

// Ahead is Window.Parallel of a strategy that embeds Window; 0: it proposes batches.
func Ahead(s Strategy) int {
	if w, ok := s.(interface{ window() int }); ok {
		return w.window()
	}
	return 0
}

// UnderWay implements Asynchronous.
func (o Overlap) UnderWay() int { return o.Asynchronous }

// UnderWay is Asynchronous.UnderWay, 0 for a strategy that is not Asynchronous.
func UnderWay(s Strategy) int {
	if a, ok := s.(Asynchronous); ok {
		return a.UnderWay()
	}
	return 0
}

// Budget is the number of trials of a strategy.
type Budget struct {
	Trials int
	AtMost bool // the search may converge earlier
	AtOnce int  // batch size after the first batch; 0: there is only one batch
	// Whole is the number of trials with the whole budget that take as long as all; 0: Trials.
	Whole float64
}

// Sampler is a Strategy whose proposals are starts of Markov chains over theta. The objective must
// be a log posterior density, and the assessment averages over the points of all trials.
type Sampler interface {
	Strategy
	// Length of a chain: transitions before the first sample, samples kept, transitions per sample;
	// 0 is the default.
	Length() (burn, samples, thin int)
}

// LeastImprovement is the largest improvement of the best value that counts for none.
const LeastImprovement = 1e-6

// Edges returns one warning for each hyperparameter at a bound after a search without a local
// optimiser.
func (s Space) Edges(theta []float64) (warnings []cause.Notice) {
	for j, p := range s {
		lo, hi := p.ThetaBounds()
		near := 1e-9 * (hi - lo)
		if p.Map == param.Choice {
			continue // it has no bounds
		}
		for _, upper := range []bool{false, true} {
			if bound := map[bool]float64{false: lo, true: hi}[upper]; math.Abs(theta[j]-bound) <= near {
				warnings = append(warnings, p.Ended(upper))
			}
		}
	}
	return warnings
}

// Start is theta at the initial values.
func (s Space) Start() []float64 {
	theta := make([]float64, len(s))
	for i, p := range s {
		theta[i] = p.Map.Theta(p.Init)
	}
	return theta
}
