package cv

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/internal/cause"
)

// Conformal makes sets of classes that contain the true class of a case with a stated coverage 1-α.
// Class c is in the set of a case x if its conformal p value exceeds α. The p value compares the
// probability p(c|x) with the probabilities p_i(c) of this class for held-out cases i of the class.
// w_i is the weight of such a case:
//
//	p_c(x) = (1 + Σ_i w_i [p_i(c) ≤ p(c|x)]) / (1 + Σ_i w_i)
//
// The folds of a cross-validation hold the cases out, as in cross-conformal prediction (Vovk 2015,
// Annals of Mathematics and Artificial Intelligence 74, with the nonconformity score -p(c|x)). Each
// class is compared with its own cases alone, so the coverage holds for every class (Vovk 2012,
// Conditional validity of inductive conformal predictors). A set can be empty.
//
// Guarantees are for exchangeable cases. If one model predicts x and all i, and was fitted to none
// of them, the coverage is at least 1-α. In cross-conformal prediction the models of all folds
// predict x, each compared with the cases of its own fold. The coverage then is usually near 1-α,
// and at least 1-2α less a term that vanishes if there are many cases in each fold (Vovk 2015; for
// intervals of numbers Barber, Candès, Ramdas & Tibshirani 2021, Annals of Statistics 49, theorem
// 4). Here one model predicts x: the model fitted to all cases, or for a case of a fold the model
// of that fold. Nothing is guaranteed then without an assumption about the method: the coverage is
// 1-α as far as this model predicts new cases as the models of the folds do.
type Conformal struct {
	Coverage float64     // 1-α, between 0 and 1
	Proba    [][]float64 // [c][i]: p_i(c) of the held-out cases of class c, ascending
	Weight   [][]float64 // [c][i]: w_i; nil: 1 each
	cases    [][]int     // [c][i]: the case
}

// NewConformal compares with the cases of p, which are held out. The rows of a case that is
// held out several times count as one case together. Wrong shapes panic.
func NewConformal(p Predictions, coverage float64) Conformal {
	_, classes := p.Proba.Dims()
	c := Conformal{coverage, make([][]float64, classes), make([][]float64, classes), make([][]int, classes)}
	type of struct{ row, class int }
	rows, members := map[of]int{}, make([][]int, classes)
	for i, label := range p.Labels {
		rows[of{p.Cases[i], label}]++
		members[label] = append(members[label], i)
	}
	plain := p.Weight == nil
	for k, all := range members {
		slices.SortStableFunc(all, func(i, j int) int { return cmp.Compare(p.Proba.At(i, k), p.Proba.At(j, k)) })
		for _, i := range all {
			n := rows[of{p.Cases[i], k}]
			plain = plain && n == 1
			c.Proba[k] = append(c.Proba[k], p.Proba.At(i, k))
			c.Weight[k] = append(c.Weight[k], p.weight(i)/float64(n))
			c.cases[k] = append(c.cases[k], p.Cases[i])
		}
	}
	if plain {
		c.Weight = nil
	}
	return c
}

// Without compares with all cases but these. Only what NewConformal returns knows its cases.
func (c Conformal) Without(cases []int) Conformal {
	out, leave := c, map[int]bool{}
	for _, i := range cases {
		leave[i] = true
	}
	out.Proba, out.cases = make([][]float64, len(c.Proba)), make([][]int, len(c.Proba))
	if c.Weight != nil {
		out.Weight = make([][]float64, len(c.Proba))
	}
	for k, of := range c.cases {
		for i, at := range of {
			if leave[at] {
				continue
			}
			out.Proba[k], out.cases[k] = append(out.Proba[k], c.Proba[k][i]), append(out.cases[k], at)
			if c.Weight != nil {
				out.Weight[k] = append(out.Weight[k], c.Weight[k][i])
			}
		}
	}
	return out
}

// set reports for each class whether it is in the set of a case with these class probabilities.
func (c Conformal) set(proba []float64) []bool {
	in := make([]bool, len(proba))
	for k, p := range proba {
		at, _ := slices.BinarySearchFunc(c.Proba[k], p, func(q, p float64) int {
			if q <= p {
				return -1
			}
			return 1
		})
		below, total := float64(at), c.total(k)
		if c.Weight != nil {
			below = floats.Sum(c.Weight[k][:at])
		}
		in[k] = c.exceeds(1+below, 1+total)
	}
	return in
}

// exceeds reports whether the p value of this numerator and denominator exceeds α. Equality is
// recognised within rounding, because α is not exact.
func (c Conformal) exceeds(numerator, denominator float64) bool {
	const rounding = 1e-9
	return numerator-(1-c.Coverage)*denominator > rounding*denominator
}

// total is the number of held-out cases of class k, by their weights.
func (c Conformal) total(k int) float64 {
	if c.Weight != nil {
		return floats.Sum(c.Weight[k])
	}
	return float64(len(c.Proba[k]))
}

// Sets are the sets of all rows, m×C.
func (c Conformal) Sets(p Predictions) [][]bool {
	sets := make([][]bool, len(p.Cases))
	for i := range sets {
		sets[i] = c.set(p.Proba.RawRowView(i))
	}
	return sets
}

// Warnings name the classes with so few cases that no set leaves them out: 1/(1 + Σ_i w_i) > α.
func (c Conformal) Warnings(classes []string) (out []cause.Notice) {
	least := int(math.Ceil(1/(1-c.Coverage) - 1 - 1e-6))
	for k, class := range classes {
		if n := c.total(k); c.exceeds(1, 1+n) {
			out = append(out, cause.FewHeldOut.New("class %q has %.6g held-out cases, and a coverage of %.6g needs "+
				"%d: it is in every set", class, n, c.Coverage, least))
		}
	}
	return out
}

// CheckCoverage returns an error unless the coverage is between 0 and 1.
func CheckCoverage(coverage float64) error {
	if coverage > 0 && coverage < 1 {
		return nil
	}
	return fmt.Errorf("%v is no coverage; write a number between 0 and 1, such as 0.9", coverage)
}

// covered is the share of rows whose true class is in their set, with Wilson's interval; not
// defined without sets.
func covered(p Predictions) (Estimate, bool) {
	if p.Sets == nil {
		return Estimate{}, false
	}
	in := make([]float64, len(p.Sets))
	for i, set := range p.Sets {
		if set[p.Labels[i]] {
			in[i] = 1
		}
	}
	share := p.sum(in) / p.Total()
	lo, hi := wilson(share, p.effective(all))
	return Estimate{share, lo, hi}, true
}

// setSize is the mean number of classes in a set; not defined without sets.
func setSize(p Predictions) (Estimate, bool) {
	if p.Sets == nil {
		return Estimate{}, false
	}
	size := make([]float64, len(p.Sets))
	for i, set := range p.Sets {
		for _, in := range set {
			if in {
				size[i]++
			}
		}
	}
	return p.mean(size), true
}
