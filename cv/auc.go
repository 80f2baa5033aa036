package cv

import (
	"cmp"
	"math"
	"slices"
)

// areaUnderCurve is the Mann-Whitney statistic: with s = p(y = +1), the mean over all pairs of a
// case of class 1 and one of class 0 of [s₁ > s₀] + ½ [s₁ = s₀]. Its interval is areaInterval;
// there is none with fewer than two cases of a class.
//
// It is defined for two classes, both of which occur. Predictions of several classifiers are ranked
// together.
func areaUnderCurve(p Predictions) (Estimate, bool) {
	rows, size, ok := ranked(p)
	if !ok {
		return Estimate{}, false
	}
	s := func(i int) float64 { return p.Proba.At(i, 1) }

	var cases [2][]int
	below, pairs := 0, 0.0 // rows of class 0 with a smaller s; pairs in the right order, exact, a multiple of ½
	for from, to := 0, 0; from < len(rows); from = to {
		var tied [2]int
		for to = from; to < len(rows) && s(rows[to]) == s(rows[from]); to++ {
			label := p.Labels[rows[to]]
			tied[label]++
			cases[label] = append(cases[label], p.Cases[rows[to]])
		}
		pairs += float64(tied[1]) * (float64(below) + float64(tied[0])/2)
		below += tied[0]
	}
	area := pairs / (float64(size[0]) * float64(size[1]))
	lo, hi := areaInterval(area, distinct(cases[0]), distinct(cases[1]))
	return Estimate{area, lo, hi}, true
}

// areaInterval is the score interval of an area under the curve from m and n cases of the classes,
// method 5 of Newcombe (2006, Statistics in Medicine 25:559): all θ with |area - θ| ≤ z √V(θ),
//
//	V(θ) = θ(1-θ)/(mn) · (1 + N ((1-θ)/(2-θ) + θ/(1+θ))),  N = (m+n)/2 - 1
//
// the variance under exponential scores (Hanley & McNeil 1982) made symmetric in the classes. It is
// within 0 and 1, and has a width where the classes are perfectly separated.
func areaInterval(area float64, m, n int) (lo, hi float64) {
	if m < 2 || n < 2 {
		return math.NaN(), math.NaN()
	}
	pairs, cases := float64(m)*float64(n), float64(m+n)/2-1
	// end is the θ between area and the limit at which the difference is z standard deviations.
	end := func(limit float64) float64 {
		in, out := area, limit
		for range 100 {
			theta := (in + out) / 2
			variance := theta * (1 - theta) / pairs * (1 + cases*((1-theta)/(2-theta)+theta/(1+theta)))
			if math.Abs(area-theta) <= z95*math.Sqrt(variance) {
				in = theta
			} else {
				out = theta
			}
		}
		return in
	}
	return end(0), end(1)
}

// ROC is the receiver operating characteristic: for every threshold on s = p(y = +1), from the
// highest to the lowest, the share of class 0 that has at least that s (X, false positives) and of
// class 1 (Y, true positives), from (0, 0) to (1, 1). N is the number of predictions at or above
// the threshold. Cases of equal s come in together, so that the line through the points has the
// area of areaUnderCurve, ties by halves. It is defined where that is.
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

// ranked are the rows of two classes, both of which occur, by ascending p(y = +1), and how many
// there are of each class.
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
