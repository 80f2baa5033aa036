package table

import (
	"slices"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
)

// searchRows has a row for the best point of every search of a program, with a column for each
// hyperparameter; without whole it has none.
func searchRows(r *reports.Report, whole bool) Table {
	t := Table{Columns: Columns("configuration", "name", "tune", "status", "objective", "value", "point", "evaluated",
		"failed")}
	at := t.addHyperparameters(r)
	for i, c := range r.Configurations {
		if !whole {
			break
		}
		var value, point any
		var best reports.Values
		if len(c.Best) > 0 {
			value, point, best = c.Best[0].Value, c.Best[0].Point, c.Grid[c.Best[0].Point].Point
		}
		t.Add(i, c.Dataset, c.Tune, string(c.Status), c.Maximised(), value, point, trialsOf(c), failedOf(c), at(best))
	}
	return t
}

// pareto has a row for every point that no other one dominates.
func pareto(c reports.Configuration) []Table {
	points := c.Pareto()
	if len(points) == 0 {
		return nil
	}
	t := Table{Columns: []Column{numbers("point")}}
	for _, name := range c.Program.Objectives {
		t.Columns = append(t.Columns, numbers(name).explained(false, "an objective"))
	}
	t.Columns = append(t.Columns, Column{Name: "hyperparameters", KeepInText: true})
	for _, i := range points {
		row := Row(i)
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
	taken := t.Columns
	for _, name := range names {
		if (Table{Columns: taken}).column(name) >= 0 {
			name = "hyperparameter " + name
		}
		t.Columns = append(t.Columns, Columns(name)...)
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

// searches is the summary of the searches of a program: a row for every way of searching.
func searches(r *reports.Report) Table {
	t := Table{Columns: []Column{numbers("#"), {Name: "status", KeepInText: true}, {Name: "tune", KeepInText: true},
		numbers("best " + r.Configurations[0].Maximised()), numbers("evaluated"), numbers("failed"),
		{Name: "hyperparameters", KeepInText: true}}}
	t.Columns[3] = t.Columns[3].explained(!r.Configurations[0].Minimises(), "the best value that was found")
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
		value, at := Cell{}, Cell{}
		if len(c.Best) > 0 {
			value, at = Cell{Value: c.Best[0].Value}, Cell{Value: c.Grid[c.Best[0].Point].Point}
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
