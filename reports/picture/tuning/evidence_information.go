package tuning

import (
	"fmt"

	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture/shown"
	"github.com/gpc-tune/gpc-tune/reports/table"
	"gonum.org/v1/gonum/floats"
)

// EvidenceInformation plots the tuning objective on the training cases against the test
// information, for all points that were scored. It marks the best point by each. Where the two are
// close, the objective chooses well (GPML 3.7.3, 5.4.3). Three configurations or more are compared
// in the same way, by their log evidence.
func EvidenceInformation(r shown.Report) []figure.Figure {
	scored := func(c reports.Configuration) bool {
		_, information := scoredPoints(c)
		return len(information) > 1
	}
	const information = "test information (bits per case)"
	out := shown.FigurePerConfiguration(r, scored, 6, func(part []shown.Member, n shown.Naming) figure.Figure {
		f := figure.Figure{Name: "evidence-information", Title: shown.Titled(shown.Capital(reports.Spaced(
			part[0].Configuration.Maximised()))+" against test information", n.Heading), Columns: min(3, len(part))}
		f.Notes = shown.Remarks(n.Note, "scores of "+part[0].Configuration.Evaluations[0].Name)
		for k, m := range part {
			c := m.Configuration
			value, bits := scoredPoints(c)
			panel := figure.Panel{Title: n.Members[k], X: figure.Axis{Label: shown.ObjectiveLabel(c)},
				Y: figure.Axis{Label: information}}
			panel.Layers = append(panel.Layers, figure.Points{Name: "point", X: value, Y: bits})
			panel.Layers = append(panel.Layers, bestOf(c.Maximised(), value, bits)...)
			f.Panels = append(f.Panels, panel)
		}
		return f
	})
	for i, group := range shown.GroupsOf(r) {
		if r.OnlyOne >= 0 {
			break // it compares all configurations, never one
		}
		n := r.Naming(group...)
		title, note := r.Evaluation(group[0].Name)
		var value, bits []float64
		var layers []figure.Layer
		for k, m := range group {
			e, ok := m.Scores.Value("information_bits")
			if evidence := float64(m.Configuration.LogEvidence); ok && figure.Drawable(evidence) &&
				figure.Drawable(e.Value) {
				if m.Scores.Partial == nil {
					value, bits = append(value, evidence), append(bits, e.Value)
				}
				layers = append(layers, figure.Points{Name: n.Members[k], X: []float64{evidence},
					Y: []float64{e.Value}})
			}
		}
		if len(value) < 3 {
			continue
		}
		notes := shown.Remarks(n.Note, note, shown.Cases(group))
		if len(layers) > shown.MostTold {
			if left := len(layers) - len(value); left > 0 {
				notes = append(notes, table.Counted(left, "configuration is", "configurations are")+
					" not drawn, of which not all folds are done")
			}
			layers = []figure.Layer{figure.Points{Name: "configuration", X: value, Y: bits}}
		}
		out = append(out, figure.Figure{
			Name:  fmt.Sprintf("evidence-information-configurations-%d", i),
			Title: shown.Titled("Log evidence and test information of all", n.Heading, title), Columns: 1,
			Notes: notes, Looks: r.Looks(group, n.Members),
			Panels: []figure.Panel{{X: figure.Axis{Label: "log evidence (nats)"}, Y: figure.Axis{Label: information},
				Layers: append(layers, bestOf("log_evidence", value, bits)...)}},
		})
	}
	return out
}

// bestOf marks the best point by the objective, and the best point by the test information.
func bestOf(objective string, value, bits []float64) []figure.Layer {
	a, b := floats.MaxIdx(value), floats.MaxIdx(bits)
	return []figure.Layer{
		figure.Mark{Name: "best " + reports.Spaced(objective), X: value[a], Y: bits[a]},
		figure.Mark{Name: "best test information", X: value[b], Y: bits[b]},
	}
}

// scoredPoints are the values and the test informations of the points that have both.
func scoredPoints(c reports.Configuration) (value, information []float64) {
	for _, p := range c.Grid {
		if bits, ok := p.Scores.Get("information_bits"); ok && figure.Drawable(p.Objective()) && figure.Drawable(bits) {
			value, information = append(value, p.Objective()), append(information, bits)
		}
	}
	return value, information
}
