// Package search proposes hyperparameters and runs the resulting jobs: spaces, strategies (ask/tell, one file each), the
// scheduler and the journal.
//
// It knows theta and scalar values, never data, kernels or classifiers: what a job does is a closure that the caller
// gives. Values are maximised.
package search

import (
	"context"

	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/objective/param"
)

// Space is the set of free hyperparameters: every Spec has Fixed false and a finite Init.
type Space []param.Spec

// Proposal is the unit of work that a strategy asks for: theta vectors evaluated in this order in one job, each warm-
// started by the one before. Under a local optimiser there is one, the start point.
type Proposal struct {
	Points [][]float64
}

// Strategy proposes points. It keeps no state: history is an argument, so resuming needs only the journal.
type Strategy interface {
	// Ask returns the next proposals given the finished trials, in the order of their Index; none means finished. The
	// batch depends only on the arguments, never on the number of workers.
	Ask(s Space, done []record.Trial, seed uint64) []Proposal
	// Optimizer names the local optimiser of package objective that starts at each proposed point ("bfgs"), or "" if
	// points are evaluated as they are.
	Optimizer() string
}

// Study is the tuning of one configuration on one training set, ending in an assessment of its winner.
type Study struct {
	Key      string // content hash of all that determines the study's results
	Space    Space
	Strategy Strategy // nil: nothing to tune
	Seed     uint64
	Memory   int64 // bytes that one of its jobs needs at most
	// Trial evaluates one proposal. What fails inside is recorded in the Trial; an error is returned only for cancellation.
	Trial func(ctx context.Context, index int, p Proposal) (record.Trial, error)
	// Assess fits the classifier at the winner's theta (nil if nothing was tuned) and predicts the held-out cases. chosen is
	// the winner's index, or -1.
	Assess func(ctx context.Context, chosen int, theta []float64) (record.Fit, error)
}
