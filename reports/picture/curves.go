package picture

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
)

// fewest is how many cases must be left at a point of a reject curve: the means of fewer jump
// about.
const fewest = 10

// curvePictures has a figure for every group: each kind of curve that the experiment asks for is a
// panel with those of all members.
func curvePictures(r *reports.Report) (out []figure.Figure) {
	short := r.ShortNames()
	for _, g := range groupsOf(r) {
		for _, group := range parts(g) {
			n := NameMembers(short, group...)
			f := figure.Figure{Name: fmt.Sprintf("curves-%s-%s", group[0].Configuration.Dataset, group[0].Name),
				Title: n.Heading + " · " + group[0].Name, Columns: 3}
			cut, intervals := "", ""
			for _, kind := range cv.Curves {
				if p, ok := curvePanel(kind, group, n.Members); ok {
					f.Panels = append(f.Panels, p)
					if !kind.Diagonal {
						cut = fmt.Sprintf("reject curves end where fewer than %d cases are left", fewest)
					}
					if len(group) <= mostBanded {
						intervals = "with pointwise 95 % intervals"
					}
				}
			}
			if len(f.Panels) > 0 {
				f.Notes = remarks(n.Note, cases(group), cut, intervals)
				out = append(out, f)
			}
		}
	}
	return out
}

// curvePanel draws the curves of a kind of all members that have one, of few members with their
// pointwise intervals: bands, or bars where points are few. Bands grow without end as cases become
// few, and may leave the panel where less than a quarter of them is left.
func curvePanel(kind cv.Curve, group []Member, names []string) (p figure.Panel, ok bool) {
	p = figure.Panel{Title: strings.ReplaceAll(kind.Name, "_", "-"), X: figure.Axis{Label: kind.X},
		Y: figure.Axis{Label: kind.Y}}
	var lines, intervals []figure.Layer
	ends := []float64{math.Inf(1), math.Inf(-1)}
	var y []float64 // that the panel has to show
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
	if len(group) <= mostBanded {
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
	for k, at := range c.Series.Y {
		if !figure.Drawable(at) || !c.Diagonal && c.N[k] < min(fewest, c.N[0]) {
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
