package cv

// Mix makes p a mixture: of itself, with the weight 1-w, and of what another model said of the same
// cases, with the weight w. Class probabilities are averaged; numeric targets have the moments of
// MixMoments. The weights 1/2, 1/3, … in turn give equal parts.
func (p *Predictions) Mix(q Predictions, w float64) {
	if p.Numeric() {
		MixMoments(p.Mean, p.Variance, q.Mean, q.Variance, w)
		return
	}
	p.Proba.Apply(func(i, c int, old float64) float64 { return (1-w)*old + w*q.Proba.At(i, c) }, p.Proba)
}

// MixMoments sets mean and variance, entry by entry, to those of a mixture: of what they are of,
// with the weight 1-w, and of what has mean m and variance v, with the weight w. The variance is
// w(1-w) times the squared difference of the means more than the average of both.
func MixMoments(mean, variance, m, v []float64, w float64) {
	for i := range mean {
		d := m[i] - mean[i]
		mean[i] += w * d
		variance[i] += w*(v[i]-variance[i]) + w*(1-w)*d*d
	}
}
