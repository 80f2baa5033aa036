package table

import (
	"fmt"
	"slices"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
)

// searchRows has a row for the best point of every search of a program, with a column for each
// hyperparameter; without whole it has none.
func searchRows(r *reports.Report, whole bool) Table {
	t := Table{Columns: Columns("configuration", "name", "tune", "status", "objective", "value", "trial", "evaluated",
		"failed")}
	noisy := slices.ContainsFunc(r.Configurations, noisySearch)
	if noisy {
		t.Columns = append(t.Columns, Columns("standard_deviation", "measured")...)
	}
	at := t.addHyperparameters(r)
	for i, c := range r.Configurations {
		if !whole {
			break
		}
		var value, trial any
		var best reports.Values
		more := []Cell{}
		if len(c.Best) > 0 {
			b := c.Best[0]
			value, trial, best = b.Value, b.Trial, c.Grid[b.Point].Point
			more = Row(deviation(b), reports.Number(c.Grid[b.Point].Objective()))
		}
		row := Row(i, c.Dataset, c.Tune, string(c.Status), c.Maximised(), value, trial, trialsOf(c), failedOf(c))
		if noisy {
			row = append(row, padded(more, 2)...)
		}
		t.Add(row, at(best))
	}
	return t
}

// deviation is the standard deviation of an expected value, else nil.
func deviation(b reports.Best) any {
	if b.StandardDeviation == nil {
		return nil
	}
	return *b.StandardDeviation
}

// noisySearch reports whether the best point of a search is the one with the best expected value.
func noisySearch(c reports.Configuration) bool { return len(c.Best) > 0 && c.Best[0].Luckiest != nil }

// bestAt is the text of the best value and its point: "value 0.42 at x=0.1". An expected value has
// its standard deviation, the value of the trial there, and the best value of a trial.
func bestAt(c reports.Configuration, b reports.Best, value, at string) string {
	if b.StandardDeviation == nil {
		return fmt.Sprintf("%s at %s", value, at)
	}
	lucky := c.Grid[*b.Luckiest]
	text := fmt.Sprintf("%s ± %s expected at %s (trial %d, which measured %s", value,
		reports.Brief(float64(*b.StandardDeviation)), at, b.Trial, reports.Readable(c.Grid[b.Point].Objective()))
	if lucky.Trial != b.Trial {
		text += fmt.Sprintf("; the luckiest, trial %d, %s", lucky.Trial, reports.Readable(lucky.Objective()))
	}
	return text + ")"
}

// pareto has a row for every point that no other one dominates.
func pareto(c reports.Configuration) []Table {
	points := c.Pareto()
	if len(points) == 0 {
		return nil
	}
	t := Table{Columns: []Column{numbers("trial")}}
	for _, name := range c.Program.Objectives {
		t.Columns = append(t.Columns, numbers(name).explained(false, "an objective"))
	}
	t.Columns = append(t.Columns, Column{Name: "hyperparameters", KeepInText: true})
	for _, i := range points {
		row := Row(c.Grid[i].Trial)
		for _, name := range c.Program.Objectives {
			v, _ := c.Grid[i].Values.Get(name)
			row = append(row, Row(reports.Number(v))...)
		}
		t.Add(row, c.Named(c.Grid[i].Point))
	}
	return []Table{t}
}

// addHyperparameters adds a column for each hyperparameter of the programs of a run. Its name is
// the hyperparameter's, after "hyperparameter " if another column has this name. at returns the
// cells of a point; hyperparameters that do not matter there are empty.
func (t *Table) addHyperparameters(r *reports.Report) (at func(reports.Values) []Cell) {
	var names []string
	for _, c := range r.Configurations {
		if c.Program == nil {
			continue
		}
		for _, h := range c.Record.Hyperparameters {
			if !slices.Contains(names, h.Name) {
				names = append(names, h.Name)
			}
		}
	}
	for _, name := range names {
		t.addColumn("hyperparameter", name)
	}
	return func(point reports.Values) []Cell {
		cells := make([]Cell, len(names))
		for _, v := range point {
			if k := slices.Index(names, v.Name); k >= 0 {
				cells[k].Value = reports.Number(v.Value)
				if v.Text != "" {
					cells[k].Value = record.Literal{Text: v.Text, JSON: v.JSON}
				}
			}
		}
		return cells
	}
}

// addColumn adds a column with this name, after the given kind if another column has the name, and
// returns its index.
func (t *Table) addColumn(kind, name string) int {
	if t.column(name) >= 0 {
		name = kind + " " + name
	}
	t.Columns = append(t.Columns, Columns(name)...)
	return len(t.Columns) - 1
}

// searches is the summary of the searches of a program: a row for every way of searching.
func searches(r *reports.Report) Table {
	t := Table{Columns: []Column{numbers("#"), {Name: "status", KeepInText: true}, {Name: "tune", KeepInText: true},
		numbers("best " + r.Configurations[0].Maximised()), numbers("evaluated"), numbers("failed"),
		{Name: "hyperparameters", KeepInText: true}}}
	t.Columns[3] = t.Columns[3].explained(!r.Configurations[0].Minimises(), "the best value that was found")
	noisy := slices.ContainsFunc(r.Configurations, noisySearch)
	if noisy {
		t.Columns[3].Name = "expected " + r.Configurations[0].Maximised()
		t.Columns[3].Doc = "the best expected value, by a regression of all values"
		t.Columns = slices.Insert(t.Columns, 4, numbers("standard deviation"))
	}
	best := bestSearch(r)
	for i, c := range r.Configurations {
		status := Cell{Text: string(c.Status)}
		switch {
		case c.Status != reports.Done:
			status.Mark = NotCompeting
		case i == best:
			status = Cell{Text: reports.Winner, Mark: Winner}
		default:
			status.Text = ""
		}
		value, at := make([]Cell, 1), Cell{}
		if noisy {
			value = make([]Cell, 2)
		}
		if len(c.Best) > 0 {
			b := c.Best[0]
			value[0], at = Cell{Value: b.Value}, Cell{Value: c.Grid[b.Point].Point}
			if b.StandardDeviation != nil {
				value[1] = Cell{Value: *b.StandardDeviation}
			}
		}
		t.Add(i, status, c.Tune, value, trialsOf(c), failedOf(c), at)
	}
	return t
}

// bestSearch is the number of the configuration that found the best value, the first of equal ones;
// -1: none found one.
func bestSearch(r *reports.Report) (best int) {
	best = -1
	for i, c := range r.Configurations {
		if len(c.Best) == 0 {
			continue
		}
		if best >= 0 {
			a, b := c.Best[0].Value, r.Configurations[best].Best[0].Value
			if c.Minimises() && !(a < b) || !c.Minimises() && !(a > b) {
				continue
			}
		}
		best = i
	}
	return best
}

// evaluated names the unit of trialsOf: trials, or points if a trial has several.
func evaluated(r *reports.Report) (one, many string) {
	for _, c := range r.Configurations {
		for _, t := range c.Studies[0].Trials {
			if len(t.Points)+len(t.Asked) > 1 {
				return "point", "points"
			}
		}
	}
	return "trial", "trials"
}

// trialsOf is the number of points of a search on record, including failed ones.
func trialsOf(c reports.Configuration) (n int) {
	for _, t := range c.Studies[0].Trials {
		n += len(t.Points) + len(t.Asked)
	}
	return n
}

// failedOf is the number of failed points.
func failedOf(c reports.Configuration) int { return len(c.Failures) }
