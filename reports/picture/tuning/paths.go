package tuning

import (
	"fmt"
	"slices"

	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture/shown"
)

// Paths shows the paths of local optimisers over two hyperparameters.
func Paths(r shown.Report) []figure.Figure {
	flat := func(c reports.Configuration) bool {
		return len(reports.ThetaNames(c.Record)) == 2 && len(shown.PathsOf(c)) > 0
	}
	return shown.FigurePerConfiguration(r, flat, 6, func(part []shown.Member, n shown.Naming) figure.Figure {
		f := figure.Figure{Name: "paths", Title: shown.Titled("Paths of the optimiser", n.Heading),
			Notes:   shown.Remarks(n.Note),
			Columns: min(3, len(part))}
		for k, m := range part {
			axes := shown.ThetaLabels(m.Configuration)
			f.Panels = append(f.Panels, figure.Panel{Title: n.Members[k], X: figure.Axis{Label: axes[1]},
				Y: figure.Axis{Label: axes[0]}, Layers: pathLayers(m.Configuration, 1, 0)})
		}
		return f
	})
}

// pathsOver draws, over the coordinates x and y of a configuration's grid, the paths of the
// configurations that differ from it only in how they are tuned.
func pathsOver(r shown.Report, c reports.Configuration, x, y string) (out []figure.Layer) {
	for _, o := range r.Configurations {
		labels := shown.ThetaLabels(o)
		across, up := slices.Index(labels, x), slices.Index(labels, y)
		if shown.SameButTune(o, c) && len(labels) == 2 && across >= 0 && up >= 0 && len(shown.PathsOf(o)) > 0 {
			out = append(out, pathLayers(o, across, up)...)
		}
	}
	return out
}

// pathLayers draw the paths over the free hyperparameters x and y, on the theta scale: the steps,
// and where they start and end. The layers are in the order of the legend. If there are too many
// paths to be told apart, the chosen one is on top.
func pathLayers(c reports.Configuration, x, y int) (out []figure.Layer) {
	paths := shown.PathsOf(c)
	starts := figure.Points{Name: "start"}
	var top []figure.Layer
	for _, t := range paths {
		chosen := c.Studies[0].Chose(t)
		l := figure.Line{Name: fmt.Sprintf("%s restart %d", c.Tune, t.Index), Markers: true}
		if len(paths) > shown.MostTold {
			l = figure.Line{Faint: true}
			if chosen {
				l = figure.Line{Name: c.Tune + " restart that was chosen", Markers: true}
			}
		}
		for _, s := range t.Path {
			l.X, l.Y = append(l.X, float64(s.Theta[x])), append(l.Y, float64(s.Theta[y]))
		}
		starts.X, starts.Y = append(starts.X, l.X[0]), append(starts.Y, l.Y[0])
		if chosen && len(paths) > shown.MostTold {
			top = append(top, l)
		} else {
			out = append(out, l)
		}
		if last := len(l.X) - 1; chosen {
			top = append(top, figure.Mark{Name: "chosen end of " + c.Tune, X: l.X[last], Y: l.Y[last]})
		}
	}
	return append(append(out, starts), top...)
}
