// Package table lays out reports as tables of typed cells. Sections lists the tables of a report
// once, in order: the text, documents, and the exports for programs all go through it.
//
// A Cell has a value, which programs get to its last digit, and its text for people. Tables can
// therefore be sorted and aligned without parsing texts. Nothing here computes a result.
package table

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
)

// Widest is the maximum number of named values with separate columns, and of classes in a table of
// decisions.
const Widest = 16

// Table is ready to be laid out for people, or to be written for programs.
type Table struct {
	Name    string   // name of its section, for a table without a title
	Lead    string   // a paragraph above, with Notes; there may be no rows
	Notes   []string // remarks on Lead
	Title   string
	Caption []string // values that all rows have: "dataset crabs"
	Legend  []string // further parts of the caption
	Long    bool     // left out where there is little room
	Columns []Column
	Rows    [][]Cell
}

// Column is a column of a Table.
type Column struct {
	Name       string
	Right      bool   // numbers, aligned to the right
	KeepInText bool   // never lifted into the caption of a text
	KeepOnPage bool   // never lifted on a page
	Decides    bool   // configurations are compared by it
	Ranks      bool   // if not all rows fit, the rows with the best numbers here are shown
	Doc        string // documentation for readers
	// 1: greater is better; -1: less is better; 0: neither
	Greater    int
	mayBeEmpty bool // an empty cell does not count as a different value
	data       bool // written for programs only
	dropRank   int  // columns with the largest value are left out first on a narrow terminal; 0: never left out
}

// words makes a column of words, which may be lifted into the caption. parted makes one of words
// that some rows do not have. numbers makes one of numbers, which are never lifted.
func words(name string) Column         { return Column{Name: name} }
func optionalWords(name string) Column { return Column{Name: name, mayBeEmpty: true} }
func numbers(name string) Column       { return Column{Name: name, Right: true, KeepInText: true} }

// droppedAt returns the column with this value of dropRank.
func (c Column) droppedAt(spare int) Column {
	c.dropRank = spare
	return c
}

// explained returns the column with its documentation.
func (c Column) explained(greater bool, doc string) Column {
	c.Doc, c.Greater = doc, map[bool]int{true: 1, false: -1}[greater]
	return c
}

// Columns are columns with these names that are never lifted into the caption of a text.
func Columns(names ...string) (out []Column) {
	for _, name := range names {
		out = append(out, Column{Name: name, KeepInText: true})
	}
	return out
}

// Add adds a row of cells as Row makes them; missing cells at the end are empty.
func (t *Table) Add(cells ...any) { t.Rows = append(t.Rows, padded(Row(cells...), len(t.Columns))) }

// exactly shows every number to its last digit.
func (t Table) exactly() {
	for _, row := range t.Rows {
		for i, cell := range row {
			if v, is := cell.Value.(reports.Number); is {
				row[i].Text = reports.Shortest(v)
			}
		}
	}
}

// padded appends empty cells to a row until it has n.
func padded(row []Cell, n int) []Cell { return append(row, make([]Cell, max(0, n-len(row)))...) }

// ColumnNames are the names of the columns.
func (t Table) ColumnNames() (names []string) {
	for _, c := range t.Columns {
		names = append(names, cmp.Or(c.Name, "remark"))
	}
	return names
}

// MoveConstantsToCaption moves columns with equal values into the caption, ignoring gaps if
// allowed, and drops empty columns and those for programs.
func (t *Table) MoveConstantsToCaption() {
	var lifted []string
	for c := len(t.Columns) - 1; c >= 0; c-- {
		text := ""
		if i := slices.IndexFunc(t.Rows, func(row []Cell) bool { return row[c].text() != "" }); i >= 0 {
			text = t.Rows[i][c].String()
		}
		constant := !slices.ContainsFunc(t.Rows, func(row []Cell) bool {
			cell := row[c].String()
			return cell != text && !(cell == "" && t.Columns[c].mayBeEmpty)
		})
		drop := text == "" || t.Columns[c].data
		if !drop && (t.Columns[c].KeepInText || !constant) {
			continue
		}
		if !drop {
			lifted = append(lifted, t.Columns[c].Name+" "+text)
		}
		t.replace(c, nil, nil)
	}
	slices.Reverse(lifted)
	t.Caption = slices.Concat(t.Caption, lifted, t.Legend)
	t.Legend = nil
}

