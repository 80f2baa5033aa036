package objective

import (
	"testing"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
)

// TestEvaluationsAreCounted: a local optimisation makes no more evaluations than allowed, and reports their number.
func TestEvaluationsAreCounted(t *testing.T) {
	for _, e := range Optimizers {
		for limit := 2; limit < 12; limit++ {
			calls := 0
			f := func(u []float64) float64 { calls++; return rosenbrock(u) }
			m := climbFrom(t, functionOf(t, wide(2), f, rosenbrockGradient, entry{}), []float64{-1.2, 1}, Settings{Method: e.Name, Evaluations: limit})
			if calls != limit || m.Evaluations != limit || m.Status != EvaluationLimit {
				t.Errorf("%s: %d evaluations, %d by its own count, of %d, %s", e.Name, calls, m.Evaluations, limit, m.Status)
			}
		}
	}
}

// TestWorkersBelowZero: restarts run also with a number of workers below 0.
func TestWorkersBelowZero(t *testing.T) {
	m, err := Maximize(t.Context(), functionOf(t, wide(2), rosenbrock, rosenbrockGradient, entry{}), Restarts{Count: 2, Workers: -1}, Settings{})
	if err != nil || m.Evaluations == 0 || m.All[1].Optimum.Evaluations == 0 {
		t.Errorf("%+v, %v", m, err)
	}
}

// TestLatentOfWrongLengths: both results must have as many entries as there are cases; only the variance may be nil.
func TestLatentOfWrongLengths(t *testing.T) {
	p, z := fitted(t, likelihood.Probit{}), ring(30, 9).X
	p.Latent(make([]float64, 30), nil, z, 0)
	for _, length := range [][2]int{{29, 30}, {31, 30}, {30, 29}, {30, 31}, {31, -1}, {29, -1}, {29, 29}} {
		mean, variance := make([]float64, length[0]), []float64(nil)
		if length[1] >= 0 {
			variance = make([]float64, length[1])
		}
		panicked := func() (is bool) {
			defer func() { is = recover() != nil }()
			p.Latent(mean, variance, z, 0)
			return false
		}()
		if !panicked {
			t.Errorf("no panic of a mean of %d and a variance of %d for 30 cases", length[0], length[1])
		}
	}
}

// TestNumberOfClasses: valid numbers are 0, for numeric targets, and 2 or more.
func TestNumberOfClasses(t *testing.T) {
	for classes, good := range map[int]bool{-1: false, 0: true, 1: false, 2: true} {
		d := ring(30, 9)
		d.Y.Classes = classes
		if err := d.Check(); (err == nil) != good {
			t.Errorf("%d classes: %v", classes, err)
		}
	}
}
