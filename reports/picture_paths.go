package reports

import (
	"fmt"
	"slices"

	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/reports/figure"
)

// pathsPicture shows the ways of local optimisers over two hyperparameters.
func pathsPicture(r *Report) []figure.Figure {
	flat := func(c Configuration) bool { return len(thetaNames(c.record)) == 2 && len(c.paths()) > 0 }
	return r.each(flat, 6, func(part []member, n naming) figure.Figure {
		f := figure.Figure{Name: "paths", Title: n.heading + " · paths of the optimiser", Notes: remarks(n.note), Columns: min(3, len(part))}
		for k, m := range part {
			axes := m.configuration.thetaLabels()
			f.Panels = append(f.Panels, figure.Panel{Title: n.members[k], X: figure.Axis{Label: axes[1]}, Y: figure.Axis{Label: axes[0]}, Layers: m.configuration.pathLayers(1, 0)})
		}
		return f
	})
}

// pathsOver draws, over the coordinates x and y of a configuration's grid, the paths of the configurations that differ from it only
// in how they are tuned.
func (r *Report) pathsOver(c Configuration, x, y string) (out []figure.Layer) {
	for _, o := range r.Configurations {
		labels := o.thetaLabels()
		across, up := slices.Index(labels, x), slices.Index(labels, y)
		if o.sameButTune(c) && len(labels) == 2 && across >= 0 && up >= 0 && len(o.paths()) > 0 {
			out = append(out, o.pathLayers(across, up)...)
		}
	}
	return out
}

// sameButTune says that two configurations maximise the same function of the same hyperparameters.
func (c Configuration) sameButTune(o Configuration) bool {
	return c.record.DataHash == o.record.DataHash && c.Preprocess == o.Preprocess && c.Kernel.Text == o.Kernel.Text && c.Mean.Text == o.Mean.Text &&
		c.Likelihood.Text == o.Likelihood.Text && c.TuneInference.Text == o.TuneInference.Text && c.Objective == o.Objective
}

// paths are the trials on all of the training data of which a way is on record.
func (c Configuration) paths() (out []*record.Trial) {
	if len(c.studies) == 0 {
		return nil
	}
	for _, t := range c.studies[0].trials {
		if len(t.Path) > 0 {
			out = append(out, t)
		}
	}
	return out
}

// chose says that a trial on all of the training data has won.
func (c Configuration) chose(t *record.Trial) bool {
	return c.Status == Done && c.studies[0].fit.Chosen == t.Index
}

// mostTold is how many lines a reader can tell apart.
const mostTold = 8

// pathLayers draw the paths over the free hyperparameters x and y, on the theta scale: the steps, and where they start and end. They
// come in their order, that of the legend; above too many to be told apart, the chosen one is on top.
func (c Configuration) pathLayers(x, y int) (out []figure.Layer) {
	paths := c.paths()
	starts := figure.Points{Name: "start"}
	var top []figure.Layer
	for _, t := range paths {
		chosen := c.chose(t)
		l := figure.Line{Name: fmt.Sprintf("%s restart %d", c.Tune, t.Index), Markers: true}
		if len(paths) > mostTold {
			l = figure.Line{Faint: true}
			if chosen {
				l = figure.Line{Name: c.Tune + " restart that was chosen", Markers: true}
			}
		}
		for _, s := range t.Path {
			l.X, l.Y = append(l.X, float64(s.Theta[x])), append(l.Y, float64(s.Theta[y]))
		}
		starts.X, starts.Y = append(starts.X, l.X[0]), append(starts.Y, l.Y[0])
		if chosen && len(paths) > mostTold {
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
