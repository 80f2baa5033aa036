package picture

import (
	"math"
	"slices"
	"testing"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture/shown"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
)

// Rightly decided cases of either class are hollow; wrongly decided ones are filled, and their
// names say for which class they were taken.
func TestAveragedMarksWhatIsWrong(t *testing.T) {
	right, wrong := []record.Number{0.75, 0.25}, []record.Number{0.25, 0.75}
	fold := record.Fit{
		Labels: []int{0, 0, 1, 1}, Proba: [][]record.Number{right, wrong, wrong, right},
		LatentMean: [][]record.Number{{-1, 1, 1, -1}}, LatentVariance: [][]record.Number{{1, 1, 1, 1}}, MAP: []record.Number{0.2, 0.8, 0.8, 0.2},
	}
	f := single(t, averaged(shown.New(fittedRun(t, []string{"no", "yes"}, record.Fit{TrainLabels: []int{0, 1}}, fold), -1)))
	want := []struct {
		name   string
		hollow bool
		y      float64
	}{{"class no", true, 0.25}, {"class yes", true, 0.75}, {"class no taken for yes", false, 0.75}, {"class yes taken for no", false, 0.25}}
	if len(f.Panels[0].Layers) != 1+len(want) {
		t.Fatalf("%d layers", len(f.Panels[0].Layers))
	}
	for i, w := range want {
		if p := f.Panels[0].Layers[1+i].(figure.Points); p.Name != w.name || p.Hollow != w.hollow || !alike(p.Y, []float64{w.y}) {
			t.Errorf("%+v, want %+v", p, w)
		}
	}
}

// If there are more values than readers can distinguish, every second one has a line, starting with
// the largest, and the figure says so.
func TestSampledPicturesLeaveLinesOut(t *testing.T) {
	grid := func(inference string, gain float64) reports.Configuration {
		c := reporttest.Hill()
		c.Inference, c.Grid = reporttest.Declared(inference), nil
		for i := range shown.MostTold + 3 {
			for j := range shown.MostTold + 2 {
				evidence := reports.Number(float64(10*i+j) + gain)
				c.Grid = append(c.Grid, reports.GridPoint{
					Point:       reports.Values{{Name: "amplitude", Value: reports.Number(math.Exp(float64(j)))}, {Name: "length_scale", Value: reports.Number(math.Exp(float64(i)))}},
					LogEvidence: &evidence, StandardError: 0.1,
				})
			}
		}
		return c
	}
	sampled, method := grid("sampling", 0), grid("laplace", -2)
	for k := range method.Grid {
		method.Grid[k].StandardError = 0
	}
	method.TuneInference = reporttest.Declared("laplace")
	figures := pictured(t, "sampled", &reports.Report{Configurations: []reports.Configuration{sampled, method}})
	if len(figures) != 1 {
		t.Fatalf("%d figures", len(figures))
	}
	if lines := of[figure.Line](figures[0].Panels[0]); len(lines) != 1+(shown.MostTold+2)/2 {
		t.Errorf("%d lines of %d amplitudes", len(lines)-1, shown.MostTold+2)
	}
	if want := "one of every 2 values of ln amplitude has a line"; !slices.Contains(figures[0].Notes, want) {
		t.Errorf("notes %q, want %q", figures[0].Notes, want)
	}
}

// An axis names the objective like the tables do.
func TestObjectiveLabel(t *testing.T) {
	for objective, want := range map[string]string{
		"log_evidence": "log evidence (nats)", "cv_information_bits": "cv information bits (bits per case)",
		"cv_log_loss": "negative cv log loss (nats per case)",
	} {
		if label := shown.ObjectiveLabel(reporttest.Searched(objective).Configurations[0]); label != want {
			t.Errorf("axis %q, want %q", label, want)
		}
	}
}
