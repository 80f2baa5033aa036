package picture

import (
	"fmt"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture/shown"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

// Against is the kind of the pictures that compare every configuration with the best.
const Against = "against"

// mostRivals is the maximum number of rows of a figure.
const mostRivals = 30

// ranking is the score by which an answer ranks, its unit in a figure, and the factor to that unit.
func ranking(a reports.Answer) (by, unit string, factor float64) {
	by = a.By
	if a.Nested != nil {
		by = a.Nested.By
	}
	s, err := cv.ScoreNamed(by)
	switch {
	case err != nil:
		return by, "nats", 1
	case s.Column.Percent:
		return by, "%", 100
	}
	return by, s.Unit, 1
}

// innerScore is a word for a score on the inner folds of nested cross-validation; "" for another.
func innerScore(a reports.Answer) string {
	if a.Nested != nil && a.Nested.By != "log_evidence" {
		return "inner "
	}
	return ""
}

// againstPictures has a forest plot for every data set: the difference of every configuration to
// the best, with its 95 % bounds. The look of an interval tells whether the configuration is in the
// set.
func againstPictures(r shown.Report) (out []figure.Figure) {
	names := r.Labels
	for _, a := range r.Decided() {
		by, unit, factor := ranking(a)
		p := figure.Panel{X: figure.Axis{Label: fmt.Sprintf("difference from the best in %s%s (%s); left is worse",
			innerScore(a), reports.Spaced(by), unit)}}
		in := figure.Intervals{Name: "in the set: may be the best", Horizontal: true}
		apart := figure.Intervals{Name: "not in the set", Horizontal: true}
		drawn, left := 0, 0 // left: number of configurations in the set that are not drawn
		add := func(k int, inSet bool, d, lo, hi float64) {
			to := &apart
			if inSet {
				to = &in
			}
			to.X, to.Lo, to.Hi = append(to.X, d), append(to.Lo, lo), append(to.Hi, hi)
			to.Y = append(to.Y, float64(drawn))
			p.Y.Names = append(p.Y.Names, names[k])
			drawn++
		}
		add(a.Configuration, true, 0, 0, 0)
		for _, v := range a.Rivals {
			d, lo, hi := factor*float64(v.Difference), factor*float64(v.Low), factor*float64(v.High)
			if drawn == mostRivals || !figure.Drawable(d) {
				if v.InSet {
					left++
				}
				continue
			}
			if v.Low.None() {
				lo, hi = d, d
			}
			add(v.Configuration, v.InSet, d, lo, hi)
		}
		if drawn == 1 {
			continue
		}
		p.Layers = []figure.Layer{figure.Line{X: []float64{0, 0}, Y: []float64{-0.5, float64(drawn) - 0.5},
			Dashed: true}}
		for _, l := range []figure.Intervals{in, apart} {
			if len(l.X) > 0 {
				p.Layers = append(p.Layers, l)
			}
		}
		note := "the ends of a bar are one-sided 95 % bounds of the difference"
		if by == "log_evidence" {
			note = "log evidences have no bounds; what is within 1 nat may be the best"
		}
		f := figure.Figure{Name: "against-" + a.Dataset, Columns: 1, Panels: []figure.Panel{p},
			Title: shown.Titled("Differences from "+names[a.Configuration], r.SeveralData(a)), Notes: []string{note},
			Looks: map[string]int{in.Name: 2, apart.Name: 1}}
		if n := len(a.Rivals) + 1 - drawn; n > 0 {
			f.Notes = append(f.Notes, fmt.Sprintf("%s not drawn, %d of them in the set", table.Counted(n,
				"more configuration is", "more configurations are"), left))
		}
		out = append(out, f)
	}
	return out
}
