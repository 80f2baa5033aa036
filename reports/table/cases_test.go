package table

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
)

// The cases whose labels are least probable are listed, three of them at least, the least probable
// first, with their ids.
// The number of them stands beside the number to expect.
func TestStrangeCases(t *testing.T) {
	bits := make([]float64, 42)
	for i := range bits {
		bits[i] = 0.5
	}
	bits[7], bits[3] = -8, -5
	m, lines := reporttest.Held(len(bits), func(i int) float64 { return bits[i] }, func(int) float64 { return -0.5 })
	m.IDs = []record.IDs{{DataHash: m.Configurations[0].DataHash, Rows: []int{3, 7}, Columns: []record.IDColumn{{Name: "name", Values: []string{"Ada", "Bo"}}}}}
	r := reporttest.Build(t, m, lines)
	all := strangeCases(r)
	if len(all) != 1 || len(all[0].Rows) != 3 {
		t.Fatalf("%+v", all)
	}
	got := all[0]
	names := reporttest.Build(t, m, lines).Configurations[0].Classes
	if want := "The outcome of 2 of 42 held-out predictions of #0 has a probability below 0.05; expect 0 if "; !strings.HasPrefix(got.Lead, want) {
		t.Errorf("%s", got.Lead)
	}
	for i, want := range []string{"7|Bo|" + names[1] + "|" + names[0] + "|0.998|0.002", "3|Ada|" + names[1] + "|" + names[0] + "|0.9844|0.016", "0||" + names[0] + "|" + names[0] + "|0.7071|0.71"} {
		if text := strings.Join(Texts(got.Rows[i]), "|"); text != want {
			t.Errorf("row %d: %s, want %s", i, text, want)
		}
	}
}

// Counts of successes, which are groups of weighted rows, have no strange cases.
func TestNoStrangeCounts(t *testing.T) {
	m, lines := reporttest.Held(12, func(int) float64 { return -8 })
	r := reporttest.Build(t, m, lines)
	if all := strangeCases(r); len(all) != 1 {
		t.Fatalf("%d tables", len(all))
	}
	p := r.Answer.Scored()[0].Predictions
	p.Weight, p.Groups = make([]float64, len(p.Cases)), p.Cases
	if all := strangeCases(r); len(all) != 0 {
		t.Errorf("%+v", all)
	}
}

// The probability of an outcome is that of the label, or of a number so far from its mean. less is
// the probability of an outcome below the limit.
func TestOutcomes(t *testing.T) {
	classes := cv.Predictions{Labels: []int{2, 0}, Proba: mat.NewDense(2, 3, []float64{0.94, 0.04, 0.02, 0.5, 0.4, 0.1})}
	numbers := cv.Predictions{Targets: []float64{5}, Mean: []float64{2}, Variance: []float64{4}}
	for _, c := range []struct {
		p        cv.Predictions
		k        int
		of, less float64
	}{{classes, 0, 0.02, 0.06}, {classes, 1, 0.5, 0}, {numbers, 0, math.Erfc(1.5 / math.Sqrt2), 0.05}} {
		if of, less := outcome(c.p, c.k); math.Abs(of-c.of) > 1e-12 || math.Abs(less-c.less) > 1e-12 {
			t.Errorf("case %d: %v and %v, want %v and %v", c.k, of, less, c.of, c.less)
		}
	}
}
