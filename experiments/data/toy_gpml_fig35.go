package data

import (
	"math"
	"math/rand/v2"
)

var gpmlFig35 = Set{
	Name: "gpml_fig35",
	Doc: "drawn: 20 cases in the unit square on the two sides of a wave, of the shape of GPML Figure 3.5, whose own " +
		"are not printed; the test set is a lattice",
	Citation: gpmlCitation, Licence: drawn, Features: 2,
	Rows: 20, Classes: []Count{{"-1", 10}, {"1", 10}},
	TestRows: 441, TestClasses: []Count{{"-1", 214}, {"1", 227}},
	toy: &toy{[]string{"true_p"}, wave, func(r *rand.Rand) (train, test []toyExample) {
		at := func(x1, x2 float64) toyExample { return twoClass(r, wave, x1, x2) }
		train = balanced(10, func() toyExample { return at(r.Float64(), r.Float64()) })
		square(0, 1, 21, func(x1, x2 float64) { test = append(test, at(x1, x2)) })
		return train, test
	}},
}

// wave is ½ where x2 = ½ + sin(2πx1)/4.
func wave(x []float64) []float64 {
	return []float64{logistic(20 * (x[1] - 0.5 - 0.25*math.Sin(2*math.Pi*x[0])))}
}
