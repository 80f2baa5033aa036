package picture

import (
	"math"
	"testing"

	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
)

// Of three cases of every class the best configuration decides two for it and one for the next
// class; other cells are empty. With few classes there is a table instead.
func TestConfusion(t *testing.T) {
	m, lines := reporttest.ManyClasses(40)
	figures := pictured(t, "confusion", reporttest.Build(t, m, lines))
	if len(figures) != 2 || len(figures[0].Panels) != 1 {
		t.Fatalf("%d figures", len(figures))
	}
	p := figures[0].Panels[0]
	if p.Title != "kfold, 40 of 120 cases decided wrongly" || p.Y.Names[39] != "species 40" {
		t.Errorf("%q, classes to %q", p.Title, p.Y.Names[39])
	}
	for class, row := range p.Layers[0].(figure.NumberGrid).Z {
		for decided, n := range row {
			want := math.NaN()
			switch decided {
			case class:
				want = 2
			case (class + 1) % 40:
				want = 1
			}
			if n != want && !(math.IsNaN(n) && math.IsNaN(want)) {
				t.Errorf("%v cases of class %d are decided for %d, want %v", n, class, decided, want)
			}
		}
	}
	m, lines = reporttest.ManyClasses(16)
	if figures := pictured(t, "confusion", reporttest.Build(t, m, lines)); len(figures) > 0 {
		t.Errorf("%d figures beside a table", len(figures))
	}
}
