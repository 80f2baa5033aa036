package cv

import "math"

// rankErrors are the distances, in classes, of the decisions from the true classes.
func rankErrors(p Predictions) []float64 {
	errors := make([]float64, len(p.Labels))
	for i, label := range p.Labels {
		errors[i] = math.Abs(float64(Decide(p.Proba.RawRowView(i)) - label))
	}
	return errors
}

// rankedProbabilities are Σ_k (P(y ≤ k) - [y ≤ k])² over all classes k but the last (Epstein 1969).
func rankedProbabilities(p Predictions) []float64 {
	scores := make([]float64, len(p.Labels))
	for i, label := range p.Labels {
		row, below := p.Proba.RawRowView(i), 0.0
		for k, q := range row[:len(row)-1] {
			below += q
			d := below
			if label <= k {
				d = 1 - below
			}
			scores[i] += d * d
		}
	}
	return scores
}

// ofOrdered is the mean over cases, if the classes have an order.
func ofOrdered(each func(Predictions) []float64) func(Predictions) (Estimate, bool) {
	return func(p Predictions) (Estimate, bool) {
		if !p.Ordered {
			return Estimate{}, false
		}
		return p.mean(each(p)), true
	}
}
