package columns

import (
	"fmt"
	"strings"
)

// Candidate is a column that may be the label, with the evidence for it.
type Candidate struct {
	Column         string `json:"column"`
	Why            string `json:"why"` // what speaks for it
	place          int
	points         float64
	named, numeric bool // its name or its values speak for it; it has numbers of many values
}

// UnclearLabel is the error of a table whose columns do not tell which one is the label.
type UnclearLabel struct {
	Candidates []Candidate // the most likely columns, in order; at most five
	Reason     string      // why none of them was taken
}

// Error names the candidates.
func (e *UnclearLabel) Error() string {
	var all []string
	for _, c := range e.Candidates {
		all = append(all, fmt.Sprintf("%q (%s)", c.Column, c.Why))
	}
	return fmt.Sprintf("which column is the label is not clear: %s; name it; candidates: %s", e.Reason,
		strings.Join(all, ", "))
}
