package sets

import (
	"math"
	"math/rand/v2"
)

var gpmlFig35 = Set{
	Name: "gpml_fig35",
	Doc: "drawn: 20 cases in the unit square on the two sides of a wave, two of them alone on the other's side, of " +
		"the shape of GPML Figure 3.5, whose own are not printed; the test set is a lattice",
	Citation: gpmlCitation, Licence: drawn, Features: 2,
	Rows: 20, Classes: []Count{{"-1", 10}, {"1", 10}},
	TestRows: 441, TestClasses: []Count{{"-1", 218}, {"1", 223}},
	toy: &toy{[]string{"true_p"}, wave, func(r *rand.Rand) (train, test []toyExample) {
		train, test = onSquare(0, 1, 9, wave).draw(r)
		for _, lone := range []toyExample{{x: []float64{0.45, 0.75}, label: -1}, {x: []float64{0.15, 0.15}, label: 1}} {
			lone.truth = wave(lone.x)
			train = append(train, lone)
		}
		return train, test
	}},
}

// wave is ½ where x2 = ½ + sin(2πx1)/4.
func wave(x []float64) []float64 {
	return []float64{logistic(20 * (x[1] - 0.5 - 0.25*math.Sin(2*math.Pi*x[0])))}
}
