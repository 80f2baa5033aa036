package cv

import (
	"cmp"
	"math"
	"slices"
)

// areaUnderCurve is the Mann-Whitney statistic: the mean of [s₁ > s₀] + ½ [s₁ = s₀] over all pairs
// of a case of class 1 and a case of class 0, with s = p(y = +1). Its interval is areaInterval;
// there is none with fewer than two cases of a class.
//
// It is defined for two classes if both occur. Predictions of several classifiers are ranked
// together.
func areaUnderCurve(p Predictions) (Estimate, bool) {
	above, ok := ranking(p)
	if !ok {
		return Estimate{}, false
	}
	pairs, before := 0.0, [2]float64{} // pairs in the right order; exact, since multiples of ½ are
	for _, n := range above {
		pairs += (n.of[0] - before[0]) * (before[1] + (n.of[1]-before[1])/2)
		before = n.of
	}
	cases := func(class int) float64 { return p.effective(func(i int) bool { return p.Labels[i] == class }) }
	area := pairs / (before[0] * before[1])
	lo, hi := areaInterval(area, cases(0), cases(1))
	return Estimate{area, lo, hi}, true
}

// areaInterval is the score interval of an area under the curve from m and n cases of the classes,
// method 5 of Newcombe (2006, Statistics in Medicine 25:559): all θ with |area - θ| ≤ z √V(θ),
//
//	V(θ) = θ(1-θ)/(mn) · (1 + N ((1-θ)/(2-θ) + θ/(1+θ))),  N = (m+n)/2 - 1
//
// the variance under exponential scores (Hanley & McNeil 1982) made symmetric in the classes. It is
// inside [0, 1], and has positive width even if the classes are perfectly separated.
func areaInterval(area, m, n float64) (lo, hi float64) {
	if m < 2 || n < 2 {
		return math.NaN(), math.NaN()
	}
	pairs, cases := m*n, (m+n)/2-1
	// end returns the θ between area and limit at which the difference is z standard deviations.
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

// ROC is the receiver operating characteristic, from (0, 0) to (1, 1). Every threshold on s = p(y =
// +1), from the highest to the lowest, has a point. X is the fraction of class 0 with s at or above
// the threshold (false positive rate), and Y is this fraction of class 1 (true positive rate). N is
// the number of predictions at or above the threshold. Cases with equal s form one point, so the
// area under the line is areaUnderCurve, with ties counted by halves. It is defined if
// areaUnderCurve is.
func ROC(p Predictions) (Series, bool) {
	above, ok := ranking(p)
	if !ok {
		return Series{}, false
	}
	s := Series{X: []float64{0}, Y: []float64{0}, N: []int{0}}
	all := above[len(above)-1].of
	for _, n := range above {
		s.X = append(s.X, n.of[0]/all[0])
		s.Y = append(s.Y, n.of[1]/all[1])
		s.N = append(s.N, n.rows)
	}
	return s, true
}

// ranked has the weight of each class among some rows, and the number of rows.
type ranked struct {
	of   [2]float64
	rows int
}

// ranking returns, for every value of p(y = +1) from the highest on, the rows of each class with at
// least that value, by their weights. ok is false unless there are two classes that both occur.
func ranking(p Predictions) (above []ranked, ok bool) {
	if p.Numeric() || p.Proba.RawMatrix().Cols != 2 {
		return nil, false
	}
	rows := make([]int, len(p.Labels))
	for i := range rows {
		rows[i] = i
	}
	slices.SortFunc(rows, func(i, j int) int { return cmp.Compare(p.Proba.At(j, 1), p.Proba.At(i, 1)) })
	var n ranked
	for k, i := range rows {
		n.of[p.Labels[i]] += p.weight(i)
		n.rows++
		if k+1 == len(rows) || p.Proba.At(rows[k+1], 1) != p.Proba.At(i, 1) {
			above = append(above, n)
		}
	}
	return above, n.of[0] > 0 && n.of[1] > 0
}
