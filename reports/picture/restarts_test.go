package picture

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture/shown"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
)

// Of the four restarts of configuration 0 one panicked. The others, best first: trial 0 (the
// winner) with -3.25 after 12 evaluations, trial 3 with -3.2503 after 15 and trial 1 with -3.5
// after 9.
func TestRestartsPicture(t *testing.T) {
	m, lines := reporttest.Run(t)
	figures := pictured(t, "restarts", reporttest.Build(t, m, lines))
	if len(figures) != 1 || len(figures[0].Panels) != 2 {
		t.Fatalf("figures %+v", figures)
	}
	value, cost := figures[0].Panels[0], figures[0].Panels[1]
	if want := []figure.Layer{
		figure.Points{Name: "restart", X: []float64{0, 1, 2}, Y: []float64{-3.25, -3.2503, -3.5}},
		figure.Mark{Name: "chosen", X: 0, Y: -3.25},
	}; !reflect.DeepEqual(value.Layers, want) {
		t.Errorf("values %+v, want %+v", value.Layers, want)
	}
	if want := []figure.Layer{figure.Bars{Edges: []float64{-0.5, 0.5, 1.5, 2.5}, Heights: []float64{12, 15, 9}}}; !reflect.DeepEqual(cost.Layers, want) {
		t.Errorf("evaluations %+v, want %+v", cost.Layers, want)
	}
	if want := []string{"0", "3", "1"}; !reflect.DeepEqual(value.X.Names, want) || !reflect.DeepEqual(cost.X.Names, want) {
		t.Errorf("restarts %q and %q, want %q", value.X.Names, cost.X.Names, want)
	}
	if value.Title != "#0 probit, laplace, bfgs (1 failed)" || value.Y.Label != "log evidence (nats)" || cost.Title != "36 evaluations" || value.Y.Lo != value.Y.Hi {
		t.Errorf("titles %q and %q, axis %+v", value.Title, cost.Title, value.Y)
	}

	// If all restarts agree, there is no figure.
	lines[1].Trial.Points[0].Value = -3.2504
	if figures := pictured(t, "restarts", reporttest.Build(t, m, lines)); len(figures) > 0 {
		t.Errorf("%d figures", len(figures))
	}
}

// A run of very many configurations has few figures, and the last one says how many are not drawn.
func TestFiguresAreFew(t *testing.T) {
	r := &reports.Report{}
	for range 100 {
		r.Configurations = append(r.Configurations, reports.Configuration{Restarts: []reports.Restart{{Value: 1}, {Value: 2}}})
	}
	figures := pictured(t, "restarts", r)
	if len(figures) != shown.MostFigures {
		t.Fatalf("%d figures", len(figures))
	}
	for i, f := range figures {
		told := slices.Contains(f.Notes, fmt.Sprintf("%d more configurations are not drawn; gpc-tune report DIR --figure restarts-N draws #N", 100-4*shown.MostFigures))
		if told != (i == shown.MostFigures-1) {
			t.Errorf("figure %d has the notes %q", i, f.Notes)
		}
	}
}
