package picture

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture/shown"
)

// averaged compares two predictions of the held-out cases of the first evaluation, for two classes,
// as in GPML Figure 3.9: the average over the latent function, and p(y|E[f]), which ignores its
// variance. It counts how sure either is of the cases that it decides wrongly. Averages are nearer
// to ½.
func averaged(r shown.Report) []figure.Figure {
	mean, average := "at the latent mean (MAP)", cmp.Or(reports.ShortName(r.Manifest.Average), "averaged")
	return fitted(r, "averaging", "MAP and averaged predictions",
		func(c reports.Configuration, _ *record.Fit) (f figure.Figure) {
			fits, name := heldOut(c)
			a := averagedOf(fits)
			if a.cases == 0 {
				return f
			}
			side := func(label string) figure.Axis { // an axis with room for the symbols at 0 and 1
				return figure.Axis{Label: fmt.Sprintf("p(y = %s), %s", c.Classes[1], label), Lo: -0.03, Hi: 1.03}
			}
			f.Panels = []figure.Panel{{
				Title: fmt.Sprintf("%d held-out cases (%s)", a.cases, name), Square: true,
				X: side(mean), Y: side(average), Layers: a.layers(c),
			}, a.histograms(c, mean, average)}
			if len(a.sure[0])+len(a.sure[1]) > 0 {
				f.Panels = append(f.Panels, surePanel(a.sure, mean, average))
			}
			f.Columns = len(f.Panels)
			return f
		})
}

// averagedCases are cases with two predictions each: at the latent mean, and averaged.
type averagedCases struct {
	cases  int
	points [4]figure.Points // right decisions by class, then wrong decisions by class
	// probabilities of wrong decisions: [0] at the latent mean, [1] averaged
	sure [2][]float64
	all  [2][]float64 // probabilities of the second class in all cases, as in sure
}

func averagedOf(fits []*record.Fit) (a averagedCases) {
	for _, h := range fits {
		for i, p := range h.MAP {
			a.add(h.Labels[i], [2]float64{float64(p), float64(h.Proba[i][1])})
		}
	}
	return a
}

// add adds a case by its label and the two probabilities of the second class. A tie is decided for
// the first class.
func (a *averagedCases) add(label int, at [2]float64) {
	place := label
	for k, p := range at {
		a.all[k] = append(a.all[k], p)
		if (p > 0.5) == (label == 1) {
			continue
		}
		a.sure[k] = append(a.sure[k], max(p, 1-p))
		if k == 1 {
			place = 2 + label
		}
	}
	of := &a.points[place]
	of.X, of.Y = append(of.X, at[0]), append(of.Y, at[1])
	a.cases++
}

// layers are the points of both classes. Points that are taken for the other class are a layer of
// their own.
func (a averagedCases) layers(c reports.Configuration) []figure.Layer {
	out := []figure.Layer{figure.Line{Name: "equal", X: []float64{0, 1}, Y: []float64{0, 1}, Dashed: true}}
	for place, of := range a.points {
		if of.Name, of.Hollow = className(c, place%2), place < 2; place >= 2 {
			of.Name += " taken for " + c.Classes[3-place]
		}
		if place < 2 || len(of.X) > 0 {
			out = append(out, of)
		}
	}
	return out
}

// histograms counts the cases by the probability of the second class, for both predictions. Most
// cases are in the outer bins. Their bars are cut where the other bars would be too low to be seen.
func (a averagedCases) histograms(c reports.Configuration, mean, average string) figure.Panel {
	var edges []float64
	for k := range 21 {
		edges = append(edges, float64(k)/20)
	}
	p := figure.Panel{Title: "all predictions",
		X: figure.Axis{Label: fmt.Sprintf("p(y = %s)", c.Classes[1]), Hi: 1}, Y: figure.Axis{Label: "cases"}}
	inner, outer := 0.0, 0.0
	for k, name := range []string{mean, average} {
		bars := shown.Histogram(name, edges, a.all[k])
		last := len(bars.Heights) - 1
		inner = max(inner, slices.Max(bars.Heights[1:last]))
		outer = max(outer, bars.Heights[0], bars.Heights[last])
		p.Layers = append(p.Layers, bars)
	}
	if top := max(10, 1.2*inner); outer > 2*top {
		p.Y.Hi = top
		p.Y.Label += fmt.Sprintf("; the outer bars are cut, the highest has %.0f", outer)
	}
	return p
}

// surePanel has histograms of how sure wrong decisions are.
func surePanel(sure [2][]float64, mean, average string) figure.Panel {
	const high = 0.9
	surer := func(p []float64) string {
		n := 0
		for _, p := range p {
			if p > high {
				n++
			}
		}
		return fmt.Sprintf("%d of %d", n, len(p))
	}
	edges := []float64{0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1}
	return figure.Panel{
		Title: fmt.Sprintf("wrong, and surer than %g: %s at the latent mean, %s %s", high, surer(sure[0]),
			surer(sure[1]), average),
		X:      figure.Axis{Label: "probability of the class decided for", Lo: 0.5, Hi: 1},
		Y:      figure.Axis{Label: "cases decided wrongly"},
		Layers: []figure.Layer{shown.Histogram(mean, edges, sure[0]), shown.Histogram(average, edges, sure[1])},
	}
}
