package table

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"

	"github.com/gpc-tune/gpc-tune/reports"
)

// DataForms are the formats of a Table for programs.
var DataForms = Forms[Table]{{Name: "csv", Render: writeCSV}, {Name: "json", Render: writeJSON}}

// writeCSV writes a header and the rows. Numbers are exact, Values are name=value separated by
// blanks, and missing values are empty cells.
func writeCSV(w io.Writer, t Table) error {
	out := csv.NewWriter(w)
	texts := make([]string, len(t.Columns))
	for c, column := range t.Columns {
		texts[c] = column.Name
	}
	if len(texts) > 0 {
		out.Write(texts) // errors surface in out.Error
	}
	for _, row := range t.Rows {
		for c, cell := range row {
			texts[c] = cell.exact()
		}
		out.Write(texts)
	}
	out.Flush()
	return out.Error()
}

// writeJSON writes an array of objects, one per line, with null for missing values.
func writeJSON(out io.Writer, t Table) error {
	w := bufio.NewWriter(out) // keeps the first error
	start := "[\n"
	for _, row := range t.Rows {
		var o reports.Object
		for c, column := range t.Columns {
			value := row[c].Value
			if value == "" {
				value = nil
			}
			o.Add(column.Name, value)
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
	if len(t.Rows) == 0 {
		w.WriteString("[")
	}
	w.WriteString("\n]\n")
	return w.Flush()
}
