package cv_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gpc-tune/gpc-tune/cv"
)

// numericCases are predictions with mean 0 and variance 1 for these targets.
func numericCases(t *testing.T, targets []float64) cv.Predictions {
	n := len(targets)
	rows, mean, variance := make([]int, n), make([]float64, n), make([]float64, n)
	for i := range n {
		rows[i], variance[i] = i, 1
	}
	p, err := cv.NewRegression(rows, targets, mean, variance, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The rank correlation of nine errors is Spearman's, 1 - 6 Σ d²/(n (n² - 1)), and the thirds of three
// cases have the shares of errors below 1.96.
func TestUnequalByHand(t *testing.T) {
	p := numericCases(t, []float64{0.1, -0.3, 0.2, 1, -0.5, 2.5, -3, 1.5, -2})
	x := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9} // ranks of the errors: 1 3 2 5 4 8 9 6 7
	got := p.Unequal(x)
	if want := 1 - 6*float64(0+1+1+1+1+4+4+4+4)/(9*80); math.Abs(got.Rho-want) > 1e-12 || got.Low != 1 ||
		math.Abs(got.High-1.0/3) > 1e-12 || !(got.P < 0.05) {
		t.Errorf("%+v, want a rank correlation of %v", got, want)
	}
	x[4] = math.NaN()
	for name, x := range map[string][]float64{"eight": x, "constant": make([]float64, 9)} {
		if got := p.Unequal(x); !math.IsNaN(got.P) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Without dependence the test at 0.005 is rarely positive, whatever the tails of the errors. It finds
// noise whose standard deviation grows by a factor of 4 over the range, of any tails.
func TestUnequalSizeAndPower(t *testing.T) {
	const sets, level = 2000, 0.005
	for _, c := range []struct {
		n      int
		heavy  bool
		growth float64
		lo, hi int // sets in which the test finds dependence
	}{
		{40, false, 1, 0, 22}, {100, false, 1, 0, 22}, {300, false, 1, 0, 22},
		{40, true, 1, 0, 22}, {100, true, 1, 0, 22}, {300, true, 1, 0, 22},
		{40, false, 4, 650, 2000}, {100, false, 4, 1700, 2000}, {300, false, 4, 1990, 2000},
		{40, true, 4, 420, 2000}, {100, true, 4, 1440, 2000}, {300, true, 4, 1980, 2000},
		{40, false, 2, 90, 2000}, {100, false, 2, 400, 2000}, {300, false, 2, 1560, 2000},
	} {
		rng := rand.New(rand.NewPCG(7, uint64(c.n)))
		found := 0
		x, y := make([]float64, c.n), make([]float64, c.n)
		for range sets {
			for i := range x {
				x[i] = rng.Float64()
				y[i] = rng.NormFloat64() * math.Pow(c.growth, x[i]-0.5)
				if c.heavy { // Student's t with 3 degrees of freedom
					a, b, d := rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()
					y[i] /= math.Sqrt((a*a + b*b + d*d) / 3)
				}
			}
			if u := numericCases(t, y).Unequal(x); u.P <= level && math.Abs(u.Rho) >= 0.1 {
				found++
			}
		}
		if found < c.lo || found > c.hi {
			t.Errorf("%d cases, heavy tails %v, growth %v: found in %d of %d sets", c.n, c.heavy, c.growth, found, sets)
		}
	}
}
