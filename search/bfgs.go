package search

import (
	"errors"
	"fmt"

	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/objective/param"
)

// BFGS proposes start points for the quasi-Newton optimiser of package objective: the initial values, then points drawn
// uniformly on the theta scale from the search box, Init ± param.SearchBox clipped to the bounds. The draw of a restart
// depends only on the seed and its index, so more restarts extend the same list and never do worse.
//
// With no free hyperparameter every start is the same point, and one is proposed.
type BFGS struct {
	Restarts int `yaml:"restarts"` // number of start points; 0 means 1
}

// Check implements Strategy.
func (b BFGS) Check(s Space) error {
	if b.Restarts < 0 {
		return fmt.Errorf("restarts = %d must be at least 1", b.Restarts)
	}
	var errs []error
	for _, p := range s {
		errs = append(errs, checkStart(p))
	}
	return errors.Join(errs...)
}

// Ask implements Strategy: all starts in one batch.
func (b BFGS) Ask(s Space, done []record.Trial, seed uint64) []Proposal {
	if len(done) > 0 {
		return nil
	}
	start := s.start()
	proposals := []Proposal{{Points: [][]float64{start}}}
	if len(s) == 0 {
		return proposals
	}
	for i := 1; i < b.Restarts; i++ {
		r := draws(seed, i)
		theta := make([]float64, len(s))
		for j, p := range s {
			lo := max(start[j]-param.SearchBox, p.Map.Theta(p.Lo))
			hi := min(start[j]+param.SearchBox, p.Map.Theta(p.Hi))
			theta[j] = min(lo+(hi-lo)*r.Float64(), hi)
		}
		proposals = append(proposals, Proposal{Points: [][]float64{theta}})
	}
	return proposals
}

// Optimizer implements Strategy.
func (BFGS) Optimizer() string { return "bfgs" }
