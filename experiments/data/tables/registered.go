package tables

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

// Register adds a reader, as data.RegisterReader describes.
func Register(name string, is func(text string) bool, read func(text string) (Cells, error)) {
	registry.CheckName("reader", name, 1, registered)
	registered = append(registered, name)
	open := func(t *Table, src Source, _ *Options) (Rows, int) {
		content, err := read(src.text)
		if err != nil {
			t.Faults.Add(0, 0, "%s: %v", name, err)
			return nil, 0
		}
		return t.take(name, content)
	}
	readers = slices.Insert(readers, len(registered)-1, reader{is: is, open: open})
}

// take opens the cells of a registered format.
func (t *Table) take(form string, content Cells) (Rows, int) {
	if len(content.Columns) == 0 || len(content.Rows) == 0 {
		t.Faults.Add(0, 0, "%s: has no columns, or no cases", form)
		return nil, 0
	}
	t.Form, t.Header, t.Names, t.Label = form, true, slices.Clone(content.Columns), len(content.Columns)-1
	seen := map[string]bool{}
	for j, name := range t.Names {
		if name == "" || seen[name] {
			t.Faults.Add(0, 0, "%s: the name %q of column %d is empty or occurs twice", form, name, j+1)
			return nil, 0
		}
		seen[name] = true
	}
	for i, row := range content.Rows {
		if len(row) != len(t.Names) {
			t.Faults.Add(0, 0, "%s: row %d (counted from 1) has %d cells, and there are %d columns", form,
				i+1, len(row), len(t.Names))
			return nil, 0
		}
	}
	return &memory{rows: content.Rows}, len(content.Rows)
}

// memory has rows in memory.
type memory struct {
	rows [][]string
	row  int // number of rows read
}

func (m *memory) Next() (line int, ok bool) {
	if m.row == len(m.rows) {
		return 0, false
	}
	m.row++
	return m.row, true
}

func (m *memory) Cell(column int) Field { return Field{Text: m.rows[m.row-1][column]} }

func (m *memory) At(column int) int { return column + 1 }
