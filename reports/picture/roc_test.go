package picture

import (
	"reflect"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
)

// By hand. Configuration 0: p(M) is 1 for an M, ½ for an F and an M, ¼ for an M. Configuration 1,
// both folds pooled: 1 for an M, ½ for one of each, ¼ for an F. The areas equal the score auc, ½
// and 7/8. Configuration 2 has one of two folds: its curve says so, comes last however large its
// area, and has no interval.
func TestROCPicture(t *testing.T) {
	m, lines := reporttest.Run(t)
	figures := pictured(t, "roc", reporttest.Build(t, m, lines))
	if len(figures) != 2 || len(figures[0].Panels) != 1 || len(figures[1].Panels) != 1 {
		t.Fatalf("figures %+v", figures)
	}
	guessing := figure.Line{Name: "guessing", X: []float64{0, 1}, Y: []float64{0, 1}, Dashed: true}
	test, kfold := figures[0].Panels[0], figures[1].Panels[0]
	for _, c := range []struct {
		panel  figure.Panel
		points [][2][]float64
		areas  []string
	}{
		{test, [][2][]float64{{{0, 0, 1, 1}, {0, 1. / 3, 2. / 3, 1}}}, []string{": AUC 0.500"}},
		{kfold, [][2][]float64{{{0, 0, 0.5, 1}, {0, 0.5, 1, 1}}, {{0, 0, 1}, {0, 1, 1}}}, []string{": AUC 0.875 (0.300 – 0.991)", " (1 of 2 folds): AUC 1.000"}},
	} {
		if len(c.panel.Layers) != len(c.points)+1 || !reflect.DeepEqual(c.panel.Layers[0], figure.Layer(guessing)) {
			t.Fatalf("layers %+v", c.panel.Layers)
		}
		for i, want := range c.points {
			l := c.panel.Layers[i+1].(figure.Line)
			if !reflect.DeepEqual(l.X, want[0]) || !reflect.DeepEqual(l.Y, want[1]) || !strings.HasSuffix(l.Name, c.areas[i]) {
				t.Errorf("%+v, want %v %s", l, want, c.areas[i])
			}
		}
	}
	if test.X.Label != "false positive rate: F taken for M" || test.Y.Label != "true positive rate: M taken for M" || !test.Square {
		t.Errorf("axes %+v, %+v", test.X, test.Y)
	}
}
