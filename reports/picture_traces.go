package reports

import (
	"fmt"
	"slices"

	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/reports/figure"
)

// tracesPicture shows, for all configurations on the same data that a local optimiser tuned to the same objective, how it grew over
// the iterations of the restart that was chosen.
func tracesPicture(r *Report) []figure.Figure {
	tuned := func(c Configuration) string {
		if len(c.chosenPath()) < 2 {
			return ""
		}
		return c.Objective + " of " + c.Dataset
	}
	return r.together(tuned, mostTold, func(part []member, n naming) figure.Figure {
		p := figure.Panel{X: figure.Axis{Label: "iteration of the chosen restart"}}
		var lines []figure.Line
		for k, m := range part {
			l := trace(m.configuration.chosenPath())
			l.Name = fmt.Sprintf("%s: ends at %s", n.members[k], figure.Number(l.Y[len(l.Y)-1], 2))
			p.X.Hi = max(p.X.Hi, float64(len(l.X)-1))
			lines, p.Layers = append(lines, l), append(p.Layers, l)
		}
		p.Y = traceAxis(part[0].configuration, lines...)
		return figure.Figure{Name: "traces", Title: n.heading + " · what is maximised, step by step", Notes: remarks(n.note), Columns: 1, Panels: []figure.Panel{p}}
	})
}

// trace is the tuning objective over the iterations.
func trace(path []record.Step) (l figure.Line) {
	for k, s := range path {
		l.X, l.Y = append(l.X, float64(k)), append(l.Y, float64(s.Value))
	}
	return l
}

// traceAxis is that of traces. It leaves out starts so far below all that follows that this could not be seen beside them.
func traceAxis(c Configuration, traces ...figure.Line) figure.Axis {
	var all []float64
	for _, l := range traces {
		all = append(all, l.Y...)
	}
	a := figure.Axis{Label: c.objectiveLabel()}
	lo, _ := bulk(all)
	if least, hi := slices.Min(all), slices.Max(all); hi-least > 2*(hi-lo) {
		a.Lo, a.Hi = lo, hi+0.04*(hi-lo)
		a.Label += fmt.Sprintf(", and below it down to %s", figure.Number(least, 0))
	}
	return a
}
