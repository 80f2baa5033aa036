package cv

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Student's sleep data, extra hours of ten patients under two drugs, with the paired t-test that R
// documents for them: t.test(extra ~ group, paired) gives t = -4.0621, df = 9, p-value = 0.002833,
// and the interval -2.4598858 to -0.7001142.
func TestCaseTOfSleep(t *testing.T) {
	first := []float64{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0}
	second := []float64{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4}
	d, cases := make([]float64, 10), make([]int, 10)
	for i := range d {
		d[i], cases[i] = first[i]-second[i], i
	}
	got := CaseT(d, cases, nil)
	for _, of := range []struct {
		what            string
		got, want, unit float64
	}{{"t", got.T, -4.0621, 1e-4}, {"p", got.P, 0.002833, 1e-6}, {"lo", got.Lo, -2.4598858, 1e-7},
		{"hi", got.Hi, -0.7001142, 1e-7}, {"difference", got.Value, -1.58, 1e-12}} {
		if !(math.Abs(of.got-of.want) <= of.unit) {
			t.Errorf("%s is %v, want %v", of.what, of.got, of.want)
		}
	}
	if got.DF != 9 {
		t.Errorf("%d degrees of freedom", got.DF)
	}

	// Repeating every case gives the same test.
	twice := CaseT(append(d, d...), append(cases, cases...), nil)
	if math.Abs(twice.T-got.T) > 1e-12 || twice.DF != 9 {
		t.Errorf("t is %v with %d degrees of freedom where every case comes twice, %v once", twice.T, twice.DF, got.T)
	}
	for _, none := range []TTest{CaseT([]float64{3}, []int{0}, nil), CaseT([]float64{3, 3}, []int{0, 1}, nil),
		CaseT([]float64{1, 2}, []int{4, 4}, nil)} {
		if !math.IsNaN(none.P) || !math.IsNaN(none.Lo) {
			t.Errorf("a test where there can be none: %+v", none)
		}
	}
}

// An interval is clipped to the range of the score, or of the difference of two scores; a missing
// interval stays missing.
func TestIntervalsEndWithTheScore(t *testing.T) {
	brier, err := ScoreNamed("brier")
	if err != nil {
		t.Fatal(err)
	}
	if got := brier.apart(TTest{Estimate: Estimate{0.5, -3, 2.5}}); got.Lo != -2 || got.Hi != 2 || got.Value != 0.5 {
		t.Errorf("%+v", got)
	}
	if got := brier.apart(TTest{Estimate: withoutInterval(0)}); !math.IsNaN(got.Lo) || !math.IsNaN(got.Hi) {
		t.Errorf("%+v", got)
	}
	// Brier losses of 2 and 0: the mean is 1, the standard error 1, and 1 - 1.96 is below 0.
	p, err := NewPredictions([]int{0, 1}, []int{0, 0}, mat.NewDense(2, 2, []float64{0, 1, 1, 0}), []int{1, 1})
	if err != nil {
		t.Fatal(err)
	}
	if e, ok, _ := brier.Of(p); !ok || e.Value != 1 || e.Lo != 0 || e.Hi != 2 {
		t.Errorf("%+v", e)
	}
}
