package picture

import (
	"fmt"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture/shown"
)

// sure is the probability from which on a wrong decision counts as overconfident.
const sure = 0.9

// reliabilityPictures show, for every data set and evaluation with two classes, the reliability
// diagram of the best configuration, and below it how many cases have each probability.
func reliabilityPictures(r shown.Report) (out []figure.Figure) {
	for i, g := range shown.GroupsOf(r) {
		if len(g[0].Configuration.Classes) != 2 {
			continue
		}
		group, without := r.Fitting(g, 1, false)
		m := group[0]
		p := shown.PooledOf(m)
		s, ok := cv.Reliability(p)
		if !ok {
			continue
		}
		n := r.Naming(m)
		title, note := r.Evaluation(m.Name)
		class := m.Configuration.Classes[1]
		x := figure.Axis{Label: "probability of " + class, Hi: 1}
		bars := figure.Bars{Heights: make([]float64, 20)}
		for k := range 21 {
			bars.Edges = append(bars.Edges, float64(k)/20)
		}
		wrong, expected, surest := 0, 0.0, 0
		for k, label := range p.Labels {
			row := p.Proba.RawRowView(k)
			bars.Heights[min(int(20*row[1]), 19)]++
			decided := cv.Decide(row)
			if row[decided] < sure {
				continue
			}
			surest++
			expected += 1 - row[decided]
			if decided != label {
				wrong++
			}
		}
		f := figure.Figure{Name: fmt.Sprintf("reliability-%d", i), Columns: 2,
			Title: shown.Titled("Reliability of the probabilities", n.Heading, title),
			Of:    shown.Indices(group), Looks: map[string]int{"": 0}, Panels: []figure.Panel{
				{Square: true, X: x, Y: figure.Axis{Label: "frequency of " + class, Hi: 1}, Layers: []figure.Layer{
					figure.Line{X: []float64{0, 1}, Y: []float64{0, 1}, Dashed: true},
					figure.Intervals{Name: "frequency, 95 % interval", X: s.X, Y: s.Y, Lo: s.Lo, Hi: s.Hi}}},
				{X: x, Y: figure.Axis{Label: "predictions"}, Layers: []figure.Layer{bars}}}}
		f.Notes = shown.Remarks(n.Note, note, shown.Cases(group), fmt.Sprintf(
			"each point has %d predictions or more; calibrated "+
				"probabilities are on the dashed line", cv.LeastReliable))
		if surest > 0 {
			f.Notes = append(f.Notes, fmt.Sprintf("%d of %d decisions with a probability of %g or more are wrong; if "+
				"the probabilities are right, expect %.1f", wrong, surest, sure, expected))
		}
		f.Notes = append(f.Notes, shown.Remarks(shown.LeftOut(without, "reliability"))...)
		out = append(out, f)
	}
	return out
}
