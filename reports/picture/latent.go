package picture

import (
	"fmt"
	"math"

	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
)

// latentMeans are histograms of the latent means of the training cases and, beside them, of the
// held-out cases of the first evaluation, by class, as in GPML Figures 3.7(d) and 3.8(d). More than
// two classes have a row each: the latent means of the class at its own cases and at all others.
func latentMeans(r *reports.Report) []figure.Figure {
	return fitted(r, "latent", "Latent means", func(c reports.Configuration, fit *record.Fit) (f figure.Figure) {
		if len(fit.TrainLatentMean) == 0 {
			return f
		}
		type side struct {
			title  string
			labels []int
			means  [][]record.Number
		}
		sides := []side{{fmt.Sprintf("%d training cases", len(fit.TrainLabels)), fit.TrainLabels, fit.TrainLatentMean}}
		fits, name := heldOut(c)
		held := side{means: make([][]record.Number, len(fit.TrainLatentMean))}
		for _, h := range fits {
			if len(h.LatentMean) == len(held.means) {
				held.labels = append(held.labels, h.Labels...)
				for k, means := range h.LatentMean {
					held.means[k] = append(held.means[k], means...)
				}
			}
		}
		if held.title = fmt.Sprintf("%d held-out cases (%s)", len(held.labels), name); len(held.labels) > 0 {
			sides = append(sides, held)
		}
		f.Columns, f.Notes = len(sides), sampled("training cases", fit)

		processes := []int{0}
		if len(c.Classes) > 2 {
			var note []string
			processes, note = frequent(c, fit)
			f.Notes = append(f.Notes, note...)
		}
		beyond := 0
		for _, k := range processes {
			var all []float64
			for _, s := range sides {
				all = append(all, record.Floats(s.means[k])...)
			}
			lo, hi := bulk(all)
			edges := binEdges(lo, hi, 4*math.Cbrt(float64(len(fit.TrainLabels))))
			for _, v := range all {
				if !(v >= edges[0] && v <= edges[len(edges)-1]) {
					beyond++
				}
			}
			for _, s := range sides {
				p := figure.Panel{Title: s.title, X: figure.Axis{Label: "latent mean f", Lo: edges[0],
					Hi: edges[len(edges)-1]}, Y: figure.Axis{Label: "cases"}}
				if len(c.Classes) == 2 {
					for class := range c.Classes {
						p.Layers = append(
							p.Layers, histogram(className(c, class), edges, ofClass(s.means[k], s.labels, class)))
					}
				} else {
					p.Title, p.X.Label = fmt.Sprintf("%s, %s", className(c, k), s.title), "latent mean f of the class"
					var others []float64
					for class := range c.Classes {
						if class != k {
							others = append(others, ofClass(s.means[k], s.labels, class)...)
						}
					}
					p.Layers = append(p.Layers, histogram("cases of other classes", edges, others),
						histogram("cases of the class", edges, ofClass(s.means[k], s.labels, k)))
				}
				f.Panels = append(f.Panels, p)
			}
		}
		if beyond > 0 {
			f.Notes = append(f.Notes, fmt.Sprintf(
				"%d latent means beyond the first and the last bin are counted there", beyond))
		}
		return f
	})
}
