package data

import (
	"slices"

	"github.com/gpc-tune/gpc-tune/internal/registry"
)

// Cells is a data file as texts: the column names, all distinct, and a row per case with a text for
// every column. The label is in the last column, unless the experiment says otherwise.
type Cells struct {
	Columns []string
	Rows    [][]string
}

// registered has the names of the readers registered by other programs.
var registered []string

// RegisterReader adds a reader for another data format. is reports whether a text has that format;
// no other reader's function may accept it. read parses the text. Missing values, categories and
// classes are then handled as in any other format. Registered readers are tried before the readers
// of this module. They have no version, because the hash of the content identifies the data. Call
// it during initialisation: it is not safe for concurrent use, and panics if the name is taken.
func RegisterReader(name string, is func(text string) bool, read func(text string) (Cells, error)) {
	registry.CheckName("reader", name, 1, registered)
	registered = append(registered, name)
	open := func(t *table, src source, _ *readOptions) (contents, int) {
		content, err := read(src.text)
		if err != nil {
			t.faults.add(0, 0, "%s: %v", name, err)
			return nil, 0
		}
		return t.take(name, content)
	}
	readers = slices.Insert(readers, len(registered)-1, reader{is: is, open: open})
}

// take opens the cells of a registered format.
func (t *table) take(form string, content Cells) (contents, int) {
	if len(content.Columns) == 0 || len(content.Rows) == 0 {
		t.faults.add(0, 0, "%s: has no columns, or no cases", form)
		return nil, 0
	}
	t.form, t.header, t.names, t.label = form, true, slices.Clone(content.Columns), len(content.Columns)-1
	seen := map[string]bool{}
	for j, name := range t.names {
		if name == "" || seen[name] {
			t.faults.add(0, 0, "%s: the name %q of column %d is empty or occurs twice", form, name, j+1)
			return nil, 0
		}
		seen[name] = true
	}
	m := &memory{}
	for i, row := range content.Rows {
		if len(row) != len(t.names) {
			t.faults.add(0, 0, "%s: row %d (counted from 1) has %d cells, and there are %d columns", form,
				i+1, len(row), len(t.names))
			return nil, 0
		}
		fields := make([]field, len(row))
		for j, text := range row {
			fields[j] = field{text: text}
		}
		m.rows = append(m.rows, fields)
	}
	return m, len(m.rows)
}
