package comparator

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// Averaging makes class probabilities of the Gaussian posterior of the weights.
type Averaging int

const (
	// Chosen is Averaged or AtMode, whichever gives held-out cases of folds within the training set
	// the larger likelihood. Averages are too near to equal where classes are separate: there the
	// mode is much nearer 0 than the mean of the posterior. Probabilities at the mode are too sure
	// where few cases meet many weights.
	Chosen Averaging = iota
	// Averaged is the average over the posterior, GPML (3.25).
	Averaged
	// AtMode is the probability at the mode of the posterior.
	AtMode
)

// Names are the names of the ways, as of averages of a Gaussian process.
func (Averaging) Names() []string { return []string{"chosen", "averaged", "map"} }

// UnmarshalText reads one of the names.
func (a *Averaging) UnmarshalText(text []byte) error { return registry.Choose(a, "average", text) }

// marked is a state with -1 after it for AtMode.
func (a Averaging) marked(s approx.State) approx.State {
	if a == AtMode {
		return append(s, -1)
	}
	return s
}

// averagingOf separates a state of n numbers from the mark of AtMode.
func averagingOf(s approx.State, n int) (approx.State, Averaging) {
	if len(s) == n+1 && s[n] == -1 {
		return s[:n], AtMode
	}
	return s, Averaged
}

// choosingPoints are the points of an average in folds: two ways that differ by less than the error
// of so few points are equally good.
const choosingPoints = 256

// choose returns Averaged or AtMode, by up to five stratified folds of the cases, of groups as a
// whole, each fitted at the amplitude of f. Where there are not two groups or cases, it is Averaged.
func (l LogisticRegression) choose(ctx context.Context, f *weights, d objective.Data, counts []float64, seed uint64,
) (Averaging, error) {
	if l.Average != Chosen {
		return l.Average, nil
	}
	folds, err := innerFolds(f.index, d.Groups, seed)
	if err != nil || folds == nil {
		return Averaged, err
	}
	gain := 0.0 // Σ ω_i (log p_i at the mode - log p_i averaged)
	for _, fold := range folds {
		part, err := l.on(some(d, fold.Train), pick(f.index, fold.Train), counts).mode(ctx, f.sigma, nil)
		if err != nil {
			return Averaged, fmt.Errorf("cross-validation: %w", err)
		}
		part.invert()
		z := some(d, fold.Test).X
		averaged, plugged := mat.NewDense(z.N(), f.classes, nil), mat.NewDense(z.N(), f.classes, nil)
		part.average(averaged, z, choosingPoints)
		part.plugIn(plugged, z)
		for k, i := range fold.Test {
			c := f.index[i]
			gain += f.weight[i] * (logOf(plugged.At(k, c)) - logOf(averaged.At(k, c)))
		}
	}
	if gain > 0 {
		return AtMode, nil
	}
	return Averaged, nil
}

// logOf is log p, of 0 the log of the smallest positive number.
func logOf(p float64) float64 { return math.Log(max(p, math.SmallestNonzeroFloat64)) }

// innerFolds are stratified folds of a training set, with groups as a whole. There are five of them,
// or fewer if there are fewer groups or cases. Of a single group or case there are none.
func innerFolds(index []int, groups []string, seed uint64) ([]cv.Fold, error) {
	units := len(index)
	if groups != nil {
		units = len(slices.Compact(slices.Sorted(slices.Values(groups))))
	}
	if units < 2 {
		return nil, nil
	}
	return cv.Split(cv.Inner(0, usualFolds, len(index), groups), len(index), index, groups, seed)
}

// pick are the entries of v at these positions.
func pick(v, at []int) []int {
	out := make([]int, len(at))
	for k, i := range at {
		out[k] = v[i]
	}
	return out
}

// some are these cases of d, with their inputs and weights.
func some(d objective.Data, at []int) (part objective.Data) {
	x := mat.NewDense(len(at), d.X.Dim(), nil)
	for k, i := range at {
		x.SetRow(k, d.X.X.RawRowView(i))
		if d.Y.Weight != nil {
			part.Y.Weight = append(part.Y.Weight, d.Y.Weight[i])
		}
	}
	part.X = &kernel.Inputs{X: x}
	return part
}
