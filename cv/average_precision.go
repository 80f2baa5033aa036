package cv

// averagePrecision is Σ_k (R_k - R_{k-1}) P_k, the area under PrecisionRecall. The sum is over the
// thresholds of p(y = +1), from the highest to the lowest. R_k is the fraction of class 1 at or
// above the threshold, and P_k is the fraction of class 1 among all cases at or above it. For
// random guessing it is near the fraction of class 1. Its interval is Wilson's, as for a rate over
// the cases of class 1 (Boyd, Eng & Page 2013, ECML PKDD).
//
// It is defined if areaUnderCurve is.
func averagePrecision(p Predictions) (Estimate, bool) {
	above, ok := ranking(p)
	if !ok {
		return Estimate{}, false
	}
	sum, before := 0.0, 0.0
	for _, n := range above {
		sum += (n.of[1] - before) * n.of[1] / (n.of[0] + n.of[1])
		before = n.of[1]
	}
	area := min(1, sum/before)
	lo, hi := wilson(area, p.effective(func(i int) bool { return p.Labels[i] == 1 }))
	return Estimate{area, lo, hi}, true
}

// PrecisionRecall has points for every threshold on p(y = +1), from the highest to the lowest. X is
// the fraction of class 1 at or above the threshold (recall), and Y is the fraction of class 1
// among all cases at or above it (precision). It is a step function: each threshold has two points,
// at the previous recall and at its own, so that the area below is averagePrecision. N is the
// number of predictions at or above the threshold. It is defined if areaUnderCurve is.
func PrecisionRecall(p Predictions) (Series, bool) {
	above, ok := ranking(p)
	if !ok {
		return Series{}, false
	}
	var s Series
	all, before := above[len(above)-1].of[1], 0.0
	for _, n := range above {
		recall, precision := n.of[1]/all, n.of[1]/(n.of[0]+n.of[1])
		s.X = append(s.X, before, recall)
		s.Y = append(s.Y, precision, precision)
		s.N = append(s.N, n.rows, n.rows)
		before = recall
	}
	return s, true
}
