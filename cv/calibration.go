package cv

import "math"

// calibrationBins is the number of bins of ece and the calibration curve: bin b holds the largest
// probabilities in (b/15, (b+1)/15].
const calibrationBins = 15

// calibration is the mean confidence (largest probability) and the accuracy of the predictions in
// every nonempty bin, and the weight of the bins.
func calibration(p Predictions) (s Series, weight []float64) {
	var rows [calibrationBins]int
	var n, errors, confidence [calibrationBins]float64
	in := make([]int, len(p.Labels)) // the bin of each row
	for i, label := range p.Labels {
		row := p.Proba.RawRowView(i)
		decision := Decide(row)
		b := min(int(math.Ceil(row[decision]*calibrationBins)), calibrationBins) - 1
		w := p.weight(i)
		rows[b]++
		n[b] += w
		confidence[b] += w * row[decision]
		in[i] = b
		if decision != label {
			errors[b] += w
		}
	}
	for b, n := range n {
		if rows[b] > 0 {
			s.X = append(s.X, confidence[b]/n)
			s.Y = append(s.Y, (n-errors[b])/n)
			s.N = append(s.N, rows[b])
			lo, hi := wilson((n-errors[b])/n, p.effective(func(i int) bool { return in[i] == b }))
			s.Lo, s.Hi, weight = append(s.Lo, lo), append(s.Hi, hi), append(weight, n)
		}
	}
	return s, weight
}

// expectedCalibrationError is Σ_b n_b/m |accuracy_b - confidence_b| (Naeini, Cooper & Hauskrecht
// 2015, AAAI). It has no interval, because its sampling distribution is neither centred nor normal.
func expectedCalibrationError(p Predictions) (Estimate, bool) {
	s, weight := calibration(p)
	sum := 0.0
	for b, n := range weight {
		sum += n * math.Abs(s.Y[b]-s.X[b])
	}
	return withoutInterval(sum / p.Total()), true
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
