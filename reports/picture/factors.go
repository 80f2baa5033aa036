package picture

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture/shown"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

// Factors is the kind of the pictures of the effects of choices over many configurations.
const Factors = "factors"

// leastFactored is the number of configurations from which on effects of choices are drawn.
const leastFactored = 12

// factorPictures show, for every data set with many configurations that competed by the mean of a
// score of cases, the marginal mean of the score for every kernel, likelihood and so on: the mean
// over the configurations that have it, less the mean over all. The intervals are over cases.
// Comparators, which have no kernel, are left out.
func factorPictures(r shown.Report) (out []figure.Figure) {
	for _, a := range r.Decided() {
		score, err := cv.ScoreNamed(a.By)
		if err != nil || score.Each == nil || a.Nested != nil || r.OnlyOne >= 0 {
			continue
		}
		values := crossed(r, a, score)
		f := figure.Figure{Name: Factors + "-" + a.Dataset, Columns: 2, Panels: values.panels(r.ShortNames(), a)}
		if len(f.Panels) == 0 || len(values.members) < leastFactored {
			continue
		}
		better := "left is better"
		if score.Greater {
			better = "right is better"
		}
		f.Title = shown.Titled("Marginal means of "+reports.Spaced(a.By), r.SeveralData(a))
		f.Notes = shown.Remarks("mean over the configurations with each, less the mean over all "+
			table.Counted(len(values.members), "configuration", "configurations"), better,
			"95 % intervals are over held-out cases, for this training set")
		out = append(out, f)
	}
	return out
}

// crossedValues are the values of a score of the same rows of predictions, for several
// configurations.
type crossedValues struct {
	members []reports.Configuration
	values  [][]float64
	rows    cv.Predictions
}

// crossed are the configurations with a kernel that competed for an answer.
func crossed(s shown.Report, a reports.Answer, score cv.Score) (out crossedValues) {
	indices := []int{a.Configuration}
	for _, v := range a.Rivals {
		indices = append(indices, v.Configuration)
	}
	for _, i := range indices {
		c := s.Configurations[i]
		p := shown.PooledOf(shown.Member{Configuration: c, Evaluation: reports.Evaluation{Name: a.Evaluation}})
		other := out.rows.Cases != nil && !slices.Equal(p.Cases, out.rows.Cases)
		if c.Part(c.Kernel.Text) == "" || len(p.Cases) == 0 || other {
			continue
		}
		out.rows = p
		out.members, out.values = append(out.members, c), append(out.values, score.Each(p))
	}
	return out
}

// panels are a panel for each setting with two levels or more.
func (c crossedValues) panels(short map[string]string, a reports.Answer) (out []figure.Panel) {
	if len(c.members) == 0 {
		return nil
	}
	mean := c.meanOf(func(int) bool { return true })
	by, unit, factor := ranking(a)
	for _, of := range factors {
		level := make([]string, len(c.members))
		var levels []string
		for k, m := range c.members {
			level[k] = shown.Shortened(of.level(m, short))
			if !slices.Contains(levels, level[k]) {
				levels = append(levels, level[k])
			}
		}
		if len(levels) < 2 {
			continue
		}
		bars := figure.Intervals{Horizontal: true}
		for place, name := range levels {
			effect := c.meanOf(func(k int) bool { return level[k] == name })
			floats.Sub(effect, mean)
			e := cv.CaseT(effect, c.rows.Units(), c.rows.Weight)
			bars.X, bars.Y = append(bars.X, factor*e.Value), append(bars.Y, float64(place))
			bars.Lo, bars.Hi = append(bars.Lo, factor*e.Lo), append(bars.Hi, factor*e.Hi)
		}
		zero := figure.Line{X: []float64{0, 0}, Y: []float64{-0.5, float64(len(levels)) - 0.5}, Dashed: true}
		out = append(out, figure.Panel{Title: of.name, Layers: []figure.Layer{zero, bars},
			Y: figure.Axis{Names: levels},
			X: figure.Axis{Label: fmt.Sprintf("difference in %s (%s)", reports.Spaced(by), unit)}})
	}
	return out
}

// meanOf is the mean over some configurations, for each row. An infinite value counts as a large
// one.
func (c crossedValues) meanOf(in func(k int) bool) []float64 {
	out, n := make([]float64, len(c.values[0])), 0.0
	for k, row := range c.values {
		if in(k) {
			n++
			for i, v := range row {
				out[i] += max(-math.MaxFloat32, min(v, math.MaxFloat32))
			}
		}
	}
	floats.Scale(1/n, out)
	return out
}

// factors are the settings in which configurations differ.
var factors = []struct {
	name  string
	level func(c reports.Configuration, short map[string]string) string
}{
	{"preprocess", func(c reports.Configuration, _ map[string]string) string { return c.Preprocess }},
	{"kernel", func(c reports.Configuration, short map[string]string) string { return short[c.Kernel.Text] }},
	{"mean", func(c reports.Configuration, _ map[string]string) string { return c.Mean.Text }},
	{"likelihood", func(c reports.Configuration, short map[string]string) string { return short[c.Likelihood.Text] }},
	{"inference", func(c reports.Configuration, short map[string]string) string { return short[c.Inference.Text] }},
	{"tuned with", func(c reports.Configuration, short map[string]string) string {
		if !c.Hybrid() {
			return "the same"
		}
		return short[c.TuneInference.Text]
	}},
	{"tune", func(c reports.Configuration, _ map[string]string) string { return c.Tune }},
}
