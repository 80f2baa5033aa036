package illustration

import (
	"fmt"
	"strings"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture/shown"
)

// Softmaxes show class probabilities over the first latent value, the same averaged over Gaussian
// latent values, and the eigenvalues of W.
func Softmaxes(r shown.Report) []figure.Figure {
	return illustrated(r, "softmax", func(all []record.Illustration) figure.Figure {
		f := figure.Figure{Title: "Softmax of latent values of which all but the first have the mean 0", Columns: 3}
		var titles []string
		f.Notes, titles = distinguished(all)
		for k, i := range all {
			x := record.Floats(i.Columns[0].Values)
			for _, kind := range []struct{ prefix, axis, name string }{
				{"p", "probability at the mean", "class "}, {"averaged", "averaged probability", "class "},
				{"eigenvalue", "eigenvalues of W", "eigenvalue "}} {
				p := figure.Panel{Title: titles[k], X: figure.Axis{Label: "mean of f1", Lo: x[0], Hi: x[len(x)-1]},
					Y: figure.Axis{Label: kind.axis}}
				for _, c := range i.Columns[1:] {
					if rest, is := strings.CutPrefix(c.Name, kind.prefix); is {
						line := figure.Line{Name: kind.name + rest, X: x, Y: record.Floats(c.Values)}
						p.Layers = append(p.Layers, line)
					}
				}
				f.Panels = append(f.Panels, p)
			}
		}
		return f
	})
}

// Cavities show the marginal of the first latent value, and its cavity, over the precision of its
// own site.
func Cavities(r shown.Report) []figure.Figure {
	return illustrated(r, "cavity", func(all []record.Illustration) figure.Figure {
		f := figure.Figure{Title: "What marginal and cavity owe to their own site", Columns: 2}
		var titles []string
		f.Notes, titles = distinguished(all)
		for k, i := range all {
			x := record.Floats(i.Columns[0].Values)
			for _, what := range []string{"mean", "variance"} {
				f.Panels = append(f.Panels, figure.Panel{Title: titles[k],
					X: figure.Axis{Label: "precision of the first site", Lo: x[0], Hi: x[len(x)-1]},
					Y: figure.Axis{Label: fmt.Sprintf("%s of f1", what)},
					Layers: []figure.Layer{figure.Line{Name: "marginal", X: x, Y: i.Column(what)},
						figure.Line{Name: "cavity", X: x, Y: i.Column("cavity_" + what)}}})
			}
		}
		return f
	})
}
