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
	rows, size, ok := ranked(p)
	if !ok {
		return Estimate{}, false
	}
	s := func(i int) float64 { return p.Proba.At(i, 1) }

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

// ROC is the receiver operating characteristic: for every threshold on s = p(y = +1), from the highest to the lowest, the share
// of class 0 that has at least that s (X, false positives) and of class 1 (Y, true positives), from (0, 0) to (1, 1). N is the
// number of predictions at or above the threshold. Cases of equal s come in together, so that the line through the points has
// the area of areaUnderCurve, ties by halves. It is defined where that is.
func ROC(p Predictions) (Series, bool) {
	rows, size, ok := ranked(p)
	if !ok {
		return Series{}, false
	}
	slices.Reverse(rows)
	s := Series{X: []float64{0}, Y: []float64{0}, N: []int{0}}
	var above [2]int
	for k, i := range rows {
		above[p.Labels[i]]++
		if k+1 == len(rows) || p.Proba.At(rows[k+1], 1) != p.Proba.At(i, 1) {
			s.X = append(s.X, float64(above[0])/float64(size[0]))
			s.Y = append(s.Y, float64(above[1])/float64(size[1]))
			s.N = append(s.N, k+1)
		}
	}
	return s, true
}

// ranked are the rows of two classes, both of which occur, by ascending p(y = +1), and how many there are of each class.
func ranked(p Predictions) (rows []int, size [2]int, ok bool) {
	if p.Numeric() {
		return nil, size, false
	}
	if _, classes := p.Proba.Dims(); classes != 2 {
		return nil, size, false
	}
	for i, label := range p.Labels {
		rows = append(rows, i)
		size[label]++
	}
	slices.SortStableFunc(rows, func(i, j int) int { return cmp.Compare(p.Proba.At(i, 1), p.Proba.At(j, 1)) })
	return rows, size, size[0] > 0 && size[1] > 0
}
