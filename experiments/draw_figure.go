package experiments

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/reports/figure"
)

// toldApart is how many draws have a name, or a row, of their own.
const toldApart = 7

// Figure shows the latent functions over their one input and, beside them, what the likelihood makes of them; where every
// class has a latent function, with a row for each of the first draws. More than one input is a Problem.
func (d *Drawn) Figure() (figure.Figure, error) {
	if len(d.inputs) != 1 {
		return figure.Figure{}, Problems{{File: "--format", Message: fmt.Sprintf("a picture has one input, and these cases have %d; use --grid lo:hi:points or data with one, or csv or json", len(d.inputs))}}
	}
	sorted, order := slices.Clone(d.inputs[0]), make([]int, len(d.inputs[0]))
	floats.Argsort(sorted, order)
	panel := func(title, label string, lo, hi float64) *figure.Panel {
		return &figure.Panel{Title: title, X: figure.Axis{Label: d.Columns[0], Lo: sorted[0], Hi: sorted[len(sorted)-1]}, Y: figure.Axis{Label: label, Lo: lo, Hi: hi}}
	}
	add := func(p *figure.Panel, name string, y []float64) {
		p.Layers = append(p.Layers, figure.Line{Name: name, X: sorted, Y: subset(y, order)})
	}
	f := figure.Figure{Name: "sample", Title: "Samples from the prior", Notes: d.notes, Columns: min(2, 1+len(d.draws[0].Proba))}
	put := func(title, positive string, lines func(latent, squashed *figure.Panel)) {
		latent, squashed := panel(title, "latent f", 0, 0), panel(title, "p(y"+positive+")", 0, 1)
		lines(latent, squashed)
		for _, p := range []*figure.Panel{latent, squashed}[:f.Columns] {
			f.Panels = append(f.Panels, *p)
		}
	}
	if len(d.classes) == 0 {
		put("", " = +1", func(latent, squashed *figure.Panel) {
			for i, draw := range d.draws {
				name := ""
				if len(d.draws) <= toldApart {
					name = fmt.Sprintf("draw %d", i+1)
				}
				add(latent, name, draw.Latent[0])
				for _, p := range draw.Proba {
					add(squashed, name, p)
				}
			}
		})
		return f, nil
	}
	for i, draw := range d.draws[:min(len(d.draws), toldApart)] {
		put(fmt.Sprintf("draw %d", i+1), "", func(latent, squashed *figure.Panel) {
			for c, class := range d.classes {
				add(latent, "class "+class, draw.Latent[c])
				add(squashed, "class "+class, draw.Proba[c])
			}
		})
	}
	if n := len(d.draws); n > toldApart {
		f.Notes = append(slices.Clone(f.Notes), fmt.Sprintf("the first %d of %d draws", toldApart, n))
	}
	return f, nil
}
