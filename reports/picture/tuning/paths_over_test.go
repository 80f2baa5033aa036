package tuning

import (
	"reflect"
	"testing"

	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture/shown"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
)

// Over a grid of the same model on the same data the paths are drawn on the grid's axes, in either
// orientation; over another grid they are not drawn.
func TestPathsOverAGrid(t *testing.T) {
	m, lines := reporttest.Run(t)
	r := reporttest.Build(t, m, lines)
	grid := r.Configurations[0]
	grid.Studies = []reports.Study{{}}
	across := pathsOver(shown.New(r, -1), grid, "ln amplitude", "ln length scale")
	up := pathsOver(shown.New(r, -1), grid, "ln length scale", "ln amplitude")
	if len(across) != 5 || len(up) != 5 {
		t.Fatalf("%d and %d layers, want 5", len(across), len(up))
	}
	a, b := across[0].(figure.Line), up[0].(figure.Line)
	if want := Paths(shown.New(r, -1))[0].Panels[0].Layers[0]; !reflect.DeepEqual(a, want) || !reflect.DeepEqual(b.X, a.Y) || !reflect.DeepEqual(b.Y, a.X) {
		t.Errorf("%+v and %+v, want %+v and its mirror image", a, b, want)
	}
	for what, other := range map[string]func(*reports.Configuration){
		"kernel": func(c *reports.Configuration) { c.Kernel = reporttest.Declared("se") }, "objective": func(c *reports.Configuration) { c.Objective = "log_posterior" },
		"data": func(c *reports.Configuration) { c.Record.DataHash = "" }, "likelihood": func(c *reports.Configuration) { c.Likelihood = reporttest.Declared("step") },
		"preprocessing": func(c *reports.Configuration) { c.Preprocess = "none" }, "mean": func(c *reports.Configuration) { c.Mean = reporttest.Declared("constant") },
		"inference": func(c *reports.Configuration) { c.TuneInference = reporttest.Declared("ep") },
	} {
		c := grid
		if other(&c); len(pathsOver(shown.New(r, -1), c, "ln amplitude", "ln length scale")) > 0 {
			t.Errorf("paths over the grid of another %s", what)
		}
	}
	if len(pathsOver(shown.New(r, -1), grid, "amplitude", "ln length scale")) > 0 {
		t.Error("paths over an axis that is not logarithmic")
	}
}
