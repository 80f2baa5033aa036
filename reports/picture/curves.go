package picture

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture/shown"
)

// leastCases is the minimum number of cases behind a point of a curve: means of fewer cases vary
// too much.
const leastCases = 10

// fewest is the minimum number of cases that are left at a point of a reject curve, for this number
// of all cases.
func fewest(all int) int { return max(leastCases, all/20) }

// mostCurves is the number of lines that share a panel: 4, unless the file says another number.
// More lines are divided into rows, with the best one in each row.
func mostCurves(s shown.Report) int {
	if print := s.Manifest.Print; print != nil && print.Lines > 0 {
		return print.Lines
	}
	return 4
}

// curvePictures has a figure for every group. Each kind of curve that the experiment asks for is a
// panel with the curves of all members.
func curvePictures(r shown.Report) (out []figure.Figure) {
	for _, g := range shown.GroupsOf(r) {
		group, without := r.Fitting(g, shown.Most, true)
		if f := curveFigure(r, group, r.Naming(group...)); len(f.Panels) > 0 {
			f.Notes = append(f.Notes, shown.Remarks(shown.LeftOut(without, f.Name))...)
			out = append(out, f)
		}
	}
	return out
}

// curveFigure is the figure of a group, with a row of panels for every few of its members.
func curveFigure(r shown.Report, group []shown.Member, n shown.Naming) figure.Figure {
	title, note := r.Evaluation(group[0].Name)
	f := figure.Figure{Name: fmt.Sprintf("curves-%s-%s", group[0].Configuration.Dataset, group[0].Name),
		Title: shown.Titled("Curves of held-out cases", n.Heading, title), Looks: r.Looks(group, n.Members),
		Of: shown.Indices(group)}
	rows, names := curveRows(r, group, n.Members)
	banded := len(group) <= shown.MostBanded
	cut, bins, intervals, repeated := "", "", "", ""
	for _, kind := range cv.Curves {
		if _, ok := curvePanel(kind, group, n.Members, banded); ok {
			f.Columns++
			if kind.Diagonal {
				bins = fmt.Sprintf("bins of fewer than %d cases have no point", leastCases)
			} else {
				cut = fmt.Sprintf("reject curves end where fewer than %d cases are left", fewest(group[0].Scores.N))
			}
			if banded {
				intervals = "with pointwise 95 % intervals"
			}
		}
	}
	if len(rows) > 1 {
		repeated = names[0][0] + " is in every row"
	}
	for i, row := range rows {
		for _, kind := range cv.Curves {
			whole, ok := curvePanel(kind, group, n.Members, banded)
			if !ok {
				continue
			}
			p, _ := curvePanel(kind, row, names[i], banded)
			if len(rows) > 1 {
				p.X.Lo, p.X.Hi, p.Y.Lo, p.Y.Hi = linesExtent(whole)
			}
			if at, ok := settled(whole); ok {
				p.X.Lo, _, _, _ = linesExtent(whole)
				p.X.Hi = at
			}
			f.Panels = append(f.Panels, p)
		}
	}
	f.Notes = shown.Remarks(n.Note, note, shown.Cases(group), cut, bins, intervals, repeated)
	return f
}

// curveRows divides the members, with their names, into rows whose curves share panels: one row of
// all, or several with the best one in each. The others follow best first.
func curveRows(r shown.Report, group []shown.Member, names []string) (rows [][]shown.Member, named [][]string) {
	most := mostCurves(r)
	if len(group) <= most {
		return [][]shown.Member{group}, [][]string{names}
	}
	order := make([]int, len(group))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Compare(r.LookNumber[group[a].Index], r.LookNumber[group[b].Index])
	})
	for _, i := range order[1:] {
		if last := len(rows) - 1; last < 0 || len(rows[last]) == most {
			rows, named = append(rows, []shown.Member{group[order[0]]}), append(named, []string{names[order[0]]})
		}
		last := len(rows) - 1
		rows[last], named[last] = append(rows[last], group[i]), append(named[last], names[i])
	}
	return rows, named
}

