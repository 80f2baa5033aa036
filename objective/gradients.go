package objective

import (
	"fmt"
	"slices"

	"github.com/gpc-tune/gpc-tune/internal/registry"
)

// Gradients is where a local optimisation has its gradients from.
type Gradients int

const (
	// Exact gradients come from the adjoint of a fit.
	Exact Gradients = iota
	// Differences are central ones of values: two more fits for each free hyperparameter, all of
	// them cold, so that the value is a function of theta alone. They are for criteria without an
	// exact gradient, and right to about 1e-7 of the value.
	Differences
)

// Names are the names of the sources.
func (Gradients) Names() []string { return []string{"exact", "differences"} }

// UnmarshalText reads one of the names.
func (g *Gradients) UnmarshalText(text []byte) error {
	i := slices.Index(g.Names(), string(text))
	if i < 0 {
		return fmt.Errorf("unknown gradient %q%s", text, registry.Suggest(string(text), g.Names()))
	}
	*g = Gradients(i)
	return nil
}

// threshold is the default of Settings.GradientThreshold.
func (g Gradients) threshold() float64 {
	if g == Differences { // which are right to a hundredth of it
		return 1e-5
	}
	return 1e-6
}

// Evaluations is how many fits a value with its gradient over so many free hyperparameters takes.
func (g Gradients) Evaluations(free int) int {
	if g == Differences {
		return 2*free + 1
	}
	return 1
}
