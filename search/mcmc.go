package search

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/objective/param"
)

// MCMC samples the posterior density of theta. A proposal is the start of one Markov chain, and so
// a trial has many points, the samples; the starts are those of a MultiStart.
type MCMC struct {
	MultiStart `yaml:",inline"` // restarts is the number of chains; 0 means 4
	Burn       int              `yaml:"burn" within:"[1,1000000]"`   // moves before the first sample; 0 means 100 for each free hyperparameter
	Samples    int              `yaml:"samples" within:"[4,100000]"` // that a chain keeps; 0 means 100
	Thin       int              `yaml:"thin" within:"[1,10000]"`     // moves for each of them; 0 means 2
}

// Sampler is a Strategy whose proposals are starts of Markov chains over theta. What is maximised
// must be a log posterior density, and the assessment averages over the points of all trials.
type Sampler interface {
	Strategy
	// Length of a chain: moves before the first sample, samples kept, moves for each; 0 is the
	// chain's default.
	Length() (burn, samples, thin int)
}

// Check implements Strategy: what there is to sample must have a prior.
func (m MCMC) Check(s Space) error {
	errs := []error{m.MultiStart.Check(s), param.Proper(s)}
	if len(s) == 0 {
		errs = append(errs, errors.New("there is nothing to sample, for every hyperparameter is fixed; use method: none"))
	}
	for _, o := range []struct {
		name         string
		value, least int
	}{{"burn", m.Burn, 1}, {"samples", m.Samples, 4}, {"thin", m.Thin, 1}} {
		if o.value != 0 && o.value < o.least {
			errs = append(errs, fmt.Errorf("%s = %d must be at least %d", o.name, o.value, o.least))
		}
	}
	return errors.Join(errs...)
}

// Ask implements Strategy: all chains in one batch.
func (m MCMC) Ask(s Space, done []record.Trial, seed uint64) []Proposal {
	return m.chains().Ask(s, done, seed)
}

// Budget implements Strategy.
func (m MCMC) Budget(s Space) Budget { return m.chains().Budget(s) }

func (m MCMC) chains() MultiStart { return MultiStart{cmp.Or(m.Restarts, 4)} }

// Optimizer implements Strategy.
func (MCMC) Optimizer() string { return "" }

// Length implements Sampler.
func (m MCMC) Length() (burn, samples, thin int) { return m.Burn, m.Samples, m.Thin }