// settled is the place from which half of the lines of a panel stay at 0. The part beyond it would
// take the room of the part that can be compared. ok is false for a single line, or if half of the
// lines do not stay at 0.
func settled(p figure.Panel) (at float64, ok bool) {
	var ends []float64 // place from which each line stays at 0; +Inf if it does not
	for _, l := range p.Layers {
		line, is := l.(figure.Line)
		if !is || line.Dashed {
			continue
		}
		end := math.Inf(1)
		for i := len(line.Y) - 1; i >= 0 && line.Y[i] == 0; i-- {
			end = line.X[i]
		}
		ends = append(ends, end)
	}
	if len(ends) < 2 {
		return 0, false
	}
	slices.Sort(ends)
	at = ends[len(ends)/2]
	return at, at > 0 && !math.IsInf(at, 1)
}

// linesExtent are the bounds of the lines of a panel, with a margin.
func linesExtent(p figure.Panel) (left, right, low, high float64) {
	var x, y []float64
	for _, l := range p.Layers {
		if line, is := l.(figure.Line); is {
			x, y = slices.Concat(x, line.X), slices.Concat(y, line.Y)
		}
	}
	bounds := func(values []float64) (lo, hi float64) {
		lo, hi = slices.Min(values), slices.Max(values)
		return lo - 0.04*(hi-lo), hi + 0.04*(hi-lo)
	}
	left, right = bounds(x)
	low, high = bounds(y)
	return left, right, low, high
}

// curvePanel draws the curves of a kind of all members that have one, banded with their pointwise
// intervals: bands, or bars where points are few. Bands become very wide where cases are few. They
// may leave the panel where less than a quarter of the cases is left.
func curvePanel(kind cv.Curve, group []shown.Member, names []string, banded bool) (p figure.Panel, ok bool) {
	p = figure.Panel{Title: strings.ReplaceAll(kind.Name, "_", "-"), X: figure.Axis{Label: kind.X},
		Y: figure.Axis{Label: kind.Y}}
	var lines, intervals []figure.Layer
	ends := []float64{math.Inf(1), math.Inf(-1)}
	var y []float64 // values that the panel has to show
	for i, m := range group {
		for _, c := range m.Curves {
			if c.Name != kind.Name {
				continue
			}
			line, band, shown := drawnCurve(c, names[i])
			if len(line.X) == 0 {
				continue
			}
			y = append(y, shown...)
			ends = []float64{min(ends[0], slices.Min(line.X)), max(ends[1], slices.Max(line.X))}
			lines = append(lines, line)
			switch {
			case band.Lo == nil:
			case kind.Diagonal:
				intervals = append(intervals, figure.Intervals{Name: names[i], X: line.X, Y: line.Y, Lo: band.Lo,
					Hi: band.Hi})
			default:
				intervals = append(intervals, band)
			}
		}
	}
	if len(lines) > 0 && kind.Diagonal {
		p.Layers = append(p.Layers, figure.Line{X: ends, Y: ends, Dashed: true})
	}
	if banded {
		p.Layers = append(p.Layers, intervals...)
		if len(intervals) > 0 && !kind.Diagonal {
			lo, hi := slices.Min(y), slices.Max(y)
			p.Y.Lo, p.Y.Hi = lo-0.03*(hi-lo), hi+0.03*(hi-lo)
		}
	}
	p.Layers = append(p.Layers, lines...)
	return p, len(lines) > 0
}

// drawnCurve is the part of a curve that is drawn, with its intervals, and the values that its
// panel has to show.
func drawnCurve(c reports.Curve, name string) (line figure.Line, band figure.Band, shown []float64) {
	line, band = figure.Line{Name: name, Markers: true}, figure.Band{Name: name}
	if len(c.N) == 0 {
		return line, band, nil
	}
	least := min(fewest(c.N[0]), c.N[0])
	if c.Diagonal {
		least = min(leastCases, slices.Max(c.N))
	}
	for k, at := range c.Series.Y {
		if !figure.Drawable(at) || c.N[k] < least {
			continue
		}
		line.X, line.Y, shown = append(line.X, c.Series.X[k]), append(line.Y, at), append(shown, at)
		if c.Lo == nil {
			continue
		}
		band.Lo, band.Hi = append(band.Lo, c.Lo[k]), append(band.Hi, c.Hi[k])
		if 4*c.N[k] >= c.N[0] && figure.Drawable(c.Lo[k]) && figure.Drawable(c.Hi[k]) {
			shown = append(shown, c.Lo[k], c.Hi[k])
		}
	}
	band.X = line.X
	return line, band, shown
}
