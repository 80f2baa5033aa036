package reports

import (
	"fmt"
	"math"
	"slices"

	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/reports/figure"
)

// latentMeans are histograms of the latent means of the training cases and, beside them, of the held-out cases of the first
// evaluation, by class, as in GPML Figures 3.7(d) and 3.8(d). More than two classes have a row each: the latent means of the
// class at its own cases and at all others.
func latentMeans(r *Report) []figure.Figure {
	return r.fitted("latent", "Latent means", func(c Configuration, fit *record.Fit) (f figure.Figure) {
		if len(fit.TrainLatentMean) == 0 {
			return f
		}
		type side struct {
			title  string
			labels []int
			means  [][]record.Number
		}
		sides := []side{{fmt.Sprintf("%d training cases", len(fit.TrainLabels)), fit.TrainLabels, fit.TrainLatentMean}}
		fits, name := c.heldOut()
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
		f.Columns = len(sides)

		processes := []int{0}
		if len(c.Classes) > 2 {
			var note []string
			processes, note = c.frequent(fit)
			f.Notes = append(f.Notes, note...)
		}
		undrawn := 0
		for _, k := range processes {
			var all []float64
			for _, s := range sides {
				for _, v := range s.means[k] {
					if drawable(float64(v)) {
						all = append(all, float64(v))
					} else {
						undrawn++
					}
				}
			}
			edges := binEdges(all, 4*math.Cbrt(float64(len(fit.TrainLabels))))
			for _, s := range sides {
				p := figure.Panel{Title: s.title, X: figure.Axis{Label: "latent mean f", Lo: edges[0], Hi: edges[len(edges)-1]}, Y: figure.Axis{Label: "cases"}}
				if len(c.Classes) == 2 {
					for class := range c.Classes {
						p.Layers = append(p.Layers, histogram(c.class(class), edges, ofClass(s.means[k], s.labels, class)))
					}
				} else {
					p.Title, p.X.Label = fmt.Sprintf("%s, %s", c.class(k), s.title), "latent mean f of the class"
					var others []float64
					for class := range c.Classes {
						if class != k {
							others = append(others, ofClass(s.means[k], s.labels, class)...)
						}
					}
					p.Layers = append(p.Layers, histogram("cases of other classes", edges, others), histogram("cases of the class", edges, ofClass(s.means[k], s.labels, k)))
				}
				f.Panels = append(f.Panels, p)
			}
		}
		if undrawn > 0 {
			f.Notes = append(f.Notes, fmt.Sprintf("%d latent means are too large to be drawn", undrawn))
		}
		return f
	})
}

// binEdges divide the range of values into at most so many bins, and two, whose width is 1, 2 or 5 times a power of ten and of
// which one ends at 0.
func binEdges(values []float64, most float64) []float64 {
	if len(values) == 0 {
		return []float64{0, 1}
	}
	lo, hi := slices.Min(values), slices.Max(values)
	least := max((hi-lo)/most, 1e-6*max(math.Abs(lo), math.Abs(hi)), 1e-9)
	width := 0.0
	for _, round := range []float64{10, 5, 2, 1} {
		if w := round * math.Pow(10, math.Floor(math.Log10(least))); width == 0 || w >= least {
			width = w
		}
	}
	var edges []float64
	for k := math.Floor(lo / width); ; k++ {
		if edges = append(edges, k*width); k*width > hi {
			return edges
		}
	}
}

// histogram counts the values between the edges, of which the lower one belongs to a bin.
func histogram(name string, edges, values []float64) figure.Bars {
	b := figure.Bars{Name: name, Edges: edges, Heights: make([]float64, len(edges)-1)}
	for _, v := range values {
		if drawable(v) {
			i, at := slices.BinarySearch(edges, v)
			if !at {
				i--
			}
			b.Heights[max(i, 0)]++ // rounding may have put the first edge above the least value
		}
	}
	return b
}
