package picture

import (
	"fmt"
	"math"
	"slices"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture/shown"
)

// decisions show the predictions over one or two numeric inputs, with the training cases and, if it
// is known, the truth. Configurations on the same data share a figure if they are of two classes,
// or of numbers over one input. Over one input they share its panels, over two inputs each has a
// panel.
func decisions(r shown.Report) []figure.Figure {
	var out []figure.Figure
	for _, kind := range []struct {
		inputs, classes, size int // classes: 3 stands for three or more
	}{{1, 0, shown.MostTold}, {1, 2, shown.MostTold}, {1, 3, 1}, {2, 0, 1}, {2, 2, 6}, {2, 3, 1}} {
		out = append(out, shown.GroupFigures(r, func(c reports.Configuration) string {
			if c.Status != reports.Done || min(len(c.Classes), 3) != kind.classes {
				return ""
			}
			if s := c.Studies[0].Fit.Surface; s == nil || len(s.Axes) != kind.inputs {
				return ""
			}
			return c.Dataset + c.Record.DataHash
		}, kind.size, decision)...)
	}
	return out
}

func decision(part []shown.Member, n shown.Naming) (f figure.Figure) {
	f = figure.Figure{Name: "decision", Title: shown.Titled("Predictions over the inputs", n.Heading),
		Notes: shown.Remarks(n.Note),
		Looks: classLooks(part[0].Configuration.Classes)}
	if n := len(f.Looks); n > 0 && n < 4 {
		f.Looks[""] = 3 // the next look is black
	}
	var views []view
	for k, m := range part {
		c := m.Configuration
		fit := c.Studies[0].Fit
		v := view{c: c, Surface: fit.Surface, name: n.Members[k], labels: fit.TrainLabels}
		for j := range v.Axes {
			v.axes, v.inputs = append(v.axes, record.Floats(v.Axes[j])), append(v.inputs, record.Floats(v.Inputs[j]))
		}
		classes, note := frequent(c, fit)
		if v.classes = classes; len(c.Classes) == 2 {
			v.classes = []int{1}
		}
		for _, note := range slices.Concat(note, sampled("the fit", fit)) {
			if !slices.Contains(f.Notes, note) {
				f.Notes = append(f.Notes, note)
			}
		}
		views = append(views, v)
	}
	switch v := views[0]; {
	case len(v.axes) == 2 && len(part) == 1:
		f.Panels = v.maps()
		f.Columns = min(2, len(f.Panels))
	case len(v.axes) == 2:
		for _, v := range views {
			p := v.maps()[0]
			p.Title = v.name + ", " + p.Title
			f.Panels = append(f.Panels, p)
		}
		f.Columns = min(3, len(part))
	case len(v.c.Classes) > 0:
		f.Panels = curves(views)
		f.Columns = len(f.Panels)
	default:
		f.Panels = regression(views)
	}
	return f
}

// view is a surface to be drawn.
type view struct {
	c reports.Configuration
	*record.Surface
	name         string
	axes, inputs [][]float64
	labels       []int
	classes      []int // drawn classes: if there are two classes, only the second
}

// proba returns the probabilities of a class at the points.
func (v view) proba(class int) []float64 {
	return record.Floats(v.Proba[min(class, len(v.Proba)-1)])
}

// panel returns an empty panel with the axes of the view.
func (v view) panel(title, label string) figure.Panel {
	axis := func(j int) figure.Axis {
		a := v.axes[j]
		return figure.Axis{Label: v.Names[j], Lo: a[0], Hi: a[len(a)-1]}
	}
	p := figure.Panel{Title: title, X: axis(0), Y: figure.Axis{Label: label}}
	if len(v.axes) == 2 {
		p.Y = axis(1)
	}
	return p
}

// cases are the training cases at the heights that y gives. Every class that is drawn is a layer,
// as are both of two classes. All other cases are one layer.
func (v view) cases(y func(i int) float64) (layers []figure.Layer) {
	var others figure.Points
	for k := range v.c.Classes {
		p := figure.Points{Name: className(v.c, k)}
		for i, label := range v.labels {
			if label == k {
				p.X, p.Y = append(p.X, v.inputs[0][i]), append(p.Y, y(i))
			}
		}
		if len(v.c.Classes) == 2 || slices.Contains(v.classes, k) {
			layers = append(layers, p)
		} else {
			others.X, others.Y = append(others.X, p.X...), append(others.Y, p.Y...)
		}
	}
	if others.X != nil {
		others.Name = "other classes"
		layers = append(layers, others)
	}
	return layers
}

// curves are a panel of class probabilities over one input, and a panel of latent means with two
// standard deviations. The training cases are at 0 and 1 or, with more than two classes, in lines
// below the curves.
func curves(views []view) (panels []figure.Panel) {
	first := views[0]
	top := first.panel("", "p(y)")
	bottom := first.panel("", "latent f, mean and 2 sd")
	top.Y.Lo, top.Y.Hi = -0.05, 1.05
	two := len(first.c.Classes) == 2
	var bands, means []figure.Layer
	for _, v := range views {
		for n, k := range v.classes {
			name := className(v.c, k)
			if two {
				name, top.Y.Label = lineName("prediction", v, views), "p(y = "+v.c.Classes[1]+")"
			}
			top.Layers = append(top.Layers, figure.Line{Name: name, X: v.axes[0], Y: v.proba(k)})
			if processes := len(v.LatentMean); processes > 1 || processes == 1 && n == 0 {
				if processes == 1 {
					name = lineName("prediction", v, views)
				}
				process := min(k, processes-1)
				mean, variance := v.LatentMean[process], v.LatentVariance[process]
				bands = append(bands, shown.Band(name, v.axes[0], mean, variance))
				means = append(means, figure.Line{Name: name, X: v.axes[0], Y: record.Floats(mean)})
			}
		}
	}
	if len(views) > shown.MostBanded {
		bands, bottom.Y.Label = nil, "latent f, mean"
	}
	bottom.Layers = slices.Concat(bands, means)
	top.Layers = append(top.Layers, first.truth()...)
	top.Layers = append(top.Layers, first.cases(func(i int) float64 {
		if two {
			return float64(first.labels[i])
		}
		line := slices.Index(first.classes, first.labels[i])
		if line < 0 {
			line = len(first.classes)
		}
		y := -0.05 * float64(line+1)
		top.Y.Lo = min(top.Y.Lo, y-0.05)
		return y
	})...)
	if panels = append(panels, top); len(bottom.Layers) > 0 {
		panels = append(panels, bottom)
	}
	return panels
}

