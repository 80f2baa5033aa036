package cv

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// The numbers are R's (4.2.2): mean, var, qt and pt combined as documented, and t.test for ratio 0.
func TestCorrectedT(t *testing.T) {
	d := []float64{0.02, -0.01, 0.05, 0.03, 0.015, -0.02, 0.04, 0.01, 0.035, 0.005}
	again := append([]float64{}, d...) // two more repeats
	for _, x := range d {
		again = append(again, x+0.002)
	}
	for _, x := range d {
		again = append(again, x*1.1-0.001)
	}
	for _, test := range []struct {
		d     []float64
		ratio float64
		want  [5]float64 // mean, interval, t, p
	}{
		{d, 0, [5]float64{0.0175, 0.0016604120892753937, 0.0333395879107246107, 2.4992916843603403265, 0.0339012047277310047}},
		{d, 1. / 9, [5]float64{0.0175, -0.0055143876700590351, 0.0405143876700590350, 1.7201305077723598735, 0.1195210774556820787}},
		{[]float64{1, 2, 4}, 0.25, [5]float64{7. / 3, -2.68642818470770495, 7.35309485137437235, 2, 0.18350341907227388}},
		{[]float64{-3, -3.5, -2.75, -3.25, -3.125}, 0.01, [5]float64{-3.125, -3.4806262037168914, -2.7693737962831086, -24.397501823713327, 1.6746394181024876e-05}},
		{again, 1. / 9, [5]float64{0.0184166666666666680, 0.0012256661003649007, 0.0356076672329684318, 2.1910483005729410877, 0.0366321178467198180}},
	} {
		got := CorrectedT(test.d, test.ratio)
		for i, x := range []float64{got.Value, got.Lo, got.Hi, got.T, got.P} {
			if want := test.want[i]; math.Abs(x-want) > 1e-12*math.Abs(want) {
				t.Errorf("%v: number %d is %v, want %v", test.d, i, x, want)
			}
		}
		if got.DF != len(test.d)-1 {
			t.Errorf("%d degrees of freedom of %d differences", got.DF, len(test.d))
		}
	}
	// Differences of shares of ten cases that each differ by one case are 0.1, but not to the last
	// bit.
	shares := []float64{0.2, 0.4, 0.7}
	for i, less := range []float64{0.1, 0.3, 0.6} {
		shares[i] -= less
	}
	if shares[0] == shares[1] && shares[1] == shares[2] {
		t.Errorf("%v are equal to the last bit, and test nothing", shares)
	}
	for _, d := range [][]float64{{0.1}, {0.1, 0.1, 0.1}, {0, 0}, shares} {
		if got := CorrectedT(d, 0.5); got.Value != d[0] || !math.IsNaN(got.P) || !math.IsNaN(got.Lo) || !math.IsNaN(got.Hi) || !math.IsNaN(got.T) {
			t.Errorf("%v: %+v", d, got)
		}
	}
}

// paired makes predictions on n cases: only the first classifier is right on the first b, only the
// second on the next c, and both on every other one of the rest.
func paired(t *testing.T, b, c, n int) (first, second Predictions) {
	t.Helper()
	cases, labels := make([]int, n), make([]int, n)
	proba := [2]*mat.Dense{mat.NewDense(n, 2, nil), mat.NewDense(n, 2, nil)}
	for i := range n {
		cases[i], labels[i] = 3*i, i/2%2
		right := [2]bool{i < b, i >= b && i < b+c}
		if i >= b+c && i%2 == 0 {
			right = [2]bool{true, true}
		}
		for k, p := range proba {
			decided := labels[i]
			if !right[k] {
				decided = 1 - decided
			}
			p.Set(i, decided, 0.75)
			p.Set(i, 1-decided, 0.25)
		}
	}
	var out [2]Predictions
	for k, p := range proba {
		var err error
		if out[k], err = NewPredictions(cases, labels, p, []int{1, 1}); err != nil {
			t.Fatal(err)
		}
	}
	return out[0], out[1]
}

// The p values are from R's binom.test (4.2.2); the intervals are the documented formula evaluated
// in R.
func TestCompareDecisions(t *testing.T) {
	for _, test := range []struct {
		b, c, n int
		want    [4]float64 // difference, interval, p
	}{
		{2, 9, 50, [4]float64{0.14, 0.0037343118647228668, 0.2654964573660464344, 0.065429687500000042}},
		{9, 2, 50, [4]float64{-0.14, -0.2654964573660464344, -0.0037343118647228668, 0.065429687500000042}},
		{0, 6, 20, [4]float64{0.3, 0.047988457191938949, 0.497466088262606465, 0.031250000000000007}},
		{40, 75, 1000, [4]float64{0.035, 0.013883035562072165, 0.055977243879045610, 0.0014129574986076684}},
		{3, 4, 10, [4]float64{0.1, -0.40438391041166877, 0.57105057707833551, 1}},
		{300, 420, 5000, [4]float64{0.024, 0.013482757790796435, 0.034498049886132802, 8.8077561686151306e-06}},
		{1, 1, 14, [4]float64{0, -z95 / 8, z95 / 8, 1}}, // p = q = 1/8, of 16
		{0, 0, 30, [4]float64{0, -0.086618989021854845, 0.086618989021854845, 1}},
	} {
		m := CompareDecisions(paired(t, test.b, test.c, test.n))
		if m.OnlyFirst != test.b || m.OnlySecond != test.c || m.Cases != test.n {
			t.Errorf("%+v, want %d, %d and %d", m, test.b, test.c, test.n)
		}
		for i, x := range []float64{m.Difference.Value, m.Difference.Lo, m.Difference.Hi, m.P} {
			if want := test.want[i]; math.Abs(x-want) > 1e-12*math.Abs(want) {
				t.Errorf("%d, %d of %d: number %d is %v, want %v", test.b, test.c, test.n, i, x, want)
			}
		}
	}
	// Groups of five cases: in groups 0 and 1 the first alone is right, in none the second; group 2,
	// where both have one case alone, counts for none. The interval is that of the means over ten groups.
	first, second := paired(t, 11, 1, 50)
	for i := range 50 {
		first.Groups = append(first.Groups, i/5)
	}
	second.Groups = first.Groups
	m := CompareDecisions(first, second)
	if m.Cases != 10 || m.OnlyFirst != 2 || m.OnlySecond != 0 || m.P != 0.5 || math.Abs(m.Difference.Value+0.2) > 1e-15 {
		t.Errorf("groups: %+v", m)
	}
	sums := []float64{-5, -5, 0, 0, 0, 0, 0, 0, 0, 0} // errors of the first less errors of the second
	half := m.Difference.Value - m.Difference.Lo
	if want := half / (math.Sqrt(stat.Variance(sums, nil)/10) / 5); !(want > 1.9 && want < 2.4) {
		t.Errorf("groups: the interval has %v standard errors of means of groups", want)
	}
	first, second = paired(t, 1, 2, 5)
	second.Cases = append([]int{7}, second.Cases[1:]...)
	defer func() {
		if recover() == nil {
			t.Error("other cases are compared")
		}
	}()
	CompareDecisions(first, second)
}
