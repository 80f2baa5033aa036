package picture

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture/shown"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
)

// conditional is a search of a program over three hyperparameters. k is a choice of p and q; a
// matters where k is p, b where k is q; both are at most 2. There are 18 points, the ones with k =
// p twice. The value is a where k is p, and 10 + b where it is q. Over the space its variance is
// the variance 25 of the means 1 and 11, plus the mean variance 2/3 of a and b within the choices:
// k alone is 25/25.67 of it.
func conditional(t *testing.T) *reports.Report {
	within := func(hi float64) *record.Range { return &record.Range{Hi: record.Number(hi), Even: true} }
	c := record.Configuration{Dataset: "swap", Tune: "sobol", Objective: "value", Program: &record.Program{Command: []string{"true"}},
		Hyperparameters: []record.Hyperparameter{{Name: "k", Theta: "k", Choices: []string{"p", "q"}, Range: within(1)},
			{Name: "a", Theta: "a", Whole: true, When: &param.Condition{Name: "k", Values: []float64{0}}, Range: within(2)},
			{Name: "b", Theta: "b", Whole: true, When: &param.Condition{Name: "k", Values: []float64{1}}, Range: within(2)}},
		Studies: []record.Study{{Key: "s", Evaluation: "search"}}}
	m := record.Manifest{Experiment: "swap", Configurations: []record.Configuration{c}}
	var lines []record.Line
	for i := range 27 {
		k, x := i%3/2, i/9
		at, value := []record.Number{record.Number(k), record.Number(x), 0}, record.Number(x)
		if k == 1 {
			at, value = []record.Number{1, 0, record.Number(x)}, record.Number(10+x)
		}
		lines = append(lines, record.Line{Key: fmt.Sprint(i), Trial: &record.Trial{Index: i, Status: "evaluated", Evaluations: 1,
			Points: []record.Point{{Theta: at, Natural: at, Value: value}}}})
	}
	lines = append(lines, record.Line{Key: "fit", Fit: &record.Fit{Chosen: 26, Natural: []record.Number{1, 0, 2}}})
	return reporttest.Build(t, m, lines)
}

// Values of hyperparameters that do not matter are not on record. Every figure finds the others by
// name, and shows conditional ones where they matter.
func TestConditionalHyperparameters(t *testing.T) {
	r := conditional(t)
	for _, f := range All(r) {
		if f.Kind == "grid" || f.Failure != "" {
			t.Errorf("%+v", f)
		}
	}
	panels := single(t, pictured(t, "slices", r)).Panels
	for k, want := range []struct {
		label string
		y     []float64 // what is maximised is at most 2 where k is p, and at least 10 where it is q
		n     int
	}{{"k", []float64{0, 12}, 27}, {"a, where k is p", []float64{0, 2}, 18}, {"b, where k is q", []float64{10, 12}, 9}} {
		p := panels[k].Layers[0].(figure.Points)
		if panels[k].X.Label != want.label || len(p.X) != want.n || slices.Min(p.Y) != want.y[0] || slices.Max(p.Y) != want.y[1] {
			t.Errorf("%q: %+v, want %+v", panels[k].X.Label, p, want)
		}
	}
	p := single(t, pictured(t, "parallel", r)).Panels[0]
	if want := []string{"k: p, q", "a, where k is p: 0 to 2", "b, where k is q: 0 to 2", "value: 0 to 12"}; !slices.Equal(p.X.Names, want) {
		t.Errorf("%q, want %q", p.X.Names, want)
	}
	best := p.Layers[len(p.Layers)-1].(figure.Line)
	if !alike(best.Y, []float64{1, -0.1, 1, 1}) || p.Y.Lo > -0.1 {
		t.Errorf("the best point %+v above %v", best, p.Y.Lo)
	}
	importance := single(t, pictured(t, "importance", r))
	names := importance.Panels[0].Y.Names
	for k, want := range []string{"k: 0.974", "a, where k is p: 1.00", "b, where k is q: 1.00"} {
		if !slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, want) }) {
			t.Errorf("%d: %q, want %q", k, names, want)
		}
	}
	points := pictured(t, "progress", r)[0].Panels[0].Layers[0].(figure.Points)
	if got, want := points.Titles[2], "trial 2: 10 at k q, b 0"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if svg := string(svgOf(t, r)); !strings.Contains(svg, "Importance of hyperparameters") {
		t.Error("no importance")
	}
}

// A figure that fails is a box that says why. All others are drawn.
func TestAFailingFigureIsABox(t *testing.T) {
	r := conditional(t)
	r.Configurations = append(r.Configurations, r.Configurations[0])
	kept := slices.Clone(pictureTable)
	defer func() { pictureTable = kept }()
	pictureTable = slices.Clone(kept)
	whole := len(All(r))
	for i := range pictureTable {
		switch pictureTable[i].Name {
		case "progress": // as a whole
			pictureTable[i].Of = func(shown.Report) []figure.Figure { panic("the whole kind") }
		case "slices": // of one configuration
			draw := pictureTable[i].Of
			pictureTable[i].Of = func(r shown.Report) []figure.Figure {
				out := draw(r)
				return append(out[:1], shown.FigurePerConfiguration(r, func(reports.Configuration) bool { return true }, 1, func(part []shown.Member, _ shown.Naming) figure.Figure {
					if part[0].Index == 1 {
						panic("the second")
					}
					return figure.Figure{}
				})[1])
			}
		}
	}
	all := All(r)
	var boxes []string
	for _, f := range all {
		if f.Failure != "" {
			boxes = append(boxes, f.Kind+" "+f.Title+": "+strings.Split(f.Failure, ",")[0])
		}
	}
	if want := []string{"progress progress: panic: the whole kind", "slices slices #1: panic: the second"}; !slices.Equal(boxes, want) || len(all) != whole {
		t.Errorf("%d figures with the boxes %q, want %d with %q", len(all), boxes, whole, want)
	}
	if svg := string(svgOf(t, r)); !strings.Contains(svg, "This figure could not be drawn: panic:") || !strings.Contains(svg, "Parallel coordinates") {
		t.Error("no box")
	}
}
