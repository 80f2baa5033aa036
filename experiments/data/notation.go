package data

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
)

// CheckNumbers returns an error if two cases to predict, or more, have texts in a plain numeric
// input, none has a number there, and in another notation the first text is one: the file has
// another decimal mark than the training file. Other texts are missing values.
func (s *Schema) CheckNumbers(d *Data) error {
	first := 0 // column of the input
	for _, c := range s.Inputs {
		column := first
		first += c.width()
		k := slices.IndexFunc(d.Unread, func(u Unread) bool { return u.Column == c.Name })
		if k < 0 || d.Unread[k].N < 2 || c.Levels != nil || c.Date != nil || c.Order != nil {
			continue
		}
		if slices.ContainsFunc(mat.Col(nil, column, d.X), func(v float64) bool { return !math.IsNaN(v) }) {
			continue
		}
		text := d.Unread[k].First[0].Text
		for _, other := range cells.DecimalModes {
			if _, is := cells.ParseNumber(text, other); is {
				return fmt.Errorf("no value of %q is a number as in the training file; one is %q; this model reads "+
					"decimal: %s", c.Name, text, cmp.Or(s.Decimal, "point"))
			}
		}
	}
	return nil
}
