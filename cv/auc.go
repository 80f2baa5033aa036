package cv

import (
	"cmp"
	"math"
	"slices"
)

// areaUnderCurve is the Mann-Whitney statistic: with s = p(y = +1), the mean over all pairs of a case of class 1 and one
// of class 0 of [s₁ > s₀] + ½ [s₁ = s₀]. The placement of a case is the share of the other class on its right side; the
// area is the mean of the placements of either class, and its variance is the sum of the variances of the two means
// (DeLong, DeLong & Clarke-Pearson 1988, Biometrics 44:837). The interval is cut off at 0 and 1, and has no width where
// the classes are perfectly separated; there is none with fewer than two cases of a class.
//
// It is defined for two classes, both of which occur. Predictions of several classifiers are ranked together.
func areaUnderCurve(p Predictions) (Estimate, bool) {
	if _, classes := p.Proba.Dims(); classes != 2 {
		return Estimate{}, false
	}
	rows := make([]int, len(p.Labels))
	var size [2]int
	for i, label := range p.Labels {
		rows[i] = i
		size[label]++
	}
	if size[0] == 0 || size[1] == 0 {
		return Estimate{}, false
	}
	s := func(i int) float64 { return p.Proba.At(i, 1) }
	slices.SortStableFunc(rows, func(i, j int) int { return cmp.Compare(s(i), s(j)) })

	var placements [2][]float64
	var cases [2][]int
	var below [2]int // rows of each class with a smaller s
	pairs := 0.0     // the statistic before it is divided by the number of pairs: exact, a multiple of ½
	for from, to := 0, 0; from < len(rows); from = to {
		var tied [2]int
		for to = from; to < len(rows) && s(rows[to]) == s(rows[from]); to++ {
			tied[p.Labels[rows[to]]]++
		}
		for _, i := range rows[from:to] {
			own := p.Labels[i]
			other := 1 - own
			rank := float64(below[other]) + float64(tied[other])/2 // rows of the other class below, ties by halves
			if own == 1 {
				pairs += rank
			} else {
				rank = float64(size[1]) - rank
			}
			placements[own] = append(placements[own], rank/float64(size[other]))
			cases[own] = append(cases[own], p.Cases[i])
		}
		below[0], below[1] = below[0]+tied[0], below[1]+tied[1]
	}
	area := pairs / (float64(size[0]) * float64(size[1]))
	e := normal(area, math.Sqrt(meanVariance(placements[0], area, cases[0])+meanVariance(placements[1], area, cases[1])))
	e.Lo, e.Hi = max(e.Lo, 0), min(e.Hi, 1)
	return e, true
}
