package illustration

import (
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture/shown"
)

// Targets show how a classifier makes targets: a row for each illustration. Its first panel has a
// latent function. The second has the probability of class +1 and the targets drawn, +1 at the top
// and -1 at the bottom.
func Targets(r shown.Report) []figure.Figure {
	return illustrated(r, "targets", func(all []record.Illustration) figure.Figure {
		f := figure.Figure{Title: "Targets drawn from a classifier", Columns: 2}
		common, titles := distinguished(all)
		f.Notes = common
		for k, i := range all {
			x := record.Floats(i.Columns[0].Values)
			axis := figure.Axis{Label: i.Columns[0].Name, Lo: x[0], Hi: x[len(x)-1]}
			drawn := figure.Points{Name: "target drawn: +1 at 1, −1 at 0"}
			for place, t := range i.Column("t1") {
				drawn.X, drawn.Y = append(drawn.X, x[place]), append(drawn.Y, (t+1)/2)
			}
			f.Panels = append(f.Panels, figure.Panel{Title: titles[k], X: axis, Y: figure.Axis{Label: "latent f"},
				Layers: []figure.Layer{figure.Line{Name: "latent function", X: x, Y: i.Column("f1")}}},
				figure.Panel{Title: titles[k], X: axis, Y: figure.Axis{Label: "p(y = +1)", Lo: -0.05, Hi: 1.05},
					Layers: []figure.Layer{figure.Line{Name: "probability", X: x, Y: i.Column("p1")}, drawn}})
		}
		return f
	})
}
