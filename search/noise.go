package search

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/record"
)

// mostNoisy is the largest number of values in the regression of ExpectedBest.
const mostNoisy = 200

// ExpectedBest returns the trial with the largest expected value, for values with noise: the
// posterior mean of a Gaussian-process regression of the best values
// (objective.NewNoisySurrogate). sd is its posterior standard deviation. Preliminary and failed
// trials are ignored. ok is false if the regression fails.
func (s Space) ExpectedBest(trials []record.Trial, seed uint64) (best record.Trial, mean, sd float64, ok bool) {
	usable := slices.DeleteFunc(slices.Clone(trials), func(t record.Trial) bool {
		return t.Preliminary || math.IsInf(t.Value(), -1)
	})
	slices.SortStableFunc(usable, func(a, b record.Trial) int { return cmp.Compare(b.Value(), a.Value()) })
	usable = usable[:min(len(usable), mostNoisy)]
	if len(usable) == 0 || len(s) == 0 {
		return best, 0, 0, false
	}
	var rows, values []float64
	for _, t := range usable {
		rows, values = append(rows, s.features(s.unit(t.Theta()))...), append(values, t.Value())
	}
	n := len(values)
	x := mat.NewDense(n, len(rows)/n, rows)
	model, err := objective.NewNoisySurrogate(x, values, seed)
	if err != nil {
		return best, 0, 0, false
	}
	means, sds := make([]float64, n), make([]float64, n)
	model.Predict(means, sds, x)
	k := floats.MaxIdx(means)
	return usable[k], means[k], sds[k], true
}
