package cv

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestWeightsAreRepeatedRows: a row of weight w is w rows of the same case, in every score and every curve.
func TestWeightsAreRepeatedRows(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0))
	for _, classes := range []int{0, 2, 3} {
		const n = 80
		var cases, labels []int
		var targets, means, variances, weight []float64
		proba := mat.NewDense(n, max(2, classes), nil)
		var of []int
		for i := range n {
			w := 1 + r.IntN(3)
			cases, labels, weight = append(cases, i), append(labels, r.IntN(max(2, classes))), append(weight, float64(w))
			of = append(of, slices.Repeat([]int{i}, w)...)
			targets, means, variances = append(targets, r.NormFloat64()), append(means, r.NormFloat64()), append(variances, 0.5+r.Float64())
			row, sum := proba.RawRowView(i), 0.0
			for c := range row {
				row[c] = math.Round(20*r.Float64()) + 1 // so that there are ties
				sum += row[c]
			}
			for c := range row {
				row[c] /= sum
			}
		}
		pick := func(v []float64) (out []float64) {
			for _, i := range of {
				out = append(out, v[i])
			}
			return out
		}
		var weighted, repeated Predictions
		var err, wrong error
		if classes == 0 {
			weighted, err = NewRegression(cases, targets, means, variances, 0.1, 1.2)
			repeated, wrong = NewRegression(of, pick(targets), pick(means), pick(variances), 0.1, 1.2)
		} else {
			all := mat.NewDense(len(of), classes, nil)
			var own []int
			for k, i := range of {
				all.SetRow(k, proba.RawRowView(i))
				own = append(own, labels[i])
			}
			counts := []float64{10, 17.5, 3}[:classes]
			weighted, err = NewPredictions(cases, labels, proba, counts)
			repeated, wrong = NewPredictions(of, own, all, counts)
		}
		if err != nil || wrong != nil {
			t.Fatal(err, wrong)
		}
		weighted.Weight, weighted.Ordered, repeated.Ordered = weight, true, true
		for _, s := range Scores {
			a, ok, _ := s.Of(weighted)
			b, also, _ := s.Of(repeated)
			if ok != also || !(math.Abs(a.Value-b.Value) <= 1e-9*max(1, math.Abs(b.Value))) && ok {
				t.Errorf("%d classes, %s: %v, of repeated rows %v", classes, s.Name, a, b)
			}
			if s.Each != nil && s.Name != "error_rate" && ok && !(math.Abs(a.Lo-b.Lo) <= 1e-9) {
				t.Errorf("%d classes, %s: interval from %v, of repeated rows from %v", classes, s.Name, a.Lo, b.Lo)
			}
		}
		if classes == 0 {
			continue
		}
		near := func(a, b []float64) bool {
			return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Abs(x-y) <= 1e-9 })
		}
		for _, c := range Curves {
			a, b := c.Func(weighted, Confidences[0]), c.Func(repeated, Confidences[0])
			if !near(a.X, b.X) || !near(a.Y, b.Y) {
				t.Errorf("%d classes: the curve %s differs from that of repeated rows", classes, c.Name)
			}
		}
		a, _ := ROC(weighted)
		b, _ := ROC(repeated)
		if !near(a.X, b.X) || !near(a.Y, b.Y) {
			t.Errorf("%d classes: ROC differs from that of repeated rows", classes)
		}
	}
}
