package picture

import (
	"fmt"
	"strings"

	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture/shown"
	"github.com/gpc-tune/gpc-tune/reports/picture/tuning"
)

// informationPictures has a figure for every group: the test information of the members that have
// neither curves nor contours, with its 95 % interval.
func informationPictures(r shown.Report) (out []figure.Figure) {
	for _, g := range shown.GroupsOf(r) {
		group, without := r.Fitting(g, shown.Most, true)
		n := r.Naming(group...)
		title, note := r.Evaluation(group[0].Name)
		p := figure.Panel{X: figure.Axis{Label: "test information (bits per case; 0 is guessing)"}}
		var rows figure.Intervals
		zero := false
		for i, m := range group {
			e, ok := m.Scores.Value("information_bits")
			if !ok || !figure.Drawable(e.Value) || len(m.Curves) > 0 || tuning.OnLattice(m.Configuration.Grid) {
				continue
			}
			label := fmt.Sprintf("%s: %s", n.Members[i], shown.Written(e.Value, 3))
			if m.Scores.Partial != nil {
				e.Lo, e.Hi = e.Value, e.Value
			} else if figure.Drawable(e.Lo) && figure.Drawable(e.Hi) {
				interval := reports.Between(figure.Number(e.Lo, 3), figure.Number(e.Hi, 3))
				label += " (" + strings.ReplaceAll(interval, " ", "\u00a0") + ")"
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
			Title:   shown.Titled("Test information", n.Heading, title),
			Notes:   shown.Remarks(n.Note, note, shown.Cases(group), "with 95 % intervals"),
			Columns: 1, Panels: []figure.Panel{p}, Of: shown.Indices(group)}
		f.Notes = append(f.Notes, shown.Remarks(shown.LeftOut(without, f.Name))...)
		out = append(out, f)
	}
	return out
}
