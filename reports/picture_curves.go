package reports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/reports/figure"
)

// fewest is how many cases must be left at a point of a reject curve: the means of fewer jump about.
const fewest = 10

// curvePictures has a figure for every group: each kind of curve that the experiment asks for is a panel with those of all members.
func curvePictures(r *Report) (out []figure.Figure) {
	short := r.shorten()
	for _, g := range r.groups() {
		for _, group := range parts(g) {
			n := named(short, group...)
			f := figure.Figure{Name: fmt.Sprintf("curves-%s-%s", group[0].configuration.Dataset, group[0].Name), Title: n.heading + " · " + group[0].Name, Columns: 3}
			cut := ""
			for _, kind := range cv.Curves {
				if p, ok := curvePanel(kind, group, n.members); ok {
					f.Panels = append(f.Panels, p)
					if !kind.Diagonal {
						cut = fmt.Sprintf("reject curves end where fewer than %d cases are left", fewest)
					}
				}
			}
			if len(f.Panels) > 0 {
				f.Notes = remarks(n.note, cases(group), cut)
				out = append(out, f)
			}
		}
	}
	return out
}

// curvePanel draws the curves of a kind of all members that have one.
func curvePanel(kind cv.Curve, group []member, names []string) (p figure.Panel, ok bool) {
	p = figure.Panel{Title: strings.ReplaceAll(kind.Name, "_", "-"), X: figure.Axis{Label: kind.X}, Y: figure.Axis{Label: kind.Y}}
	for i, m := range group {
		for _, c := range m.Curves {
			if c.Name != kind.Name {
				continue
			}
			line := figure.Line{Name: names[i], Markers: true}
			for k, y := range c.Series.Y {
				if figure.Drawable(y) && (c.Diagonal || c.N[k] >= min(fewest, c.N[0])) {
					line.X, line.Y = append(line.X, c.Series.X[k]), append(line.Y, y)
				}
			}
			if len(line.X) > 0 {
				p.Layers = append(p.Layers, line)
			}
		}
	}
	if len(p.Layers) > 0 && kind.Diagonal {
		var all []float64
		for _, l := range p.Layers {
			all = append(all, l.(figure.Line).X...)
		}
		ends := []float64{slices.Min(all), slices.Max(all)}
		p.Layers = slices.Insert(p.Layers, 0, figure.Layer(figure.Line{X: ends, Y: ends, Dashed: true}))
	}
	return p, len(p.Layers) > 0
}
