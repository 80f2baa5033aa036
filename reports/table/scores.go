package table

import (
	"fmt"
	"io"
	"math"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/reports"
)

// ScoresCSV writes results.csv: the rows of configurationRows and foldRows, by configuration.
func ScoresCSV(w io.Writer, r *reports.Report) error { return writeCSV(w, scoreRows(r, true, true)) }

// configurationRows has for each configuration a row for the study of all the training data
// (evaluation "all"), and a row for every evaluation with its folds pooled. The fold of a pooled
// row is "pooled", or "pooled 1 of 5 folds" if the others are not done. A pooled row repeats the
// hyperparameters, the log evidence and the leave-one-out log probability of "all". Nested
// cross-validation has a pooled row without a configuration. Scores have three columns, the value
// and the ends of the 95 % interval; counts have one.
func configurationRows(r *reports.Report) Table { return scoreRows(r, true, false) }

// foldRows has a row for every fold, with the same columns.
func foldRows(r *reports.Report) Table { return scoreRows(r, false, true) }

func scoreRows(r *reports.Report, whole, folds bool) Table {
	if len(r.Configurations) > 0 && r.Configurations[0].Program != nil {
		return searchRows(r, whole)
	}
	t := Table{Columns: Columns("configuration", "dataset", "preprocess", "kernel", "mean", "likelihood", "inference",
		"tune_inference", "tune",
		"evaluation", "repeat", "fold", "status", "hyperparameters", "log_evidence", "converged", "leave_one_out", "n")}
	t.Columns = append(t.Columns, scoreColumns()...)
	for i, c := range r.Configurations {
		row := func(evaluation string, repeat, fold any, status reports.Status, hyperparameters reports.Values,
			evidence reports.Number, converged *bool, leaveOneOut reports.Number, scores reports.Scores) {
			t.Add(i, c.Dataset, c.Preprocess, c.Kernel.Text, c.Mean.Text, c.Likelihood.Text, c.Inference.Text,
				c.TuneInference.Text, c.Tune,
				evaluation, repeat, fold, string(status), hyperparameters, evidence, known(status, converged),
				leaveOneOut, scoreCells(scores))
		}
		if whole {
			row("all", nil, nil, c.Status, c.Hyperparameters, c.LogEvidence, c.Converged, c.LeftOneOut(),
				reports.Scores{})
		}
		if folds {
			for _, f := range c.Folds {
				row(f.Evaluation, f.Repeat, f.Fold, f.Status, f.Hyperparameters, f.LogEvidence, f.Converged,
					reports.Number(math.NaN()), f.Scores)
			}
		}
		if whole {
			for _, e := range c.Evaluations {
				row(e.Name, nil, pooled(e), e.Status, c.Hyperparameters, c.LogEvidence, c.Converged, c.LeftOneOut(),
					e.Scores)
			}
		}
	}
	if whole {
		for _, n := range r.Nested {
			row := make([]Cell, 17)
			row[1].Value, row[9].Value, row[11].Value, row[12].Value = n.Dataset, n.Name, pooled(n.Evaluation),
				string(n.Status)
			t.Add(row, scoreCells(n.Scores))
		}
	}
	return t
}

// pooled is the text for a row of all folds of an evaluation together, or of some of them.
func pooled(e reports.Evaluation) string {
	if e.Scores.Partial != nil {
		return fmt.Sprintf("pooled %v", e.Scores.Partial)
	}
	return "pooled"
}

// known reports whether a fit had converged; nil if there is none.
func known(s reports.Status, converged *bool) any {
	if s != reports.Done {
		return nil
	}
	return converged == nil
}

// scoreColumns names the scores, each followed by two columns for the ends of its interval unless
// it is a count.
func scoreColumns() (out []Column) {
	for _, s := range cv.Scores {
		out = append(out, Columns(s.Name)...)
		if !s.Count {
			out = append(out, Columns(s.Name+"_lo", s.Name+"_hi")...)
		}
	}
	return out
}

// scoreCells are n and the cells of these columns.
func scoreCells(scores reports.Scores) []Cell {
	cells := make([]Cell, 1)
	if scores.N > 0 {
		cells[0].Value = scores.N
	}
	for _, s := range cv.Scores {
		e, ok := scores.Value(s.Name)
		if !ok {
			e = cv.Estimate{Value: math.NaN(), Lo: math.NaN(), Hi: math.NaN()}
		}
		cells = append(cells, Row(e.Value)...)
		if !s.Count {
			cells = append(cells, Row(e.Lo, e.Hi)...)
		}
	}
	return cells
}
