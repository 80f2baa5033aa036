// Package sets has the bundled data sets: files, and generated sets whose truth is known.
package sets

import "math/rand/v2"

// Set is a bundled data set. Its inputs are raw: nothing is scaled or imputed.
type Set struct {
	Name, Doc, Citation, Licence string
	Train, Test                  string // file names, for a set that is read; Test is empty if there is no test file
	Features                     int
	Rows, TestRows               int
	Classes, TestClasses         []Count // labels in natural order; nil for numeric labels
	toy                          *toy    // generator of the set, instead of files
}

// Generated reports whether the set is drawn instead of read.
func (s Set) Generated() bool { return s.toy != nil }

// TruthColumns are the names of the columns with the true values; nil for a set that is read.
func (s Set) TruthColumns() []string {
	if s.toy == nil {
		return nil
	}
	return s.toy.truth
}

// Truth returns the true values at the raw inputs x of a generated set, by TruthColumns.
func (s Set) Truth(x []float64) []float64 { return s.toy.at(x) }

// Count is the number of cases of one class.
type Count struct {
	Class string `json:"class"`
	N     int    `json:"n"`
}

// toy is a generated data set, with a fixed seed. The truth for each case is known and is kept in
// id columns: true_p, the probability of class 1 of two, true_p[CLASS] for more classes, or
// true_mean for numeric labels.
type toy struct {
	truth []string                                      // names of the columns of true values
	at    func(x []float64) []float64                   // the true values at inputs, by column
	draw  func(r *rand.Rand) (train, test []toyExample) // test may be nil
}

// toyExample is a generated case.
type toyExample struct {
	x, truth []float64
	label    float64
}
