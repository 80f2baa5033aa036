package picture

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture/shown"
)

// observedPictures are of every data set with numeric targets and every evaluation. They show the
// held-out targets of the best configuration against their predictions, with R². They also show the
// residuals, and how many targets the central intervals of the predictions cover.
func observedPictures(r shown.Report) (out []figure.Figure) {
	for i, g := range shown.GroupsOf(r) {
		group, without := r.Fitting(g, 1, false)
		m := group[0]
		p := shown.PooledOf(m)
		if len(p.Targets) < 2 {
			continue
		}
		n := r.Naming(m)
		title, note := r.Evaluation(m.Name)
		lo, hi := min(slices.Min(p.Mean), slices.Min(p.Targets)), max(slices.Max(p.Mean), slices.Max(p.Targets))
		residuals, within, squares := figure.Points{X: p.Mean}, []float64{}, 0.0
		for k, y := range p.Targets {
			e := y - p.Mean[k]
			z := e / math.Sqrt(p.Variance[k])
			residuals.Y, within = append(residuals.Y, z), append(within, math.Abs(z))
			squares += e * e
		}
		slices.Sort(within)
		_, variance := stat.PopMeanVariance(p.Targets, nil)
		coverage := figure.Line{Name: "covered"}
		for k := range 21 {
			nominal := float64(k) / 20
			z := distuv.UnitNormal.Quantile((1 + nominal) / 2)
			covered, _ := slices.BinarySearch(within, math.Nextafter(z, math.Inf(1)))
			coverage.X = append(coverage.X, nominal)
			coverage.Y = append(coverage.Y, float64(covered)/float64(len(within)))
		}
		r2 := "no R²: all targets are equal"
		if variance > 0 {
			r2 = fmt.Sprintf("R² %.3f", 1-squares/float64(len(within))/variance)
		}
		predicted := figure.Axis{Label: "predicted mean"}
		f := figure.Figure{Name: fmt.Sprintf("observed-%d", i),
			Title: shown.Titled("Predicted and observed", n.Heading, title), Columns: 3, Of: shown.Indices(group),
			Panels: []figure.Panel{
				{Title: r2, X: predicted, Y: figure.Axis{Label: "observed"}, Layers: []figure.Layer{
					figure.Line{X: []float64{lo, hi}, Y: []float64{lo, hi}, Dashed: true},
					figure.Points{X: p.Mean, Y: p.Targets}}},
				{Title: "residuals", X: predicted, Y: figure.Axis{Label: "residual / predicted standard deviation"},
					Layers: []figure.Layer{figure.Line{X: []float64{slices.Min(p.Mean), slices.Max(p.Mean)},
						Y: []float64{0, 0}, Dashed: true}, residuals}},
				{Title: "coverage of intervals", Square: true, X: figure.Axis{Label: "stated coverage", Hi: 1},
					Y: figure.Axis{Label: "covered targets", Hi: 1}, Layers: []figure.Layer{
						figure.Line{X: []float64{0, 1}, Y: []float64{0, 1}, Dashed: true}, coverage}}}}
		at95 := coverage.Y[19]
		f.Notes = shown.Remarks(n.Note, note, shown.Cases(group), fmt.Sprintf(
			"R² is 1 less the mean squared error divided by the "+
				"variance of the targets; intervals of 95 %% cover %.1f %%", 100*at95))
		f.Notes = append(f.Notes, shown.Remarks(shown.LeftOut(without, "observed"))...)
		out = append(out, f)
	}
	return out
}
