package data

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
)

// CheckNumbers returns an error if the numbers of cases to predict are written otherwise than in
// the training file. Its evidence is numeric inputs with texts and without any number. One such
// input is enough if two cases or more have texts there. Two such inputs are enough for a single
// case, if both texts are numbers with another decimal mark.
func (s *Schema) CheckNumbers(d *Data) error {
	first := 0 // column of the input
	marks := 0 // inputs whose text is a number with another decimal mark
	for _, c := range s.Inputs {
		column := first
		first += c.width()
		k := slices.IndexFunc(d.Unread, func(u Unread) bool { return u.Column == c.Name })
		if k < 0 || c.Levels != nil || c.Date != nil || c.Order != nil {
			continue
		}
		if slices.ContainsFunc(mat.Col(nil, column, d.X), func(v float64) bool { return !math.IsNaN(v) }) {
			continue
		}
		text, hint := d.Unread[k].First[0].Text, "correct the column, or leave it out"
		if slices.ContainsFunc(cells.DecimalModes, func(other string) bool {
			_, is := cells.ParseNumber(text, other)
			return is
		}) {
			hint = "this model reads decimal: " + cmp.Or(s.Decimal, "point")
			marks++
		}
		if d.Unread[k].N > 1 || marks > 1 {
			return fmt.Errorf("no value of %q is a number as in the training file; one is %q; %s", c.Name, text, hint)
		}
	}
	return nil
}
