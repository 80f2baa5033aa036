package reports

import (
	"cmp"
	"fmt"

	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/reports/figure"
)

// averaged sets the predictions of the held-out cases of the first evaluation, for two classes, against those that ignore the
// variance of the latent function, p(y|E[f]), as in GPML Figure 3.9. Averages are nearer to ½.
func averaged(r *Report) []figure.Figure {
	return r.fitted("averaging", "MAP and averaged predictions", func(c Configuration, _ *record.Fit) (f figure.Figure) {
		points := make([]figure.Points, len(c.Classes))
		n := 0
		fits, name := c.heldOut()
		for _, h := range fits {
			for i, p := range h.MAP {
				of := &points[h.Labels[i]]
				of.X, of.Y = append(of.X, float64(p)), append(of.Y, float64(h.Proba[i][1]))
				n++
			}
		}
		if n == 0 {
			return f
		}
		side := func(label string) figure.Axis {
			return figure.Axis{Label: fmt.Sprintf("p(y = %s), %s", c.Classes[1], label), Lo: 0, Hi: 1}
		}
		p := figure.Panel{
			Title: fmt.Sprintf("%d held-out cases (%s)", n, name), Square: true,
			X: side("at the latent mean (MAP)"), Y: side(cmp.Or(shortName(r.manifest.Average), "averaged")),
			Layers: []figure.Layer{figure.Line{Name: "equal", X: []float64{0, 1}, Y: []float64{0, 1}, Dashed: true}},
		}
		for k, of := range points {
			of.Name, of.Hollow = c.class(k), true
			p.Layers = append(p.Layers, of)
		}
		return figure.Figure{Columns: 1, Panels: []figure.Panel{p}}
	})
}
