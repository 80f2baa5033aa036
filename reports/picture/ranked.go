package picture

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
)

// ranked is a curve over the thresholds on the probability of the second of two classes.
type ranked struct {
	kind, title  string // of the figures
	score, short string // the area under the curve, and what the figures call it
	of           func(cv.Predictions) (cv.Series, bool)
	x, y         func(classes []string) string // what the axes show
	guessing     func(cv.Predictions) figure.Line
}

// draw shows, for every data set and evaluation with two classes, the curves of the configurations,
// the largest areas first, and that of guessing.
func (c ranked) draw(r *reports.Report) (out []figure.Figure) {
	short := r.ShortNames()
	for i, group := range groupsOf(r) {
		type curve struct {
			figure.Line
			area    float64
			partial bool
			member  int
		}
		var curves []curve
		var guessing figure.Line
		n := NameMembers(short, group...)
		for k, m := range group {
			if len(m.Configuration.Classes) != 2 {
				continue
			}
			predictions := pooledOf(m)
			s, ok := c.of(predictions)
			if !ok {
				continue
			}
			if len(curves) == 0 {
				guessing = c.guessing(predictions)
			}
			area, _ := m.Scores.Value(c.score)
			label := estimate(area, 3)
			if m.Scores.Partial != nil {
				label = written(area.Value, 3)
			}
			curves = append(curves, curve{figure.Line{Name: fmt.Sprintf("%s: %s %s", n.Members[k], c.short, label),
				X: s.X, Y: s.Y}, area.Value, m.Scores.Partial != nil, k})
		}
		if len(curves) == 0 {
			continue
		}
		f := figure.Figure{Name: fmt.Sprintf("%s-%d", c.kind, i), Title: n.Heading + " · " + group[0].Name +
			" · " + c.title, Columns: 1}
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
		panel := figure.Panel{Square: true, X: figure.Axis{Label: c.x(class), Hi: 1},
			Y: figure.Axis{Label: c.y(class), Hi: 1}, Layers: []figure.Layer{guessing}}
		for _, c := range curves {
			panel.Layers = append(panel.Layers, c.Line)
		}
		f.Panels = []figure.Panel{panel}
		// a configuration has one look in all figures of its group
		slices.SortFunc(curves, func(a, b curve) int { return cmp.Compare(a.member, b.member) })
		for _, c := range curves {
			f.First = append(f.First, c.Name)
		}
		out = append(out, f)
	}
	return out
}
