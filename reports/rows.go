package reports

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/gpc-tune/gpc-tune/internal/registry"
)

// Rows is a table for programs. A cell is nil or "" where there is nothing, a string, an int, a bool, a Number or Values; a row
// may end early.
type Rows struct {
	columns []string
	cells   [][]any
}

func (t *Rows) add(cells ...any) { t.cells = append(t.cells, cells) }

// table is t for people. Numbers are written by the given function, Values to six digits.
func (t Rows) table(number func(Number) string) Table {
	out := Table{Columns: columns(t.columns...)}
	for _, row := range t.cells {
		texts := make([]string, len(t.columns))
		for i, cell := range row {
			switch v := cell.(type) {
			case Number:
				texts[i] = number(v)
			case Values:
				texts[i] = assignments(v, significant)
			case string, int:
				texts[i] = fmt.Sprint(v)
			}
		}
		out.Rows = append(out.Rows, texts)
	}
	return out
}

// RowForms are the forms in which Rows are written.
var RowForms = Forms[Rows]{{"csv", rowsCSV}, {"json", rowsJSON}}

// rowsCSV writes a header and the rows. Numbers are exact, Values name=value, separated by blanks, and a cell is empty where
// there is nothing.
func rowsCSV(w io.Writer, t Rows) error {
	out := csv.NewWriter(w)
	out.Write(t.columns) // errors surface in out.Error
	for _, row := range t.cells {
		texts := make([]string, len(t.columns))
		for i, cell := range row {
			switch v := cell.(type) {
			case string:
				texts[i] = v
			case int:
				texts[i] = strconv.Itoa(v)
			case bool:
				texts[i] = strconv.FormatBool(v)
			case Number:
				texts[i] = exact(float64(v))
			case Values:
				texts[i] = assignments(v, exact)
			}
		}
		out.Write(texts)
	}
	out.Flush()
	return out.Error()
}

// rowsJSON writes an array of objects, one a line, with null where there is nothing.
func rowsJSON(out io.Writer, t Rows) error {
	w := bufio.NewWriter(out) // keeps the first error
	start := "[\n"
	for _, row := range t.cells {
		var o object
		for i, column := range t.columns {
			var cell any
			if i < len(row) && row[i] != "" {
				cell = row[i]
			}
			o.add(column, cell)
		}
		text, err := o.close()
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

// Export is a part of a Report as Rows.
type Export struct {
	Name string
	Doc  string
	Rows func(*Report) Rows
}

// Exports lists them.
var Exports = []Export{
	{"configurations", "hyperparameters, log evidence and scores, a row for all the training data and one for every evaluation, pooled", configurationRows},
	{"folds", "the same of every fold", foldRows},
	{"nested", "nested cross-validation: every configuration in every outer fold, its inner score, who won, and the winner's outer scores", nestedRows},
	{"races", "every configuration in every race: its score, whether it was cut, when and why", raceRows},
	{"trials", "every evaluated point: where it started, hyperparameters, objective, scores, failure", trialRows},
	{"paths", "every step of local optimisers on all of the training data: hyperparameters on the theta scale, objective", pathRows},
	{"predictions", "every held-out case: class probabilities, decision, latent means and variances", predictionRows},
}

// ExportNamed finds one.
func ExportNamed(name string) (Export, error) {
	var names []string
	for _, e := range Exports {
		if e.Name == name {
			return e, nil
		}
		names = append(names, e.Name)
	}
	return Export{}, fmt.Errorf("unknown export %q%s", name, registry.Suggest(name, names))
}
