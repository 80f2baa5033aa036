package reports

import "slices"

// Pareto lists the points of a search with several objectives, all minimised, that no other point
// dominates: none is as small in every objective and smaller in one. They are in the order of the
// first objective. Trials outside of required bounds, or stopped early, do not count.
func (c Configuration) Pareto() (points []int) {
	if c.Program == nil || len(c.Program.Objectives) == 0 {
		return nil
	}
	at := func(i int) []float64 { return valuesIn(c.Grid[i], c.Program.Objectives) }
	counts := func(p GridPoint) bool {
		return !p.Preliminary && len(p.Values) > 0 && p.Value != nil && p.Value.Finite()
	}
	dominates := func(a, b []float64) bool {
		smaller := false
		for k := range a {
			if a[k] > b[k] {
				return false
			}
			smaller = smaller || a[k] < b[k]
		}
		return smaller
	}
	for i, p := range c.Grid {
		if counts(p) && !slices.ContainsFunc(c.Grid, func(o GridPoint) bool {
			return counts(o) && dominates(valuesIn(o, c.Program.Objectives), at(i))
		}) {
			points = append(points, i)
		}
	}
	slices.SortStableFunc(points, func(i, j int) int { return slices.Compare(at(i), at(j)) })
	return points
}

// valuesIn are the values with these names at a point.
func valuesIn(p GridPoint, names []string) (values []float64) {
	for _, name := range names {
		v, _ := p.Values.Get(name)
		values = append(values, v)
	}
	return values
}
