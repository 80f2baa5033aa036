package picture

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
)

// climb is a configuration with two restarts. Restart 1 was chosen and passed through the given
// values.
func climb(dataset, inference string, values ...record.Number) reports.Configuration {
	c := reports.Configuration{Dataset: dataset, Label: record.Label{Kernel: reporttest.Declared("se"), Likelihood: reporttest.Declared("probit"), Inference: reporttest.Declared(inference)}, Tune: "bfgs", Objective: "log_evidence", Status: reports.Done}
	s := reports.Study{Fit: &record.Fit{Chosen: 1}, Trials: []*record.Trial{{Index: 0, Path: []record.Step{{Value: 7}, {Value: 8}}}, {Index: 1}}}
	for _, v := range values {
		s.Trials[1].Path = append(s.Trials[1].Path, record.Step{Value: v})
	}
	c.Studies = []reports.Study{s}
	return c
}

// All configurations on the same data share a figure, except configurations with another objective
// or fewer than two steps.
func TestTraces(t *testing.T) {
	other := climb("a", "laplace", -1, 0)
	other.Objective = "log_posterior"
	r := &reports.Report{Configurations: []reports.Configuration{
		climb("a", "laplace", -9, -4, -3.25), climb("b", "ep", -2, -1), climb("a", "ep", -8, -2.5), other, climb("a", "vb", -1),
	}}
	figures := pictured(t, "traces", r)
	if len(figures) != 3 {
		t.Fatalf("%d figures, want 3", len(figures))
	}
	want := []figure.Layer{
		figure.Line{Name: "#0 laplace: ends at −3.25", X: []float64{0, 1, 2}, Y: []float64{-9, -4, -3.25}},
		figure.Line{Name: "#2 ep: ends at −2.50", X: []float64{0, 1}, Y: []float64{-8, -2.5}},
	}
	p := figures[0].Panels[0]
	if !reflect.DeepEqual(p.Layers, want) || p.X.Hi != 2 || p.Y.Label != "log evidence (nats)" || p.Y.Lo != p.Y.Hi {
		t.Errorf("panel %+v", p)
	}
	if names := []string{figures[0].Name, figures[1].Name, figures[2].Name}; !slices.Equal(names, []string{"traces-0", "traces-1", "traces-3"}) {
		t.Errorf("names %q", names)
	}
}

// A start far below the later values lies outside the axis, and the axis label says so.
func TestTracesOfAStartFarBelow(t *testing.T) {
	values := slices.Repeat([]record.Number{-10}, 19)
	values[0], values[1], values[18] = -1e4, -20, 0
	p := pictured(t, "traces", &reports.Report{Configurations: []reports.Configuration{climb("a", "ep", values...)}})[0].Panels[0]
	if p.Y.Lo < -100 || p.Y.Lo > -20 || p.Y.Hi <= 0 || !strings.HasSuffix(p.Y.Label, "and below it down to −10000") {
		t.Errorf("axis %+v", p.Y)
	}
}

// Traced errors have their own panel, which omits iterations without scores.
func TestTracedErrors(t *testing.T) {
	classes, numbers := climb("a", "ep", -9, -4, -3.25), climb("b", "exact", -2, -1)
	classes.Classes = []string{"no", "yes"}
	for k, errors := range []record.Number{74, 70, 62} {
		if k != 1 {
			classes.Studies[0].Trials[1].Path[k].Scores = map[string]record.Number{"errors": errors, "brier": 0.5}
		}
	}
	numbers.Studies[0].Trials[1].Path[1].Scores = map[string]record.Number{"rmse": 0.125}
	figures := pictured(t, "traces", &reports.Report{Configurations: []reports.Configuration{classes, numbers, climb("c", "ep", -2, -1)}})
	if len(figures) != 3 || len(figures[0].Panels) != 2 || len(figures[1].Panels) != 2 || len(figures[2].Panels) != 1 {
		t.Fatalf("%+v", figures)
	}
	for k, want := range []struct {
		label string
		line  figure.Line
	}{
		{"errors in held-out cases", figure.Line{Name: "#0 a, ep: ends at −3.25, errors 62", X: []float64{0, 2}, Y: []float64{74, 62}}},
		{"rmse in held-out cases", figure.Line{Name: "#1 b, exact: ends at −1.00, rmse 0.125", X: []float64{1}, Y: []float64{0.125}}},
	} {
		if p := figures[k].Panels[1]; p.Y.Label != want.label || !reflect.DeepEqual(p.Layers, []figure.Layer{want.line}) {
			t.Errorf("panel %+v, want %+v", p, want)
		}
	}
}
