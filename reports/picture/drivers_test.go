package picture

import (
	"math"
	"reflect"
	"testing"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
)

// Every input has a row, with its importance, the interval and the level of noise.
func TestPictureOfImportances(t *testing.T) {
	f := Importances([]record.Importance{{Input: "a", Bits: 0.5, Lo: 0.4, Hi: 0.7, Noise: 0.1}, {Input: "b", Bits: -0.1, Lo: -0.3, Hi: 0.2, Noise: 0.15}}, reports.Bits)
	layers := f.Panels[0].Layers
	bars, noise := layers[1].(figure.Intervals), layers[2].(figure.Points)
	for _, of := range [][2]any{{f.Panels[0].Y.Names, []string{"a", "b"}}, {bars.X, []float64{0.5, -0.1}},
		{bars.Lo, []float64{0.4, -0.3}}, {bars.Hi, []float64{0.7, 0.2}}, {noise.X, []float64{0.1, 0.15}},
		{bars.Y, []float64{0, 1}}, {noise.Y, []float64{0, 1}},
		{layers[0], figure.Line{X: []float64{0, 0}, Y: []float64{-0.5, 1.5}, Dashed: true}}} {
		if !reflect.DeepEqual(of[0], of[1]) {
			t.Errorf("%v, want %v", of[0], of[1])
		}
	}
	f = Importances([]record.Importance{{Bits: 1, Lo: 0.5, Hi: 2, Noise: 4}}, reports.UnitOfDrivers(reports.Answer{By: "standardized_log_loss"}))
	bars, noise = f.Panels[0].Layers[1].(figure.Intervals), f.Panels[0].Layers[2].(figure.Points)
	if got := []float64{bars.X[0], bars.Lo[0], bars.Hi[0], noise.X[0]}; !reflect.DeepEqual(got, []float64{math.Ln2, math.Ln2 / 2, 2 * math.Ln2, 4 * math.Ln2}) ||
		f.Panels[0].X.Label != "loss of information with shuffled values (nats per case)" {
		t.Errorf("%v, %s", got, f.Panels[0].X.Label)
	}
}
