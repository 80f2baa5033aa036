package reports

import (
	"fmt"
	"math"
	"slices"

	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/reports/figure"
)

// decisions show what is predicted over the inputs, where these are one or two and numeric, with the training cases.
func decisions(r *Report) []figure.Figure {
	return r.fitted("decision", "Predictions over the inputs", func(c Configuration, fit *record.Fit) (f figure.Figure) {
		s := fit.Surface
		if s == nil {
			return f
		}
		v := view{c: c, Surface: s, labels: fit.TrainLabels}
		for j := range s.Axes {
			v.axes, v.inputs = append(v.axes, record.Floats(s.Axes[j])), append(v.inputs, record.Floats(s.Inputs[j]))
		}
		v.classes, f.Notes = c.frequent(fit)
		f.Notes = append(f.Notes, sampled("the fit", fit)...)
		if len(c.Classes) == 2 {
			v.classes = []int{1}
		}
		switch one := len(s.Axes) == 1; {
		case one && len(c.Classes) > 0:
			f.Panels = v.curves()
		case one:
			f.Panels = v.regression()
		default:
			f.Panels = v.maps()
		}
		f.Columns = min(2, len(f.Panels))
		return f
	})
}

// view is a surface to be drawn.
type view struct {
	c Configuration
	*record.Surface
	axes, inputs [][]float64
	labels       []int
	classes      []int // that are drawn: of two the second
}

// proba is that of a class at the points.
func (v view) proba(class int) []float64 {
	return record.Floats(v.Proba[min(class, len(v.Proba)-1)])
}

// panel has the axes.
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

// cases are the training cases at the heights that y gives, those of every class that is drawn, or of two, and all others.
func (v view) cases(y func(i int) float64) (layers []figure.Layer) {
	var others figure.Points
	for k := range v.c.Classes {
		p := figure.Points{Name: v.c.class(k)}
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

// curves are class probabilities over one input, and beside them the latent means with two standard deviations. The training
// cases are at 0 and 1 or, of more classes, in lines below the curves.
func (v view) curves() (panels []figure.Panel) {
	top := v.panel("", "p(y)")
	bottom := v.panel("", "latent f, mean and 2 sd")
	top.Y.Lo, top.Y.Hi = -0.05, 1.05
	for _, k := range v.classes {
		name := v.c.class(k)
		if len(v.c.Classes) == 2 {
			name, top.Y.Label = "prediction", "p(y = "+v.c.Classes[1]+")"
		}
		top.Layers = append(top.Layers, figure.Line{Name: name, X: v.axes[0], Y: v.proba(k)})
		if len(v.LatentMean) > 0 {
			process := min(k, len(v.LatentMean)-1)
			mean, variance := v.LatentMean[process], v.LatentVariance[process]
			bottom.Layers = append(bottom.Layers, band(name, v.axes[0], mean, variance), figure.Line{Name: name, X: v.axes[0], Y: record.Floats(mean)})
		}
	}
	top.Layers = append(top.Layers, v.cases(func(i int) float64 {
		if len(v.c.Classes) == 2 {
			return float64(v.labels[i])
		}
		line := slices.Index(v.classes, v.labels[i])
		if line < 0 {
			line = len(v.classes)
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

// regression is the mean over one input with two standard deviations of a new target.
func (v view) regression() []figure.Panel {
	p := v.panel("", "y")
	p.Layers = []figure.Layer{
		band("mean of y ± 2 sd", v.axes[0], v.Mean, v.Variance),
		figure.Line{Name: "mean of y ± 2 sd", X: v.axes[0], Y: record.Floats(v.Mean)},
		figure.Points{Name: "training cases", X: v.inputs[0], Y: record.Floats(v.Targets), Hollow: true},
	}
	return []figure.Panel{p}
}

// maps are level lines over two inputs, of class probabilities or of the mean and the standard deviation of a new target.
func (v view) maps() (panels []figure.Panel) {
	add := func(title string, z, levels, bold []float64) {
		p := v.panel(title, "")
		p.Layers = append(p.Layers, figure.Contours{X: v.axes[0], Y: v.axes[1], Z: v.rows(z), Levels: levels, Bold: bold})
		if v.labels == nil {
			p.Layers = append(p.Layers, figure.Points{Name: "training cases", X: v.inputs[0], Y: v.inputs[1], Hollow: true})
		}
		p.Layers = append(p.Layers, v.cases(func(i int) float64 { return v.inputs[1][i] })...)
		panels = append(panels, p)
	}
	for _, k := range v.classes {
		add(fmt.Sprintf("p(y = %s)", v.c.Classes[k]), v.proba(k), []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}, []float64{0.5})
	}
	if len(v.c.Classes) == 0 {
		sd := record.Floats(v.Variance)
		for i, variance := range sd {
			sd[i] = math.Sqrt(variance)
		}
		for _, of := range []struct {
			title string
			z     []float64
		}{{"mean of y", record.Floats(v.Mean)}, {"standard deviation of y", sd}} {
			lo, hi := bulk(of.z)
			add(of.title, of.z, binEdges(lo, hi, 10), nil)
		}
	}
	return panels
}

// rows cuts the values at the points into rows along the first input.
func (v view) rows(z []float64) (rows [][]float64) {
	n := len(v.axes[0])
	for i := range v.axes[1] {
		rows = append(rows, z[i*n:(i+1)*n])
	}
	return rows
}
