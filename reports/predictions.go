package reports

import (
	"io"
	"slices"

	"github.com/gpc-tune/gpc-tune/cv"
)

// renderPredictions writes predictions.csv.
func renderPredictions(w io.Writer, r *Report) error { return rowsCSV(w, predictionRows(r)) }

// predictionRows has a row for every held-out case, by configuration and fold. case is
// its row in the data set, or in the test file, from 0. Classes have p[CLASS], the decision, and the mean and variance of
// their latent process, or of the one process whose positive values speak for the second of two classes (latent_mean).
// confidence is by what cases are rejected where the probabilities do not tell. Numbers have the mean and variance that were predicted for them, noise included. A cell is empty where there is nothing.
func predictionRows(r *Report) Rows {
	t := Rows{columns: []string{"configuration", "evaluation", "repeat", "fold", "case", "label", "decision"}}
	at := func(name string) int {
		i := slices.Index(t.columns, name)
		if i < 0 {
			i, t.columns = len(t.columns), append(t.columns, name)
		}
		return i
	}
	for i, c := range r.Configurations {
		for _, s := range c.studies {
			if s.predictions == nil {
				continue
			}
			for k, row := range s.fit.Rows {
				cells := []any{i, s.Evaluation, s.Repeat, s.Fold, row, nil, nil}
				set := func(name string, value float64) {
					j := at(name)
					cells = append(cells, make([]any, max(0, j+1-len(cells)))...)
					cells[j] = Number(value)
				}
				if s.predictions.Numeric() {
					cells[5] = Number(s.fit.Targets[k])
					set("mean", float64(s.fit.Mean[k]))
					set("variance", float64(s.fit.Variance[k]))
				} else {
					proba := s.predictions.Proba.RawRowView(k)
					cells[5], cells[6] = c.Classes[s.fit.Labels[k]], c.Classes[cv.Decide(proba)]
					for class, p := range proba {
						set("p["+c.Classes[class]+"]", p)
					}
				}
				if s.predictions.Confidence != nil {
					set("confidence", s.predictions.Confidence[k])
				}
				for process, mean := range s.fit.LatentMean {
					of := ""
					if len(s.fit.LatentMean) > 1 {
						of = "[" + c.Classes[process] + "]"
					}
					set("latent_mean"+of, float64(mean[k]))
					set("latent_variance"+of, float64(s.fit.LatentVariance[process][k]))
				}
				t.cells = append(t.cells, cells)
			}
		}
	}
	return t
}
