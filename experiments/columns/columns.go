// Package columns finds the role of every column of a table: an input of numbers or categories, the
// label, an identifier of cases, or a column that no classifier can use. It reads the file once and
// makes the data section of an experiment, with a reason for each column. kinds lists the kinds of
// columns; each way of recognising a kind is one file.
package columns

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
	"github.com/gpc-tune/gpc-tune/experiments/data/tables"
	"github.com/gpc-tune/gpc-tune/internal/pattern"
)

// asked is the reason given for a label that the user named.
const asked = "as asked for"

// Column describes a column of a file and its use.
type Column struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"` // name of one of kinds, or label
	Use     Use    `json:"-"`
	UsedAs  string `json:"use"`
	Found   string `json:"found"` // description of its values
	Missing int    `json:"missing,omitempty"`
	Levels  int    `json:"levels,omitempty"` // categories

	Order []string `json:"order,omitempty"` // all values, the lowest first, of an input that has such an order

	Date *cells.Date `json:"date,omitempty"` // form and parts of an input that is a date or a time

	// The meaning of the texts around numbers, as in data.Meaning.
	Unit     string         `json:"unit,omitempty"`
	Limits   bool           `json:"limits,omitempty"`
	Duration cells.TimeUnit `json:"duration,omitempty"`

	odd    map[string]int // texts that stand for a missing value among dates and durations
	number bool           // all values are numbers in the notation of the file
	names  bool           // its values are names and look like numbers
}

// Spread is the mean and the standard deviation of numbers, and whether their logarithms may be
// nearer to a normal distribution: they are above 0, their mean lies in the lowest third of their
// range, and the largest is ten times the smallest or more.
type Spread struct {
	Mean, SD float64
	Skewed   bool
}

// Table has the findings about a file, and the data section made from them.
type Table struct {
	tables.Layout
	Rows       int
	Duplicates int    // rows that repeat an earlier one
	Unlabelled int    // rows without a label
	Spellings  string // several spellings of a category, for each column of ignore_case
	Columns    []Column
	Label      int
	Why        string       // reason why the column is the label
	Candidates []Candidate  // columns that may be the label, the most likely first; none: the user named it
	unclear    string       // why the most likely candidate is not clear; empty: it is
	Notes      []string     // what the user should decide or know about columns
	Skewed     []string     // inputs of numbers, none below 0, that a power or logarithm may make symmetric
	shares     []string     // columns of numbers that add up to 1 in every row
	Classes    []data.Count // classes of the label, in order of their texts; none if it is a number
	Rare       []data.Count // classes with too few cases for training and test, left out
	Numeric    bool         // the label is a number
	Target     Spread       // only for a numeric label
	Spec       data.Spec    // train, label, id, group, drop, categories, …
}

// means reports whether the texts of the column have a meaning: an order, a date, a unit, a limit
// or a duration.
func (c Column) means() bool {
	return c.Order != nil || c.Date != nil || c.Unit != "" || c.Limits || c.Duration != ""
}

// Named reports whether the column is an input whose values are names although they are numbers.
func (c Column) Named() bool { return c.Use == Input && c.names }

// Reason says why the label is the label, and which column is the next guess.
func (t *Table) Reason() string {
	switch {
	case t.Why == asked:
		return t.Why
	case t.unclear != "":
		return "perhaps: " + t.unclear
	case len(t.Candidates) < 2:
		return "guessed, by " + t.Why
	}
	return fmt.Sprintf("guessed, by %s (the next guess is %s)", t.Why, t.Candidates[1].Column)
}

// Inputs returns the number of inputs that the columns make: a category makes one for each of its
// values.
func (t *Table) Inputs() (n int) {
	for _, c := range t.Columns {
		if c.Use != Input {
			continue
		}
		switch {
		case c.Date != nil:
			n += c.Date.Width()
		case c.Limits:
			n += 2
		default:
			n += max(1, c.Levels)
		}
	}
	return n
}

// Naming returns the name of a column in a specification: its name, or its number if the file has
// no names.
func (t *Table) Naming(j int) string {
	if !t.Header {
		return strconv.Itoa(j + 1)
	}
	return t.Names[j]
}

// Use is the role of a column.
type Use int

// The uses of a column.
const (
	Input Use = iota
	Label
	ID    // copied to the predictions
	Group // all cases of a group are in the same fold
	Left  // left out
	weights
)

// String is the name of the role in messages.
func (u Use) String() string {
	return []string{"input", "label", "id", "group", "left out", "weights"}[u]
}

// Kind is a kind of columns.
type Kind struct {
	Name string
	Use  Use
	// category means that numbers of this kind are names.
	category bool
	// is reports whether a column is of this kind, and describes its values in words.
	is func(*profile) (found string, ok bool)
}

// leastRows is the number of rows from which on a regularity of a column, such as ascending
// numbers, is not taken for chance.
const leastRows = 20

// idName matches names of columns that identify something: id, patient_id, PatientID, case-no.
var idName = pattern.Of(`(?i)^(id|ids|uuid|guid|key|index|idx|nr|no|number|row|rownames|unnamed: 0)$|` +
	`^(case|record)$|[_ .-](id|uuid|guid|key|nr|no|index|idx)$|` +
	`^(id|case|record|row|sample|serial)[_ .-]?(id|nr|no|num|number|key)$|(?-i:[a-z](Id|ID|Nr|No|Key)$)`)

// countName matches names that identifiers and counts have.
var countName = pattern.Of(`(?i)^(no|nr|number|key|index)$`)

// Candidate is a column that may be the label, with the evidence for it.
type Candidate struct {
	Column         string `json:"column"`
	Why            string `json:"why"` // reasons to take it as the label
	place          int
	points         float64
	named, numeric bool // named: name or values suggest a label; numeric: many different numbers
}

// UnclearLabel is the error of a table whose columns do not tell which one is the label.
type UnclearLabel struct {
	Candidates []Candidate // five columns at most, the most likely first
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
