package table

import (
	"cmp"
	"io"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
)

// TrialsCSV writes trials.csv, without times.
func TrialsCSV(w io.Writer, r *reports.Report) error {
	t := trialRows(r)
	t.replace(t.column("seconds"), nil, nil)
	return writeCSV(w, t)
}

// trialRows has a row for every point of every trial, and one for a trial without points: its start
// and end, the tuning objective and its gradient, the reason of a failure, the wall time in
// seconds, the values on the way by their steps, and the scores.
func trialRows(r *reports.Report) Table {
	t := Table{Columns: Columns("configuration", "evaluation", "repeat", "fold", "trial", "point", "chosen", "status",
		"evaluations",
		"start", "hyperparameters", "theta", "objective", "value", "gradient", "failure", "seconds", "way")}
	for _, s := range cv.Scores {
		t.Columns = append(t.Columns, Columns(s.Name)...)
	}
	at := t.addHyperparameters(r)
	for i, c := range r.Configurations {
		for _, s := range c.Studies {
			for _, d := range c.TrialsOf(s) {
				objective := c.Objective
				if d.Preliminary != "" {
					objective += " of " + d.Preliminary
				}
				head := Row(i, d.Evaluation, d.Repeat, d.Fold, d.Trial)
				way := onTheWay(d.Interim)
				if len(d.Points) == 0 {
					t.Add(head, nil, false, d.Status, d.Evaluations, d.Start, nil, nil, objective, nil, nil,
						d.Failure, d.Seconds, way)
				}
				for k, p := range d.Points {
					t.Add(head, k, p.Chosen, d.Status, d.Evaluations, d.Start, p.Hyperparameters,
						p.Theta, objective, p.Value, p.Gradient, cmp.Or(p.Failure, d.Failure), d.Seconds, way)
					for _, s := range cv.Scores {
						if v, found := p.Scores.Get(s.Name); found {
							t.Rows[len(t.Rows)-1][t.column(s.Name)].Value = reports.Number(v)
						}
					}
					own := at(p.Hyperparameters)
					copy(t.Rows[len(t.Rows)-1][len(t.Columns)-len(own):], own)
				}
			}
		}
	}
	return t
}

// onTheWay names the values on the way of a trial by their steps.
func onTheWay(all []reports.Interim) (way reports.Values) {
	for _, at := range all {
		way = append(way, record.Named{Name: reports.Shortest(at.Step), Value: at.Value})
	}
	return way
}

// pathRows has a row for every step of every local optimiser on all of the training data: the free
// hyperparameters on the theta scale, and the tuning objective. Step 0 is the start.
func pathRows(r *reports.Report) Table {
	t := Table{Columns: Columns("configuration", "trial", "step", "theta", "objective", "value")}
	for i, c := range r.Configurations {
		for _, d := range c.TrialsOf(c.Studies[0]) {
			if d.Preliminary != "" {
				continue
			}
			for k, s := range d.Path {
				t.Add(i, d.Trial, k, s.Theta, c.Objective, s.Value)
			}
		}
	}
	return t
}
