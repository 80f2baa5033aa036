package record

import _ "embed"

//go:embed described.go
var describedSource string

// Described says of training data what is predicted from what.
type Described struct {
	DataHash string `json:"data_hash"` // the data of the configurations to which it belongs
	// in words: the label and its classes, how many inputs there are, and what is left out and why
	About    string         `json:"about"`
	Label    PredictedLabel `json:"label,omitzero"`
	LeftOut  []ColumnReason `json:"left_out,omitempty"` // columns that are neither inputs nor the label
	Suspects []ColumnReason `json:"suspects,omitempty"` // inputs that may give the label away
	// classes of the file that the experiment leaves out
	OtherClasses []ClassCount `json:"classes_left_out,omitempty"`
}

// ClassCount is a class with its number of cases.
type ClassCount struct {
	Class string `json:"class"` // its name
	Cases int    `json:"cases"` // number of cases of the class in the file
}

// PredictedLabel is the column that is predicted.
type PredictedLabel struct {
	Name    string   `json:"name"`    // of the column
	Classes []string `json:"classes"` // in order; null: it is numeric
	Counts  []int    `json:"counts"`  // training cases of each class; null: it is numeric
	Guessed bool     `json:"guessed"` // the file declares no label, so that it is the last column
}

// ColumnReason is a column with the reason for what is said of it.
type ColumnReason struct {
	Column string `json:"column"` // name of the column
	Reason string `json:"reason"` // why it is left out, or why it is suspect
}
