package tuning

import (
	"slices"
	"testing"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture/shown"
)

// Of two objectives the trials that none dominates are joined by stairs, and the others are hollow.
// Three objectives have three pairs, without stairs. A preliminary trial is not drawn.
func TestParetoPictures(t *testing.T) {
	at := func(loss, seconds, size record.Number) reports.GridPoint {
		return reports.GridPoint{Value: new(reports.Number), Values: reports.Values{{Name: "loss", Value: loss},
			{Name: "seconds", Value: seconds}, {Name: "size", Value: size}}}
	}
	part := at(0, 0, 0)
	part.Preliminary = true
	c := reports.Configuration{Program: &record.Program{Objectives: []string{"loss", "seconds"}}, Studies: []reports.Study{{}},
		Grid: []reports.GridPoint{at(3, 1, 1), at(1, 3, 3), at(2, 2, 9), at(3, 3, 3), part}}
	draw := func() figure.Figure {
		all := Pareto(shown.New(&reports.Report{Configurations: []reports.Configuration{c}}, -1))
		if len(all) != 1 {
			t.Fatalf("%d figures", len(all))
		}
		return all[0]
	}
	f := draw()
	others, stairs, chosen := f.Panels[0].Layers[0].(figure.Points), f.Panels[0].Layers[1].(figure.Line), f.Panels[0].Layers[2].(figure.Points)
	if len(f.Panels) != 1 || !slices.Equal(chosen.X, []float64{1, 2, 3}) || !slices.Equal(chosen.Y, []float64{3, 2, 1}) ||
		!slices.Equal(others.X, []float64{3}) || !slices.Equal(others.Y, []float64{3}) ||
		!slices.Equal(stairs.X, []float64{1, 2, 2, 3, 3}) || !slices.Equal(stairs.Y, []float64{3, 3, 2, 2, 1}) {
		t.Errorf("%+v", f.Panels)
	}
	c.Program.Objectives = append(c.Program.Objectives, "size")
	f = draw()
	if stairs := f.Panels[1].Layers[1].(figure.Line); len(f.Panels) != 3 || len(stairs.X) > 0 || f.Panels[2].X.Label != "seconds" ||
		f.Panels[2].Y.Label != "size" {
		t.Errorf("%+v", f.Panels)
	}
	c.Program = &record.Program{}
	if all := Pareto(shown.New(&reports.Report{Configurations: []reports.Configuration{c}}, -1)); len(all) > 0 {
		t.Errorf("one objective: %+v", all)
	}
}
