package tuning

import (
	"fmt"
	"slices"

	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture/shown"
)

// Sampled compare other methods with sampling over a grid of two hyperparameters, as in
// GPML Figure 3.12. They show the differences of the tuning objective, with the 95 % intervals of
// the sampled one, and of the test information. The differences are along the hyperparameter with
// more values, with a line for each value of the other. Methods have panels side by side.
func Sampled(r shown.Report) []figure.Figure {
	return r.InTurn("sampled", shown.MostFigures, func(reference shown.Member) (f figure.Figure) {
		grid := reference.Configuration.Grid
		l, ok := latticeOf(grid)
		if !ok || !slices.ContainsFunc(grid, func(p reports.GridPoint) bool { return p.StandardError > 0 }) {
			return f
		}
		all := slices.Insert(gridRivals(r, reference.Index), 0, reference)
		if len(all) == 1 {
			return f
		}
		n := r.Naming(all...)
		f = figure.Figure{Title: shown.Titled("Against "+n.Members[0], n.Heading), Columns: min(3, len(all)-1),
			Notes: shown.Remarks(n.Note, "with 95 % intervals of what is sampled")}
		for _, of := range []compared{
			{shown.ObjectiveLabel(reference.Configuration),
				func(p reports.GridPoint) (float64, bool) { return p.Objective(), true }, true},
			{"test information (bits per case)", information, false},
		} {
			f.Panels = append(f.Panels, of.panels(l, all, n.Members)...)
		}
		if _, other, _ := l.sides(); other.step() > 1 {
			f.Notes = append(f.Notes, fmt.Sprintf("one of every %d values of %s has a line", other.step(), other.label))
		}
		return f
	})
}

// gridRivals returns the configurations with a grid that differ from the reference in the inference
// only.
func gridRivals(r shown.Report, reference int) (out []shown.Member) {
	of := r.Configurations[reference]
	for k, c := range r.Configurations {
		same := c
		same.TuneInference = of.TuneInference
		if k != reference && shown.SameButTune(same, of) && len(c.Grid) > 0 {
			out = append(out, shown.Member{Index: k, Configuration: c})
		}
	}
	return out
}

// step: if there are many values, only every step-th has a line.
func (c coordinate) step() int { return (len(c.values)-1)/shown.MostTold + 1 }

// compared is a value of grid points. Its differences are drawn, with intervals if it is sampled.
type compared struct {
	label     string
	value     func(reports.GridPoint) (float64, bool)
	intervals bool
}

// panels show the value of every other member minus the value of the first one; none if no two
// points can be compared. They have a common scale. If a panel would be flat on it, each has its
// own.
func (of compared) panels(l lattice, all []shown.Member, names []string) (out []figure.Panel) {
	along, _, _ := l.sides()
	var seen [][]float64 // values that the panels show
	for k, m := range all[1:] {
		zero := figure.Line{X: []float64{along.values[0], along.values[len(along.values)-1]}, Y: []float64{0, 0},
			Dashed: true}
		layers, shown := of.layers(l, all[0].Configuration.Grid, m.Configuration.Grid)
		seen = append(seen, shown)
		out = append(out, figure.Panel{Title: names[k+1], X: figure.Axis{Label: along.label},
			Y:      figure.Axis{Label: of.label + " − that of " + names[0]},
			Layers: slices.Insert(layers, 0, figure.Layer(zero))})
	}
	together := slices.Concat(seen...)
	if len(together) == 0 {
		return nil
	}
	height := func(values []float64) (lo, height float64) {
		values = append([]float64{0}, values...)
		return slices.Min(values), slices.Max(values) - slices.Min(values)
	}
	_, whole := height(together)
	apart := slices.ContainsFunc(seen, func(s []float64) bool { _, h := height(s); return 4*h < whole })
	for k := range out {
		shown := together
		if apart {
			shown = seen[k]
			out[k].Title += ", scale of its own"
		}
		lo, h := height(shown)
		out[k].Y.Lo, out[k].Y.Hi = lo-0.04*h, lo+1.04*h
	}
	return out
}

// layers are the lines of differences of a grid from the sampled one, and the values that they
// show.
func (of compared) layers(l lattice, sampled, grid []reports.GridPoint) (layers []figure.Layer, seen []float64) {
	_, other, _ := l.sides()
	for j := len(other.values) - 1; j >= 0; j -= other.step() {
		line := figure.Line{Name: fmt.Sprintf("%s = %s", other.label, figure.Number(other.values[j], 2)), Markers: true}
		bars := figure.Intervals{Name: line.Name}
		line.X, line.Y, bars.Lo, bars.Hi = differences(l, j, sampled, grid, of.value)
		if len(line.X) == 0 {
			continue
		}
		seen = append(seen, line.Y...)
		if of.intervals {
			bars.X, bars.Y, seen = line.X, line.Y, slices.Concat(seen, bars.Lo, bars.Hi)
			layers = append(layers, bars)
		}
		layers = append(layers, line)
	}
	return layers, seen
}

func information(p reports.GridPoint) (float64, bool) { return p.Scores.Get("information_bits") }

// sides returns the coordinate with more values, and the other one. turned is true if the first
// goes up.
func (l lattice) sides() (along, other coordinate, turned bool) {
	if len(l.up.values) > len(l.across.values) {
		return l.up, l.across, true
	}
	return l.across, l.up, false
}

// differences subtracts the sampled value from the value of a grid, with a 95 % interval, at the
// points that both have. They are along the coordinate with more values, at place j of the other
// one.
func differences(l lattice, j int, sampled, grid []reports.GridPoint,
	value func(reports.GridPoint) (float64, bool)) (x, y, lo, hi []float64) {
	along, _, turned := l.sides()
	for i, v := range along.values {
		at, up := i, j
		if turned {
			at, up = j, i
		}
		if l.point[at][up] < 0 {
			continue
		}
		a := sampled[l.point[at][up]]
		place := slices.IndexFunc(grid, func(p reports.GridPoint) bool { return slices.Equal(p.Point, a.Point) })
		if place < 0 {
			continue
		}
		was, known := value(a)
		is, both := value(grid[place])
		half := 1.96 * float64(a.StandardError)
		if difference := is - was; known && both && figure.Drawable(difference) {
			x, y = append(x, v), append(y, difference)
			lo, hi = append(lo, difference-half), append(hi, difference+half)
		}
	}
	return x, y, lo, hi
}
