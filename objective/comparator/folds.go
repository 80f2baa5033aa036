package comparator

import (
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/cv/split"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// usualFolds is the default number of folds of a training set.
const usualFolds = 5

// innerFolds are stratified folds of a training set. Groups stay together. There are five folds, or
// fewer if there are fewer groups or cases. For a single group or case there are none.
func innerFolds(index []int, groups []string, seed uint64) ([]split.Fold, error) {
	units := len(index)
	if groups != nil {
		units = len(slices.Compact(slices.Sorted(slices.Values(groups))))
	}
	if units < 2 {
		return nil, nil
	}
	return split.Split(split.Inner(0, usualFolds, len(index), groups), len(index), index, groups, seed)
}

// pick are the entries of v at these positions.
func pick(v, at []int) []int {
	out := make([]int, len(at))
	for k, i := range at {
		out[k] = v[i]
	}
	return out
}

// some returns these cases of d, with their inputs and weights.
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
