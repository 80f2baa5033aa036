package picture

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
)

// leastVisits is how many points a search needs for its importances.
const leastVisits = 20

// importancePictures show how much each hyperparameter alone decided what a search found: the share
// of the variance of the ranks of its values that lies between the groups of points with about the
// same value of the hyperparameter, less what chance would give. Ranks let the flanks count no more
// than the top. Local optimisers have none, since they end at optima.
func importancePictures(r shown) []figure.Figure {
	return figurePerConfiguration(r, searchedWidely, 1, func(part []Member, n Naming) figure.Figure {
		c := part[0].Configuration
		names, columns, _, values := coordinates(c)
		shares, order := make([]float64, len(columns)), make([]int, len(columns))
		for k, x := range columns {
			shares[k], order[k] = importance(x, values), k
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(shares[b], shares[a]) })
		bars := figure.Bars{Edges: []float64{-0.4}}
		var sorted []string
		for place, k := range order {
			at := float64(place)
			sorted = append(sorted, names[k])
			bars.Edges, bars.Heights = append(bars.Edges, at+0.4), append(bars.Heights, shares[k])
			if place < len(columns)-1 {
				bars.Edges, bars.Heights = append(bars.Edges, at+0.6), append(bars.Heights, math.NaN())
			}
		}
		return figure.Figure{Name: "importance", Title: n.Members[0] + " " + n.Heading +
			" · importance of hyperparameters", Columns: 1,
			Notes: remarks(n.Note, fmt.Sprintf("%d points of the search", len(values)),
				"what is missing to 1 is due to several hyperparameters together"),
			Panels: []figure.Panel{{X: figure.Axis{Names: sorted}, Y: figure.Axis{Lo: 0, Hi: 1,
				Label: "share of the variance of ranks due to it alone"}, Layers: []figure.Layer{bars}}}}
	})
}

// searchedWidely says whether a search evaluated many points as they are, of two hyperparameters or
// more and of different values.
func searchedWidely(c reports.Configuration) bool {
	if !varied(c) || len(c.Grid) < leastVisits {
		return false
	}
	names, _, _, values := coordinates(c)
	return len(names) > 1 && len(values) >= leastVisits
}

// coordinates are the names of the hyperparameters that a search varied, at most mostSlices; what
// they were at the points that have a value, as logarithms where they are positive, and from where
// to where; and the values.
func coordinates(c reports.Configuration) (names []string, columns [][]float64, ranges []string, values []float64) {
	var all []visit
	for _, p := range c.Grid {
		if figure.Drawable(p.Objective()) {
			all = append(all, visit{p.Point, p.Objective()})
			values = append(values, p.Objective())
		}
	}
	for _, h := range c.Record.Hyperparameters {
		var x []float64
		for _, p := range all {
			if v, found := p.at.Get(h.Name); found && figure.Drawable(v) {
				x = append(x, v)
			}
		}
		if h.Fixed || len(x) < len(all) || len(x) == 0 || slices.Min(x) == slices.Max(x) || len(names) == mostSlices {
			continue
		}
		name := spelled(h)
		if h.Choices != nil {
			ranges = append(ranges, strings.Join(h.Choices, ", "))
		} else {
			ranges = append(ranges, fmt.Sprintf("%.3g to %.3g", slices.Min(x), slices.Max(x)))
		}
		if slices.Min(x) > 0 && h.Choices == nil {
			for i, v := range x {
				x[i] = math.Log(v)
			}
		}
		names, columns = append(names, name), append(columns, x)
	}
	return names, columns, ranges, values
}

// importance is the correlation ratio of the ranks of values between groups of points by x, of
// about the square root of their number, adjusted for their number as R² is: 1-(1-η²)(n-1)/(n-k).
// It is from 0 to 1. Equal x are in one group.
func importance(x, values []float64) float64 {
	n := len(values)
	ranks := ranksOf(values)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	size := int(math.Ceil(math.Sqrt(float64(n))))
	mean := float64(n-1) / 2
	between, total, groups := 0.0, 0.0, 0
	for _, rank := range ranks {
		total += (rank - mean) * (rank - mean)
	}
	for from := 0; from < n; {
		to := min(from+size, n)
		for to < n && x[order[to]] == x[order[to-1]] {
			to++
		}
		if n-to < size/2 {
			to = n // what is left is no group
		}
		sum := 0.0
		for _, i := range order[from:to] {
			sum += ranks[i] - mean
		}
		between += sum * sum / float64(to-from)
		groups++
		from = to
	}
	if total == 0 || groups >= n {
		return 0
	}
	return max(0, 1-(1-between/total)*float64(n-1)/float64(n-groups))
}

// ranksOf are those of values from 0, the mean one of equal values.
func ranksOf(values []float64) []float64 {
	sorted := slices.Sorted(slices.Values(values))
	ranks := make([]float64, len(values))
	for i, v := range values {
		first, _ := slices.BinarySearch(sorted, v)
		after, _ := slices.BinarySearchFunc(sorted, v, func(a, b float64) int {
			if a <= b {
				return -1
			}
			return 1
		})
		ranks[i] = float64(first+after-1) / 2
	}
	return ranks
}
