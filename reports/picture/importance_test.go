package picture

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
)

// By hand: in four groups of four with ranks 0-3, 4-7, 8-11 and 12-15, 340 - 20 = 320 of the sum of
// squares 340 lies between the groups; adjusted for their number this is 1 - 20/340 · 15/12. If the
// groups have the same mean, nothing lies between them.
func TestImportance(t *testing.T) {
	var x, same, values []float64
	for i := range 16 {
		x, values = append(x, float64(i)), append(values, math.Exp(float64(i)))
		same = append(same, float64(i%4))
	}
	if got, want := importance(x, values), 1-20./340*15/12; math.Abs(got-want) > 1e-12 {
		t.Errorf("%v, want %v", got, want)
	}
	// grouped by i mod 4 the mean ranks are 6, 7, 8 and 9: 4·(2.25+0.25)·2 = 20 of 340
	if got, want := importance(same, values), max(0, 1-(1-20./340)*15/12); got != want {
		t.Errorf("%v, want %v", got, want)
	}
	constant := make([]float64, 16)
	if got := importance(x, constant); got != 0 {
		t.Errorf("of equal values %v", got)
	}
	r := rand.New(rand.NewPCG(1, 2))
	sum := 0.0
	for range 100 {
		var noise []float64
		for range 16 {
			noise = append(noise, r.NormFloat64())
		}
		v := importance(x, noise)
		if v < 0 || v > 1 {
			t.Fatal(v)
		}
		sum += v
	}
	if sum > 25 {
		t.Errorf("%v by chance", sum/100)
	}
	if got := ranksOf([]float64{3, 1, 3, 2}); !alike(got, []float64{2.5, 0, 2.5, 1}) {
		t.Error(got)
	}
}

// A search over three hyperparameters of which only the first matters.
func TestImportanceAndParallelPictures(t *testing.T) {
	c := reporttest.Hill()
	c.Grid, c.Record.Hyperparameters = nil, nil
	names := []string{"amplitude", "length_scale", "noise"}
	for _, name := range names {
		c.Record.Hyperparameters = append(c.Record.Hyperparameters, record.Hyperparameter{Name: name, Theta: "log_" + name})
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range 400 {
		var p reports.GridPoint
		for _, name := range names {
			p.Point = append(p.Point, record.Named{Name: name, Value: reports.Number(math.Exp(r.NormFloat64()))})
		}
		v := reports.Number(-math.Pow(math.Log(float64(p.Point[0].Value)), 2))
		p.LogEvidence = &v
		c.Grid = append(c.Grid, p)
	}
	report := &reports.Report{Configurations: []reports.Configuration{c}}
	f := single(t, only(report, "importance"))
	bars := f.Panels[0].Layers[0].(figure.Bars)
	if h := bars.Heights; len(h) != 5 || h[0] < 0.9 || h[2] > 0.1 || h[4] > 0.1 || f.Panels[0].X.Names[1] != "length scale" {
		t.Errorf("%+v over %q", bars, f.Panels[0].X.Names)
	}
	p := single(t, only(report, "parallel")).Panels[0]
	if len(p.Layers) != mostParallel || len(p.X.Names) != 4 {
		t.Fatalf("%d lines over %q", len(p.Layers), p.X.Names)
	}
	best := p.Layers[mostParallel-1].(figure.Line)
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
	report.Configurations[0].Grid = c.Grid[:leastVisits-1]
	if got := only(report, "importance"); len(got) > 0 {
		t.Errorf("of few points: %+v", got)
	}
}
