package sets

import (
	"math"
	"math/rand/v2"
)

// groupSD is the standard deviation of each of the three Gaussians of GPML Figure 3.6.
const groupSD = 0.8

// gpmlGroups are their means and cases.
var gpmlGroups = []struct {
	mean  float64
	cases int
	label float64
}{{-6, 20, 1}, {0, 30, -1}, {2, 10, 1}}

var gpmlFig36 = Set{
	Name: "gpml_fig36",
	Doc: "drawn: GPML Figure 3.6, 60 cases on a line from Gaussians at -6 (20, class 1), 0 (30, class -1) and 2 " +
		"(10, class 1) of deviation 0.8; 1000 more for tests",
	Citation: gpmlCitation, Licence: drawn, Features: 1,
	Rows: 60, Classes: []Count{{"-1", 30}, {"1", 30}},
	TestRows: 1000, TestClasses: []Count{{"-1", 491}, {"1", 509}},
	toy: &toy{[]string{"true_p"}, threeGroups, func(r *rand.Rand) (train, test []toyExample) {
		at := func(x, label float64) toyExample {
			return toyExample{[]float64{x}, threeGroups([]float64{x}), label}
		}
		for _, g := range gpmlGroups {
			for range g.cases {
				train = append(train, at(g.mean+groupSD*r.NormFloat64(), g.label))
			}
		}
		for range 1000 {
			k, u := 0, r.IntN(60)
			for ; u >= gpmlGroups[k].cases; k++ {
				u -= gpmlGroups[k].cases
			}
			test = append(test, at(gpmlGroups[k].mean+groupSD*r.NormFloat64(), gpmlGroups[k].label))
		}
		return train, test
	}},
}

// threeGroups is the probability of class 1, by Bayes' rule.
func threeGroups(x []float64) []float64 {
	var log [3]float64
	largest := math.Inf(-1)
	for k, g := range gpmlGroups {
		z := (x[0] - g.mean) / groupSD
		log[k] = math.Log(float64(g.cases)) - z*z/2
		largest = max(largest, log[k])
	}
	positive, all := 0.0, 0.0
	for k, g := range gpmlGroups {
		w := math.Exp(log[k] - largest)
		all += w
		if g.label > 0 {
			positive += w
		}
	}
	return []float64{positive / all}
}
