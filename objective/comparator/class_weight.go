package comparator

import (
	"github.com/gpc-tune/gpc-tune/internal/registry"
)

// ClassWeight is a choice of weights for the cases of each class.
type ClassWeight int

const (
	// Uniform: every case counts once.
	Uniform ClassWeight = iota
	// Balanced: a case of a class with n_c of n cases counts as n/(C n_c) cases, with C the number
	// of classes that have cases. All classes then have the same total weight, and the
	// probabilities refer to a population in which they are equally frequent.
	Balanced
)

// Names are the names of the choices.
func (ClassWeight) Names() []string { return []string{"none", "balanced"} }

// UnmarshalText reads one of the names.
func (w *ClassWeight) UnmarshalText(text []byte) error {
	return registry.Choose(w, "class_weight", text)
}

// of is the weight of every class, from its number of cases; 0 where it has none.
func (w ClassWeight) of(counts []float64) []float64 {
	cases, present := 0.0, 0.0
	for _, n := range counts {
		if cases += n; n > 0 {
			present++
		}
	}
	weight := make([]float64, len(counts))
	for c, n := range counts {
		switch {
		case n == 0:
		case w == Balanced:
			weight[c] = cases / (present * n)
		default:
			weight[c] = 1
		}
	}
	return weight
}

// perCase returns for every case the value of its class.
func perCase(ofClass []float64, index []int) []float64 {
	out := make([]float64, len(index))
	for i, c := range index {
		out[i] = ofClass[c]
	}
	return out
}
