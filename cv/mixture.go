package cv

// Mix makes p a mixture: of itself, with the weight 1-w, and of what another model said of the same cases, with the weight w.
// Class probabilities are averaged. For numeric targets p has the mixture's mean and variance, which is more than the
// average of the variances by w(1-w) times the squared difference of the means. The weights 1/2, 1/3, … in turn give equal parts.
func (p *Predictions) Mix(q Predictions, w float64) {
	if p.Numeric() {
		for i, m := range q.Mean {
			d := m - p.Mean[i]
			p.Mean[i] += w * d
			p.Variance[i] += w*(q.Variance[i]-p.Variance[i]) + w*(1-w)*d*d
		}
		return
	}
	p.Proba.Apply(func(i, c int, old float64) float64 { return (1-w)*old + w*q.Proba.At(i, c) }, p.Proba)
}
