package cv

import (
	"cmp"
	"math"
	"slices"
)

// Holm adjusts the p values of several tests, so that rejecting those with adjusted values of at
// most α rejects any true hypothesis with probability at most α, for any dependence between the
// tests. Of K values in ascending order the k-th, counted from 0, becomes
//
//	max_{j ≤ k} min(1, (K - j) p_j)
//
// (Holm 1979, Scandinavian Journal of Statistics 6:65). NaN means that there is no test: it stays
// NaN and does not count in K.
func Holm(p []float64) []float64 {
	out := slices.Clone(p)
	var order []int
	for i, v := range p {
		if !math.IsNaN(v) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	largest := 0.0
	for k, i := range order {
		largest = max(largest, min(1, float64(len(order)-k)*p[i]))
		out[i] = largest
	}
	return out
}
