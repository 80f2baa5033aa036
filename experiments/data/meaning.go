package data

import (
	"fmt"
	"slices"
)

// meaning makes numbers of the values of an input that are not written as numbers.
type meaning interface {
	number(text string) (v float64, ok bool)
	// lacks says of a text without a number, or of several, what is wrong, and what to do in the data
	// section.
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

// mean makes numbers of the values of an input where they mean some.
func (t *table) mean(c Column) {
	m := c.meaning()
	if m == nil || c.Index < 0 {
		return
	}
	if t.meanings == nil {
		t.meanings, t.unknown = map[int]meaning{}, map[int]int{}
	}
	t.meanings[c.Index], t.roles[c.Index] = m, number
}

// means gives inputs their meaning, whose columns are at these places.
func (s Spec) means(schema *Schema, t *table, places []int) error {
	names := s.Columns.described()
	for i, j := range places {
		k := slices.IndexFunc(schema.Inputs, func(c Column) bool { return c.Index == j })
		if k < 0 {
			return problem("columns", "column %q is not an input; remove its meaning", t.names[j])
		}
		c, of := &schema.Inputs[k], s.Columns.Described[string(names[i])]
		if of.Ordered != nil {
			c.Order = s.texts(of.Ordered)
		}
		if of.Date != nil {
			date := *of.Date
			if other := slices.Index(names, date.Since); other >= 0 {
				date.Since = Name(t.names[places[other]])
			}
			c.Date = &date
		}
		t.mean(*c)
	}
	return nil
}

// checkMeanings checks the meanings of inputs.
func (s Spec) checkMeanings() (p Problems) {
	for _, name := range s.Columns.described() {
		of := s.Columns.Described[string(name)]
		switch {
		case name == "":
			p.add("columns", "a column has no name; write it, or its number from 1")
		case of.Date != nil && of.Ordered != nil:
			p.add("columns", "%q has an order and is a date; keep one", name)
		case of.Date != nil:
			if err := of.Date.check(); err != nil {
				p.add("columns", "the date %q: %v", name, err)
			} else if err := s.Columns.checkSince(name, *of.Date); err != nil {
				p.add("columns", "the date %q: %v", name, err)
			}
		default:
			p = append(p, checkOrder(name, s.texts(of.Ordered))...)
		}
	}
	return p
}

// checkOrder checks the order of an input.
func checkOrder(name Name, of []string) (p Problems) {
	if len(of) < 2 {
		p.add("columns", "the order of %q has %s; write all values, the lowest first, as in {%s: {ordered: "+
			"[never, sometimes, often]}}", name, several(len(of), "value"), name)
	}
	for i, text := range of {
		if slices.Contains(of[:i], text) {
			p.add("columns", "%q occurs twice in the order of %q; remove one", text, name)
		}
	}
	return p
}
