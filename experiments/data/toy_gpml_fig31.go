package data

import "math/rand/v2"

var gpmlFig31 = Set{
	Name: "gpml_fig31",
	Doc: "drawn: 8 cases of logistic regression in the plane with weights (1, 1) and no bias, as in GPML Figure " +
		"3.1; the test set is a lattice",
	Citation: gpmlCitation, Licence: drawn, Features: 2,
	Rows: 8, Classes: []Count{{"-1", 4}, {"1", 4}},
	TestRows: 441, TestClasses: []Count{{"-1", 217}, {"1", 224}},
	toy: &toy{[]string{"true_p"}, line, func(r *rand.Rand) (train, test []toyExample) {
		at := func(x1, x2 float64) toyExample { return twoClass(r, line, x1, x2) }
		train = balanced(4, func() toyExample { return at(10*r.Float64()-5, 10*r.Float64()-5) })
		square(-5, 5, 21, func(x1, x2 float64) { test = append(test, at(x1, x2)) })
		return train, test
	}},
}

// line is logistic regression with weights (1, 1).
func line(x []float64) []float64 { return []float64{logistic(x[0] + x[1])} }
