package data

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
	"github.com/gpc-tune/gpc-tune/experiments/data/tables"
)

// Rows collects cases to predict whose values have types: they come from a program, not from the
// text of a file, so that neither the notation of numbers nor the encoding of a file applies.
type Rows struct {
	schema *Schema // its indices are positions in a row
	table  *table
}

// Rows returns an empty collection of cases. The columns of a svmlight file have no names to give
// values to, which is an error.
func (s *Schema) Rows() (*Rows, error) {
	if s.Sparse {
		return nil, errors.New("the model was fitted to a svmlight file, whose columns have no names; use gpc-tune " +
			"predict")
	}
	at := *s
	at.Inputs, at.ID, at.Label.Index = slices.Clone(s.Inputs), slices.Clone(s.ID), -1
	for k := range at.Inputs {
		at.Inputs[k].IgnoreCase = at.Inputs[k].IgnoreCase || s.IgnoreCase
	}
	r := &Rows{&at, &table{Table: &tables.Table{Faults: &FileError{}}, want: s.request(false)}}
	t := r.table
	t.Form, t.label = "rows", -1
	column := func(c *Column, as role) {
		c.Index = len(t.Names)
		t.Names, t.roles = append(t.Names, c.Name), append(t.roles, as)
	}
	for k := range at.Inputs {
		as := number
		if at.Inputs[k].Levels != nil {
			as = category
		}
		column(&at.Inputs[k], as)
		t.trained(at.Inputs[k])
		t.inputs = append(t.inputs, k)
	}
	for k := range at.ID {
		column(&at.ID[k], carried)
	}
	t.want.plan = func(*table) error { return nil }
	return r, t.begin(64)
}

// Columns are the names of the values of a row: the inputs, then the ids.
func (r *Rows) Columns() []string { return r.table.Names }

// Len is the number of cases.
func (r *Rows) Len() int { return len(r.table.rows) }

// Add adds a case with a value for each of Columns: a json.Number, a string, a bool, or nil for a
// missing value. A string is read like a field of a file: in a column of numbers it has the
// notation of the file. In a column of categories, a number stands for the level with this number
// as its value or its text. A bool stands for a level such as true, True or TRUE.
func (r *Rows) Add(values []any) error {
	t := r.table
	if n, _ := t.numbers.Dims(); len(t.rows) == n {
		if !t.Faults.Fits(2*n, len(t.Names)) {
			return errors.New(t.Faults.Faults[0].Message)
		}
		t.numbers = t.numbers.Grow(n, 0).(*mat.Dense)
		for j := range t.texts {
			if t.texts[j] != nil {
				t.texts[j] = append(t.texts[j], make([]string, n)...)
			}
		}
	}
	t.add(0, func(j int) tables.Field {
		switch text, is := values[j].(string); {
		case is && t.roles[j] == carried:
			return tables.Field{Text: text}
		case t.roles[j] == category:
			return t.want.typed(values[j], r.schema.Inputs[j].Levels)
		}
		return t.want.typed(values[j], nil)
	}, func(int) int { return 0 })
	if t.Faults.Err() != nil {
		return errors.New(t.Faults.Faults[0].Message)
	}
	return nil
}

// typed is a value in a column with these levels, if it has categories.
func (want *readOptions) typed(value any, levels []string) tables.Field {
	switch value := value.(type) {
	case string:
		return tables.Field{Text: strings.TrimSpace(value)}
	case bool:
		text := strconv.FormatBool(value)
		return tables.Field{Text: levelOf(levels, text, func(l string) bool { return strings.EqualFold(l, text) })}
	case json.Number:
		text := value.String()
		v, ok := cells.ParsePlain(text)
		if !ok {
			v = math.NaN()
		}
		return tables.Field{Text: levelOf(levels, text, func(l string) bool {
			n, _ := want.Number(tables.Field{Text: l})
			return n == v || math.IsNaN(n) && l == text
		}), Typed: true, Number: v}
	}
	return tables.Field{Typed: true, Number: math.NaN()}
}

// levelOf returns the level that a value with this text stands for, as reported by stands. It is
// the text itself if that is such a level. Else it is the only such level, if there is exactly one.
// Else it is the text, marked as a number if another level has the same text.
func levelOf(levels []string, text string, stands func(level string) bool) string {
	var of []string
	for _, l := range levels {
		if stands(l) {
			of = append(of, l)
		}
	}
	switch {
	case slices.Contains(of, text) || len(of) != 1 && !slices.Contains(levels, text):
		return text
	case len(of) == 1:
		return of[0]
	}
	return text + " as a number"
}

// Data are the cases.
func (r *Rows) Data() (*Data, error) {
	r.table.finish()
	d, err := r.schema.data(r.table, false)
	if err != nil {
		return nil, err
	}
	d.Schema = nil // its indices are positions in a row, not columns of a file
	return d, nil
}
