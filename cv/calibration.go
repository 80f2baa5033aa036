package cv

import (
	"cmp"
	"math"
	"slices"
)

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

// LeastReliable is the least number of rows in a bin of Reliability.
const LeastReliable = 10

// Reliability has, for two classes, the mean probability of the second class and its frequency in
// bins of equally many rows, ordered by the probability: up to ten bins, of LeastReliable rows or
// more. Lo and Hi are Wilson's 95 % intervals. It is not defined for fewer rows.
func Reliability(p Predictions) (s Series, ok bool) {
	n := len(p.Labels)
	bins := min(10, n/LeastReliable)
	if p.Numeric() || p.Proba.RawMatrix().Cols != 2 || bins == 0 {
		return s, false
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p.Proba.At(a, 1), p.Proba.At(b, 1)) })
	for b := range bins {
		rows := order[b*n/bins : (b+1)*n/bins]
		sum, positive, confidence := 0.0, 0.0, 0.0
		in := make([]bool, n)
		for _, i := range rows {
			w := p.weight(i)
			in[i] = true
			sum, confidence = sum+w, confidence+w*p.Proba.At(i, 1)
			positive += w * float64(p.Labels[i])
		}
		lo, hi := wilson(positive/sum, p.effective(func(i int) bool { return in[i] }))
		s.X, s.Y, s.N = append(s.X, confidence/sum), append(s.Y, positive/sum), append(s.N, len(rows))
		s.Lo, s.Hi = append(s.Lo, lo), append(s.Hi, hi)
	}
	return s, true
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
