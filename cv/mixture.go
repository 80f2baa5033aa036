package cv

// Mix replaces p by a mixture of itself, with the weight 1-w, and of the predictions q of another
// model for the same cases, with the weight w. Class probabilities are averaged; numeric targets
// get the moments of MixMoments. Calling it with the weights 1/2, 1/3, … in turn gives all parts
// equal weights.
func (p *Predictions) Mix(q Predictions, w float64) {
	if p.Numeric() {
		MixMoments(p.Mean, p.Variance, q.Mean, q.Variance, w)
		return
	}
	p.Proba.Apply(func(i, c int, old float64) float64 { return (1-w)*old + w*q.Proba.At(i, c) }, p.Proba)
}

// MixMoments mixes two distributions, elementwise: the first has mean and variance and the weight
// 1-w, the second m, v and w. It replaces mean and variance by the moments of the mixture, whose
// variance is the weighted average of both variances plus w(1-w) times the squared difference of
// the means.
func MixMoments(mean, variance, m, v []float64, w float64) {
	for i := range mean {
		d := m[i] - mean[i]
		mean[i] += w * d
		variance[i] += w*(v[i]-variance[i]) + w*(1-w)*d*d
	}
}
