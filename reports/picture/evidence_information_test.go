package picture

import (
	"fmt"
	"math"
	"reflect"
	"testing"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
)

// Two grid points of configuration 1 were scored in both folds: ½ bit at log evidence -6, ¾ at -5.
// The point with the best log evidence, -4, has no scores.
func TestEvidencePicture(t *testing.T) {
	m, lines := reporttest.Run(t)
	figures := pictured(t, "evidence-information", reporttest.Build(t, m, lines))
	if len(figures) != 1 || len(figures[0].Panels) != 1 {
		t.Fatalf("figures %+v", figures)
	}
	panel := figures[0].Panels[0]
	if want := []figure.Layer{
		figure.Points{Name: "point", X: []float64{-6, -5}, Y: []float64{0.5, 0.75}},
		figure.Mark{Name: "best log evidence", X: -5, Y: 0.75},
		figure.Mark{Name: "best test information", X: -5, Y: 0.75},
	}; !reflect.DeepEqual(panel.Layers, want) {
		t.Errorf("layers %+v, want %+v", panel.Layers, want)
	}
	if panel.X.Label != "log evidence (nats)" || panel.Y.Label != "test information (bits per case)" {
		t.Errorf("axes %q and %q", panel.X.Label, panel.Y.Label)
	}
}

// Three configurations on the same cases are compared by their log evidence on all training data; a
// fourth has none.
func TestEvidenceOfConfigurations(t *testing.T) {
	r := &reports.Report{}
	for i, at := range [][2]float64{{-30, 0.5}, {-20, 0.25}, {math.NaN(), 0.9}, {-25, 0.75}} {
		c := reports.Configuration{Dataset: "d", Label: record.Label{Kernel: reporttest.Declared(fmt.Sprint("k", i))}, LogEvidence: reports.Number(at[0])}
		bits := cv.Result{Score: cv.Score{Name: "information_bits"}, Estimate: cv.Estimate{Value: at[1]}}
		c.Evaluations = []reports.Evaluation{{Name: "test", Scores: reports.Scores{N: 5, Results: []cv.Result{bits}}}}
		r.Configurations = append(r.Configurations, c)
	}
	figures := pictured(t, "evidence-information", r)
	if len(figures) != 1 || len(figures[0].Panels) != 1 {
		t.Fatalf("figures %+v", figures)
	}
	if got, want := figures[0].Panels[0].Layers, []figure.Layer{
		figure.Points{Name: "#0 k0", X: []float64{-30}, Y: []float64{0.5}},
		figure.Points{Name: "#1 k1", X: []float64{-20}, Y: []float64{0.25}},
		figure.Points{Name: "#3 k3", X: []float64{-25}, Y: []float64{0.75}},
		figure.Mark{Name: "best log evidence", X: -20, Y: 0.25},
		figure.Mark{Name: "best test information", X: -25, Y: 0.75},
	}; !reflect.DeepEqual(got, want) {
		t.Errorf("layers %+v, want %+v", got, want)
	}
	r.Configurations = r.Configurations[:3]
	if figures := pictured(t, "evidence-information", r); len(figures) > 0 {
		t.Errorf("two configurations are drawn as %+v", figures)
	}
}
