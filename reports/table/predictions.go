package table

import (
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/gpc-tune/gpc-tune/reports"
)

// PredictionsCSV writes predictions.csv.
func PredictionsCSV(w io.Writer, r *reports.Report) error { return writeCSV(w, predictionRows(r)) }

// predictionRows has a row for every held-out case, by configuration and fold. case is its row in
// the data set, or in the test file, from 0; the id columns follow. For classes there are p[CLASS],
// the decision, and the mean and variance of their latent process, or of the single process whose
// positive values favour the second of two classes (latent_mean). confidence is the criterion for
// rejection, if it is not a function of the probabilities. set and set_size are the conformal set.
// For numeric targets there are the predicted mean and variance, noise included. Missing values are
// empty cells. BesideIDs names the columns after the ids.
func predictionRows(r *reports.Report) Table {
	t := newPredictionTable(r)
	for i, c := range r.Configurations {
		for _, s := range c.Studies {
			if s.Predictions == nil {
				continue
			}
			ids := carried(r, c.Record.DataHash, s.Evaluation == "test")
			for k, row := range s.Fit.Rows {
				t.Add(i, s.Evaluation, s.Repeat, s.Fold, row)
				for name, values := range ids {
					t.put(name, values[row])
				}
				t.predicted(c, s, k)
			}
		}
	}
	for i, row := range t.Rows {
		t.Rows[i] = padded(row, len(t.Columns))
	}
	return t.Table
}

// predictionTable is a table of predictions under construction.
type predictionTable struct {
	Table
	ids []string
	at  map[string]int // of columns
}

func newPredictionTable(r *reports.Report) *predictionTable {
	t := &predictionTable{at: map[string]int{}}
	for _, of := range r.Manifest.IDs {
		for _, c := range of.Columns {
			if !slices.Contains(t.ids, c.Name) {
				t.ids = append(t.ids, c.Name)
			}
		}
	}
	for _, name := range []string{"configuration", "evaluation", "repeat", "fold", "case"} {
		t.column(BesideIDs(t.ids, name))
	}
	for _, name := range t.ids {
		t.column(name)
	}
	t.column(BesideIDs(t.ids, "label"))
	t.column(BesideIDs(t.ids, "decision"))
	return t
}

// column returns the index of a column, adding it if necessary.
func (t *predictionTable) column(name string) int {
	i, known := t.at[name]
	if !known {
		i = len(t.Columns)
		t.at[name], t.Columns = i, append(t.Columns, Columns(name)...)
	}
	return i
}

// put sets a cell of the last row.
func (t *predictionTable) put(column string, value any) {
	row, at := &t.Rows[len(t.Rows)-1], t.column(column)
	*row = padded(*row, at+1)
	(*row)[at].Value = value
}

// set sets a number in a column other than the id columns.
func (t *predictionTable) set(name string, value float64) {
	t.put(BesideIDs(t.ids, name), reports.Number(value))
}

// predicted sets the predictions of a study for its k-th held-out case.
func (t *predictionTable) predicted(c reports.Configuration, s reports.Study, k int) {
	if s.Predictions.Numeric() {
		t.put(BesideIDs(t.ids, "label"), s.Fit.Targets[k])
		t.set("mean", float64(s.Fit.Mean[k]))
		t.set("variance", float64(s.Fit.Variance[k]))
	} else {
		proba := s.Predictions.Proba.RawRowView(k)
		t.put(BesideIDs(t.ids, "label"), c.Classes[s.Fit.Labels[k]])
		decision, expected := c.Decide(*s.Predictions, k)
		t.put(BesideIDs(t.ids, "decision"), decision)
		for class, p := range proba {
			t.set("p["+c.Classes[class]+"]", p)
		}
		if c.Record.Costs != nil {
			t.set("expected_loss", float64(expected))
		}
	}
	if s.Predictions.Confidence != nil {
		t.set("confidence", s.Predictions.Confidence[k])
	}
	for process, mean := range s.Fit.LatentMean {
		of := ""
		if len(s.Fit.LatentMean) > 1 {
			of = "[" + c.Classes[process] + "]"
		}
		t.set("latent_mean"+of, float64(mean[k]))
		t.set("latent_variance"+of, float64(s.Fit.LatentVariance[process][k]))
	}
	if sets := s.Predictions.Sets; sets != nil {
		text, size := Set(c.Classes, sets[k])
		t.put(BesideIDs(t.ids, "set"), text)
		t.put(BesideIDs(t.ids, "set_size"), size)
	}
}

// Set names the classes of a conformal set, separated by "; ", and counts them. A name with a
// semicolon or a quote is quoted as in Go.
func Set(classes []string, in []bool) (text string, size int) {
	var names []string
	for k, name := range classes {
		if !in[k] {
			continue
		}
		if strings.ContainsAny(name, `;"`) {
			name = strconv.Quote(name)
		}
		names = append(names, name)
	}
	return strings.Join(names, "; "), len(names)
}

// carried maps the name of an id column to its values by row of the file.
func carried(r *reports.Report, dataHash string, test bool) map[string]map[int]string {
	columns := map[string]map[int]string{}
	for _, of := range r.Manifest.IDs {
		if of.DataHash != dataHash || of.Test != test {
			continue
		}
		for _, c := range of.Columns {
			values := make(map[int]string, len(of.Rows))
			for i, row := range of.Rows {
				values[row] = c.Values[i]
			}
			columns[c.Name] = values
		}
	}
	return columns
}
