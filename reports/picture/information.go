package picture

import (
	"fmt"

	"github.com/gpc-tune/gpc-tune/reports/figure"
)

// informationPictures has a figure for every group: the test information of the members that have
// neither curves nor contours, with its 95 % interval.
func informationPictures(r pictureReport) (out []figure.Figure) {
	for _, g := range groupsOf(r) {
		group, without := r.fitting(g, most, true)
		n := r.naming(group...)
		title, note := r.evaluation(group[0].Name)
		p := figure.Panel{X: figure.Axis{Label: "test information (bits per case; 0 is guessing)"}}
		var rows figure.Intervals
		zero := false
		for i, m := range group {
			e, ok := m.Scores.Value("information_bits")
			if _, contours := latticeOf(m.Configuration.Grid); !ok || !figure.Drawable(e.Value) ||
				len(m.Curves) > 0 || contours {
				continue
			}
			label := fmt.Sprintf("%s: %s", n.Members[i], written(e.Value, 3))
			if m.Scores.Partial != nil {
				e.Lo, e.Hi = e.Value, e.Value
			} else if figure.Drawable(e.Lo) && figure.Drawable(e.Hi) {
				label += fmt.Sprintf(" (%s\u00a0–\u00a0%s)", figure.Number(e.Lo, 3), figure.Number(e.Hi, 3))
			}
			rows.Y = append(rows.Y, float64(len(rows.Y)))
			rows.X, rows.Lo, rows.Hi, rows.Horizontal = append(rows.X, e.Value), append(rows.Lo, e.Lo),
				append(rows.Hi, e.Hi), true
			p.Y.Names = append(p.Y.Names, label)
			zero = zero || min(e.Value, e.Lo) < 0
		}
		if len(rows.X) == 0 {
			continue
		}
		if zero {
			p.Layers = append(p.Layers,
				figure.Line{X: []float64{0, 0}, Y: []float64{-0.5, float64(len(rows.X)) - 0.5}, Dashed: true})
		}
		p.Layers = append(p.Layers, rows)
		f := figure.Figure{Name: fmt.Sprintf("information-%s-%s", group[0].Configuration.Dataset, group[0].Name),
			Title:   titled("Test information", n.Heading, title),
			Notes:   remarks(n.Note, note, cases(group), "with 95 % intervals"),
			Columns: 1, Panels: []figure.Panel{p}, Of: indices(group)}
		f.Notes = append(f.Notes, remarks(leftOut(without, f.Name))...)
		out = append(out, f)
	}
	return out
}
