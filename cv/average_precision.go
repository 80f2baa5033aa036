package cv

// averagePrecision is Σ_k (R_k - R_{k-1}) P_k over the thresholds of p(y = +1), from the highest to
// the lowest, with R_k the fraction of class 1 at or above the threshold and P_k the fraction of
// class 1 among the cases there: the area under PrecisionRecall. For random guessing it is near the
// fraction of class 1. Its variance is taken as that of a rate over the cases of class 1 (Boyd, Eng
// & Page 2013, ECML PKDD), whose interval is Wilson's.
//
// It is defined if areaUnderCurve is.
func averagePrecision(p Predictions) (Estimate, bool) {
	above, ok := ranking(p)
	if !ok {
		return Estimate{}, false
	}
	sum, before := 0.0, 0
	for _, n := range above {
		sum += float64(n[1]-before) * float64(n[1]) / float64(n[0]+n[1])
		before = n[1]
	}
	area := min(1, sum/float64(before))
	var cases []int
	for i, label := range p.Labels {
		if label == 1 {
			cases = append(cases, p.Cases[i])
		}
	}
	lo, hi := wilson(area, distinct(cases))
	return Estimate{area, lo, hi}, true
}

// PrecisionRecall has, for every threshold on p(y = +1) from the highest to the lowest, the
// fraction of class 1 at or above it (X, recall) and the fraction of class 1 among all cases at or
// above it (Y, precision). It is a step function: each threshold has two points, at the previous
// recall and at its own, so that the area below is averagePrecision. N is the number of predictions
// at or above the threshold. It is defined if areaUnderCurve is.
func PrecisionRecall(p Predictions) (Series, bool) {
	above, ok := ranking(p)
	if !ok {
		return Series{}, false
	}
	var s Series
	all, before := float64(above[len(above)-1][1]), 0.0
	for _, n := range above {
		recall, precision := float64(n[1])/all, float64(n[1])/float64(n[0]+n[1])
		s.X = append(s.X, before, recall)
		s.Y = append(s.Y, precision, precision)
		s.N = append(s.N, n[0]+n[1], n[0]+n[1])
		before = recall
	}
	return s, true
}
