package table

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/internal/terminal"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
)

// Facts describe the configuration and its log evidence, for people or exactly.
func Facts(c reports.Configuration, exact bool) []Fact {
	evidence, loo := reports.Decimals(float64(c.LogEvidence), 3), reports.Readable(float64(c.LeftOneOut()))
	if exact {
		evidence, loo = reports.Shortest(c.LogEvidence), reports.Shortest(c.LeftOneOut())
	}
	if c.Program != nil {
		return []Fact{
			{Name: "program", Text: cmp.Or(terminal.CommandLine(c.Program.Command...), "gpc-tune ask and tell")},
			{Name: "ranges", Text: strings.Join(rangesOf(c), "; ")},
			{Name: "tune", Text: c.Tune + " of " + c.Maximised()}}
	}
	facts := []Fact{
		{Name: "dataset", Text: fmt.Sprintf("%s, %s, %s, preprocess %s", c.Dataset, Counted(c.Cases, "case", "cases"),
			Counted(c.Inputs, "input", "inputs"), c.Preprocess)},
		{Name: "classes", Text: strings.Join(c.Classes, ", ")},
		{Name: "kernel", Text: c.Kernel.Text},
		{Name: "mean", Text: c.Mean.Text},
		{Name: "likelihood", Text: c.Likelihood.Text},
		{Name: "inference", Text: c.Inference.Text},
		{Name: "tune", Text: c.Tune + " of " + c.Tuned()},
		{Name: "log evidence", Text: evidence + also(c.Converged)},
		{Name: "leave one out", Text: loo},
	}
	return slices.DeleteFunc(facts, func(f Fact) bool { return f.Text == "" })
}

// rangesOf are the ranges of a program's hyperparameters, with initial values to 12 digits.
func rangesOf(c reports.Configuration) []string {
	out := slices.Clone(c.Program.Ranges)
	for i, h := range c.Record.Hyperparameters[:min(len(out), len(c.Record.Hyperparameters))] {
		out[i] = strings.Replace(out[i], "first "+reports.Shortest(h.Init),
			fmt.Sprintf("first %.12g", float64(h.Init)), 1)
	}
	return out
}

// also is a remark on a fit that had not converged; empty if it had.
func also(converged *bool) string {
	if converged == nil {
		return ""
	}
	return " (not converged)"
}

// hyperparameters is the table of the hyperparameters, named by input.
func hyperparameters(c reports.Configuration) []Table {
	t := Table{Columns: Columns("hyperparameter", "value")}
	for _, h := range c.ByInput(c.Hyperparameters) {
		t.Add(h.Name, assigned(h))
	}
	return []Table{t}
}

func standardErrors(c reports.Configuration) []Table {
	t := Table{Columns: Columns("hyperparameter", "standard error")}
	for i, e := range c.StandardErrors {
		t.Columns = append(t.Columns, Column{Name: "correlation with " + e.Name, KeepInText: true,
			Doc: "correlation of the two estimates"})
		row := Row(e.Name, e.Value)
		for _, x := range c.Correlations[i] {
			row = append(row, Cell{Value: x})
		}
		t.Add(row)
	}
	return []Table{t}
}

func posterior(c reports.Configuration) []Table {
	t := Table{Columns: Columns("hyperparameter", "mean", "standard deviation", "R-hat", "effective samples")}
	for _, m := range c.Posterior {
		t.Add(m.Name, m.Mean, m.SD, m.RHat, m.ESS)
	}
	return []Table{t}
}

