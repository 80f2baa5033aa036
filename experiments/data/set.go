package data

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
