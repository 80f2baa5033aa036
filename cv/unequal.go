package cv

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// Unequal is the dependence of the size of errors, in predicted standard deviations, on a variable.
type Unequal struct {
	Rho float64 // rank correlation of |y_i - mean_i|/√variance_i with the variable
	P   float64 // p value of no dependence, from CaseT
	// fractions of the targets in their 95 % intervals: in the third of the rows with the lowest
	// values of the variable, and in the third with the highest
	Low, High float64
}

// Unequal tests whether the size of the standardized errors of numeric predictions depends on x,
// which has a value for each row; rows without one (NaN) are left out. With the ranks a_i of
// |y_i - mean_i|/√variance_i and b_i of x_i, both with mean 0 and standard deviation 1, Spearman's
// rank correlation is the mean of a_i b_i. It is tested by CaseT of the products, over cases or
// groups.
// P is NaN if x or the errors are constant, or with fewer than 9 rows.
func (p Predictions) Unequal(x []float64) Unequal {
	var rows, units []int
	var size, of, weight []float64
	for i, v := range x {
		if !math.IsNaN(v) {
			rows, units = append(rows, i), append(units, p.Units()[i])
			size, of = append(size, math.Abs(p.Targets[i]-p.Mean[i])/math.Sqrt(p.Variance[i])), append(of, v)
			if p.Weight != nil {
				weight = append(weight, p.Weight[i])
			}
		}
	}
	out := Unequal{math.NaN(), math.NaN(), math.NaN(), math.NaN()}
	if len(rows) < 9 {
		return out
	}
	a, b := standardRanks(size, weight), standardRanks(of, weight)
	for i := range a {
		a[i] *= b[i]
	}
	test := CaseT(a, units, weight)
	out.Rho, out.P = test.Value, test.P
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(of[i], of[j]) })
	third := len(order) / 3
	within := func(order []int) float64 {
		inside, total := 0.0, 0.0
		for _, i := range order {
			total += weighed(weight, i)
			if size[i] <= 1.959964 {
				inside += weighed(weight, i)
			}
		}
		return inside / total
	}
	out.Low, out.High = within(order[:third]), within(order[len(order)-third:])
	return out
}

// standardRanks are ranks with mean 0 and standard deviation 1; NaN if all values are equal.
func standardRanks(v, weight []float64) []float64 {
	r := ranks(v, weight)
	mean, variance := stat.PopMeanVariance(r, weight)
	for i := range r {
		r[i] = (r[i] - mean) / math.Sqrt(variance)
	}
	return r
}
