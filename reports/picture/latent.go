package picture

import (
	"fmt"
	"math"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture/shown"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

// latentMeans are histograms of latent means by class, as in GPML Figures 3.7(c) and 3.8(c): for
// the training cases, and for the held-out cases of the first evaluation. Classes that have a
// process each have a row each: the latent means of the class at its own cases and at all others.
func latentMeans(r shown.Report) []figure.Figure {
	return fitted(r, "latent", "Latent means", func(c reports.Configuration, fit *record.Fit) (f figure.Figure) {
		if len(fit.TrainLatentMean) == 0 {
			return f
		}
		sides := []latentSide{{table.Counted(len(fit.TrainLabels), "training case", "training cases"), fit.TrainLabels,
			fit.TrainLatentMean}}
		if held := heldOutLatent(c, len(fit.TrainLatentMean)); len(held.labels) > 0 {
			sides = append(sides, held)
		}
		f.Columns, f.Notes = len(sides), sampled("training cases", fit)

		classes, note := frequent(c, fit)
		f.Notes = append(f.Notes, note...)
		processes := classes
		if len(fit.TrainLatentMean) == 1 {
			processes = []int{0}
		}
		beyond := 0
		for _, process := range processes {
			edges, out := latentBins(sides, process, 4*math.Cbrt(float64(len(fit.TrainLabels))))
			beyond += out
			for _, s := range sides {
				f.Panels = append(f.Panels, s.panel(c, process, classes, edges))
			}
		}
		if beyond > 0 {
			f.Notes = append(f.Notes, table.Counted(beyond,
				"latent mean beyond the first and the last bin is",
				"latent means beyond the first and the last bin are")+" counted there")
		}
		return f
	})
}

// latentSide has the latent means of the training cases or of the held-out ones.
type latentSide struct {
	title  string
	labels []int
	means  [][]record.Number // by process
}

// heldOutLatent has the latent means of the held-out cases of the first evaluation.
func heldOutLatent(c reports.Configuration, processes int) latentSide {
	fits, name := heldOut(c)
	held := latentSide{means: make([][]record.Number, processes)}
	for _, h := range fits {
		if len(h.LatentMean) != processes {
			continue
		}
		held.labels = append(held.labels, h.Labels...)
		for k, means := range h.LatentMean {
			held.means[k] = append(held.means[k], means...)
		}
	}
	held.title = fmt.Sprintf("%d held-out cases (%s)", len(held.labels), name)
	return held
}

// latentBins returns the edges of common bins for the latent means of a process on all sides.
// beyond counts the means outside of the bins.
func latentBins(sides []latentSide, process int, most float64) (edges []float64, beyond int) {
	var all []float64
	for _, s := range sides {
		all = append(all, record.Floats(s.means[process])...)
	}
	lo, hi := shown.Bulk(all)
	edges = shown.BinEdges(lo, hi, most)
	for _, v := range all {
		if !(v >= edges[0] && v <= edges[len(edges)-1]) {
			beyond++
		}
	}
	return edges, beyond
}

// panel has a histogram for each class if they have one process, or else one for the class of the
// process and one for all others.
func (s latentSide) panel(c reports.Configuration, process int, classes []int, edges []float64) figure.Panel {
	p := figure.Panel{Title: s.title, Y: figure.Axis{Label: "cases"},
		X: figure.Axis{Label: "latent mean f", Lo: edges[0], Hi: edges[len(edges)-1]}}
	means := s.means[process]
	if len(s.means) == 1 {
		for _, class := range classes {
			p.Layers = append(p.Layers, shown.Histogram(className(c, class), edges,
				shown.OfClass(means, s.labels, class)))
		}
		return p
	}
	p.Title, p.X.Label = fmt.Sprintf("%s, %s", className(c, process), s.title), "latent mean f of the class"
	var others []float64
	for class := range c.Classes {
		if class != process {
			others = append(others, shown.OfClass(means, s.labels, class)...)
		}
	}
	p.Layers = []figure.Layer{shown.Histogram("cases of other classes", edges, others),
		shown.Histogram("cases of the class", edges, shown.OfClass(means, s.labels, process))}
	return p
}
