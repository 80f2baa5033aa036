package picture

import (
	"math"
	"slices"
	"testing"

	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
)

// On the grid of 11 length scales and 3 amplitudes another method finds i·j less log evidence than
// sampling at the i-th length scale and the j-th amplitude, and 0.001 i bits more; it has no point
// at the last length scale. A method tuned by another objective is not compared.
func TestSampledPictures(t *testing.T) {
	sampled, method, other := reporttest.Hill(), reporttest.Hill(), reporttest.Hill()
	sampled.Inference, method.Inference, other.Objective = reporttest.Declared("sampling"), reporttest.Declared("laplace"), "log_posterior"
	method.TuneInference = reporttest.Declared("laplace")
	method.Grid = method.Grid[:30]
	for k := range sampled.Grid {
		sampled.Grid[k].StandardError = reports.Number(k) / 10
	}
	for k := range method.Grid {
		i, j := k/3, k%3
		value := *method.Grid[k].LogEvidence - reports.Number(i*j)
		method.Grid[k].LogEvidence = &value
		method.Grid[k].Scores = reports.Values{{Name: "information_bits", Value: reports.Number(reporttest.HillInformation(float64(i), float64(j)) + 0.001*float64(i))}}
	}
	figures := pictured(t, "sampled", &reports.Report{Configurations: []reports.Configuration{other, sampled, method}})
	if len(figures) != 1 || figures[0].Name != "sampled-1" || len(figures[0].Panels) != 2 || figures[0].Columns != 1 {
		t.Fatalf("figures %+v", figures)
	}
	for k, p := range figures[0].Panels {
		lines, bars := of[figure.Line](p), of[figure.Intervals](p)
		if len(lines) != 4 || !lines[0].Dashed || !slices.Equal(lines[0].Y, []float64{0, 0}) || p.Title != "#2 laplace" || p.X.Label != "ln length scale" || len(bars) != []int{3, 0}[k] {
			t.Fatalf("panel %+v", p)
		}
		for at, l := range lines[1:] {
			j := 2 - at // the greatest amplitude first
			if l.Name != []string{"ln amplitude = −1.00", "ln amplitude = 0.00", "ln amplitude = 1.00"}[j] || len(l.X) != 10 {
				t.Fatalf("line %+v", l)
			}
			for i := range l.X {
				if want := []float64{float64(-i * j), 0.001 * float64(i)}[k]; math.Abs(l.X[i]-0.5*float64(i)) > 1e-12 || math.Abs(l.Y[i]-want) > 1e-12 {
					t.Errorf("%s: (%g, %g), want (%g, %g)", l.Name, l.X[i], l.Y[i], 0.5*float64(i), want)
				}
				if half := 0.196 * float64(3*i+j); k == 0 && (math.Abs(bars[at].Lo[i]-(l.Y[i]-half)) > 1e-12 || math.Abs(bars[at].Hi[i]-(l.Y[i]+half)) > 1e-12) {
					t.Errorf("%s: from %g to %g, want %g to either side of %g", l.Name, bars[at].Lo[i], bars[at].Hi[i], half, l.Y[i])
				}
			}
		}
	}
	if lo := figures[0].Panels[0].Y.Lo; !(lo < -18-0.196*29) || !(lo > -26) {
		t.Errorf("the axis begins at %g", lo)
	}
	sampled.Grid = slices.Clone(sampled.Grid)
	for k := range sampled.Grid {
		sampled.Grid[k].StandardError = 0
	}
	if figures := pictured(t, "sampled", &reports.Report{Configurations: []reports.Configuration{sampled, method}}); len(figures) > 0 {
		t.Error("a figure of two methods that do not sample")
	}
}
