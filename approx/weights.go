package approx

import "fmt"

// weights are the weights of Targets; nil: 1 each.
type weights []float64

func newWeights(y Targets) (weights, error) {
	if y.Weight != nil && len(y.Weight) != y.Len() {
		panic(fmt.Sprintf("approx: %d weights for %d labels", len(y.Weight), y.Len()))
	}
	for i, w := range y.Weight {
		if !(w > 0 && finite(w)) {
			return nil, fmt.Errorf("weight of case %d is %v, want a finite number above 0; leave out cases of weight 0",
				i, w)
		}
	}
	return y.Weight, nil
}

// takesNone returns an error where there are weights.
func (y Targets) takesNone(method string) error {
	if y.Weight == nil {
		return nil
	}
	return fmt.Errorf("%s takes no weights of cases; repeat each as often as its weight says, or use inference: "+
		"laplace or ep", method)
}

// of is the weight of case i.
func (w weights) of(i int) float64 {
	if w == nil {
		return 1
	}
	return w[i]
}

// copyShare is the share of a copy in the site of case i, 1/max(1, w).
func (w weights) copyShare(i int) float64 { return 1 / max(1, w.of(i)) }

// power is the power of p(y|f) that is the likelihood of a copy, min(1, w).
func (w weights) power(i int) float64 { return min(1, w.of(i)) }

// part has the weights of the listed cases only.
func (w weights) part(cases []int) weights {
	if w == nil {
		return nil
	}
	some := make(weights, len(cases))
	for a, i := range cases {
		some[a] = w[i]
	}
	return some
}