func bestPoints(c reports.Configuration) []Table {
	t := Table{Title: "best points" + c.SoFar(), Columns: Columns("best", "value", placeOf(c), "hyperparameters")}
	if noisySearch(c) {
		t.Columns = append(t.Columns, Columns("standard deviation")...)
	}
	for _, b := range c.Best {
		by := "held-out " + b.By
		if b.By == c.Objective { // no held-out score chooses
			by = "chosen by " + c.Maximised()
			if b.StandardDeviation != nil {
				by = "chosen by expected " + c.Maximised()
			}
		}
		if among, some := c.Among(b.By); some {
			by += " of " + among
		}
		t.Add(by+c.Equals(b), b.Value, place(c, b.Point), c.Grid[b.Point].Point)
		if row := &t.Rows[len(t.Rows)-1]; b.StandardDeviation != nil {
			(*row)[4].Value = *b.StandardDeviation
		}
	}
	if noisySearch(c) {
		lucky := c.Grid[*c.Best[0].Luckiest]
		t.Add("luckiest "+c.Maximised(), reports.Number(lucky.Objective()), lucky.Trial, lucky.Point)
	}
	return []Table{t}
}

// placeOf is the name of the numbers of place: the trials of a program, else the points.
func placeOf(c reports.Configuration) string {
	if c.Program != nil {
		return "trial"
	}
	return "point"
}

// place is the number of a point of the grid: of a program the number of its trial.
func place(c reports.Configuration, i int) int {
	if c.Program != nil {
		return c.Grid[i].Trial
	}
	return i
}

func restarts(c reports.Configuration) []Table {
	t := Table{Columns: Columns("trial", "status", "evaluations", c.Maximised(), "gradient", "start", "end", "")}
	t.Columns[3].Ranks = true
	for _, r := range c.Restarts {
		t.Add(r.Trial, r.Status, r.Evaluations, objective(c, r.Value), r.Gradient, c.Named(r.Start), c.Named(r.End),
			cmp.Or(r.Preliminary, chosen(r.Chosen, r.Own)))
	}
	return []Table{t}
}

func points(c reports.Configuration) []Table {
	t := Table{Columns: Columns(placeOf(c), c.Maximised(), "hyperparameters", "scores", "")}
	if t.Columns[1].Ranks = true; c.Program != nil {
		t.Columns[1] = t.Columns[1].explained(!c.Minimises(), "the value of the program")
	}
	if valued := slices.ContainsFunc(c.Grid, func(p reports.GridPoint) bool { return len(p.Values) > 0 }); valued {
		t.Columns[3] = Columns("values")[0]
	}
	kept := slices.ContainsFunc(c.Grid, func(p reports.GridPoint) bool { return p.Output != "" })
	if kept {
		t.Columns = append(t.Columns, Columns("output")...)
	}
	for i, p := range c.Grid {
		row := Row(place(c, i), objective(c, reports.Number(p.Objective())), c.Named(p.Point),
			slices.Concat(p.Scores, p.Values), cmp.Or(p.Share, chosen(p.Chosen, p.Own)))
		if kept {
			row = append(row, Row(p.Output)...)
		}
		t.Add(row)
	}
	return []Table{t}
}

func scores(c reports.Configuration) []Table {
	t := Table{Columns: Columns("evaluation", "folds", "score", "value", "95 % interval", "status")}
	for _, e := range c.Evaluations {
		for _, s := range e.Scores.Results {
			t.Add(e.Name, fmt.Sprintf("%d of %d", e.Scored, e.Folds), s.Name, valueCells(s.Estimate, e.Scores.Partial),
				string(e.Status))
		}
	}
	return []Table{t}
}

func folds(c reports.Configuration) []Table {
	t := Table{Columns: Columns("evaluation", "repeat", "fold", "train", "test", "status", "log evidence",
		"hyperparameters")}
	for _, s := range cv.Scores {
		t.Columns = append(t.Columns, Columns(s.Name)...)
	}
	for _, f := range c.Folds {
		row := Row(f.Evaluation, f.Repeat, f.Fold, f.Train, f.Test, string(f.Status)+also(f.Converged),
			decimals(f.LogEvidence, 3), c.Named(f.Hyperparameters))
		for _, s := range cv.Scores {
			row = append(row, scoreCell(f.Scores, s.Name))
		}
		t.Add(row)
	}
	return []Table{t}
}

