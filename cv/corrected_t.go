package cv

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// TTest is a mean difference with its 95 % interval, and the two-sided t-test of the hypothesis
// that it is 0. All fields but Estimate.Value and DF are NaN if there is no test.
type TTest struct {
	Estimate
	T  float64
	DF int
	P  float64
}

// CorrectedT is the corrected resampled t-test. d has the differences of a score of two learners
// over J pairs of training and test parts of the same cases (the folds of all repeats), ratio is
// n_test/n_train. Training parts overlap, so the differences are not independent, and their mean
// has about the variance
//
//	(1/J + n_test/n_train) s²,   s² = Σ_j (d_j - mean)² / (J-1),
//
// instead of s²/J. The mean divided by the root of this variance is compared with Student's t with
// J-1 degrees of freedom (Nadeau & Bengio 2003, Inference for the generalization error, Machine
// Learning 52:239; for repeated k-fold Bouckaert & Frank 2004, LNAI 3056:3). There is no test (NaN)
// for fewer than two differences, or if all are equal up to rounding, as happens for rates of few
// cases: only rounding errors would contribute to their variance. d must not be empty.
func CorrectedT(d []float64, ratio float64) TTest {
	if equal(d) {
		return untested(d[0], len(d)-1)
	}
	m, s2 := stat.MeanVariance(d, nil)
	se := math.Sqrt((1/float64(len(d)) + ratio) * s2)
	student := distuv.StudentsT{Sigma: 1, Nu: float64(len(d) - 1)}
	half := student.Quantile(0.975) * se
	t := m / se
	return TTest{Estimate{m, m - half, m + half}, t, len(d) - 1, 2 * student.CDF(-math.Abs(t))}
}

// untested is a difference without a test.
func untested(value float64, df int) TTest {
	nan := math.NaN()
	return TTest{withoutInterval(value), nan, df, nan}
}

// equal reports whether all differences are equal up to rounding.
func equal(d []float64) bool {
	// relative to the differences: far above the rounding of scores, far below their variation
	// between cases
	const rounding = 1e-9
	lo, hi := slices.Min(d), slices.Max(d)
	return hi-lo <= rounding*max(math.Abs(lo), math.Abs(hi)) // false if there is a NaN
}
