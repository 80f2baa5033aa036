package picture

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
)

// A surface is drawn as contours over its lattice, with the first input horizontal, one panel per
// draw.
func TestSurfacePicture(t *testing.T) {
	column := func(name string, values ...record.Number) record.Column {
		return record.Column{Name: name, Values: values}
	}
	surface := record.Illustration{Kind: "surface", Kernel: reporttest.Declared("se"), Columns: []record.Column{
		column("x1", 0, 1, 0, 1), column("x2", 5, 5, 7, 7), column("f1", 1, 2, 3, 4), column("f2", -1, 0, 0, 7.5)}}
	figures := pictured(t, "surface", &reports.Report{Illustrations: []record.Illustration{surface}})
	if len(figures) != 1 || len(figures[0].Panels) != 2 || figures[0].Name != "surface-0" || figures[0].Columns != 2 {
		t.Fatalf("figures %+v", figures)
	}
	got, ok := figures[0].Panels[0].Layers[0].(figure.Contours)
	if !ok || !slices.Equal(got.X, []float64{0, 1}) || !slices.Equal(got.Y, []float64{5, 7}) || !reflect.DeepEqual(got.Z, [][]float64{{1, 2}, {3, 4}}) || got.Name != "" {
		t.Errorf("contours %+v", got)
	}
	// eight steps of 1 do not cover 8.5, so that the steps are 2
	if got := figures[0].Panels[1].Layers[0].(figure.Contours).Levels; !slices.Equal(got, []float64{-2, 0, 2, 4, 6, 8}) {
		t.Errorf("levels %v", got)
	}
	if p := figures[0].Panels[1]; p.Title != "draw 2" || p.X.Label != "x1" || p.Y.Label != "x2" {
		t.Errorf("panel %+v", p)
	}
}

// Of many draws the first seven have panels, and a note says so.
func TestSurfacesOfManyDraws(t *testing.T) {
	lattice := []record.Column{{Name: "x1", Values: []record.Number{0, 1, 0, 1}}, {Name: "x2", Values: []record.Number{0, 0, 1, 1}}}
	for draws, want := range map[int]string{7: "7 in 3 columns: [kernel se]", 9: "7 in 3 columns: [kernel se the first 7 of 9 draws]", 2: "2 in 2 columns: [kernel se]", 1: "1 in 1 columns: [kernel se]"} {
		surface := record.Illustration{Kind: "surface", Kernel: reporttest.Declared("se"), Columns: lattice}
		for k := range draws {
			surface.Columns = append(surface.Columns, record.Column{Name: fmt.Sprint("f", k+1), Values: []record.Number{0, 1, 2, 3}})
		}
		f := pictured(t, "surface", &reports.Report{Illustrations: []record.Illustration{surface}})[0]
		if got := fmt.Sprintf("%d in %d columns: %s", len(f.Panels), f.Columns, f.Notes); got != want {
			t.Errorf("%d draws: %s, want %s", draws, got, want)
		}
	}
	two := record.Illustration{Kind: "surface", Kernel: reporttest.Declared("se"), Columns: append(slices.Clone(lattice), record.Column{Name: "f1", Values: []record.Number{0, 1, 2, 3}}, record.Column{Name: "f2", Values: []record.Number{0, 1, 2, 3}})}
	if f := pictured(t, "surface", &reports.Report{Illustrations: []record.Illustration{two, two, two}})[0]; f.Columns != 2 || len(f.Panels) != 6 {
		t.Errorf("three surfaces of two draws: %d panels in %d columns, want a row for each", len(f.Panels), f.Columns)
	}
}

// Targets of +1 are drawn at 1 and targets of -1 at 0, over the probability from which they were
// drawn.
func TestTargetsPicture(t *testing.T) {
	column := func(name string, values ...record.Number) record.Column {
		return record.Column{Name: name, Values: values}
	}
	targets := record.Illustration{Kind: "targets", Kernel: reporttest.Declared("se"), Likelihood: reporttest.Declared("logit"), Columns: []record.Column{
		column("x", 0, 1, 2), column("f1", -1, 0, 1), column("p1", 0.25, 0.5, 0.75), column("t1", -1, 1, -1)}}
	figures := pictured(t, "targets", &reports.Report{Illustrations: []record.Illustration{targets}})
	if len(figures) != 1 || len(figures[0].Panels) != 2 || !slices.Equal(figures[0].Notes, []string{"kernel se, likelihood logit"}) {
		t.Fatalf("figures %+v", figures)
	}
	want := []figure.Layer{figure.Line{Name: "probability", X: []float64{0, 1, 2}, Y: []float64{0.25, 0.5, 0.75}},
		figure.Points{Name: "target drawn: +1 at 1, −1 at 0", X: []float64{0, 1, 2}, Y: []float64{0, 1, 0}}}
	if got := figures[0].Panels[1].Layers; !reflect.DeepEqual(got, want) {
		t.Errorf("layers %+v", got)
	}
}
