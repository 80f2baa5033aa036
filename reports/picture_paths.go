package reports

import (
	"fmt"

	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/reports/figure"
)

// pathsPicture shows the ways of local optimisers over two hyperparameters.
func pathsPicture(r *Report) (out []figure.Figure) {
	flat := func(c Configuration) bool { return len(thetaNames(c.record)) == 2 && len(c.paths()) > 0 }
	for i, part := range r.parts(flat, 6) {
		n := named(r.shorten(), part...)
		f := figure.Figure{Name: fmt.Sprintf("paths-%d", i), Title: n.heading + " · paths of the optimiser", Columns: min(3, len(part))}
		if n.note != "" {
			f.Notes = append(f.Notes, n.note)
		}
		for k, m := range part {
			axes := m.configuration.thetaLabels()
			f.Panels = append(f.Panels, figure.Panel{Title: n.members[k], X: figure.Axis{Label: axes[1]}, Y: figure.Axis{Label: axes[0]}, Layers: m.configuration.pathLayers(1, 0)})
		}
		out = append(out, f)
	}
	return out
}

// paths are the trials on all of the training data of which a way is on record.
func (c Configuration) paths() (out []*record.Trial) {
	for _, t := range c.studies[0].trials {
		if len(t.Path) > 0 {
			out = append(out, t)
		}
	}
	return out
}

// mostTold is how many lines a reader can tell apart.
const mostTold = 8

// pathLayers draw the paths over the free hyperparameters x and y, on the theta scale: the steps, and where they start and end.
func (c Configuration) pathLayers(x, y int) (out []figure.Layer) {
	paths := c.paths()
	starts, chosen := figure.Points{Name: "start", Hollow: true}, []figure.Layer(nil)
	for _, t := range paths {
		l := figure.Line{Markers: true}
		for _, s := range t.Path {
			l.X, l.Y = append(l.X, float64(s.Theta[x])), append(l.Y, float64(s.Theta[y]))
		}
		last := len(l.X) - 1
		if len(paths) <= mostTold {
			l.Name = fmt.Sprintf("restart %d", t.Index)
		}
		out = append(out, l)
		starts.X, starts.Y = append(starts.X, l.X[0]), append(starts.Y, l.Y[0])
		if fit := c.studies[0].fit; fit != nil && fit.Failure == "" && fit.Chosen == t.Index {
			chosen = append(chosen, figure.Mark{Name: "chosen", X: l.X[last], Y: l.Y[last]})
		}
	}
	return append(append(out, starts), chosen...)
}
