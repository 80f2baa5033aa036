package picture

import (
	"fmt"
	"slices"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/reports/figure"
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
func (c ranked) draw(r pictureReport) (out []figure.Figure) {
	for i, g := range groupsOf(r) {
		if len(g[0].Configuration.Classes) != 2 {
			continue
		}
		g = slices.DeleteFunc(g, func(m Member) bool { _, ok := c.of(pooledOf(m)); return !ok })
		if len(g) == 0 {
			continue
		}
		group, without := r.fitting(g, mostRanked, true)
		n := r.naming(group...)
		title, note := r.evaluation(group[0].Name)
		class := group[0].Configuration.Classes
		panel := figure.Panel{Square: true, X: figure.Axis{Label: c.x(class), Hi: 1},
			Y: figure.Axis{Label: c.y(class), Hi: 1}, Layers: []figure.Layer{c.guessing(pooledOf(group[0]))}}
		var names []string
		for k, m := range group {
			s, _ := c.of(pooledOf(m))
			area, _ := m.Scores.Value(c.score)
			label := estimate(area, 3)
			if m.Scores.Partial != nil {
				label = written(area.Value, 3)
			}
			names = append(names, fmt.Sprintf("%s: %s %s", n.Members[k], c.short, label))
			panel.Layers = append(panel.Layers, figure.Line{Name: names[k], X: s.X, Y: s.Y})
		}
		f := figure.Figure{Name: fmt.Sprintf("%s-%d", c.kind, i), Title: titled(c.title, n.Heading, title),
			Columns: 1, Panels: []figure.Panel{panel}, Looks: r.looks(group, names),
			Of: indices(group), Notes: remarks(n.Note, note, cases(group))}
		f.Notes = append(f.Notes, remarks(leftOut(without, c.kind))...)
		out = append(out, f)
	}
	return out
}
