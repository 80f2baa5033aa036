package picture

import (
	"fmt"
	"slices"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture/shown"
)

// ranked is a curve over the thresholds on the probability of the second of two classes.
type ranked struct {
	kind, title  string // kind and title of the figures
	score, short string // name of the area under the curve, and its short name in figures
	of           func(cv.Predictions) (cv.Series, bool)
	x, y         func(classes []string) string // labels of the axes
	guessing     func(cv.Predictions) figure.Line
}

// mostRanked is the number of curves besides the curve of guessing: of the best and the next.
const mostRanked = 2

// draw shows, for every data set and evaluation with two classes, the curves of the best and the
// next configuration, and the curve of guessing.
func (c ranked) draw(r shown.Report) (out []figure.Figure) {
	for i, g := range shown.GroupsOf(r) {
		if len(g[0].Configuration.Classes) != 2 {
			continue
		}
		g = slices.DeleteFunc(g, func(m shown.Member) bool { _, ok := c.of(shown.PooledOf(m)); return !ok })
		if len(g) == 0 {
			continue
		}
		group, without := r.Fitting(g, mostRanked, true)
		n := r.Naming(group...)
		title, note := r.Evaluation(group[0].Name)
		class := group[0].Configuration.Classes
		panel := figure.Panel{Square: true, X: figure.Axis{Label: c.x(class), Hi: 1},
			Y: figure.Axis{Label: c.y(class), Hi: 1}, Layers: []figure.Layer{c.guessing(shown.PooledOf(group[0]))}}
		var names []string
		for k, m := range group {
			s, _ := c.of(shown.PooledOf(m))
			area, _ := m.Scores.Value(c.score)
			label := shown.Estimate(area, 3)
			if m.Scores.Partial != nil {
				label = shown.Written(area.Value, 3)
			}
			names = append(names, fmt.Sprintf("%s: %s %s", n.Members[k], c.short, label))
			panel.Layers = append(panel.Layers, figure.Line{Name: names[k], X: s.X, Y: s.Y})
		}
		f := figure.Figure{Name: fmt.Sprintf("%s-%d", c.kind, i), Title: shown.Titled(c.title, n.Heading, title),
			Columns: 1, Panels: []figure.Panel{panel}, Looks: r.Looks(group, names),
			Of: shown.Indices(group), Notes: shown.Remarks(n.Note, note, shown.Cases(group))}
		f.Notes = append(f.Notes, shown.Remarks(shown.LeftOut(without, c.kind))...)
		out = append(out, f)
	}
	return out
}
