package predict

import (
	"math"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/data"
)

// A threshold is one probability of two classes, and a calibration has pairs of parameters: one list
// for two classes, else one for each.
func TestAdjustmentsOfAModelFile(t *testing.T) {
	pair, names := []float64{1, 2}, []string{"a", "b", "c"}
	for i, c := range []struct {
		classes     int
		threshold   []float64
		calibrate   string
		calibration [][]float64
		fits        bool
	}{
		{classes: 2, fits: true}, {classes: 2, threshold: []float64{0}, fits: true}, {classes: 2, threshold: []float64{1}, fits: true},
		{classes: 3, threshold: []float64{0.5}}, {classes: 2, threshold: []float64{0.5, 0.5}}, {classes: 2, threshold: []float64{-0.1}},
		{classes: 2, threshold: []float64{1.1}}, {classes: 2, threshold: []float64{math.NaN()}}, {classes: 2, calibration: [][]float64{pair}},
		{classes: 2, calibrate: "plat", calibration: [][]float64{pair}}, {classes: 2, calibrate: "platt", calibration: [][]float64{pair}, fits: true},
		{classes: 2, calibrate: "platt", calibration: [][]float64{pair, pair}}, {classes: 3, calibrate: "platt", calibration: [][]float64{pair}},
		{classes: 3, calibrate: "platt", calibration: [][]float64{pair, pair, pair}, fits: true}, {classes: 2, calibrate: "platt"},
		{classes: 2, calibrate: "isotonic", calibration: [][]float64{{1, 2, 3, 4}}, fits: true},
		{classes: 2, calibrate: "isotonic", calibration: [][]float64{{1, 2, 3}}}, {classes: 2, calibrate: "isotonic", calibration: [][]float64{{}}},
	} {
		f := &ModelFile{Columns: &data.Schema{Classes: names[:c.classes]}, Threshold: c.threshold, Calibrate: c.calibrate, Calibration: c.calibration}
		of := &Classifier{file: f}
		if err := of.checkAdjustment(); (err == nil) != c.fits || c.fits && (of.calibrate != nil) != (c.calibrate != "") {
			t.Errorf("%d: %+v: %v", i, c, err)
		}
	}
}
