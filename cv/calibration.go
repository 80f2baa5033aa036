package cv

import "math"

// calibrationBins is the number of bins of ece and the calibration curve: bin b holds the largest
// probabilities in (b/15, (b+1)/15].
const calibrationBins = 15

// calibration is the mean confidence (largest probability) and the accuracy of the predictions in
// every nonempty bin.
func calibration(p Predictions) Series {
	var n, errors [calibrationBins]int
	var confidence [calibrationBins]float64
	var cases [calibrationBins][]int
	for i, label := range p.Labels {
		row := p.Proba.RawRowView(i)
		decision := Decide(row)
		b := min(int(math.Ceil(row[decision]*calibrationBins)), calibrationBins) - 1
		n[b]++
		confidence[b] += row[decision]
		cases[b] = append(cases[b], p.Cases[i])
		if decision != label {
			errors[b]++
		}
	}
	var s Series
	for b, n := range n {
		if n > 0 {
			s.X = append(s.X, confidence[b]/float64(n))
			s.Y = append(s.Y, float64(n-errors[b])/float64(n))
			s.N = append(s.N, n)
			lo, hi := wilson(float64(n-errors[b])/float64(n), distinct(cases[b]))
			s.Lo, s.Hi = append(s.Lo, lo), append(s.Hi, hi)
		}
	}
	return s
}

// expectedCalibrationError is Σ_b n_b/m |accuracy_b - confidence_b| (Naeini, Cooper & Hauskrecht
// 2015, AAAI). It has no interval, because its sampling distribution is neither centred nor normal.
func expectedCalibrationError(p Predictions) (Estimate, bool) {
	s := calibration(p)
	sum := 0.0
	for b, n := range s.N {
		sum += float64(n) * math.Abs(s.Y[b]-s.X[b])
	}
	return withoutInterval(sum / float64(len(p.Labels))), true
}

// Surplus is the overconfidence of every row. For classes it is the largest probability, minus 1 if
// the decision is right. For numbers it is the squared error divided by the predicted variance,
// minus 1. Its mean is 0 in expectation if predictions are calibrated, and positive if they are
// overconfident.
func (p Predictions) Surplus() []float64 {
	out := make([]float64, len(p.Cases))
	for i := range out {
		if p.Numeric() {
			e := p.Targets[i] - p.Mean[i]
			out[i] = e*e/p.Variance[i] - 1
			continue
		}
		row := p.Proba.RawRowView(i)
		decision := Decide(row)
		out[i] = row[decision]
		if decision == p.Labels[i] {
			out[i]--
		}
	}
	return out
}
