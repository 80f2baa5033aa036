package comparator

import (
	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/internal/registry"
)

// Averaging is the way to compute class probabilities from the Gaussian posterior of the weights.
type Averaging int

const (
	// Chosen is Averaged or AtMode, whichever gives held-out cases of folds within the training set
	// the larger likelihood. Averages are too close to equal probabilities where classes can be
	// separated: there the mode is much nearer to 0 than the mean of the posterior. Probabilities
	// at the mode are overconfident with few cases and many weights.
	Chosen Averaging = iota
	// Averaged is the average over the posterior, GPML (3.25).
	Averaged
	// AtMode is the probability at the mode of the posterior.
	AtMode
)

// Names are the names of the ways, the same as for averages of a Gaussian process.
func (Averaging) Names() []string { return []string{"chosen", "averaged", "map"} }

// UnmarshalText reads one of the names.
func (a *Averaging) UnmarshalText(text []byte) error { return registry.Choose(a, "average", text) }

// marked returns a state, with -1 appended for AtMode.
func (a Averaging) marked(s approx.State) approx.State {
	if a == AtMode {
		return append(s, -1)
	}
	return s
}

// averagingOf splits a state into n numbers and the Averaging that marked has appended.
func averagingOf(s approx.State, n int) (approx.State, Averaging) {
	if len(s) == n+1 && s[n] == -1 {
		return s[:n], AtMode
	}
	return s, Averaged
}
