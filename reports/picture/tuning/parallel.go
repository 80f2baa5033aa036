package tuning

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture/shown"
)

// Numbers of points in parallel coordinates, and of coloured ones among them.
const (
	mostParallel = 300
	bestParallel = 10
)

// nowhere is the place, below the axis of a conditional hyperparameter, of the points for which it
// does not matter.
const nowhere = -0.1

// Parallel show the points of a search over three hyperparameters or more as lines across
// one axis each, and the best ones in colour: a hyperparameter matters where the best ones agree,
// and does not where they fan out.
func Parallel(r shown.Report) []figure.Figure {
	wide := func(c reports.Configuration) bool {
		return varied(c) && len(c.Grid) >= leastVisits && len(coordinates(c).names) > 2
	}
	return shown.FigurePerConfiguration(r, wide, 1, func(part []shown.Member, n shown.Naming) figure.Figure {
		c := part[0].Configuration
		of := coordinates(c)
		of.add(reports.Spaced(c.Maximised()), fmt.Sprintf("%.4g to %.4g", slices.Min(of.values), slices.Max(of.values)),
			of.values)
		names := slices.Clone(of.names)
		for k := range names {
			names[k] += ": " + strings.ReplaceAll(of.ranges[k], "-", "−")
		}
		order := make([]int, len(of.values))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return bestFirst(c, of.values[a], of.values[b]) })
		order = order[:min(len(order), mostParallel)]
		p := figure.Panel{X: figure.Axis{Names: names}, Y: figure.Axis{
			Label: "place between least and greatest (logarithms)",
			Lo:    -0.02, Hi: 1.02}}
		without := ""
		for place, i := range slices.Backward(order) { // the best ones on top
			l := figure.Line{Faint: place >= bestParallel}
			switch {
			case place == 0:
				l.Name, l.Markers = "best point", true
			case !l.Faint:
				l.Name = fmt.Sprintf("the next %d", min(len(order), bestParallel)-1)
			}
			for k, x := range of.columns {
				y := nowhere
				if lo, hi := extremes(x); figure.Drawable(x[i]) {
					y = (x[i] - lo) / (hi - lo)
				} else {
					p.Y.Lo = nowhere - 0.02
					without = "below an axis: points where the hyperparameter does not matter"
				}
				l.X, l.Y = append(l.X, float64(k)), append(l.Y, y)
			}
			p.Layers = append(p.Layers, l)
		}
		which := fmt.Sprintf("%d points of the search", len(of.values))
		if len(of.values) > mostParallel {
			which = fmt.Sprintf("the best %d of %d points of the search", mostParallel, len(of.values))
		}
		return figure.Figure{Name: "parallel", Title: shown.Titled("Parallel coordinates", n.Heading),
			Columns: 1, Notes: shown.Remarks(n.Note, which, without), Panels: []figure.Panel{p},
			Looks: map[string]int{"best point": 0}}
	})
}

// searchedPoints are the points of a search that have a value, in coordinates.
type searchedPoints struct {
	names  []string // hyperparameters
	ranges []string // the least and the greatest value of each, in words
	// columns[k][i] is hyperparameter k at point i, the logarithm if all values are positive; NaN
	// if the hyperparameter does not matter at this point
	columns [][]float64
	values  []float64 // values of the tuning objective
}

func (p *searchedPoints) add(name, span string, column []float64) {
	p.names, p.ranges, p.columns = append(p.names, name), append(p.ranges, span), append(p.columns, column)
}

// coordinates are the points of a search, with at most mostSlices of the hyperparameters that it
// varied.
func coordinates(c reports.Configuration) (out searchedPoints) {
	var all []reports.Values
	for _, p := range c.Grid {
		if figure.Drawable(p.Objective()) {
			all, out.values = append(all, p.Point), append(out.values, p.Objective())
		}
	}
	for _, h := range c.Record.Hyperparameters {
		x := make([]float64, len(all))
		for i, p := range all {
			if v, matters := p.Get(h.Name); matters && figure.Drawable(v) {
				x[i] = v
			} else {
				x[i] = math.NaN()
			}
		}
		lo, hi := extremes(x)
		if h.Fixed || !(lo < hi) || len(out.names) == mostSlices {
			continue
		}
		span := fmt.Sprintf("%.3g to %.3g", lo, hi)
		if h.Choices != nil {
			span = strings.Join(h.Choices, ", ")
		} else if lo > 0 {
			for i, v := range x {
				x[i] = math.Log(v)
			}
		}
		out.add(shown.Conditioned(c, h), span, x)
	}
	return out
}

// extremes are the least and the greatest number.
func extremes(x []float64) (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, v := range x {
		if figure.Drawable(v) {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	return lo, hi
}
