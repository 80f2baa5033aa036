package tuning

import (
	"slices"
	"testing"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture/shown"
)

// Every trial with two values or more on its way is a line over the steps. The best trial is the
// last line, and trials that were stopped early are the first ones. Without such a trial there is no figure.
func TestWay(t *testing.T) {
	trial := func(early bool, values ...record.Number) *record.Trial {
		way := &record.Trial{Early: early, Points: []record.Point{{}}}
		for k, v := range values {
			way.Interim = append(way.Interim, record.Interim{Step: float64(10 * k), Value: v})
		}
		return way
	}
	c := reports.Configuration{Program: &record.Program{}, Best: []reports.Best{{Trial: 3, Point: 2}},
		Studies: []reports.Study{{Trials: []*record.Trial{trial(false, 3, 2), trial(true, 9, 8), trial(false, 3, 1, 0), trial(false, 5)}}}}
	for k, t := range c.Studies[0].Trials { // trial 0 has failed
		t.Index = k + 1
	}
	draw := func() []figure.Figure {
		return Way(shown.New(&reports.Report{Configurations: []reports.Configuration{c}}, -1))
	}
	layers := draw()[0].Panels[0].Layers
	for k, want := range []figure.Line{{Name: "stopped early", X: []float64{0, 10}, Y: []float64{9, 8}},
		{Name: "other trials", X: []float64{0, 10}, Y: []float64{3, 2}}, {Name: "best trial", X: []float64{0, 10, 20}, Y: []float64{3, 1, 0}}} {
		got := layers[k].(figure.Line)
		if len(layers) != 3 || got.Name != want.Name || !slices.Equal(got.X, want.X) || !slices.Equal(got.Y, want.Y) {
			t.Errorf("line %d of %d: %+v, want %+v", k, len(layers), got, want)
		}
	}
	c.Studies[0].Trials = append(c.Studies[0].Trials, trial(true, 7))
	layers = draw()[0].Panels[0].Layers
	if once, is := layers[3].(figure.Points); !is || !slices.Equal(once.X, []float64{0}) || !slices.Equal(once.Y, []float64{7}) {
		t.Errorf("a trial stopped at its first step: %+v", layers[3])
	}
	c.Studies[0].Trials = c.Studies[0].Trials[3:4]
	if none := draw(); len(none) > 0 {
		t.Errorf("with one value on the way: %+v", none)
	}
}
