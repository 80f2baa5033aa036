package table

import (
	"cmp"
	"io"
	"math"
	"slices"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
)

// TrialsCSV writes trials.csv, without times.
func TrialsCSV(w io.Writer, r *reports.Report) error {
	t := trialRows(r)
	t.replace(t.column("wall_seconds"), nil, nil)
	return writeCSV(w, t)
}

// trialRows has a row for every point of every trial, and one for a trial without points: the
// tuning objective, the reason of a failure, the wall time in seconds, and the values on the way by
// their steps. A model has the start, theta, the gradient and scores; a program has a column for
// each of its named values.
func trialRows(r *reports.Report) Table {
	programs := slices.ContainsFunc(r.Configurations, func(c reports.Configuration) bool { return c.Program != nil })
	t := Table{Columns: Columns("configuration", "evaluation", "repeat", "fold", "trial", "point", "chosen", "status",
		"evaluations", "start", "hyperparameters", "theta", "objective", "value", "gradient", "failure",
		"wall_seconds", "way")}
	if programs {
		t.Columns = Columns("configuration", "trial", "chosen", "status", "hyperparameters", "objective", "value",
			"failure", "wall_seconds", "way")
	}
	named := map[string]int{} // columns of named values
	for _, name := range valueNames(r) {
		named[name] = t.addColumn("value", name)
	}
	if !programs {
		for _, s := range cv.Scores {
			named[s.Name] = t.addColumn("score", s.Name)
		}
	}
	at := t.addHyperparameters(r)
	for i, c := range r.Configurations {
		for _, s := range c.Studies {
			for _, d := range c.TrialsOf(s) {
				points, none := d.Points, reports.Number(math.NaN())
				if len(points) == 0 { // a trial without points has an empty one
					points = []reports.TrialPoint{{Value: none, Gradient: none}}
				}
				for k, p := range points {
					t.addTrialPoint(i, c, d, k, p)
					row := t.Rows[len(t.Rows)-1]
					for _, v := range slices.Concat(p.Scores, p.Values) {
						row[named[v.Name]].Value = v.Value
					}
					own := at(p.Hyperparameters)
					copy(row[len(row)-len(own):], own)
				}
			}
		}
	}
	return t
}

// addTrialPoint adds the row of point k of a trial of configuration i, without its named values.
func (t *Table) addTrialPoint(i int, c reports.Configuration, d reports.Trial, k int, p reports.TrialPoint) {
	objective, way := c.Objective, onTheWay(d.Interim)
	if c.Program != nil {
		objective = c.Maximised()
	}
	if d.Preliminary != "" {
		objective += " of " + d.Preliminary
	}
	var point, natural, theta any
	if len(d.Points) > 0 {
		point, natural, theta = k, p.Hyperparameters, p.Theta
	}
	failure := cmp.Or(p.Failure, d.Failure)
	if c.Program != nil {
		t.Add(i, d.Trial, p.Chosen, d.Status, natural, objective, p.Value, failure, d.Seconds, way)
		return
	}
	t.Add(i, d.Evaluation, d.Repeat, d.Fold, d.Trial, point, p.Chosen, d.Status, d.Evaluations,
		d.Start, natural, theta, objective, p.Value, p.Gradient, failure, d.Seconds, way)
}

// valueNames are the names of the values of the programs of a run: its objectives, then others.
func valueNames(r *reports.Report) (names []string) {
	for _, c := range r.Configurations {
		if c.Program == nil {
			continue
		}
		all := slices.Clone(c.Program.Objectives)
		for _, p := range c.Grid {
			for _, v := range p.Values {
				all = append(all, v.Name)
			}
		}
		for _, name := range all {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
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
