package picture

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
)

// A search over three hyperparameters. Only the first matters: -(ln amplitude)², evenly in the
// logarithms from -2 to 2.
func TestImportanceAndParallelPictures(t *testing.T) {
	c := reporttest.Hill()
	c.Grid, c.Record.Hyperparameters = nil, nil
	names := []string{"amplitude", "length_scale", "noise"}
	for _, name := range names {
		c.Record.Hyperparameters = append(c.Record.Hyperparameters, record.Hyperparameter{Name: name, Theta: "log_" + name,
			Range: &record.Range{Lo: -2, Hi: 2, Even: true}})
	}
	r := rand.New(rand.NewPCG(3, 4))
	trial := &record.Trial{}
	for range 400 {
		var p reports.GridPoint
		var theta []record.Number
		for _, name := range names {
			theta = append(theta, record.Number(4*r.Float64()-2))
			p.Point = append(p.Point, record.Named{Name: name, Value: reports.Number(math.Exp(float64(theta[len(theta)-1])))})
		}
		v := reports.Number(-theta[0] * theta[0])
		p.LogEvidence = &v
		c.Grid, trial.Points = append(c.Grid, p), append(trial.Points, record.Point{Theta: theta, Value: v})
	}
	c.Studies = []reports.Study{{Trials: []*record.Trial{trial}}}
	report := &reports.Report{Configurations: []reports.Configuration{c}}
	f := single(t, only(report, "importance"))
	alone, total := f.Panels[0].Layers[0].(figure.Intervals), f.Panels[0].Layers[1].(figure.Intervals)
	for k, want := range []float64{1, 0, 0} {
		if math.Abs(alone.X[k]-want) > 1e-3 || math.Abs(total.X[k]-want) > 1e-3 || !(alone.Lo[k] >= 0 && alone.Hi[k] <= 1) {
			t.Errorf("place %d: %+v and %+v, want %v", k, alone, total, want)
		}
	}
	if got, want := f.Panels[0].Y.Names[0], "amplitude: 1.000 ± 0.000 alone, 1.000 ± 0.000 with interactions"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if note := strings.Join(f.Notes, "; "); !strings.Contains(note, "by a regression of 256 of 400 points that predicts each from the others with R² 1.000") {
		t.Errorf("%q", note)
	}
	p := single(t, only(report, "parallel")).Panels[0]
	if len(p.Layers) != 300 || len(p.X.Names) != 4 {
		t.Fatalf("%d lines over %q", len(p.Layers), p.X.Names)
	}
	best := p.Layers[299].(figure.Line)
	if best.Name != "best point" || best.Y[3] != 1 || len(best.X) != 4 {
		t.Errorf("%+v", best)
	}
	for _, l := range p.Layers {
		for _, y := range l.(figure.Line).Y {
			if !(y >= 0 && y <= 1) {
				t.Fatalf("%+v", l)
			}
		}
	}
	for i := range trial.Points { // more noise than signal
		trial.Points[i].Value += record.Number(2 * r.NormFloat64())
	}
	f = single(t, only(report, "importance"))
	alone = f.Panels[0].Layers[0].(figure.Intervals)
	if note := strings.Join(f.Notes, "; "); strings.Contains(f.Panels[0].Y.Names[0], "±") || alone.Lo[0] != alone.Hi[0] ||
		!strings.Contains(note, "too badly for more than a hint; without intervals") {
		t.Errorf("of noise: %q, %+v, %q", f.Panels[0].Y.Names[0], alone, note)
	}
	trial.Points = trial.Points[:5]
	if f := single(t, only(report, "importance")); len(f.Panels) > 0 || !strings.Contains(f.Notes[0],
		"it is not known which hyperparameters matter: 5 points have a value; a regression over 3 hyperparameters needs 8 or more") {
		t.Errorf("of few points: %+v", f)
	}
}
