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
		f.Columns, f.Notes = len(sides), sampled("training cases", fit)

		processes := []int{0}
		if len(c.Classes) > 2 {
			var note []string
			processes, note = c.frequent(fit)
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
		if beyond > 0 {
			f.Notes = append(f.Notes, fmt.Sprintf("%d latent means beyond the first and the last bin are counted there", beyond))
		}
		return f
	})
}

// bulk is the range of values, as far as it is not more than three times that of all but the lowest and the highest tenth:
// amplitudes that differ between folds can make some values huge.
func bulk(values []float64) (lo, hi float64) {
	values = slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return !figure.Drawable(v) })
	if len(values) == 0 {
		return 0, 0
	}
	slices.Sort(values)
	n := len(values)
	from, to := values[n/10], values[n-1-n/10]
	return max(values[0], 2*from-to), min(values[n-1], 2*to-from)
}

// binEdges divide a range into at most so many bins, and two, whose width is 1, 2 or 5 times a power of ten and of which one
// ends at 0.
func binEdges(lo, hi, most float64) []float64 {
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

// histogram counts the values between the edges, of which the lower one belongs to a bin; what is beyond is in the first and
// the last.
func histogram(name string, edges, values []float64) figure.Bars {
	b := figure.Bars{Name: name, Edges: edges, Heights: make([]float64, len(edges)-1)}
	for _, v := range values {
		i, at := slices.BinarySearch(edges, v)
		if !at {
			i--
		}
		b.Heights[min(max(i, 0), len(b.Heights)-1)]++
	}
	return b
}
