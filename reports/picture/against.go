package picture

import (
	"fmt"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

// Against is the kind of the pictures of every configuration beside the best.
const Against = "against"

// mostRivals is how many rows a figure has.
const mostRivals = 30

// againstPictures has a forest plot for every data set: the difference of every configuration to
// the best, with its 95 % interval.
func againstPictures(r *reports.Report) (out []figure.Figure) {
	names := Labels(r)
	for _, a := range r.Decided() {
		by, unit := a.By, "nats"
		if a.Nested != nil {
			by = a.Nested.By
		}
		factor := 1.0
		if s, err := cv.ScoreNamed(by); err == nil {
			if unit = s.Unit; s.Column.Percent {
				factor, unit = 100, "%"
			}
		}
		p := figure.Panel{X: figure.Axis{Label: fmt.Sprintf("difference from the best in %s (%s); left is worse",
			reports.Spaced(by), unit)}}
		rows := figure.Intervals{Horizontal: true}
		for _, v := range a.Rivals {
			d, lo, hi := factor*float64(v.Difference), factor*float64(v.Low), factor*float64(v.High)
			if len(rows.X) == mostRivals || !figure.Drawable(d) {
				continue
			}
			if v.Low.None() {
				lo, hi = d, d
			}
			rows.Y = append(rows.Y, float64(len(rows.Y)))
			rows.X, rows.Lo, rows.Hi = append(rows.X, d), append(rows.Lo, lo), append(rows.Hi, hi)
			p.Y.Names = append(p.Y.Names, names[v.Configuration])
		}
		if len(rows.X) == 0 {
			continue
		}
		p.Layers = []figure.Layer{figure.Line{X: []float64{0, 0}, Y: []float64{-0.5, float64(len(rows.X)) - 0.5},
			Dashed: true}, rows}
		f := figure.Figure{Name: "against-" + a.Dataset, Columns: 1, Panels: []figure.Panel{p},
			Title: fmt.Sprintf("%s · differences from %s", a.Dataset, names[a.Configuration]),
			Notes: []string{"simultaneous 95 % intervals; what reaches 0 is in the set of those that may be the best"}}
		if n := len(a.Rivals) - len(rows.X); n > 0 {
			f.Notes = append(f.Notes, table.Counted(n, "more configuration is", "more configurations are")+" not drawn")
		}
		out = append(out, f)
	}
	return out
}
