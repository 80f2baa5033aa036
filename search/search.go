// Package search proposes hyperparameters and runs the resulting jobs: spaces, strategies (ask/tell, one file each) and
// the scheduler, which records finished jobs in a journal.
//
// It knows theta and scalar values, never data, kernels or classifiers: what a job does is a closure that the caller
// gives. Values are maximised.
package search

import (
	"context"
	"fmt"
	"math"

	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/param"
)

// Space is the set of free hyperparameters: every Spec has Fixed false and a finite Init.
type Space []param.Spec

// Proposal is the unit of work that a strategy asks for: theta vectors evaluated in this order in one job, each warm-
// started by the one before. Under a local optimiser or a Sampler there is one, the start point.
type Proposal struct {
	Points [][]float64
}

// Strategy proposes points. It keeps no state: history is an argument, so resuming needs only the journal.
type Strategy interface {
	// Check says why the strategy cannot search s: asked when the plan is made, before any data are read, so an Init that
	// comes from the data may still be NaN. Ask is only called on spaces that pass.
	Check(s Space) error
	// Ask returns the next proposals given the finished trials, in the order of their Index; none means finished. The
	// batch depends only on the arguments, never on the number of workers.
	Ask(s Space, done []record.Trial, seed uint64) []Proposal
	// Budget is how many proposals Ask makes in all.
	Budget(s Space) Budget
	// Optimizer names the local optimiser of package objective that starts at each proposed point ("bfgs"), or "" if
	// points are evaluated as they are.
	Optimizer() string
}

// Budget is how many trials a strategy makes.
type Budget struct {
	Trials int
	AtMost bool // it may finish earlier, by what they come to
	AtOnce int  // it asks for so many at a time, once the first batch is done; 0: there is no other
}

// Table lists the strategies.
var Table = registry.Table[Strategy]{
	registry.Of[BFGS, Strategy]("bfgs", "quasi-Newton ascent from `restarts` start points", BFGS{Ascent{MultiStart: MultiStart{1}}}),
	registry.Of[LBFGS, Strategy]("lbfgs", "the same with limited memory", LBFGS{Ascent{MultiStart: MultiStart{1}}}),
	registry.Of[CG, Strategy]("cg", "nonlinear conjugate gradients from `restarts` start points", CG{Ascent{MultiStart: MultiStart{1}}}),
	registry.Of[GradientDescent, Strategy]("gradient_descent", "steepest ascent from `restarts` start points", GradientDescent{Ascent{MultiStart: MultiStart{1}}}),
	registry.Of[Grid, Strategy]("grid", "every point of a rectangular grid"),
	registry.Of[NelderMead, Strategy]("nelder_mead", "simplex search from `restarts` start points, without gradients", NelderMead{Restarts: 1, Evaluations: 200}),
	registry.Of[CMAES, Strategy]("cmaes", "evolution strategy with covariance matrix adaptation, in generations of `population`, without gradients"),
	registry.Of[Bayes, Strategy]("bayes", "Bayesian optimisation: expected improvement under Gaussian-process regression, `trials` in all", Bayes{Trials: 40, Batch: 1}),
	registry.Of[Random, Strategy]("random", "`trials` points drawn uniformly from the search box", Random{Design{64}}),
	registry.Of[Sobol, Strategy]("sobol", "the first `trials` points of Sobol's sequence, Owen-scrambled, in the search box", Sobol{Design{64}}),
	registry.Of[LatinHypercube, Strategy]("latin_hypercube", "`trials` points of which every hyperparameter takes evenly spread values", LatinHypercube{Design{64}}),
	registry.Of[MCMC, Strategy]("mcmc", "samples of the log posterior by `restarts` Markov chains; predictions are averages over them", MCMC{MultiStart: MultiStart{4}, Samples: objective.DefaultSamples, Thin: objective.DefaultThin}),
}

// Study is the tuning of one configuration on one training set, ending in an assessment of its winner.
type Study struct {
	Key           string // content hash of all that determines the study's results; no two studies of a run share one
	Configuration int    // its place in the manifest, stamped on its records: index into Manifest.Configurations
	Index         int    // index into Configuration.Studies
	Space         Space
	Strategy      Strategy // nil: nothing to tune
	Seed          uint64
	Stage         *Stage // what it waits for; nil: it starts at once
	Memory        int64  // bytes that one of its jobs needs at most
	// Trial evaluates one proposal. What fails inside is recorded in the Trial; an error is returned for
	// cancellation, and any other is recorded as the Trial's Failure.
	Trial func(ctx context.Context, index int, p Proposal) (record.Trial, error)
	// Assess fits the classifier at the winner's theta (nil if nothing was tuned), or under a Sampler at every point of the
	// trials, and predicts the held-out cases. chosen is the winner's index, or -1.
	Assess func(ctx context.Context, chosen int, theta []float64, trials []record.Trial) (record.Fit, error)
}

// Stage is where studies wait for others. What becomes of them depends on finished results alone, never on when they
// finished, so that a run which is resumed goes the same way.
type Stage struct {
	After []int // the studies waited for, by their places in the list of studies; not empty
	// Open is called once, with the assessments of those studies, which are shared and nil where a study was itself dropped.
	// It returns the configurations that go on: the other studies that wait here never run.
	Open func(fits []*record.Fit) (configurations []int)
}

// Winner finds the usable point of largest value among the trials: the index of its trial, and the point. Failed trials
// and points whose value is not finite are passed over; of equal values the first point of the lowest index wins. If
// nothing is usable the error says so, with the first cause on record.
func Winner(trials []record.Trial) (index int, best record.Point, err error) {
	index, best.Value = -1, record.Number(math.Inf(-1))
	cause := ""
	for _, t := range trials {
		if t.Failure != "" {
			if cause == "" {
				cause = t.Failure
			}
			continue
		}
		for _, p := range t.Points {
			switch {
			case !usable(p):
				if cause == "" {
					cause = p.Failure
				}
			case p.Value > best.Value || p.Value == best.Value && t.Index < index:
				index, best = t.Index, p
			}
		}
	}
	if index >= 0 {
		return index, best, nil
	}
	if cause != "" {
		cause = "; the first: " + cause
	}
	return -1, record.Point{}, fmt.Errorf("none of %d trials has a usable point%s", len(trials), cause)
}

// usable says whether a point has a value.
func usable(p record.Point) bool {
	return p.Failure == "" && !math.IsNaN(float64(p.Value)) && !math.IsInf(float64(p.Value), 0)
}

// Edges says, one warning each, which hyperparameters are at an end of where a search without a local optimiser looked:
// a bound, or where none was given the search box.
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
				warnings = append(warnings, fmt.Sprintf("%s ended at its %s bound %.6g: wider bounds may hold a better value", p.Name, e.side, p.Map.Natural(e.bound)))
			case math.Abs(theta[j]-e.box) <= near:
				warnings = append(warnings, fmt.Sprintf("%s ended at the %s end %.6g of its search box: with bounds: [lo, hi] it is searched between them", p.Name, e.side, p.Map.Natural(e.box)))
			}
		}
	}
	return warnings
}

// checkStart says if a hyperparameter starts outside its bounds.
func checkStart(p param.Spec) error {
	if p.Init < p.Lo || p.Init > p.Hi {
		return fmt.Errorf("%s starts at %v, outside its bounds [%v, %v]; give it an init inside them", p.Name, p.Init, p.Lo, p.Hi)
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
