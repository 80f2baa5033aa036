package cv

import "gonum.org/v1/gonum/floats"

// Loss has the cost of every decision: L[c][d] is that of deciding for class d where class c is the truth.
type Loss [][]float64

// ZeroOne is the loss under which every error costs 1.
func ZeroOne(classes int) Loss {
	l := make(Loss, classes)
	for c := range l {
		l[c] = make([]float64, classes)
		for d := range l[c] {
			if c != d {
				l[c][d] = 1
			}
		}
	}
	return l
}

// Decide is the decision of least expected loss Σ_c L[c][d] p(c), GPML 3.1.1, and that loss. A tie goes to the first class,
// in natural order.
func (l Loss) Decide(proba []float64) (decision int, expected float64) {
	risk := make([]float64, len(l))
	for c, p := range proba {
		floats.AddScaled(risk, p, l[c])
	}
	decision = floats.MinIdx(risk)
	return decision, risk[decision]
}
