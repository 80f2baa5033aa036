package tuning

import (
	"slices"

	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture/shown"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

// mostPairs is the maximum number of pairs of objectives in a figure.
const mostPairs = 6

// Pareto show each pair of the objectives of a search with several: the trials that no
// other one dominates, and the others. Of two objectives, stairs bound the region that is
// dominated.
func Pareto(r shown.Report) []figure.Figure {
	several := func(c reports.Configuration) bool {
		return c.Program != nil && len(c.Program.Objectives) > 1 && len(c.Pareto()) > 0
	}
	return shown.FigurePerConfiguration(r, several, 1, func(part []shown.Member, n shown.Naming) figure.Figure {
		c := part[0].Configuration
		names, best := c.Program.Objectives, c.Pareto()
		f := figure.Figure{Name: "pareto", Title: shown.Titled("Objectives", n.Heading), Columns: 2,
			Notes: shown.Remarks(n.Note,
				table.Counted(len(best), "trial is", "trials are")+" dominated by no other one: none is as small in "+
					"every objective and smaller in one")}
		for k, across := range names {
			for _, up := range names[k+1:] {
				if len(f.Panels) == mostPairs {
					f.Notes = append(f.Notes, shown.Remarks("further pairs of objectives are not shown")...)
					return f
				}
				f.Panels = append(f.Panels, objectivesPanel(c, best, across, up))
			}
		}
		return f
	})
}

// objectivesPanel shows the trials over two objectives. best are the trials that none dominates, in
// the order of the first objective.
func objectivesPanel(c reports.Configuration, best []int, across, up string) figure.Panel {
	chosen, others := figure.Points{Name: "not dominated"}, figure.Points{Name: "other trials", Hollow: true}
	stairs := figure.Line{Dashed: true}
	add := func(to *figure.Points, i int) (x, y float64, drawn bool) {
		p := c.Grid[i]
		x, found := p.Values.Get(across)
		y, also := p.Values.Get(up)
		if !found || !also || !figure.Drawable(x) || !figure.Drawable(y) {
			return x, y, false
		}
		to.X, to.Y = append(to.X, x), append(to.Y, y)
		if len(c.Grid) <= mostTitled {
			to.Titles = append(to.Titles, visit{p.Trial, p.Point, p.Objective()}.told())
		}
		return x, y, true
	}
	for _, i := range best {
		x, y, drawn := add(&chosen, i)
		if !drawn || len(c.Program.Objectives) > 2 {
			continue
		}
		if last := len(stairs.Y) - 1; last >= 0 {
			stairs.X, stairs.Y = append(stairs.X, x), append(stairs.Y, stairs.Y[last])
		}
		stairs.X, stairs.Y = append(stairs.X, x), append(stairs.Y, y)
	}
	for i := range c.Grid {
		if len(others.X) < mostPoints && !c.Grid[i].Preliminary && !slices.Contains(best, i) {
			add(&others, i)
		}
	}
	return figure.Panel{X: figure.Axis{Label: reports.Spaced(across)}, Y: figure.Axis{Label: reports.Spaced(up)},
		Layers: []figure.Layer{others, stairs, chosen}}
}
