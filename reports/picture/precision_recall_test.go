package picture

import (
	"reflect"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
)

// By hand, for the predictions of TestROCPicture. Configuration 0: with 3 M and an F the precision
// is 1 at recall ⅓, ⅔ where an M and the F share a probability, and ¾ at the end. Guessing has the
// fraction of M as its precision, ¾ and ½.
func TestPrecisionRecallPicture(t *testing.T) {
	m, lines := reporttest.Run(t)
	figures := pictured(t, "precision-recall", reporttest.Build(t, m, lines))
	if len(figures) != 2 || figures[0].Name != "precision-recall-0" {
		t.Fatalf("figures %+v", figures)
	}
	panel := figures[0].Panels[0]
	line := panel.Layers[1].(figure.Line)
	third := 1. / 3
	if !reflect.DeepEqual(line.X, []float64{0, third, third, 2 * third, 2 * third, 1}) ||
		!reflect.DeepEqual(line.Y, []float64{1, 1, 2 * third, 2 * third, 0.75, 0.75}) ||
		!strings.Contains(line.Name, ": average precision 0.806 (") { // 29/36
		t.Errorf("%+v", line)
	}
	for i, share := range []float64{0.75, 0.5} {
		want := figure.Line{Name: "guessing", X: []float64{0, 1}, Y: []float64{share, share}, Dashed: true}
		if got := figures[i].Panels[0].Layers[0]; !reflect.DeepEqual(got, figure.Layer(want)) {
			t.Errorf("guessing %+v, want %+v", got, want)
		}
	}
	if panel.X.Label != "recall: share of M taken for M" || panel.Y.Label != "precision: share of M in what is taken for M" {
		t.Errorf("axes %+v, %+v", panel.X, panel.Y)
	}
}
