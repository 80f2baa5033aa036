package data

import (
	"slices"

	"github.com/gpc-tune/gpc-tune/internal/registry"
)

// Cells are a data file as texts: the column names, all distinct, and a row per case with a text
// for every column. The label is in the last column, unless the experiment says otherwise.
type Cells struct {
	Columns []string
	Rows    [][]string
}

// registered are the names of the readers registered by other programs.
var registered []string

// RegisterReader adds a reader for another data format. is reports whether a text has that format;
// no other reader's function may accept it. read parses the text. Missing values, categories and
// classes are then handled as in any other format. Registered readers are tried before those of
// this module. They have no version, because the hash of the content identifies the data. Call it
// during initialisation: it is not safe for concurrent use, and panics if the name is taken.
func RegisterReader(name string, is func(text string) bool, read func(text string) (Cells, error)) {
	registry.CheckName("reader", name, 1, registered)
	registered = append(registered, name)
	readers = slices.Insert(readers, len(registered)-1, reader{is, func(t *table, text string, want request) error {
		cells, err := read(text)
		if err != nil {
			t.faults.add(0, 0, "%s: %v", name, err)
			return nil
		}
		return t.take(name, cells, want)
	}})
}

// take fills a table from cells.
func (t *table) take(form string, cells Cells, want request) error {
	t.form, t.header, t.names, t.label = form, true, slices.Clone(cells.Columns), len(cells.Columns)-1
	seen := map[string]bool{}
	for j, name := range t.names {
		if name == "" || seen[name] {
			t.faults.add(0, 0, "%s: the name %q of column %d is empty or occurs twice", form, name, j+1)
			return nil
		}
		seen[name] = true
	}
	if len(t.names) == 0 || len(cells.Rows) == 0 {
		t.faults.add(0, 0, "%s: has no columns, or no cases", form)
		return nil
	}
	if err := t.begin(want, len(cells.Rows)); err != nil {
		return err
	}
	for i, row := range cells.Rows {
		if len(row) != len(t.names) {
			t.faults.add(0, 0, "%s: row %d (counted from 1) has %d cells, and there are %d columns", form,
				i+1, len(row), len(t.names))
			t.read++
			continue
		}
		t.add(want, i+1, func(j int) field { return field{text: row[j]} }, func(int) int { return 0 })
	}
	return nil
}
