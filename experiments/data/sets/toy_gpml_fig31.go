package sets

var gpmlFig31 = Set{
	Name: "gpml_fig31",
	Doc: "drawn: 8 cases of logistic regression in the plane with weights (1, 1) and no bias, as in GPML Figure " +
		"3.1; the test set is a lattice",
	Citation: gpmlCitation, Licence: drawn, Features: 2,
	Rows: 8, Classes: []Count{{"-1", 4}, {"1", 4}},
	TestRows: 441, TestClasses: []Count{{"-1", 217}, {"1", 224}},
	toy: onSquare(-5, 5, 4, line),
}

// line is logistic regression with weights (1, 1).
func line(x []float64) []float64 { return []float64{logistic(x[0] + x[1])} }
