package explain

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/page"
	"github.com/gpc-tune/gpc-tune/reports/picture"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

// This file shows effects as tables, pictures and a page.

// Forms are the formats of Effects; the first is the default.
var Forms = table.Forms[*Effects]{
	{Name: "text", Render: func(w io.Writer, e *Effects) error {
		for _, text := range e.facts() {
			if _, err := fmt.Fprintf(w, "%s: %s\n", text.Name, text.Text); err != nil {
				return err
			}
		}
		for _, t := range []table.Table{e.ImportanceTable(), e.curveTable()} {
			if len(t.Rows) > 0 {
				if err := t.Write(w, table.Screen{}); err != nil {
					return err
				}
			}
		}
		return nil
	}},
	{Name: "json", Render: reports.WriteJSON[*Effects]},
	{Name: "svg", Render: func(w io.Writer, e *Effects) error { return figure.SVG(w, e.Figures()...) }},
	{Name: "html", Render: func(w io.Writer, e *Effects) error { return e.article().HTML(w) }},
}

// facts say what was measured on what.
func (e *Effects) facts() []table.Fact {
	all := []table.Fact{{Name: "predicts", Text: e.About}}
	if e.Scored > 0 {
		all = append(all, table.Fact{Name: "importance", Text: fmt.Sprintf("loss of information, in bits per case, if "+
			"the values of an input come from other cases; %s, %d permutations of each input; the predictions have "+
			"%s bits", table.Counted(e.Scored, "case", "cases"), e.Repeats, reports.Readable(float64(e.Base)))})
	}
	if len(e.Curves) > 0 {
		all = append(all, table.Fact{Name: "effects", Text: fmt.Sprintf("means of predictions over %s, with 95 %% "+
			"bands of the posterior", table.Counted(e.Means, "case", "cases"))})
	}
	return all
}

// ImportanceTable has a row for every input.
func (e *Effects) ImportanceTable() table.Table {
	t := table.Table{Title: "importance",
		Columns: table.Columns("input", "loss (bits)", "95 % interval", "level of noise", "")}
	for j := 1; j < 4; j++ {
		t.Columns[j].Right = true
	}
	for _, of := range e.Importance {
		t.Add(of.Input, inBits(of.Bits), reports.Between(inBits(of.Lo).Text, inBits(of.Hi).Text), inBits(of.Noise),
			verdict(of))
	}
	return t
}

// inBits is a number of bits per case with four decimals.
func inBits(v record.Number) table.Cell {
	text := fmt.Sprintf("%.4f", float64(v))
	if text == "-0.0000" {
		text = text[1:]
	}
	return table.Cell{Value: v, Text: text}
}

// verdict says whether an importance is more than noise.
func verdict(i Importance) string {
	switch {
	case i.Noise == 0 && i.Bits == 0:
		return "changes no prediction"
	case i.Bits <= i.Noise:
		return "not above noise"
	}
	return ""
}

// curveTable has the extreme points of every partial dependence of a prediction.
func (e *Effects) curveTable() table.Table {
	t := table.Table{Title: "partial dependence", Columns: table.Columns("input", "given", "of", "lowest", "at",
		"highest", "at ")}
	for _, j := range []int{3, 5} {
		t.Columns[j].Right = true
	}
	for _, c := range e.Curves {
		if c.Kind != partialDependence || c.Scale == latentScale {
			continue
		}
		of := "mean"
		if c.Scale == probabilityScale {
			of = "p[" + c.Class + "]"
		}
		lo, hi := c.Range()
		t.Add(c.Input, c.Given, of, c.Mean[lo], c.at(lo), c.Mean[hi], c.at(hi))
	}
	return t
}

// at is the value of the input at a point, for people.
func (c Curve) at(k int) string {
	if c.Names != nil {
		return c.Names[k]
	}
	return reports.Readable(float64(c.X[k]))
}

// article is the page.
func (e *Effects) article() page.Article {
	a := page.Article{Title: "What drives the predictions", Facts: e.facts()}
	figures := e.Figures()
	if len(e.Importance) > 0 {
		a.Parts = append(a.Parts, page.Part{Heading: "Importance", Texts: []string{"An input is above its level of " +
			"noise if a column of random values in its place would seem so important in fewer than 5 % of cases. " +
			"Inputs that carry the same information share it: each can be unimportant alone."},
			Tables: []table.Table{e.ImportanceTable()}, Figures: figures[:1]})
		figures = figures[1:]
	}
	if len(figures) > 0 {
		a.Parts = append(a.Parts, page.Part{Heading: "Effects", Texts: []string{"Partial dependence is the mean " +
			"prediction if all cases had a value. Accumulated local effects sum the changes of the predictions of " +
			"cases near each value, and stand around 0. Where they disagree, the input is correlated with others. " +
			"Short lines at the bottom are values of cases: where there are none, the band shows how little is known."},
			Figures: figures})
	}
	return a
}

