package reports

import (
	"fmt"

	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/reports/figure"
)

// evidencePicture sets what is maximised on the training cases against the test information, for all points that were scored, and
// marks the best of each: how far apart they are says how well one chooses by the other (GPML 3.7.3, 5.4.3). Three
// configurations or more are compared in the same way, by their log evidence.
func evidencePicture(r *Report) []figure.Figure {
	scored := func(c Configuration) bool {
		_, information := c.scored()
		return len(information) > 1
	}
	const information = "test information (bits per case)"
	out := r.each(scored, 6, func(part []member, n naming) figure.Figure {
		f := figure.Figure{Name: "evidence-information", Title: n.heading + " · " + spaced(part[0].configuration.maximised()) + " against test information", Columns: min(3, len(part))}
		f.Notes = remarks(n.note, "scores of "+part[0].configuration.Evaluations[0].Name)
		for k, m := range part {
			c := m.configuration
			value, bits := c.scored()
			panel := figure.Panel{Title: n.members[k], X: figure.Axis{Label: c.objectiveLabel()}, Y: figure.Axis{Label: information}}
			panel.Layers = append(panel.Layers, figure.Points{Name: "point", X: value, Y: bits})
			panel.Layers = append(panel.Layers, bestOf(c.maximised(), value, bits)...)
			f.Panels = append(f.Panels, panel)
		}
		return f
	})
	for i, group := range r.groups() {
		n := named(r.shorten(), group...)
		var value, bits []float64
		var layers []figure.Layer
		for k, m := range group {
			e, ok := m.Scores.Value("information_bits")
			if evidence := float64(m.configuration.LogEvidence); ok && figure.Drawable(evidence) && figure.Drawable(e.Value) {
				if m.Scores.Partial == nil {
					value, bits = append(value, evidence), append(bits, e.Value)
				}
				layers = append(layers, figure.Points{Name: n.members[k], X: []float64{evidence}, Y: []float64{e.Value}})
			}
		}
		if len(value) < 3 {
			continue
		}
		notes := remarks(n.note, cases(group))
		if len(layers) > mostTold {
			if left := len(layers) - len(value); left > 0 {
				notes = append(notes, fmt.Sprintf("%d configurations are not drawn, of which not all folds are done", left))
			}
			layers = []figure.Layer{figure.Points{Name: "configuration", X: value, Y: bits}}
		}
		out = append(out, figure.Figure{
			Name: fmt.Sprintf("evidence-information-configurations-%d", i), Title: n.heading + " · " + group[0].Name + " · log evidence against test information", Columns: 1,
			Notes:  notes,
			Panels: []figure.Panel{{X: figure.Axis{Label: "log evidence (nats)"}, Y: figure.Axis{Label: information}, Layers: append(layers, bestOf("log_evidence", value, bits)...)}},
		})
	}
	return out
}

// bestOf marks the best of points by either coordinate.
func bestOf(objective string, value, bits []float64) []figure.Layer {
	a, b := floats.MaxIdx(value), floats.MaxIdx(bits)
	return []figure.Layer{
		figure.Mark{Name: "best " + spaced(objective), X: value[a], Y: bits[a]},
		figure.Mark{Name: "best test information", X: value[b], Y: bits[b]},
	}
}

// scored are the values and the test informations of the points that have both.
func (c Configuration) scored() (value, information []float64) {
	for _, p := range c.Grid {
		if bits, ok := p.Scores.Get("information_bits"); ok && figure.Drawable(p.value()) && figure.Drawable(bits) {
			value, information = append(value, p.value()), append(information, bits)
		}
	}
	return value, information
}