// truth draws the true functions over one input.
func (v view) truth() (out []figure.Layer) {
	for _, y := range v.Truth {
		out = append(out, figure.Line{Name: "truth", X: v.axes[0], Y: record.Floats(y), Dashed: true})
	}
	return out
}

// regression is the mean over one input with two standard deviations of a new target.
func regression(views []view) []figure.Panel {
	first := views[0]
	p := first.panel("", "y, mean and 2 sd")
	var bands, means []figure.Layer
	for _, v := range views {
		name := lineName("prediction", v, views)
		bands = append(bands, shown.Band(name, v.axes[0], v.Mean, v.Variance))
		means = append(means, figure.Line{Name: name, X: v.axes[0], Y: record.Floats(v.Mean)})
	}
	if len(views) > shown.MostBanded {
		bands, p.Y.Label = nil, "y, mean"
	}
	cases := figure.Points{Name: "training cases", X: first.inputs[0], Y: record.Floats(first.Targets), Hollow: true}
	p.Layers = append(slices.Concat(bands, means, first.truth()), cases)
	return []figure.Panel{p}
}

// maps are level lines over two inputs: of class probabilities, or of the mean and the standard
// deviation of a new target. Level lines of the truth are dashed. With more than two classes the
// first panel has the borders between the classes of largest probability.
func (v view) maps() (panels []figure.Panel) {
	contours := func(z, levels []float64) figure.Contours {
		return figure.Contours{X: v.axes[0], Y: v.axes[1], Z: v.rows(z), Levels: levels}
	}
	truth := func(z, levels []float64) figure.Contours {
		c := contours(z, levels)
		c.Name, c.Dashed = "truth", true
		return c
	}
	add := func(title string, layers ...figure.Layer) {
		p := v.panel(title, "")
		if p.Layers = layers; v.labels == nil {
			p.Layers = append(p.Layers, figure.Points{Name: "training cases", X: v.inputs[0], Y: v.inputs[1],
				Hollow: true})
		}
		p.Layers = append(p.Layers, v.cases(func(i int) float64 { return v.inputs[1][i] })...)
		panels = append(panels, p)
	}
	half := []float64{0.5}
	if len(v.c.Classes) > 2 {
		layers := []figure.Layer{borders(v.axes[0], v.axes[1], v.Proba)}
		for k := range v.Truth {
			z := lead(v.Truth[k:], 0)
			for i := range z { // every border once: dashes over dashes are a line
				if slices.ContainsFunc(v.Truth[:k],
					func(p []record.Number) bool { return float64(p[i]) > float64(v.Truth[k][i])+max(0, -z[i]) }) {
					z[i] = math.NaN()
				}
			}
			layers = append(layers, truth(z, []float64{0}))
		}
		add("class of largest probability", layers...)
	}
	for _, k := range v.classes {
		c := contours(v.proba(k), []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9})
		c.Bold = half
		layers := []figure.Layer{c}
		if len(v.Truth) > 0 {
			layers = append(layers, truth(record.Floats(v.Truth[min(k, len(v.Truth)-1)]), half))
		}
		add(fmt.Sprintf("p(y = %s)", v.c.Classes[k]), layers...)
	}
	if len(v.c.Classes) == 0 {
		levels := func(z []float64) []float64 {
			lo, hi := shown.Bulk(z)
			return shown.BinEdges(lo, hi, 10)
		}
		mean, sd := record.Floats(v.Mean), record.Floats(v.Variance)
		for i, variance := range sd {
			sd[i] = math.Sqrt(variance)
		}
		layers := []figure.Layer{contours(mean, levels(mean))}
		for _, z := range v.Truth {
			layers = append(layers, truth(record.Floats(z), levels(mean)))
		}
		add("mean of y", layers...)
		add("standard deviation of y", contours(sd, levels(sd)))
	}
	return panels
}

// lead is the probability of a class minus the largest probability of the other classes, at every
// point.
func lead(proba [][]record.Number, class int) []float64 {
	out := record.Floats(proba[class])
	for i := range out {
		best := 0.0
		for k := range proba {
			if k != class {
				best = max(best, float64(proba[k][i]))
			}
		}
		out[i] -= best
	}
	return out
}

// rows cuts the values at the points into rows along the first input.
func (v view) rows(z []float64) (rows [][]float64) {
	n := len(v.axes[0])
	for i := range v.axes[1] {
		rows = append(rows, z[i*n:(i+1)*n])
	}
	return rows
}

// lineName is the name of the lines of one of the views: the name of the view, or what if it is the
// only view.
func lineName(what string, v view, views []view) string {
	if len(views) > 1 {
		return v.name
	}
	return what
}
