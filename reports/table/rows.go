package table

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/gpc-tune/gpc-tune/reports"
)

// Widest is the maximum number of named values with separate columns, and of classes in a table of
// decisions.
const Widest = 16

// Rows is a table for programs. A cell is a string, an int, a bool, a Number or Values; nil or ""
// if empty; for people only also nats or a Cell. A row may have fewer cells.
type Rows struct {
	Columns []string
	cells   [][]any
}

// nats is a log evidence or similar, of which decimals matter whatever its size.
type nats reports.Number

// Digits are the formats of numbers for people.
type Digits struct{ number, nats func(reports.Number) string }

// exactly writes all digits; Readably writes four significant digits, and nats with three decimals.
// NaN is empty.
var (
	exactly  = Digits{reports.Shortest, reports.Shortest}
	Readably = Digits{func(x reports.Number) string { return reports.Readable(float64(x)) },
		func(x reports.Number) string { return reports.Decimals(float64(x), 3) }}
)

// Add adds a row.
func (t *Rows) Add(cells ...any) { t.cells = append(t.cells, cells) }

// Table converts t for people. A Cell with a number but without a text is formatted like a Number.
func (t Rows) Table(digits Digits) Table {
	out := Table{Columns: Columns(t.Columns...)}
	for _, row := range t.cells {
		cells := make([]Cell, len(t.Columns))
		for i, cell := range row {
			switch v := cell.(type) {
			case reports.Number:
				cells[i] = number(digits.number(v), float64(v))
			case nats:
				cells[i] = number(digits.nats(reports.Number(v)), float64(v))
			case reports.Values:
				cells[i].Text = reports.Assignments(v, reports.Readable)
			case Cell:
				if v.Numeric && v.Text == "" {
					v.Text = digits.number(reports.Number(v.Value))
				}
				cells[i] = v
			case string, int:
				cells[i] = Row(v)[0]
			}
		}
		out.Rows = append(out.Rows, cells)
	}
	return out
}

// rowsCSV writes a header and the rows. Numbers are exact, Values are name=value separated by
// blanks, and missing values are empty cells.
func rowsCSV(w io.Writer, t Rows) error {
	out := csv.NewWriter(w)
	out.Write(t.Columns) // errors surface in out.Error
	for _, row := range t.cells {
		texts := make([]string, len(t.Columns))
		for i, cell := range row {
			switch v := cell.(type) {
			case string:
				texts[i] = v
			case int:
				texts[i] = strconv.Itoa(v)
			case bool:
				texts[i] = strconv.FormatBool(v)
			case reports.Number:
				texts[i] = reports.Exact(float64(v))
			case reports.Values:
				texts[i] = reports.Assignments(v, reports.Exact)
			}
		}
		out.Write(texts)
	}
	out.Flush()
	return out.Error()
}

// rowsJSON writes an array of objects, one per line, with null for missing values.
func rowsJSON(out io.Writer, t Rows) error {
	w := bufio.NewWriter(out) // keeps the first error
	start := "[\n"
	for _, row := range t.cells {
		var o reports.Object
		for i, column := range t.Columns {
			var cell any
			if i < len(row) && row[i] != "" {
				cell = row[i]
			}
			o.Add(column, cell)
		}
		text, err := o.Close()
		if err != nil {
			return err
		}
		var line bytes.Buffer
		if err := json.Compact(&line, text); err != nil {
			return err
		}
		w.WriteString(start)
		w.Write(line.Bytes())
		start = ",\n"
	}
	if len(t.cells) == 0 {
		w.WriteString("[")
	}
	w.WriteString("\n]\n")
	return w.Flush()
}

// Spread splits every column of Values into one column per name, unless there are too many.
func (t Rows) Spread() Rows {
	names := make([][]string, len(t.Columns)) // nil: not Values
	uses := map[string]int{}
	for c := range t.Columns {
		names[c] = t.names(c)
		for _, name := range names[c] {
			uses[name]++
		}
		if len(names[c]) > Widest {
			names[c] = nil
		}
	}
	out := Rows{cells: make([][]any, len(t.cells))}
	for c, column := range t.Columns {
		if names[c] == nil {
			out.Columns = append(out.Columns, column)
			for i, row := range t.cells {
				out.cells[i] = append(out.cells[i], at(row, c))
			}
			continue
		}
		for _, name := range names[c] {
			label := name
			if uses[name] > 1 {
				label = column + " " + name
			}
			out.Columns = append(out.Columns, label)
			for i, row := range t.cells {
				v, _ := at(row, c).(reports.Values)
				x, found := v.Get(name)
				if !found {
					x = math.NaN()
				}
				out.cells[i] = append(out.cells[i], reports.Number(x))
			}
		}
	}
	return out
}

// names are the names of the Values in a column, in order of appearance.
func (t Rows) names(column int) (names []string) {
	for _, row := range t.cells {
		v, _ := at(row, column).(reports.Values)
		for _, value := range v {
			if !slices.Contains(names, value.Name) {
				names = append(names, value.Name)
			}
		}
	}
	return names
}

// at is a cell of a row, which may have fewer cells.
func at(row []any, column int) any {
	if column < len(row) {
		return row[column]
	}
	return nil
}
