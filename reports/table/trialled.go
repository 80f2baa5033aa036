package table

import (
	"cmp"
	"io"
	"slices"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/reports"
)

// TrialsCSV writes trials.csv.
func TrialsCSV(w io.Writer, r *reports.Report) error { return rowsCSV(w, trialRows(r)) }

// trialRows has a row for every point of every trial, and one for a trial without points: its start
// and end, the tuning objective and its gradient, the scores, and the reason of a failure.
func trialRows(r *reports.Report) Rows {
	t := Rows{Columns: []string{"configuration", "evaluation", "repeat", "fold", "trial", "point", "chosen", "status",
		"evaluations",
		"start", "hyperparameters", "theta", "objective", "value", "gradient", "failure"}}
	for _, s := range cv.Scores {
		t.Columns = append(t.Columns, s.Name)
	}
	for i, c := range r.Configurations {
		for _, s := range c.Studies {
			for _, d := range c.TrialsOf(s) {
				head := []any{i, d.Evaluation, d.Repeat, d.Fold, d.Trial}
				if len(d.Points) == 0 {
					t.cells = append(t.cells, append(head, nil, false, d.Status, d.Evaluations, d.Start, nil, nil,
						c.Objective, nil, nil, d.Failure))
				}
				for k, p := range d.Points {
					row := append(slices.Clip(head), k, p.Chosen, d.Status, d.Evaluations, d.Start, p.Hyperparameters,
						p.Theta, c.Objective, p.Value, p.Gradient, cmp.Or(p.Failure, d.Failure))
					for _, s := range cv.Scores {
						var cell any
						if v, found := p.Scores.Get(s.Name); found {
							cell = reports.Number(v)
						}
						row = append(row, cell)
					}
					t.cells = append(t.cells, row)
				}
			}
		}
	}
	return t
}

// pathRows has a row for every step of every local optimiser on all of the training data: the free
// hyperparameters on the theta scale, and the tuning objective. Step 0 is the start.
func pathRows(r *reports.Report) Rows {
	t := Rows{Columns: []string{"configuration", "trial", "step", "theta", "objective", "value"}}
	for i, c := range r.Configurations {
		for _, d := range c.TrialsOf(c.Studies[0]) {
			for k, s := range d.Path {
				t.Add(i, d.Trial, k, s.Theta, c.Objective, s.Value)
			}
		}
	}
	return t
}
