package sets

import (
	"math"
	"math/rand/v2"
)

// mixtureMeans are the means of the two equally likely Gaussians of each class, with variance
// mixtureVariance along both inputs.
var mixtureMeans = map[float64][2][2]float64{
	-1: {{-1, 0}, {1, 0}},
	1:  {{-0.5, 1}, {1.5, 1}},
}

const mixtureVariance = 0.2

var mixture = Set{
	Name: "mixture",
	Doc: "drawn: 200 cases of two classes in the plane, each a mixture of two Gaussians, whose best boundary is " +
		"known; 1000 more for tests",
	Citation: sinusoidCitation, Licence: drawn, Features: 2,
	Rows: 200, Classes: []Count{{"-1", 100}, {"1", 100}},
	TestRows: 1000, TestClasses: []Count{{"-1", 500}, {"1", 500}},
	toy: &toy{[]string{"true_p"}, fourGaussians, func(r *rand.Rand) (train, test []toyExample) {
		for i := range 1200 {
			label := float64(i%2*2 - 1)
			m, s := mixtureMeans[label][r.IntN(2)], math.Sqrt(mixtureVariance)
			x := []float64{m[0] + s*r.NormFloat64(), m[1] + s*r.NormFloat64()}
			c := toyExample{x, fourGaussians(x), label}
			if i < 200 {
				train = append(train, c)
			} else {
				test = append(test, c)
			}
		}
		return train, test
	}},
}

// fourGaussians is the probability of class 1, by Bayes' rule.
func fourGaussians(x []float64) []float64 {
	log := func(label float64) float64 { // log density, up to a constant
		var l [2]float64
		for k, m := range mixtureMeans[label] {
			l[k] = (m[0]*x[0] + m[1]*x[1] - (m[0]*m[0]+m[1]*m[1])/2) / mixtureVariance
		}
		return max(l[0], l[1]) + math.Log1p(math.Exp(-math.Abs(l[0]-l[1])))
	}
	return []float64{logistic(log(1) - log(-1))}
}
