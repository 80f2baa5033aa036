package picture

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
)

// rocPicture shows, for every data set and evaluation with two classes, the receiver operating
// characteristics of the configurations, the areas under them, and that of guessing.
func rocPicture(r *reports.Report) (out []figure.Figure) {
	short := r.ShortNames()
	for i, group := range groupsOf(r) {
		type curve struct {
			figure.Line
			area    float64
			partial bool
		}
		var curves []curve
		n := NameMembers(short, group...)
		for k, m := range group {
			if len(m.Configuration.Classes) != 2 {
				continue
			}
			s, ok := cv.ROC(pooledOf(m))
			if !ok {
				continue
			}
			area, _ := m.Scores.Value("auc")
			label := estimate(area, 3)
			if m.Scores.Partial != nil {
				label = written(area.Value, 3)
			}
			curves = append(curves, curve{figure.Line{Name: fmt.Sprintf("%s: AUC %s", n.Members[k], label), X: s.X,
				Y: s.Y}, area.Value, m.Scores.Partial != nil})
		}
		if len(curves) == 0 {
			continue
		}
		f := figure.Figure{Name: fmt.Sprintf("roc-%d", i), Title: n.Heading + " · " + group[0].Name +
			" · receiver operating characteristic", Columns: 1}
		f.Notes = remarks(n.Note, cases(group))
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
		class := group[0].Configuration.Classes
		panel := figure.Panel{Square: true,
			X: figure.Axis{Label: fmt.Sprintf("false positive rate: %s taken for %s", class[0], class[1]), Hi: 1},
			Y: figure.Axis{Label: fmt.Sprintf("true positive rate: %s taken for %s", class[1], class[1]), Hi: 1}}
		panel.Layers = append(panel.Layers, figure.Line{Name: "guessing", X: []float64{0, 1}, Y: []float64{0, 1},
			Dashed: true})
		for _, c := range curves {
			panel.Layers = append(panel.Layers, c.Line)
		}
		f.Panels = []figure.Panel{panel}
		out = append(out, f)
	}
	return out
}
