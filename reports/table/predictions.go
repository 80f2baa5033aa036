package table

import (
	"io"
	"slices"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/reports"
)

// PredictionsCSV writes predictions.csv.
func PredictionsCSV(w io.Writer, r *reports.Report) error { return rowsCSV(w, predictionRows(r)) }

// predictionRows has a row for every held-out case, by configuration and fold. case is its row in
// the data set, or in the test file, from 0; the id columns follow. Classes have p[CLASS], the
// decision, and the mean and variance of their latent process, or of the one process whose positive
// values speak for the second of two classes (latent_mean). confidence is by what cases are
// rejected where the probabilities do not tell. Numbers have the mean and variance that were
// predicted for them, noise included. A cell is empty where there is nothing. Columns beside the
// ids are named by BesideIDs.
func predictionRows(r *reports.Report) Rows {
	var t Rows
	var ids []string
	for _, of := range r.Manifest.IDs {
		for _, c := range of.Columns {
			if !slices.Contains(ids, c.Name) {
				ids = append(ids, c.Name)
			}
		}
	}
	at := func(name string) int {
		i := slices.Index(t.Columns, name)
		if i < 0 {
			i, t.Columns = len(t.Columns), append(t.Columns, name)
		}
		return i
	}
	for i, name := range slices.Concat([]string{"configuration", "evaluation", "repeat", "fold", "case"}, ids,
		[]string{"label", "decision"}) {
		if i < 5 || i >= 5+len(ids) {
			name = BesideIDs(ids, name)
		}
		at(name)
	}
	label := 5 + len(ids)
	for i, c := range r.Configurations {
		for _, s := range c.Studies {
			if s.Predictions == nil {
				continue
			}
			carried := carried(r, c.Record.DataHash, s.Evaluation == "test")
			for k, row := range s.Fit.Rows {
				cells := append([]any{i, s.Evaluation, s.Repeat, s.Fold, row}, make([]any, len(ids)+2)...)
				for name, values := range carried {
					cells[at(name)] = values[row]
				}
				set := func(name string, value float64) {
					j := at(BesideIDs(ids, name))
					cells = append(cells, make([]any, max(0, j+1-len(cells)))...)
					cells[j] = reports.Number(value)
				}
				if s.Predictions.Numeric() {
					cells[label] = s.Fit.Targets[k]
					set("mean", float64(s.Fit.Mean[k]))
					set("variance", float64(s.Fit.Variance[k]))
				} else {
					proba := s.Predictions.Proba.RawRowView(k)
					cells[label], cells[label+1] = c.Classes[s.Fit.Labels[k]], c.Classes[cv.Decide(proba)]
					for class, p := range proba {
						set("p["+c.Classes[class]+"]", p)
					}
				}
				if s.Predictions.Confidence != nil {
					set("confidence", s.Predictions.Confidence[k])
				}
				for process, mean := range s.Fit.LatentMean {
					of := ""
					if len(s.Fit.LatentMean) > 1 {
						of = "[" + c.Classes[process] + "]"
					}
					set("latent_mean"+of, float64(mean[k]))
					set("latent_variance"+of, float64(s.Fit.LatentVariance[process][k]))
				}
				t.cells = append(t.cells, cells)
			}
		}
	}
	return t
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

// BesideIDs is the name of a column that stands beside id columns: with as many underscores behind
// it as tell it from them.
func BesideIDs(ids []string, name string) string {
	for slices.Contains(ids, name) {
		name += "_"
	}
	return name
}
