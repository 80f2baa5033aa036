package picture

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture/shown"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
)

// pictured returns the figures of one kind.
func pictured(t *testing.T, kind string, r *reports.Report) []figure.Figure {
	t.Helper()
	for _, p := range pictureTable {
		if p.Name == kind {
			return p.Of(shown.New(r, -1))
		}
	}
	t.Fatalf("no pictures of %s", kind)
	return nil
}

// In the hand-made run configuration 0 has two free hyperparameters and three restarts with paths.
// Trial 0 won. All other configurations have one free hyperparameter or no path.
func TestPathsPicture(t *testing.T) {
	m, lines := reporttest.Run(t)
	r := reporttest.Build(t, m, lines)
	figures := pictured(t, "paths", r)
	if len(figures) != 1 || len(figures[0].Panels) != 1 {
		t.Fatalf("figures %+v", figures)
	}
	panel := figures[0].Panels[0]
	ln2, ln4, ln3, ln7 := math.Log(2), math.Log(4), 1.0986122886681098, math.Log(7)
	want := []figure.Layer{
		figure.Line{Name: "bfgs restart 0", X: []float64{0, 1, ln4}, Y: []float64{0, 0.5, ln2}, Markers: true},
		figure.Line{Name: "bfgs restart 1", X: []float64{0, 0}, Y: []float64{ln3, 0}, Markers: true},
		figure.Line{Name: "bfgs restart 3", X: []float64{0, ln4}, Y: []float64{ln7, ln2}, Markers: true},
		figure.Points{Name: "start", X: []float64{0, 0, 0}, Y: []float64{0, ln3, ln7}},
		figure.Mark{Name: "chosen end of bfgs", X: ln4, Y: ln2},
	}
	if !reflect.DeepEqual(panel.Layers, want) {
		t.Errorf("layers %+v, want %+v", panel.Layers, want)
	}
	if panel.X.Label != "ln amplitude" || panel.Y.Label != "ln length scale" {
		t.Errorf("axes %q and %q", panel.X.Label, panel.Y.Label)
	}

	// The panels of several configurations lie in rows of at most three, six in a figure.
	for n, want := range map[int][][2]int{1: {{1, 1}}, 2: {{2, 2}}, 3: {{3, 3}}, 4: {{4, 3}}, 6: {{6, 3}}, 8: {{6, 3}, {2, 2}}} {
		several := *r
		several.Configurations = slices.Repeat(r.Configurations[:1], n)
		var got [][2]int
		for _, f := range pictured(t, "paths", &several) {
			got = append(got, [2]int{len(f.Panels), f.Columns})
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d configurations: panels and columns %v, want %v", n, got, want)
		}
	}

	// Of many restarts only the winner is highlighted; without a winner none is.
	for i := range 20 {
		lines = append(lines, record.Line{Key: "more" + string(rune('a'+i)), Trial: &record.Trial{Index: 4 + i, Path: []record.Step{{Theta: []record.Number{0, 0}}, {Theta: []record.Number{1, 2}}}}})
	}
	count := func(r *reports.Report) (named, faint, marks int) {
		for _, l := range pictured(t, "paths", r)[0].Panels[0].Layers {
			if line, ok := l.(figure.Line); ok && line.Faint && named > 0 {
				t.Error("the path that is told apart lies below others")
			}
			switch l := l.(type) {
			case figure.Line:
				if l.Faint {
					faint++
				} else {
					named++
				}
			case figure.Mark:
				marks++
			}
		}
		return named, faint, marks
	}
	if named, faint, marks := count(reporttest.Build(t, m, lines)); named != 1 || faint != 22 || marks != 1 {
		t.Errorf("of 23 restarts %d have names, %d have none, %d are marked", named, faint, marks)
	}
	for _, l := range lines {
		if l.Fit != nil && l.Fit.Configuration == 0 {
			l.Fit.Failure = cause.Failure.New("no")
		}
	}
	if named, faint, marks := count(reporttest.Build(t, m, lines)); named != 0 || faint != 23 || marks != 0 {
		t.Errorf("without a winner %d of 23 have names, %d have none, %d are marked", named, faint, marks)
	}
}
