package picture

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
)

// The four restarts of configuration 0 end at -3.25, -3.5, nowhere and -3.2503. The four points of
// configuration 1, at length scales e^0, e^1, e^2 and e^3, have -6, -5, -4 and no value.
func TestSearched(t *testing.T) {
	m, lines := reporttest.Run(t)
	r := reporttest.Build(t, m, lines)
	figures := pictured(t, "progress", r)
	if len(figures) != 1 || len(figures[0].Panels) != 2 {
		t.Fatalf("figures %+v", figures)
	}
	for i, want := range [][]figure.Layer{
		{figure.Points{Name: "point", X: []float64{0, 1, 3}, Y: []float64{-3.25, -3.5, -3.2503}},
			figure.Line{Name: "best so far", X: []float64{0, 1, 2, 3}, Y: []float64{-3.25, -3.25, -3.25, -3.25}}},
		{figure.Points{Name: "point", X: []float64{0, 1, 2}, Y: []float64{-6, -5, -4}, Titles: []string{
			"trial 0: -6 at length scale 1", "trial 1: -5 at length scale 2.718", "trial 2: -4 at length scale 7.389"}},
			figure.Line{Name: "best so far", X: []float64{0, 1, 1, 2, 2, 3}, Y: []float64{-6, -6, -5, -5, -4, -4}}},
	} {
		got := figures[0].Panels[i].Layers
		if points := got[0].(figure.Points); i == 0 && len(points.Titles) == 3 {
			points.Titles = nil // tooltips of two hyperparameters
			got[0] = points
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("panel %d: %+v, want %+v", i, got, want)
		}
	}
	slices := pictured(t, "slices", r)
	if len(slices) != 2 {
		t.Fatalf("%d figures", len(slices))
	}
	points := slices[1].Panels[0].Layers[0].(figure.Points)
	if !reflect.DeepEqual(points.Y, []float64{-6, -5, -4}) || math.Abs(points.X[2]-2) > 1e-6 || slices[1].Panels[0].X.Label != "length scale" || !slices[1].Panels[0].X.Log {
		t.Errorf("%+v over %q", points, slices[1].Panels[0].X.Label)
	}
	if told := fmt.Sprint(figures[0].Notes, slices[1].Notes); strings.Contains(told, "budget") {
		t.Errorf("no trial has a part of a budget: %s", told)
	}
	r.Configurations[1].Grid[0].Preliminary = true
	figures, slices = pictured(t, "progress", r), pictured(t, "slices", r)
	if y := figures[0].Panels[1].Layers[0].(figure.Points).Y; !reflect.DeepEqual(y, []float64{-5, -4}) {
		t.Errorf("with the whole budget: %v", y)
	}
	if a, b := fmt.Sprint(figures[0].Notes), fmt.Sprint(slices[1].Notes); !strings.Contains(a, "only trials with the whole budget") || !strings.Contains(b, "every point with the whole budget of the search") {
		t.Errorf("notes %s and %s", a, b)
	}
}

// Of two rivals the second has twice the log loss of the first, ½ ln 2 more, in two cases.
func TestAgainst(t *testing.T) {
	m, lines := reporttest.Rivals()
	figures := pictured(t, "against", reporttest.Build(t, m, lines))
	if len(figures) != 1 {
		t.Fatalf("%d figures", len(figures))
	}
	p := figures[0].Panels[0]
	rows := p.Layers[1].(figure.Intervals)
	if len(rows.X) != 2 || rows.X[0] != 0 || math.Abs(rows.X[1]+math.Ln2/2) > 1e-12 || !(rows.Lo[1] < 2*rows.X[1] && rows.Hi[1] > 0) || !reflect.DeepEqual(p.Y.Names, []string{"#0 laplace", "#1 ep"}) ||
		!reflect.DeepEqual(figures[0].Notes, []string{"the ends of a bar are one-sided 95 % bounds of the difference"}) {
		t.Errorf("%+v, %q, notes %q", rows, p.Y.Names, figures[0].Notes)
	}
}
