package reports

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/reports/figure"
)

// rocPicture shows, for every data set and evaluation with two classes, the receiver operating characteristics of the
// configurations, the areas under them, and that of guessing.
func rocPicture(r *Report) (out []figure.Figure) {
	short := r.shorten()
	for i, group := range r.groups() {
		type curve struct {
			figure.Line
			area    float64
			partial bool
		}
		var curves []curve
		n := named(short, group...)
		for k, m := range group {
			if len(m.configuration.Classes) != 2 {
				continue
			}
			s, ok := cv.ROC(m.pooled())
			if !ok {
				continue
			}
			area, _ := m.Scores.Value("auc")
			label := estimate(area, 3)
			if m.Scores.Partial != nil {
				label = written(area.Value, 3)
			}
			curves = append(curves, curve{figure.Line{Name: fmt.Sprintf("%s: AUC %s", n.members[k], label), X: s.X, Y: s.Y}, area.Value, m.Scores.Partial != nil})
		}
		if len(curves) == 0 {
			continue
		}
		f := figure.Figure{Name: fmt.Sprintf("roc-%d", i), Title: n.heading + " · " + group[0].Name + " · receiver operating characteristic", Columns: 1}
		f.Notes = remarks(n.note, cases(group))
		slices.SortStableFunc(curves, func(a, b curve) int {
			if a.partial != b.partial {
				return map[bool]int{false: -1, true: 1}[a.partial]
			}
			return cmp.Compare(b.area, a.area)
		})
		if rest := len(curves) - mostTold; rest > 0 {
			f.Notes = append(f.Notes, fmt.Sprintf("the %d of %d with the largest areas", mostTold, len(curves)))
			curves = curves[:mostTold]
		}
		class := group[0].configuration.Classes
		panel := figure.Panel{Square: true, X: figure.Axis{Label: fmt.Sprintf("false positive rate: %s taken for %s", class[0], class[1]), Hi: 1},
			Y: figure.Axis{Label: fmt.Sprintf("true positive rate: %s taken for %s", class[1], class[1]), Hi: 1}}
		panel.Layers = append(panel.Layers, figure.Line{Name: "guessing", X: []float64{0, 1}, Y: []float64{0, 1}, Dashed: true})
		for _, c := range curves {
			panel.Layers = append(panel.Layers, c.Line)
		}
		f.Panels = []figure.Panel{panel}
		out = append(out, f)
	}
	return out
}

// pooled are the predictions of the evaluation.
func (m member) pooled() cv.Predictions {
	var parts []cv.Predictions
	for _, s := range m.configuration.studies {
		if s.Evaluation == m.Name && s.predictions != nil && !s.nested {
			parts = append(parts, *s.predictions)
		}
	}
	if len(parts) == 0 {
		return cv.Predictions{}
	}
	return cv.Pool(parts...)
}