// Figures are the picture of the importances, and one for every input with curves.
func (e *Effects) Figures() (out []figure.Figure) {
	if len(e.Importance) > 0 {
		out = append(out, picture.Importances(e.Importance, reports.Bits))
	}
	subject := func(c Curve) [2]string { return [2]string{c.Input, c.Beside} }
	var order [][2]string
	for _, c := range e.Curves {
		if !slices.Contains(order, subject(c)) {
			order = append(order, subject(c))
		}
	}
	for k, of := range order {
		title := "Effect of " + of[0]
		if of[1] != "" {
			title += " at values of " + of[1]
		}
		f := figure.Figure{Name: fmt.Sprintf("effect-%d", k), Title: title, Columns: 2}
		for _, kind := range []string{partialDependence, accumulatedLocal} {
			for _, scale := range []string{probabilityScale, meanScale, latentScale} {
				shown := slices.DeleteFunc(slices.Clone(e.Curves), func(c Curve) bool {
					return subject(c) != of || c.Kind != kind || c.Scale != scale
				})
				if len(shown) > 0 {
					f.Panels = append(f.Panels, panel(shown, e.Rugs[of[0]]))
				}
			}
		}
		out = append(out, f)
	}
	return out
}

// scaleLabels are the labels of axes.
var scaleLabels = map[string]string{latentScale: "latent function", probabilityScale: "probability",
	meanScale: "predicted mean"}

// panel draws curves of one input of one kind and scale, with the values of cases, the rug, below.
func panel(curves []Curve, rug []record.Number) (p figure.Panel) {
	first := curves[0]
	title := map[string]string{partialDependence: "Partial dependence", accumulatedLocal: "Accumulated local effects"}
	p = figure.Panel{Title: title[first.Kind], X: figure.Axis{Label: first.Input, Names: first.Names},
		Y: figure.Axis{Label: scaleLabels[first.Scale]}}
	one := !slices.ContainsFunc(curves, func(c Curve) bool { return c.Class != first.Class })
	if one && first.Class != "" {
		p.Y.Label += " of " + first.Class
	}
	if first.Kind == accumulatedLocal {
		p.Y.Label = "change of the " + p.Y.Label
	}
	lowest, highest := math.Inf(1), math.Inf(-1)
	var bands, lines []figure.Layer
	for _, c := range curves {
		name := join(c.Class, c.Given)
		if one {
			name = cmp.Or(c.Given, "all cases")
		}
		x, y := record.Floats(c.X), record.Floats(c.Mean)
		lo, hi := record.Floats(c.Lo), record.Floats(c.Hi)
		for _, v := range slices.Concat(y, lo, hi) {
			lowest, highest = min(lowest, v), max(highest, v)
		}
		if c.Names != nil {
			for k := range x {
				x[k] = float64(k)
			}
		}
		switch banded := len(lo) > 0; {
		case c.Names != nil && banded:
			lines = append(lines, figure.Intervals{Name: name, X: x, Y: y, Lo: lo, Hi: hi})
		case c.Names != nil:
			lines = append(lines, figure.Points{Name: name, X: x, Y: y})
		case banded:
			bands = append(bands, figure.Band{Name: name, X: x, Lo: lo, Hi: hi})
			fallthrough
		default:
			lines = append(lines, figure.Line{Name: name, X: x, Y: y, Markers: len(x) <= 6})
		}
	}
	p.Layers = slices.Concat(bands, lines)
	if first.Names == nil && len(rug) > 0 {
		tick := 0.03 * (highest - lowest)
		marks := figure.Line{Faint: true}
		for _, v := range rug {
			marks.X = append(marks.X, float64(v), float64(v), math.NaN())
			marks.Y = append(marks.Y, lowest-2*tick, lowest-tick, math.NaN())
		}
		p.Layers = append(p.Layers, marks)
	}
	return p
}

// join is two names with a comma between them, if both are there.
func join(a, b string) string {
	if a != "" && b != "" {
		return a + ", " + b
	}
	return a + b
}
