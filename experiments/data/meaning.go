package data

import (
	"fmt"
	"slices"
)

// meaning makes numbers of the values of an input that are not written as numbers.
type meaning interface {
	number(text string) (v float64, ok bool)
	// lacks says of a text without a number, or of several, what is wrong, and what to do in the
	// data section.
	lacks() (one, several, remedy string)
}

// ranked has all values of an input, the lowest first.
type ranked []string

func (r ranked) number(text string) (float64, bool) {
	k := slices.Index(r, text)
	return float64(k + 1), k >= 0
}

func (r ranked) lacks() (one, several, remedy string) {
	return fmt.Sprintf("is not in its order (%s)", list(r)), "are not in its order", "or add it there"
}

// meaning is what the values of the column mean; nil: numbers are written as such.
func (c Column) meaning() meaning {
	switch {
	case c.Order != nil:
		return ranked(c.Order)
	case c.Date != nil:
		return c.Date
	}
	return nil
}