// replace replaces a column by others, whose cells are parts of its cells.
func (t *Table) replace(c int, by []Column, part func(cell Cell, k int) Cell) {
	t.Columns = slices.Replace(t.Columns, c, c+1, by...)
	for i, row := range t.Rows {
		var cells []Cell
		for k := range by {
			cells = append(cells, part(row[c], k))
		}
		t.Rows[i] = slices.Replace(row, c, c+1, cells...)
	}
}

// Spread splits every column of Values into one column per name, unless there are too many.
func (t *Table) Spread() {
	names := make([][]string, len(t.Columns)) // empty: not Values
	uses := map[string]int{}
	for c := range t.Columns {
		for _, row := range t.Rows {
			v, _ := row[c].Value.(reports.Values)
			for _, value := range v {
				if !slices.Contains(names[c], value.Name) {
					names[c] = append(names[c], value.Name)
					uses[value.Name]++
				}
			}
		}
	}
	for c, all := range slices.Backward(names) {
		if len(all) == 0 || len(all) > Widest {
			continue
		}
		var by []Column
		for _, name := range all {
			if uses[name] > 1 {
				name = t.Columns[c].Name + " " + name
			}
			by = append(by, Columns(name)...)
		}
		t.replace(c, by, func(cell Cell, k int) Cell {
			v, _ := cell.Value.(reports.Values)
			i := slices.IndexFunc(v, func(n record.Named) bool { return n.Name == all[k] })
			if i < 0 {
				return Cell{}
			}
			return assigned(v[i])
		})
	}
}

var notInNames = regexp.MustCompile(`[^\pL\pN_.\[\]]+`)

// forPrograms gives the columns different names of letters and digits, and intervals two columns.
func (t *Table) forPrograms() {
	for c, column := range slices.Backward(t.Columns) {
		if !slices.ContainsFunc(t.Rows, func(row []Cell) bool { _, is := row[c].Value.(Interval); return is }) {
			continue
		}
		name := column.Name
		if c > 0 {
			name = t.Columns[c-1].Name
		}
		t.replace(c, Columns(name+" lo", name+" hi"), func(cell Cell, k int) Cell {
			if v, is := cell.Value.(Interval); is {
				return Cell{Value: v[k]}
			}
			return Cell{}
		})
	}
	var names []string
	for c, column := range t.Columns {
		name := strings.Replace(cmp.Or(column.Name, "remark"), "#", "configuration", 1)
		t.Columns[c].Name = BesideIDs(names, strings.Trim(notInNames.ReplaceAllString(name, "_"), "_"))
		names = append(names, t.Columns[c].Name)
	}
}

// join adds the rows of another table for programs, and the columns that t lacks.
func (t *Table) join(other Table) {
	other.forPrograms()
	at := make([]int, len(other.Columns))
	for c, column := range other.Columns {
		if at[c] = t.column(column.Name); at[c] < 0 {
			at[c], t.Columns = len(t.Columns), append(t.Columns, column)
			for i, row := range t.Rows {
				t.Rows[i] = padded(row, len(t.Columns))
			}
		}
	}
	for _, row := range other.Rows {
		t.Add()
		for c, cell := range row {
			t.Rows[len(t.Rows)-1][at[c]] = cell
		}
	}
}

// column is the index of a column; -1: there is none.
func (t Table) column(name string) int {
	return slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name })
}

// BesideIDs is the name of a column in a table with id columns. Underscores are appended until it
// differs from them.
func BesideIDs(ids []string, name string) string {
	for slices.Contains(ids, name) {
		name += "_"
	}
	return name
}
