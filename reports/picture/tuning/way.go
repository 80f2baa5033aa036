package tuning

import (
	"slices"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture/shown"
)

// Way shows the values on the way of the trials of a program, by its own steps. Each trial has a
// line. The best trial and the trials that were stopped early have lines of their own kind. A trial
// that was stopped at its first value is a point.
func Way(r shown.Report) []figure.Figure {
	reported := func(c reports.Configuration) bool {
		return c.Program != nil && slices.ContainsFunc(c.Studies[0].Trials, func(t *record.Trial) bool {
			return len(t.Interim) > 1
		})
	}
	return shown.FigurePerConfiguration(r, reported, 1, func(part []shown.Member, n shown.Naming) figure.Figure {
		c := part[0].Configuration
		f := figure.Figure{Name: "way", Title: shown.Titled("Values on the way", n.Heading),
			Columns: 1}
		best := -1
		if len(c.Best) > 0 {
			best = c.Best[0].Trial
		}
		names := []string{"best trial", "other trials", "stopped early"}
		lines := make([][]figure.Layer, len(names))
		once := figure.Points{Name: "stopped at their first step", Hollow: true}
		for _, t := range c.Studies[0].Trials {
			if len(t.Interim) == 1 && t.Early && len(once.X) < mostTitled {
				once.X, once.Y = append(once.X, t.Interim[0].Step), append(once.Y, float64(t.Interim[0].Value))
			}
			if len(t.Interim) < 2 || len(lines[1])+len(lines[2]) >= mostTitled {
				continue
			}
			kind := 1
			switch {
			case t.Index == best:
				kind = 0
			case t.Early:
				kind = 2
			}
			l := figure.Line{Name: names[kind]}
			for _, at := range t.Interim {
				l.X, l.Y = append(l.X, at.Step), append(l.Y, float64(at.Value))
			}
			lines[kind] = append(lines[kind], l)
		}
		p := figure.Panel{X: figure.Axis{Label: "step"}, Y: figure.Axis{Label: shown.ObjectiveLabel(c)}}
		for _, k := range []int{2, 1, 0} { // the best is drawn last
			p.Layers = append(p.Layers, lines[k]...)
		}
		if len(once.X) > 0 {
			p.Layers = append(p.Layers, once)
		}
		f.Panels = []figure.Panel{p}
		return f
	})
}
