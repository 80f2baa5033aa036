package search

import (
	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/record"
)

// MultiStart proposes start points for a local optimiser of package objective: the initial values,
// then points drawn uniformly on the theta scale about them (param.Start). The draw of a restart
// depends only on the seed and its index, so more restarts extend the same list, and the best value
// cannot decrease.
//
// A climb stays with the discrete values of its start. If no hyperparameter is free, all starts are
// the same point and only one is proposed.
type MultiStart struct {
	Restarts int `yaml:"restarts" within:"[1,100000]"` // number of start points; 0 means 1
}

// Ascent configures a local optimisation from each of the starts.
type Ascent struct {
	MultiStart `yaml:",inline"`
	// exact, or differences of values for models without an exact gradient
	Gradient objective.Gradients `yaml:"gradient"`
	// Evaluations bounds the fits of a restart; 0 means 500 (with differences, 500 gradients).
	Evaluations int `yaml:"evaluations" within:"[1,10000000]"`
	// TraceScores records the scores of held-out cases at every iteration, for the study on all of
	// the training data.
	TraceScores bool `yaml:"trace_scores"`
}

// Ascends returns the options of the local optimiser.
func (a Ascent) Ascends() Ascent { return a }

// Strategies that start a local optimiser at each proposed point.
type (
	// BFGS is the quasi-Newton method of Broyden, Fletcher, Goldfarb and Shanno.
	BFGS struct {
		Ascent `yaml:",inline"`
	}
	// LBFGS is BFGS with limited memory.
	LBFGS struct {
		Ascent `yaml:",inline"`
	}
	// CG is nonlinear conjugate gradients.
	CG struct {
		Ascent `yaml:",inline"`
	}
	// GradientDescent is steepest ascent of the objective.
	GradientDescent struct {
		Ascent `yaml:",inline"`
	}
)

// PerClimb is the expected number of evaluations of a local optimisation for this number of free
// hyperparameters: 13 for two on the bundled data, 23 for three, and 34 to 71 from six on.
func PerClimb(free int) float64 { return min(3+6*float64(free), 55) }

// Check implements Strategy.
func (m MultiStart) Check(s Space) error {
	if err := checkSearch(s, count{"restarts", m.Restarts, 1, 0}); err != nil {
		return err
	}
	return param.CheckStarts(s, max(1, m.Restarts))
}

// Ask implements Strategy: all starts in one batch.
func (m MultiStart) Ask(s Space, done []record.Trial, seed uint64) []Proposal {
	if len(done) > 0 {
		return nil
	}
	var proposals []Proposal
	for i := range m.Budget(s).Trials {
		proposals = append(proposals, Proposal{Points: [][]float64{param.Start(s, seed, i)}})
	}
	return proposals
}

// Budget implements Strategy.
func (m MultiStart) Budget(s Space) Budget { return s.budget(Budget{Trials: max(1, m.Restarts)}) }

// Optimizer implements Strategy.
func (BFGS) Optimizer() string { return "bfgs" }

// Optimizer implements Strategy.
func (LBFGS) Optimizer() string { return "lbfgs" }

// Optimizer implements Strategy.
func (CG) Optimizer() string { return "cg" }

// Optimizer implements Strategy.
func (GradientDescent) Optimizer() string { return "gradient_descent" }
