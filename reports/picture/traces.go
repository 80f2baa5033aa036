package picture

import (
	"fmt"

	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
)

// tracesPicture shows, for all configurations on the same data that a local optimiser tuned to the
// same objective, how it grew over the iterations of the restart that was chosen.
func tracesPicture(r *reports.Report) []figure.Figure {
	tuned := func(c reports.Configuration) string {
		if len(chosenPath(c)) < 2 {
			return ""
		}
		return c.Objective + " of " + c.Dataset
	}
	return together(r, tuned, mostTold, func(part []Member, n Naming) figure.Figure {
		p := figure.Panel{X: figure.Axis{Label: "iteration of the chosen restart"}}
		var lines []figure.Line
		for k, m := range part {
			l := trace(chosenPath(m.Configuration))
			l.Name = fmt.Sprintf("%s: ends at %s", n.Members[k], figure.Number(l.Y[len(l.Y)-1], 2))
			p.X.Hi = max(p.X.Hi, float64(len(l.X)-1))
			lines, p.Layers = append(lines, l), append(p.Layers, l)
		}
		p.Y = traceAxis(part[0].Configuration, lines...)
		return figure.Figure{Name: "traces", Title: n.Heading + " · what is maximised, step by step",
			Notes: remarks(n.Note), Columns: 1, Panels: []figure.Panel{p}}
	})
}
