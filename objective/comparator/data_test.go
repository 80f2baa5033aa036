package comparator

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/internal/panicked"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

func TestDataThatCannotBe(t *testing.T) {
	x := &kernel.Inputs{X: mat.NewDense(12, 1, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})}
	label := func(i int, v float64) approx.Targets {
		y := []float64{1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1}
		y[i] = v
		return approx.Targets{Classes: 2, Value: y}
	}
	for _, e := range Table {
		c, err := e.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		if u, ok := c.(KernelUser); ok {
			c = u.With(kernel.SE{})
		}
		for want, y := range map[string]approx.Targets{
			"label 0 in row 2":                 label(1, 0),
			"label NaN in row 1":               label(0, math.NaN()),
			"12 rows of inputs and 11 targets": {Classes: 2, Value: label(0, 1).Value[1:]},
			"label 3 in row 12":                {Classes: 3, Index: []int{0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 3}},
		} {
			if _, err := c.Fit(t.Context(), objective.Data{X: x, Y: y}, 1); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %v, want %q", e.Name, err, want)
			}
		}
		fit, err := c.Fit(t.Context(), objective.Data{X: x, Y: label(0, 1)}, 1)
		if err != nil {
			t.Fatal(err)
		}
		err = panicked.Try(func() {
			fit.PredictProba(mat.NewDense(1, 2, nil), &kernel.Inputs{X: mat.NewDense(1, 1, []float64{math.NaN()})})
		})
		if e.Name != "base_rate" && (err == nil || !strings.Contains(err.Error(), "input NaN in row 1, column 1")) {
			t.Errorf("%s: predicting at NaN: %v", e.Name, err)
		}
		// With one class there is an error, or probabilities.
		ones := approx.Targets{Classes: 2, Value: []float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}}
		fit, err = c.Fit(t.Context(), objective.Data{X: x, Y: ones}, 1)
		if err != nil {
			t.Logf("%s, one class: %v", e.Name, err)
			continue
		}
		p := mat.NewDense(12, 2, nil)
		if fit.PredictProba(p, x); !(p.At(0, 1) >= 0.5 && p.At(0, 1) <= 1) {
			t.Errorf("%s, one class: %v", e.Name, mat.Formatted(p))
		}
	}
}
