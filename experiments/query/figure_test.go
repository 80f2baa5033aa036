package query

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gpc-tune/gpc-tune/reports/figure"
)

// The lines of the figure are the columns of the table, ordered by the input.
func TestFigureOfDraws(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(file, []byte("x,y\n3,a\n1,b\n2,c\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	order := []int{1, 2, 0}
	for _, likelihood := range []string{"softmax", "probit"} {
		s := Sampling{Query: Query{Kernel: "se", Mean: "zero", Likelihood: likelihood}, Count: 2, Seed: 3}
		if s.Data = file; likelihood == "probit" {
			s.Data, s.Grid = "", "1:3:3"
		}
		d, err := s.Draw(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		f, err := d.Figure()
		if err != nil {
			t.Fatal(err)
		}
		column := func(name string) (v []float64) {
			j := slices.Index(d.Columns, name)
			if j < 0 {
				t.Fatalf("no column %s of %q", name, d.Columns)
			}
			for i := range d.Rows {
				if k := i; likelihood == "softmax" {
					i = order[k]
				}
				v = append(v, float64(d.Rows[i][j]))
			}
			return v
		}
		check := func(panel, layer int, name, of string) {
			t.Helper()
			l := f.Panels[panel].Layers[layer].(figure.Line)
			if l.Name != name || !slices.Equal(l.X, []float64{1, 2, 3}) || !slices.Equal(l.Y, column(of)) {
				t.Errorf("%s: %+v, want %v", of, l, column(of))
			}
		}
		want := 2
		if likelihood == "softmax" {
			want = 4
			for draw := range 2 {
				for k, class := range d.shown.Classes {
					check(2*draw, k, "class "+class, fmt.Sprintf("f%d[%s]", draw+1, class))
					check(2*draw+1, k, "class "+class, fmt.Sprintf("p%d[%s]", draw+1, class))
				}
			}
		} else {
			for draw := range 2 {
				check(0, draw, fmt.Sprintf("draw %d", draw+1), fmt.Sprintf("f%d", draw+1))
				check(1, draw, fmt.Sprintf("draw %d", draw+1), fmt.Sprintf("p%d", draw+1))
			}
		}
		if len(f.Panels) != want || f.Columns != 2 || f.Panels[0].X.Label != "x" || len(f.Notes) != 1 {
			t.Errorf("%s: %d panels over %q, notes %q", likelihood, len(f.Panels), f.Panels[0].X.Label, f.Notes)
		}
	}
}
