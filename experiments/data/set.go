package data

import "math/rand/v2"

// Set is a bundled data set. Its inputs are raw: nothing is scaled or imputed.
type Set struct {
	Name, Doc, Citation, Licence string
	Train, Test                  string // file names, of a set that is read; Test is empty where it has no test file
	Features                     int
	Rows, TestRows               int
	Classes, TestClasses         []Count // in natural order; nil for numeric labels
	toy                          *toy    // in place of the files
}

// Count is the number of cases of one class.
type Count struct {
	Class string `json:"class"`
	N     int    `json:"n"`
}

// toy is a data set that is drawn, from a seed of its own and so always the same, and not read from
// a file. What is true of each case is known and carried through as id columns: true_p, the
// probability of the class 1 of two, true_p[CLASS] for more, or true_mean of numeric labels.
type toy struct {
	truth []string                                      // names of those columns
	at    func(x []float64) []float64                   // what is true of inputs, by column
	draw  func(r *rand.Rand) (train, test []toyExample) // test may be nil
}

// toyExample is a case of one.
type toyExample struct {
	x, truth []float64
	label    float64
}
