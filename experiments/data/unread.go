package data

import (
	"fmt"
	"strings"

	"github.com/gpc-tune/gpc-tune/internal/cause"
)

// Unread has the values of a column that cannot be read in cases to predict: they are no number, no
// date or no known category. The cases are still predicted.
type Unread struct {
	Column string
	Why    string // why the values cannot be read, and what replaces them
	N      int
	First  []Cell // the first few
}

// Cell is a value of a case in a file.
type Cell struct {
	Row   int    // number of the case, as in Data.Rows
	Line  int    // 0: the file has no lines
	Place string // row and column in a file without lines; empty: unknown
	Text  string
}

// maxCell is the number of bytes of a text in a message.
const maxCell = 40

// maxAlso is the number of values, or of spellings, that a message lists.
const maxAlso = 4

// add adds values of the column from later cases.
func (u *Unread) add(more Unread) {
	u.N += more.N
	u.First = append(u.First, more.First[:min(len(more.First), maxAlso-min(maxAlso, len(u.First)))]...)
}

// Merge joins the values of each column in earlier and in later cases.
func Merge(all []Unread, more []Unread) []Unread {
	for _, u := range more {
		k := 0
		for k < len(all) && (all[k].Column != u.Column || all[k].Why != u.Why) {
			k++
		}
		if k == len(all) {
			all = append(all, Unread{Column: u.Column, Why: u.Why})
		}
		all[k].add(u)
	}
	return all
}

// Notice counts the values, and names the first with their cases and places.
func (u Unread) Notice() cause.Notice {
	var cells []string
	for _, c := range u.First {
		place := c.Place
		if c.Line > 0 {
			place = fmt.Sprintf("line %d", c.Line)
		}
		if place != "" {
			place = " (" + place + ")"
		}
		cells = append(cells, fmt.Sprintf("%q of case %d%s", c.Text, c.Row, place))
	}
	more := ""
	if n := u.N - len(u.First); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return cause.Unknown.Of(u.N, "values of %q that %s; %s%s", u.Column, u.Why, strings.Join(cells, ", "), more)
}
