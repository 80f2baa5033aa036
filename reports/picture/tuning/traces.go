package tuning

import (
	"fmt"

	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture/shown"
)

// Traces shows the objective over the iterations of the chosen restart, for all
// configurations on the same data that a local optimiser tuned to the same objective. If the errors
// in held-out cases are traced, another panel shows them.
func Traces(r shown.Report) []figure.Figure {
	tuned := func(c reports.Configuration) string {
		if len(shown.ChosenPath(c)) < 2 {
			return ""
		}
		return c.Objective + " of " + c.Dataset
	}
	return shown.GroupFigures(r, tuned, shown.MostTold, func(part []shown.Member, n shown.Naming) figure.Figure {
		x := figure.Axis{Label: "iteration of the chosen restart"}
		var lines []figure.Line
		var names []string
		p, held := figure.Panel{}, figure.Panel{}
		for k, m := range part {
			l, errors, score := shown.Trace(shown.ChosenPath(m.Configuration)), figure.Line{}, ""
			x.Hi = max(x.Hi, float64(len(l.X)-1))
			l.Name = fmt.Sprintf("%s: ends at %s", n.Members[k], figure.Number(l.Y[len(l.Y)-1], 2))
			if errors, score = tracedErrors(m.Configuration); len(errors.X) > 0 {
				l.Name += fmt.Sprintf(", %s %.4g", score, errors.Y[len(errors.Y)-1])
				errors.Name, held.Y.Label = l.Name, score+" in held-out cases"
				held.Layers = append(held.Layers, errors)
			}
			names = append(names, l.Name)
			lines, p.Layers = append(lines, l), append(p.Layers, l)
		}
		p.X, p.Y = x, shown.TraceAxis(part[0].Configuration, lines...)
		f := figure.Figure{Name: "traces", Title: shown.Titled("What is maximised, step by step", n.Heading),
			Notes: shown.Remarks(n.Note), Columns: 1, Panels: []figure.Panel{p}, Looks: r.Looks(part, names)}
		if held.X = x; len(held.Layers) > 0 {
			f.Columns, f.Panels = 2, append(f.Panels, held)
		}
		return f
	})
}

// tracedErrors are the errors in held-out cases over the iterations of a configuration, if they are
// traced: for classes the number of wrong cases, for numbers the root mean square.
func tracedErrors(c reports.Configuration) (l figure.Line, score string) {
	if score = "errors"; len(c.Classes) == 0 {
		score = "rmse"
	}
	for i, s := range shown.ChosenPath(c) {
		if v, ok := s.Scores[score]; ok {
			l.X, l.Y = append(l.X, float64(i)), append(l.Y, float64(v))
		}
	}
	return l, score
}
