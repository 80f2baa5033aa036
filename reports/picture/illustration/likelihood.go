package illustration

import (
	"fmt"
	"strings"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture/shown"
)

// Likelihoods show log p(y|f) and its first two derivatives over f, a panel for each likelihood, as
// in GPML Figure 3.3.
func Likelihoods(r shown.Report) []figure.Figure {
	return illustrated(r, "likelihood", func(all []record.Illustration) figure.Figure {
		f := figure.Figure{Title: "Log likelihoods and their derivatives", Columns: min(3, len(all))}
		common, titles := distinguished(all)
		f.Notes = common
		for k, i := range all {
			x := record.Floats(i.Columns[0].Values)
			p := figure.Panel{Title: titles[k], X: figure.Axis{Label: "latent f", Lo: x[0], Hi: x[len(x)-1]},
				Y: figure.Axis{Label: fmt.Sprintf("log p(y = %s|f)", signed(i.Labels[0]))}}
			for _, c := range i.Columns[1:min(4, len(i.Columns))] {
				p.Layers = append(p.Layers, figure.Line{Name: strings.ReplaceAll(c.Name, "_", " "), X: x,
					Y: record.Floats(c.Values)})
			}
			f.Panels = append(f.Panels, p)
		}
		return f
	})
}

// signed is a label of two classes with its sign.
func signed(y record.Number) string { return fmt.Sprintf("%+g", float64(y)) }
