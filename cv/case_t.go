package cv

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// CaseT is the t-test of the hypothesis that v has mean 0, for one training set and held-out cases
// that are independent given it. v has one value per row, such as the difference of the losses of
// two models, and a weight w_i (nil: 1 each); the rows of one case count as one. With G cases
//
//	t = mean(v) / se,   se² = G/(G-1) Σ_g (Σ_{i in g} w_i (v_i - mean))² / (Σ w_i)²,
//
// is compared with Student's t with G-1 degrees of freedom. If every row is its own case, this is
// the paired t-test. It does not account for the variation between training sets. There is no test
// (NaN) for a single case, with an infinite value, or if all values are equal up to rounding. Rows
// that are NaN are left out.
func CaseT(v []float64, cases []int, weight []float64) TTest {
	s := Predictions{Cases: cases, Weight: weight}.present(v)
	v = s.v
	m, df := stat.Mean(v, s.weight), distinct(s.cases)-1
	if df < 1 || !known(v) || equal(v) {
		return untested(m, df)
	}
	se := math.Sqrt(s.variance(m))
	if !(se > 0) {
		return untested(m, df)
	}
	student := distuv.StudentsT{Sigma: 1, Nu: float64(df)}
	half := student.Quantile(0.975) * se
	t := m / se
	return TTest{Estimate{m, m - half, m + half}, t, df, 2 * student.CDF(-math.Abs(t))}
}
