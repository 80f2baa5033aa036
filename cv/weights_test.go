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

// ones are n weights.
func ones(n int) []float64 { return slices.Repeat([]float64{1}, n) }

// TestWeightsOfContenders: what is said of contenders, and what is learnt from predictions, is the same with a row of
// weight w as with w rows of the same case; with groups, skill too.
func TestWeightsOfContenders(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 0))
	const n, models, folds = 90, 3, 3
	weighted, repeated := Contenders{Seed: 5, Ratio: 1.5}, Contenders{Seed: 5, Ratio: 1.5}
	var groups []int
	labels, weight, signal := make([]int, n), make([]int, n), make([]float64, n)
	for i := range n {
		labels[i], weight[i], groups = r.IntN(2), 1+r.IntN(4), append(groups, i/2)
		signal[i] = 0.25*float64(labels[i]) + 0.05*r.NormFloat64()
	}
	for range models {
		var a, b []Predictions
		for k := range folds {
			var cases, own, often, all []int
			var of, w []float64
			var rows [][]float64
			for i := k * n / folds; i < (k+1)*n/folds; i++ {
				p := min(0.9, max(0.1, 0.3+signal[i]+0.1*r.NormFloat64()))
				cases, own, of, w = append(cases, i), append(own, labels[i]), append(of, 1-p, p), append(w, float64(weight[i]))
				for range weight[i] {
					often, all, rows = append(often, i), append(all, labels[i]), append(rows, []float64{1 - p, p})
				}
			}
			x, err := NewPredictions(cases, own, mat.NewDense(len(cases), 2, of), []float64{40, 50})
			y, wrong := NewPredictions(often, all, mat.NewDense(len(often), 2, slices.Concat(rows...)), []float64{40, 50})
			if err != nil || wrong != nil {
				t.Fatal(err, wrong)
			}
			x.Weight = w
			a, b = append(a, x), append(b, y)
		}
		weighted.Parts, repeated.Parts = append(weighted.Parts, a), append(repeated.Parts, b)
	}
	near := func(what string, got, want []float64) {
		t.Helper()
		if !slices.EqualFunc(got, want, func(x, y float64) bool {
			return math.Abs(x-y) <= 1e-9*max(1, math.Abs(y)) || math.IsNaN(x) && math.IsNaN(y)
		}) {
			t.Errorf("%s: %v, of repeated rows %v", what, got, want)
		}
	}
	estimate := func(e Estimate) []float64 { return []float64{e.Value, e.Lo, e.Hi} }
	for _, name := range []string{"information_bits", "error_rate", "auc"} {
		s, err := ScoreNamed(name)
		if err != nil {
			t.Fatal(err)
		}
		a, b := weighted.Set(s, 0), repeated.Set(s, 0)
		near(name+": at least", []float64{weighted.AtLeast(s, 0)}, []float64{repeated.AtLeast(s, 0)})
		for k := range models {
			near(name+": difference", estimate(a.Differences[k]), estimate(b.Differences[k]))
		}
		x, _ := weighted.Corrected(s)
		y, _ := repeated.Corrected(s)
		near(name+": corrected", estimate(x), estimate(y))
	}
	for _, by := range Calibrations {
		x, err := by.Calibrate(Pool(weighted.Parts[0]...))
		y, wrong := by.Calibrate(Pool(repeated.Parts[0]...))
		if err != nil || wrong != nil {
			t.Fatal(err, wrong)
		}
		near(by.Name, slices.Concat(x...), slices.Concat(y...))
		a, _ := weighted.Recalibrated(0, by)
		b, _ := repeated.Recalibrated(0, by)
		near(by.Name+" tried", append(estimate(a.Estimate), a.T, a.P), append(estimate(b.Estimate), b.T, b.P))
	}
	for _, maximise := range Thresholds() {
		x, err := BestThreshold(Pool(weighted.Parts[0]...), maximise, nil)
		y, wrong := BestThreshold(Pool(repeated.Parts[0]...), maximise, nil)
		if err != nil || wrong != nil || x != y {
			t.Errorf("%s: threshold %v, of repeated rows %v (%v, %v)", maximise, x, y, err, wrong)
		}
	}
	weighted.Groups, repeated.Groups = groups, groups
	for k := range models {
		if x, y := weighted.shared(k), repeated.shared(k); x != y {
			t.Errorf("model %d: a share of %v, of repeated rows %v", k, x, y)
		}
	}
	before := weighted.shared(0)
	for _, p := range slices.Concat(weighted.Parts...) {
		for i := range p.Weight {
			p.Weight[i] /= 1 << 40 // exact
		}
	}
	if after := weighted.shared(0); before > level || after != before {
		t.Errorf("a share of %v, in another unit of weights %v", before, after)
	}
}
