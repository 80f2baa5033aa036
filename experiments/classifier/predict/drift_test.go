package predict

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/plan/plantest"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
)

// compared is an input with n training values.
func compared(n int, category bool, seed uint64, draw func() float64) *inputDrift {
	in := &inputDrift{seed: seed}
	if category {
		in.column.Levels = []string{"a", "b", "c", "d"}
	}
	for range n {
		in.known = append(in.known, draw())
	}
	slices.Sort(in.known)
	return in
}

// Without a shift 5 ± 1 % of windows are reported, for every kind of values. Half a standard deviation,
// and other shares of a category, are found within 200 cases in 80 % of samples.
func TestDriftHasItsSizeAndPower(t *testing.T) {
	draws := exhaustive.Of(600, 20000)
	rng := rand.New(rand.NewPCG(3, 1))
	level := func(a, b, c float64) float64 {
		switch u := rng.Float64(); {
		case u < a:
			return 0
		case u < a+b:
			return 1
		case u < a+b+c:
			return 2
		}
		return 3
	}
	for _, of := range []struct {
		name       string
		n          int
		category   bool
		same, then func() float64
	}{
		{"normal", 100, false, rng.NormFloat64, func() float64 { return rng.NormFloat64() + 0.5 }},
		{"normal of few cases", 40, false, rng.NormFloat64, nil},
		{"exponential", 300, false, rng.ExpFloat64, func() float64 { return rng.ExpFloat64() + 0.5 }},
		{"counts", 100, false, func() float64 { return float64(rng.IntN(3)) }, nil},
		{"category", 100, true, func() float64 { return level(0.6, 0.3, 0.09) }, func() float64 { return level(0.35, 0.55, 0.09) }},
	} {
		alarms, found := 0, 0
		for range draws {
			in := compared(of.n, of.category, rng.Uint64(), of.same)
			for range driftWindow {
				in.add(of.same())
			}
			if alarms += in.Shifts; in.Windows != 1 || len(in.window) != 0 {
				t.Fatalf("%d windows, %d values left", in.Windows, len(in.window))
			}
			if of.then != nil {
				in = compared(of.n, of.category, rng.Uint64(), of.same)
				for range 200 {
					in.add(of.then())
				}
				found += min(in.Shifts, 1)
			}
		}
		rate, bound := float64(alarms)/float64(draws), 0.01+3*math.Sqrt(0.05*0.95/float64(draws))
		power := float64(found) / float64(draws)
		t.Logf("%s: size %.4f, power %.3f", of.name, rate, power)
		if math.Abs(rate-0.05) > bound {
			t.Errorf("%s: %.4f of windows are reported without a shift, want 0.05 ± %.4f", of.name, rate, bound)
		}
		if of.then != nil && power < 0.8 {
			t.Errorf("%s: the shift is found in %.3f, want 0.8", of.name, power)
		}
	}
}

// The p value of the rank-sum test with ties is that of scipy.stats.mannwhitneyu([1, 2, 2, 3, 5, 8, 9],
// [2, 4, 6, 6, 7], method="asymptotic", use_continuity=False).
func TestRankShift(t *testing.T) {
	if p := rankShift([]float64{1, 2, 2, 3, 5, 8, 9}, []float64{2, 4, 6, 6, 7}); math.Abs(p-0.5663514235350651) > 1e-12 {
		t.Errorf("p = %v, want 0.5663514235350651", p)
	}
	if p := rankShift([]float64{1, 1}, []float64{1}); p != 1 {
		t.Errorf("one value: p = %v", p)
	}
}

// The training cases themselves are within the range, with and without whitening, and a value beyond,
// an unknown level and a missing value are counted as they should.
func TestDriftCountsCasesOutside(t *testing.T) {
	for _, how := range []string{"standardize", "whiten"} {
		p := plantest.Planned(t, "data: {dataset: iris, preprocess: "+how+"}\nmodel: {kernel: se, likelihood: softmax, "+
			"inference: laplace}\ntune: none\n")
		c, err := LoadClassifier(fitted(t, p, 0))
		if err != nil {
			t.Fatal(err)
		}
		c, drift := c.Watching()
		if _, err := c.Predict("iris", spec.Deciding{}); err != nil {
			t.Fatal(err)
		}
		if all, outside := drift.Cases(); all != 150 || outside != 0 {
			t.Errorf("%s: %d of %d training cases outside", how, outside, all)
		}
		for _, in := range drift.Inputs() {
			if in.Windows != 1 || in.Waiting != 50 || math.IsNaN(in.P) {
				t.Errorf("%s: %+v", how, in)
			}
		}
	}
	c, _ := coloured(t, "laplace")
	c, drift := c.Watching()
	for _, of := range []struct {
		row     string
		outside int
	}{
		{`{"colour": "red", "grade": "low", "size": 3, "day": "2024-01-12"}`, 0},
		{`{"colour": null, "grade": "low", "size": 3, "day": "2024-01-12"}`, 0},
		{`{"colour": "violet", "grade": "low", "size": 3, "day": "2024-01-12"}`, 1},
		{`{"colour": "red", "grade": "mid", "size": 300, "day": "2024-01-12"}`, 2},
		{`{"colour": "red", "grade": "mid", "size": null, "day": "2029-01-12"}`, 2},
	} {
		rows, err := c.ReadRecords([]byte(`{"rows": [`+of.row+`]}`), 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Records(rows); err != nil {
			t.Fatal(err)
		}
		if _, outside := drift.Cases(); outside != of.outside {
			t.Errorf("after %s: %d cases outside, want %d", of.row, outside, of.outside)
		}
	}
	if names := drift.Inputs(); len(names) != 3 || names[0].Waiting != 4 || names[2].Waiting != 4 {
		t.Errorf("%+v, want the inputs without the date, and no missing values", names)
	}
	logistic, _ := coloured(t, "logistic_regression")
	if _, none := logistic.Watching(); none != nil || none.part().Texts == nil {
		t.Error("a model file without cases is compared")
	}
}

// The column of a coded category has the indices of its levels, then an index for missing values, and
// one for unknown levels.
func TestValuesOfCodedCategories(t *testing.T) {
	of := data.Column{Levels: []string{"a", "b", "c"}, Coded: true}
	for index, want := range []float64{0, 1, 2, math.NaN(), unknownLevel} {
		if got := valueOf(of, []int{0}, []float64{float64(index)}); math.Float64bits(got) != math.Float64bits(want) {
			t.Errorf("index %d: %v, want %v", index, got, want)
		}
	}
}
