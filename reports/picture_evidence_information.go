package reports

import (
	"fmt"

	"github.com/gpc-tune/gpc-tune/reports/figure"
)

// evidencePicture sets what is maximised on the training cases against the test information, for all points that were scored, and
// marks the best of each: how far apart they are says how well one chooses by the other (GPML 3.7.3, 5.4.3).
func evidencePicture(r *Report) (out []figure.Figure) {
	scored := func(c Configuration) bool {
		_, information := c.scored()
		return len(information) > 1
	}
	for i, part := range r.parts(scored, 6) {
		n := named(r.shorten(), part...)
		f := figure.Figure{Name: fmt.Sprintf("evidence-information-%d", i), Title: n.heading + " · what is maximised against test information", Columns: min(3, len(part))}
		f.Notes = []string{note(n.note, "scores of "+part[0].configuration.Evaluations[0].Name)}
		for k, m := range part {
			c := m.configuration
			value, information := c.scored()
			panel := figure.Panel{Title: n.members[k], X: figure.Axis{Label: c.objectiveLabel()}, Y: figure.Axis{Label: "test information (bits per case)"}}
			panel.Layers = append(panel.Layers, figure.Points{Name: "point", X: value, Y: information})
			for _, b := range []struct {
				name string
				of   []float64
			}{{"best objective", value}, {"best test information", information}} {
				best := 0
				for i, v := range b.of {
					if v > b.of[best] {
						best = i
					}
				}
				panel.Layers = append(panel.Layers, figure.Mark{Name: b.name, X: value[best], Y: information[best]})
			}
			f.Panels = append(f.Panels, panel)
		}
		out = append(out, f)
	}
	return out
}

// scored are the values and the test informations of the points that have both.
func (c Configuration) scored() (value, information []float64) {
	for _, p := range c.Grid {
		if bits, ok := p.Scores.Get("information_bits"); ok && drawable(p.value()) && drawable(bits) {
			value, information = append(value, p.value()), append(information, bits)
		}
	}
	return value, information
}
