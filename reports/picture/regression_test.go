package picture

import (
	"testing"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
)

// Predictions of numbers over one input are means with bands of two standard deviations; more than
// three configurations are drawn without bands. The training cases are the last layer.
func TestPredictionsOfNumbers(t *testing.T) {
	surface := &record.Surface{Names: []string{"x"}, Mean: []record.Number{1, 2}, Variance: []record.Number{4, 9}, Targets: []record.Number{0, 3}}
	for n, want := range map[int]struct {
		bands int
		label string
	}{1: {1, "y, mean and 2 sd"}, 3: {3, "y, mean and 2 sd"}, 4: {0, "y, mean"}} {
		var views []view
		for range n {
			views = append(views, view{c: reports.Configuration{}, Surface: surface, name: "a", axes: [][]float64{{0, 1}}, inputs: [][]float64{{0.5, 0.7}}})
		}
		p := regression(views)[0]
		bands, means := of[figure.Band](p), of[figure.Line](p)
		if len(bands) != want.bands || len(means) != n || p.Y.Label != want.label {
			t.Fatalf("%d configurations: %d bands and %d means, %q; want %+v", n, len(bands), len(means), p.Y.Label, want)
		}
		if cases := p.Layers[len(p.Layers)-1].(figure.Points); cases.Y[1] != 3 || means[0].Y[1] != 2 {
			t.Errorf("%d configurations: %+v, %+v", n, cases, means[0])
		}
		if want.bands > 0 && (bands[0].Lo[1] != 2-6 || bands[0].Hi[0] != 1+4) {
			t.Errorf("%d configurations: %+v", n, bands[0])
		}
	}
}
