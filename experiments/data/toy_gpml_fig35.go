package data

import "math"

var gpmlFig35 = Set{
	Name: "gpml_fig35",
	Doc: "drawn: 20 cases in the unit square on the two sides of a wave, of the shape of GPML Figure 3.5, whose own " +
		"are not printed; the test set is a lattice",
	Citation: gpmlCitation, Licence: drawn, Features: 2,
	Rows: 20, Classes: []Count{{"-1", 10}, {"1", 10}},
	TestRows: 441, TestClasses: []Count{{"-1", 214}, {"1", 227}},
	toy: onSquare(0, 1, 10, wave),
}

// wave is ½ where x2 = ½ + sin(2πx1)/4.
func wave(x []float64) []float64 {
	return []float64{logistic(20 * (x[1] - 0.5 - 0.25*math.Sin(2*math.Pi*x[0])))}
}
