// Package tuning draws how hyperparameters were tuned: grids, searches, climbs and the values on
// their way. Each function is a kind of pictures.
package tuning

import (
	"fmt"
	"math"
	"slices"

	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture/shown"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

// Grid has a figure for every configuration that evaluated a grid of two hyperparameters,
// as in GPML Figures 3.7 and 3.8: the tuning objective and the test information as contours over
// the natural logarithms of the hyperparameters, and the errors as numbers. The levels are the same
// for all configurations on the same data. Local optimisers of the same objective leave their paths
// on its contours.
func Grid(r shown.Report) []figure.Figure {
	return r.InTurn("grid", shown.MostFigures, func(m shown.Member) (f figure.Figure) {
		c := m.Configuration
		l, ok := latticeOf(c.Grid)
		if !ok {
			return f
		}
		n := r.Naming(m)
		scores := ""
		for _, p := range c.Grid { // the points have the same number of cases, if any
			if n, known := p.Scores.Get("n"); known {
				scores = fmt.Sprintf("scores of %s, %.0f cases", c.Evaluations[0].Name, n)
			}
		}
		return figure.Figure{
			Title: shown.Titled("Grid", n.Heading), Columns: 3,
			Notes: shown.Remarks(n.Note, table.Counted(c.Cases, "training case", "training cases")+", "+
				table.Counted(c.Inputs, "input", "inputs"), scores,
				"contours are interpolated between the points of the grid"),
			Panels: l.panels(c, l.alike(r, c), pathsOver(r, c, l.across.label, l.up.label)),
		}
	})
}

// panels shows the tuning objective, with paths over it, the test information and the errors. A
// panel is left out if no point has its value.
func (l lattice) panels(c reports.Configuration, alike []reports.Configuration, paths []figure.Layer) (
	out []figure.Panel) {
	contours := func(z [][]float64, values [][]float64) figure.Layer {
		return figure.Contours{X: l.across.values, Y: l.up.values, Z: z, Levels: commonLevels(values), Smooth: true}
	}
	score := func(name string) func(reports.GridPoint) (float64, bool) {
		return func(p reports.GridPoint) (float64, bool) { return p.Scores.Get(name) }
	}
	objective := func(p reports.GridPoint) (float64, bool) { return p.Objective(), true }
	errors := errorsOf(c)
	numbers := func(z [][]float64, _ [][]float64) figure.Layer {
		return figure.NumberGrid{X: l.across.values, Y: l.up.values, Z: z, Digits: errors.digits}
	}
	for _, of := range []struct {
		by, title string
		digits    int
		unit      float64
		value     func(reports.GridPoint) (float64, bool)
		layer     func(z [][]float64, values [][]float64) figure.Layer
	}{
		{c.Objective, shown.ObjectiveLabel(c), 2, 1, objective, contours},
		{"information_bits", "test information (bits per case)", 3, 1, score("information_bits"), contours},
		{"errors", errors.title, errors.digits, errors.unit, func(p reports.GridPoint) (float64, bool) {
			n, known := p.Scores.Get("errors")
			return n / errors.unit, known
		}, numbers},
	} {
		z, known := l.values(c.Grid, of.value)
		if !known {
			continue
		}
		values := make([][]float64, len(alike)) // values that the levels are for
		for k, other := range alike {
			for _, p := range other.Grid {
				if v, ok := of.value(p); ok && figure.Drawable(v) {
					values[k] = append(values[k], v)
				}
			}
		}
		best, marks := l.bests(c, of.by, of.digits, of.unit)
		out = append(out, figure.Panel{Title: of.title + best, X: figure.Axis{Label: l.across.label},
			Y: figure.Axis{Label: l.up.label}, Layers: slices.Insert(marks, 0, of.layer(z, values))})
	}
	if len(paths) > 0 {
		p := &out[0]
		p.X.Lo, p.X.Hi = l.across.values[0], l.across.values[len(l.across.values)-1]
		p.Y.Lo, p.Y.Hi = l.up.values[0], l.up.values[len(l.up.values)-1]
		p.Layers = slices.Insert(p.Layers, 1, paths...)
	}
	return out
}

// shownErrors is the format of the errors at the points of a grid.
type shownErrors struct {
	title  string
	digits int
	unit   float64 // errors
}

// errorsOf is the format for a configuration: the number of wrong cases or, from a thousand
// held-out cases on, their percentage, as in GPML Figure 3.11.
func errorsOf(c reports.Configuration) shownErrors {
	for _, p := range c.Grid {
		if n, known := p.Scores.Get("n"); known && n >= 1000 {
			return shownErrors{"errors (%)", 1, n / 100}
		}
	}
	return shownErrors{"errors (cases)", 0, 1}
}

// commonLevels are the levels of contours for the values of several grids. They include the highest
// level of each grid.
func commonLevels(values [][]float64) []float64 {
	levels := figure.Levels(slices.Concat(values...))
	for _, of := range values {
		if own := figure.Levels(of); len(own) > 0 {
			levels = append(levels, own[len(own)-1])
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(levels)))
}

// alike are the configurations on the same data, a given one among them, with the same objective
// over the same lattice: their contours have the same levels.
func (l lattice) alike(r shown.Report, c reports.Configuration) (out []reports.Configuration) {
	for _, other := range r.Configurations {
		if other.Record.DataHash != c.Record.DataHash || other.Objective != c.Objective {
			continue
		}
		if o, ok := latticeOf(other.Grid); ok && o.across.same(l.across) && o.up.same(l.up) {
			out = append(out, other)
		}
	}
	return out
}

// bests marks the point that is best by the objective and, if the panel shows another value, the
// point that is best by that. It also returns the best value as text, in the unit of the panel.
func (l lattice) bests(c reports.Configuration, by string, digits int, unit float64) (value string,
	marks []figure.Layer) {
	chosen, best := -1, -1
	for _, b := range c.Best {
		if b.By == c.Objective {
			chosen = b.Point
		}
		if b.By == by {
			best = b.Point
			value += ", best" + c.SoFar() + " " + figure.Number(float64(b.Value)/unit, digits)
		}
	}
	mark := func(name string, point int) {
		if i, j := l.find(point); i >= 0 {
			marks = append(marks, figure.Mark{Name: name, X: l.across.values[i], Y: l.up.values[j]})
		}
	}
	mark("best "+reports.Spaced(c.Maximised()), chosen)
	if best != chosen {
		mark("best of the panel", best)
	}
	return value, marks
}

// coordinate is one of the two hyperparameters of a lattice.
type coordinate struct {
	label  string
	values []float64 // ascending, as drawn: natural logarithms if all values are positive
}

func (c coordinate) same(as coordinate) bool {
	return c.label == as.label && slices.Equal(c.values, as.values)
}

// lattice is a grid of points over two hyperparameters.
type lattice struct {
	across, up coordinate
	point      [][]int // [i][j]: index into Grid of the point at across.values[i], up.values[j]; -1 if there is none
}

// OnLattice reports whether the points that have a value are on a lattice, so that Grid draws them.
func OnLattice(grid []reports.GridPoint) bool {
	_, ok := latticeOf(grid)
	return ok
}

// latticeOf finds the lattice of the points that have a value. They must differ in exactly two
// hyperparameters and fill at least half of the lattice, which random points do not. across is the
// one that changes more slowly. Points that differ in a choice, or in a hyperparameter that matters
// for some of them only, have none.
func latticeOf(grid []reports.GridPoint) (l lattice, ok bool) {
	var at []int
	for i, p := range grid {
		if len(p.Point) > 0 && figure.Drawable(p.Objective()) {
			at = append(at, i)
		}
	}
	if len(at) == 0 {
		return l, false
	}
	var columns []column
	first := grid[at[0]].Point
	for _, i := range at {
		if len(grid[i].Point) != len(first) {
			return l, false
		}
	}
	for _, value := range first {
		c, ok := columnOf(grid, at, value.Name, value.Text != "")
		if !ok {
			return l, false
		}
		if len(c.values) > 1 {
			columns = append(columns, c)
		}
	}
	if len(columns) != 2 || len(columns[0].values)*len(columns[1].values) > 2*len(at) {
		return l, false
	}
	slices.SortStableFunc(columns, func(a, b column) int { return a.changes - b.changes })
	across, up := columns[0], columns[1]
	l = lattice{across: across.coordinate, up: up.coordinate}
	for range across.values {
		l.point = append(l.point, slices.Repeat([]int{-1}, len(up.values)))
	}
	for k, i := range at {
		l.point[across.place[k]][up.place[k]] = i
	}
	return l, true
}

// column is a coordinate of points, with the place of every point among its values, and how often
// it changes from one point to the next.
type column struct {
	coordinate
	place   []int
	changes int
}

// columnOf returns the coordinate of some points by its name. There is none for a hyperparameter
// that matters for only some of the points, or for a choice that differs among them.
func columnOf(grid []reports.GridPoint, at []int, name string, choice bool) (c column, ok bool) {
	c.label = "ln " + reports.Spaced(name)
	for _, i := range at {
		v, matters := grid[i].Point.Get(name)
		if !matters || !figure.Drawable(v) {
			return c, false
		}
		c.values = append(c.values, v)
	}
	if slices.Min(c.values) > 0 {
		for i, v := range c.values {
			c.values[i] = math.Log(v)
		}
	} else {
		c.label = reports.Spaced(name)
	}
	distinct := slices.Compact(slices.Sorted(slices.Values(c.values)))
	for i, v := range c.values {
		place, _ := slices.BinarySearch(distinct, v)
		if i > 0 && place != c.place[i-1] {
			c.changes++
		}
		c.place = append(c.place, place)
	}
	c.values = distinct
	return c, len(distinct) == 1 || !choice
}

// find returns the place of a point in the lattice.
func (l lattice) find(point int) (i, j int) {
	for i := range l.point {
		if j := slices.Index(l.point[i], point); j >= 0 {
			return i, j
		}
	}
	return -1, -1
}

// values returns the values of the points in rows, upwards; NaN: the point has none. known is false
// if no point has a value.
func (l lattice) values(grid []reports.GridPoint, value func(reports.GridPoint) (float64, bool)) (
	z [][]float64, known bool) {
	for j := range l.up.values {
		z = append(z, slices.Repeat([]float64{math.NaN()}, len(l.across.values)))
		for i := range l.across.values {
			if k := l.point[i][j]; k >= 0 {
				if v, ok := value(grid[k]); ok && figure.Drawable(v) {
					z[j][i], known = v, true
				}
			}
		}
	}
	return z, known
}