// costs are the mean costs of the decisions of every evaluation.
func costs(c reports.Configuration) (out []Table) {
	for _, e := range c.Evaluations {
		if d := e.Decisions; d != nil {
			t := Table{Title: fmt.Sprintf("costs, %s (%d of %d cases rejected)", scoredName(e), d.Rejected, e.Scores.N),
				Columns: append([]Column{{Name: "evaluation", data: true}}, Columns("decisions", "cost of a case")...)}
			rule := "of least expected cost"
			if len(c.Folds) > 0 && c.Folds[0].Threshold != nil {
				rule = "by the threshold"
			}
			t.Add(e.Name, rule, d.Loss)
			t.Add(e.Name, "what is expected of them", d.Expected)
			t.Add(e.Name, "for the largest probability", d.Likeliest)
			out = append(out, t)
		}
	}
	return out
}

// decisions are the numbers of decisions by class; of more than Widest classes, the most frequent
// wrong ones.
func decisions(c reports.Configuration) (out []Table) {
	for _, e := range c.Evaluations {
		if len(e.Confusion) > Widest {
			out = append(out, confused(c, e))
			continue
		}
		t := Table{Title: "decisions, " + scoredName(e) + " (rows: true classes)",
			Columns: Columns("class")}
		names, rows := decisionsOf(c, e)
		for _, name := range names {
			t.Columns = append(t.Columns, Column{Name: name, KeepInText: true,
				Doc: "cases that are decided for this class"})
		}
		for i, row := range rows {
			cells := Row(className(c.Classes[i]))
			for _, n := range row {
				cells = append(cells, Cell{Value: n})
			}
			t.Add(cells)
		}
		out = append(out, t)
	}
	return out
}

// decisionsOf counts decisions: rows of true classes, and the names of their columns.
func decisionsOf(c reports.Configuration, e reports.Evaluation) (names []string, rows [][]int) {
	if d := e.Decisions; d != nil {
		return append(slices.Clone(c.Classes), record.Rejected), d.Table
	}
	return c.Classes, e.Confusion
}

// confused are the most frequent wrong decisions of an evaluation, at most Widest.
func confused(c reports.Configuration, e reports.Evaluation) Table {
	type pair struct{ class, decided, cases int }
	var pairs []pair
	names, rows := decisionsOf(c, e)
	for class, row := range rows {
		for decided, n := range row {
			if n > 0 && decided != class {
				pairs = append(pairs, pair{class, decided, n})
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return b.cases - a.cases })
	t := Table{Title: "most frequent wrong decisions, " + scoredName(e),
		Columns: Columns("class", "decided", "cases")}
	for _, p := range pairs[:min(Widest, len(pairs))] {
		t.Add(className(c.Classes[p.class]), className(names[p.decided]), p.cases)
	}
	return t
}

// decisionRows has a row for every pair of a true class and the class that is decided.
func decisionRows(r *reports.Report) Table {
	t := Table{Columns: Columns("configuration", "evaluation", "class", "decided", "cases")}
	for i, c := range r.Configurations {
		for _, e := range c.Evaluations {
			names, rows := decisionsOf(c, e)
			for class, row := range rows {
				for decided, n := range row {
					t.Add(i, e.Name, c.Classes[class], names[decided], n)
				}
			}
		}
	}
	return t
}

// scoredName is the name of an evaluation, with its folds if some are missing.
func scoredName(e reports.Evaluation) string {
	if e.Scores.Partial != nil {
		return e.Name + ", " + e.Scores.Partial.String()
	}
	return e.Name
}

// objective is a value of the tuning objective, in nats or as a score.
func objective(c reports.Configuration, x reports.Number) Cell {
	if strings.HasPrefix(c.Objective, "log_") {
		return decimals(x, 3)
	}
	return Cell{Value: x}
}

func chosen(yes, own bool) string {
	var marks []string
	if own {
		marks = append(marks, "enqueued")
	}
	if yes {
		marks = append(marks, "chosen")
	}
	return strings.Join(marks, ", ")
}
