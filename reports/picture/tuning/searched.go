package tuning

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture/shown"
)

// visit is a point that a search evaluated: its hyperparameters and the tuning objective.
type visit struct {
	trial int // number of the trial of a program, else the place among the visits
	at    reports.Values
	value float64
}

// visitsOf are the points of a configuration's search in the order of its trials: the points
// evaluated as proposed, or the ends of its restarts.
func visitsOf(c reports.Configuration) (out []visit) {
	for _, p := range c.Grid {
		v := visit{len(out), p.Point, p.Objective()}
		if c.Program != nil {
			v.trial = p.Trial
		}
		if !p.Preliminary {
			out = append(out, v)
		}
	}
	for _, r := range c.Starts() {
		out = append(out, visit{len(out), r.End, float64(r.Value)})
	}
	return out
}

// hasParts reports whether a search had trials with a part of a budget, which are not shown.
func hasParts(c reports.Configuration) bool {
	return slices.ContainsFunc(c.Grid, func(p reports.GridPoint) bool { return p.Preliminary })
}

// onlyWhole is a note that trials with a part of a budget are not shown; empty if there are none.
func onlyWhole(of []shown.Member) string {
	if slices.ContainsFunc(of, func(m shown.Member) bool { return hasParts(m.Configuration) }) {
		return "only trials with the whole budget"
	}
	return ""
}

// told is the tooltip of a point.
func (v visit) told() string {
	text := fmt.Sprintf("trial %d: %.7g", v.trial, v.value)
	for i, h := range v.at {
		text += map[bool]string{true: " at ", false: ", "}[i == 0] + reports.Spaced(h.Name) + " " +
			reports.Assigned(h, func(x float64) string { return fmt.Sprintf("%.4g", x) })
	}
	return text
}

// mostTitled is the maximum number of points of a search with a tooltip each.
const mostTitled = 150

// varied reports whether a search evaluated points of different values.
func varied(c reports.Configuration) bool {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, p := range visitsOf(c) {
		if figure.Drawable(p.value) {
			lo, hi = min(lo, p.value), max(hi, p.value)
		}
	}
	return len(c.Posterior) == 0 && hi-lo > reports.SameOptimum
}

// bestFirst compares two values of the tuning objective.
func bestFirst(c reports.Configuration, a, b float64) int {
	if c.Minimises() {
		a, b = b, a
	}
	return cmp.Compare(b, a)
}

// Progress show how the best value of a search changed with its points, and the values
// themselves.
func Progress(r shown.Report) []figure.Figure {
	return shown.FigurePerConfiguration(r, varied, 6, func(part []shown.Member, n shown.Naming) figure.Figure {
		f := figure.Figure{Name: "progress", Title: shown.Titled("Best so far", n.Heading), Columns: 3,
			Notes: shown.Remarks(n.Note, onlyWhole(part))}
		for k, m := range part {
			points, line := progressOf(m.Configuration)
			layers := []figure.Layer{points, line}
			if len(points.X) == 0 {
				layers = layers[1:]
			}
			f.Panels = append(f.Panels, figure.Panel{Title: n.Members[k], X: figure.Axis{Label: "trial"},
				Y: valuesAxis(m.Configuration, points.Y, line.Y), Layers: layers})
		}
		return f
	})
}

// progressOf has the values of a search, and the best so far as a staircase.
func progressOf(c reports.Configuration) (points figure.Points, line figure.Line) {
	points.Name, line.Name = "point", "best so far"
	better, best := math.Max, math.Inf(-1)
	if c.Minimises() {
		better, best = math.Min, math.Inf(1)
	}
	all := visitsOf(c)
	for _, p := range all {
		i := p.trial
		if figure.Drawable(p.value) {
			if len(all) <= mostPoints {
				points.X, points.Y = append(points.X, float64(i)), append(points.Y, p.value)
			}
			if len(all) <= mostTitled {
				points.Titles = append(points.Titles, p.told())
			}
			best = better(best, p.value)
		}
		if n := len(line.Y); n > 0 && line.Y[n-1] != best { // a step
			line.X, line.Y = append(line.X, float64(i)), append(line.Y, line.Y[n-1])
		}
		if figure.Drawable(best) {
			line.X, line.Y = append(line.X, float64(i)), append(line.Y, best)
		}
	}
	return points, line
}

// valuesAxis is the axis of the values of a search. It leaves out values that are worse than the
// worse quartile by more than 1.5 interquartile ranges (Tukey 1977), if the best so far would look
// flat with them.
func valuesAxis(c reports.Configuration, values, best []float64) figure.Axis {
	a := figure.Axis{Label: shown.ObjectiveLabel(c)}
	if len(values) == 0 {
		return a
	}
	sorted := slices.Sorted(slices.Values(values))
	n, middle := len(sorted), best[len(best)/2]
	lo, hi := sorted[0], sorted[n-1]
	lower, upper := sorted[n/4], sorted[n-1-n/4]
	side, end := ", and below it down to ", lo
	if c.Minimises() {
		side, end = ", and above it up to ", hi
		hi = max(min(hi, upper+1.5*(upper-lower)), middle)
	} else {
		lo = min(max(lo, lower-1.5*(upper-lower)), middle)
	}
	if lo == hi || sorted[n-1]-sorted[0] <= 2*(hi-lo) {
		return a
	}
	a.Lo, a.Hi = lo-0.04*(hi-lo), hi+0.04*(hi-lo)
	a.Label += side + figure.Number(end, 0)
	return a
}

// mostPoints is the maximum number of points in a panel.
const mostPoints = 500

// mostSlices is the maximum number of hyperparameters in a figure.
const mostSlices = 12

// Slices show the objective against every hyperparameter that a search varied, at the points
// where the hyperparameter matters. The axis is logarithmic if all values are above 0.
func Slices(r shown.Report) []figure.Figure {
	return shown.FigurePerConfiguration(r, varied, 1, func(part []shown.Member, n shown.Naming) figure.Figure {
		c := part[0].Configuration
		f := figure.Figure{Name: "slices", Title: shown.Titled("Slices", n.Heading),
			Columns: 3}
		all, which := visitsOf(c), "every point"
		if len(all) > mostPoints {
			slices.SortStableFunc(all, func(a, b visit) int { return bestFirst(c, a.value, b.value) })
			which, all = fmt.Sprintf("the best %d of %d points", mostPoints, len(all)), all[:mostPoints]
		}
		if hasParts(c) {
			which += " with the whole budget"
		}
		f.Notes = shown.Remarks(n.Note, which+" of the search, whatever the other hyperparameters are")
		for _, h := range c.Record.Hyperparameters {
			if h.Fixed || len(f.Panels) == mostSlices {
				continue
			}
			var points figure.Points
			logarithmic := h.Choices == nil
			for _, p := range all {
				if v, found := p.at.Get(h.Name); found && figure.Drawable(v) && figure.Drawable(p.value) {
					points.X, points.Y = append(points.X, v), append(points.Y, p.value)
					logarithmic = logarithmic && v > 0
				}
			}
			if logarithmic {
				for i, v := range points.X {
					points.X[i] = math.Log(v)
				}
			}
			if len(points.X) > 0 {
				f.Panels = append(f.Panels, figure.Panel{
					X: figure.Axis{Label: shown.Conditioned(c, h), Log: logarithmic, Names: h.Choices},
					Y: figure.Axis{Label: shown.ObjectiveLabel(c)}, Layers: []figure.Layer{points}})
			}
		}
		return f
	})
}
