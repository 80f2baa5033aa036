package search

import (
	"cmp"
	"errors"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/record"
)

// MCMC samples the posterior density of theta. A proposal is the start of one Markov chain, and a
// trial has many points, the samples. The chains start where MultiStart would.
type MCMC struct {
	MultiStart `yaml:",inline"` // restarts is the number of chains; 0 means 4
	// Burn is the number of transitions before the first sample; 0 means 100 for each free
	// hyperparameter.
	Burn    int `yaml:"burn" within:"[1,1000000]"`
	Samples int `yaml:"samples" within:"[4,100000]"` // samples kept by a chain; 0 means 100
	Thin    int `yaml:"thin" within:"[1,10000]"`     // transitions per sample; 0 means 2
}

// Check implements Strategy: every sampled hyperparameter must have a prior.
func (m MCMC) Check(s Space) error {
	if len(s) == 0 {
		return errors.New("there is nothing to sample: every hyperparameter is fixed; use method: none")
	}
	return errors.Join(s.checkContinuous(), param.Proper(s),
		checkSearch(s, count{"restarts", m.Restarts, 1, 0}, count{"burn", m.Burn, 1, 0},
			count{"samples", m.Samples, 4, 0}, count{"thin", m.Thin, 1, 0}))
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
