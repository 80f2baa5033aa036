package table

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/internal/terminal"
	"github.com/gpc-tune/gpc-tune/reports"
)

// writeIllustration writes all numbers of an illustration.
func writeIllustration(w io.Writer, experiment string, place int, i record.Illustration) {
	fmt.Fprintf(w, "%s #%d  %s\n", experiment, place, i.Kind)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, f := range []Fact{{"kernel", i.Kernel.Text}, {"mean", i.Mean.Text}, {"likelihood", i.Likelihood.Text}} {
		if f.Text != "" {
			fmt.Fprintf(t, "%s\t%s\n", f.Name, f.Text)
		}
	}
	for _, h := range i.Hyperparameters {
		fmt.Fprintf(t, "%s\t%s\n", h.Name, reports.Shortest(h.Value))
	}
	t.Flush() // errors surface in w
	if i.Exact != nil {
		illustrations((&reports.Report{Illustrations: []record.Illustration{i}})).section(w, "moments")
	}
	numbers := Table{Columns: make([]Column, len(i.Columns)), Rows: make([][]Cell, len(i.Columns[0].Values))}
	for c, column := range i.Columns {
		numbers.Columns[c] = Column{Name: column.Name, Right: true, Keep: true}
		for k, v := range column.Values {
			numbers.Rows[k] = append(numbers.Rows[k], number(reports.Shortest(v), float64(v)))
		}
	}
	numbers.section(w, "numbers")
	for _, a := range i.Approximations {
		if a.Failure != "" {
			fmt.Fprintf(w, "FAILED %s: %s\n", a.Inference, a.Failure)
		}
	}
}

// ShownForms are the formats of Shown.
var ShownForms = Forms[*reports.Shown]{{Name: "text", Render: shownText},
	{Name: "json", Render: reports.WriteJSON[*reports.Shown]}}

func shownText(out io.Writer, s *reports.Shown) error {
	w := bufio.NewWriter(out) // keeps the first error
	for i, c := range s.Configurations {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s #%d  %s\n", s.Experiment, c.Number, c.Status)
		if c.Trials == nil {
			writeAll(c.Configuration, w)
		}
		for _, t := range c.Trials {
			fmt.Fprintln(w)
			writeTrial(t, w, c.Maximised())
		}
	}
	writeContests((&reports.Report{Nested: s.Nested, Races: s.Races}), w, Screen{}, true)
	for k, i := range s.Illustrations {
		if k > 0 {
			fmt.Fprintln(w)
		}
		writeIllustration(w, s.Experiment, k, i)
	}
	return w.Flush()
}

// writeAll writes everything except curves.
func writeAll(c reports.Configuration, w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(name, format string, args ...any) {
		if text := fmt.Sprintf(format, args...); text != "" {
			fmt.Fprintf(t, "%s\t%s\n", terminal.OneLine(name), terminal.OneLine(text))
		}
	}
	for _, f := range Facts(c, exactly) {
		line(f.Name, "%s", f.Text)
	}
	for _, h := range c.ByInput(c.Hyperparameters) {
		line(h.Name, "%s", reports.Shortest(h.Number))
	}
	for _, e := range c.StandardErrors {
		line("± "+e.Name, "%s", reports.Shortest(e.Number))
	}
	for _, m := range c.Posterior {
		line("posterior "+m.Name, "%s ± %s, R-hat %s, effective samples %s", reports.Shortest(m.Mean),
			reports.Shortest(m.SD), reports.Shortest(m.RHat), reports.Shortest(m.ESS))
	}
	t.Flush() // errors surface in w

	for _, h := range ConfigurationTables(c) {
		h.Table(exactly).section(w, h.Heading)
	}
	for _, warning := range c.Warnings {
		fmt.Fprintf(w, "warning: %s\n", terminal.OneLine(warning))
	}
	for _, f := range c.Failures {
		fmt.Fprintf(w, "FAILED %s\n", terminal.OneLine(f.String()))
	}
}

// Facts describe the configuration and its log evidence.
func Facts(c reports.Configuration, digits Digits) []Fact {
	facts := []Fact{
		{"dataset", fmt.Sprintf("%s, %s, %s, preprocess %s", c.Dataset, Counted(c.Cases, "case", "cases"),
			Counted(c.Inputs, "input", "inputs"), c.Preprocess)},
		{"classes", strings.Join(c.Classes, ", ")},
		{"kernel", c.Kernel.Text},
		{"mean", c.Mean.Text},
		{"likelihood", c.Likelihood.Text},
		{"inference", c.Inference.Text},
		{"tune", c.Tune + " of " + c.Tuned()},
		{"log evidence", digits.nats(c.LogEvidence) + also(c.Converged)},
		{"leave one out", digits.number(c.LeftOneOut())},
	}
	return slices.DeleteFunc(facts, func(f Fact) bool { return f.Text == "" })
}

// also marks a fit that had not converged.
func also(converged *bool) string {
	if converged == nil {
		return ""
	}
	return " (not converged)"
}

// HeadedRows is a table under a heading.
type HeadedRows struct {
	Heading string
	Rows
}

// ConfigurationTables are the restarts, the points, the scores and the folds.
func ConfigurationTables(c reports.Configuration) []HeadedRows {
	restarts := Rows{Columns: []string{"trial", "status", "evaluations", c.Maximised(), "gradient", "start", "end", ""}}
	for _, r := range c.Restarts {
		restarts.Add(r.Trial, r.Status, r.Evaluations, objective(c, r.Value), r.Gradient,
			c.Named(r.Start), c.Named(r.End), chosen(r.Chosen))
	}
	points := Rows{Columns: []string{"point", c.Maximised(), "hyperparameters", "scores", ""}}
	for i, p := range c.Grid {
		points.Add(i, objective(c, reports.Number(p.Objective())), c.Named(p.Point), p.Scores, chosen(p.Chosen))
	}
	scored := Rows{Columns: []string{"evaluation", "folds", "score", "value", "95 % interval", "status"}}
	for _, e := range c.Evaluations {
		for _, s := range e.Scores.Results {
			of := e.Scores.Partial
			scored.Add(e.Name, fmt.Sprintf("%d of %d", e.Scored, e.Folds), s.Name,
				Cell{Numeric: true, Value: float64(s.Value), Partial: of}, interval(s.Lo, s.Hi, of), string(e.Status))
		}
	}
	folds := Rows{Columns: []string{"evaluation", "repeat", "fold", "train", "test", "status", "log evidence",
		"hyperparameters"}}
	for _, s := range cv.Scores {
		folds.Columns = append(folds.Columns, s.Name)
	}
	for _, f := range c.Folds {
		row := []any{f.Evaluation, f.Repeat, f.Fold, f.Train, f.Test, string(f.Status) + also(f.Converged),
			nats(f.LogEvidence), c.Named(f.Hyperparameters)}
		for _, s := range cv.Scores {
			var cell any
			if e, ok := f.Scores.Value(s.Name); ok {
				cell = reports.Number(e.Value)
			}
			row = append(row, cell)
		}
		folds.Add(row...)
	}
	return []HeadedRows{{"restarts", restarts}, {"points", points}, {"scores", scored}, {"folds", folds}}
}

// objective is a value of the tuning objective, in nats or as a score.
func objective(c reports.Configuration, x reports.Number) any {
	if strings.HasPrefix(c.Objective, "log_") {
		return nats(x)
	}
	return x
}

// writeTrial writes a trial: its start, and every point that it reached.
func writeTrial(t reports.Trial, w io.Writer, objective string) {
	fmt.Fprintf(w, "%s repeat %d fold %d trial %d  %s, %s\n", t.Evaluation, t.Repeat, t.Fold, t.Trial,
		cmp.Or(t.Status, "failed"), Counted(t.Evaluations, "evaluation", "evaluations"))
	if len(t.Start) > 0 {
		fmt.Fprintf(w, "start %s\n", reports.Assignments(t.Start, reports.Exact))
	}
	points := Table{Columns: Columns("point", objective, "gradient", "hyperparameters", "theta", "scores", "",
		"failure")}
	for i, p := range t.Points {
		points.Rows = append(points.Rows, Row(i, reports.Shortest(p.Value), reports.Shortest(p.Gradient),
			reports.Assignments(p.Hyperparameters, reports.Readable),
			reports.Assignments(p.Theta, reports.Readable), reports.Assignments(p.Scores, reports.Readable),
			chosen(p.Chosen), p.Failure))
	}
	points.section(w, "points")
	path := Table{Columns: Columns("step", objective, "theta")}
	for i, s := range t.Path {
		path.Rows = append(path.Rows, Row(i, reports.Shortest(s.Value), reports.Assignments(
			s.Theta, reports.Significant)))
	}
	path.section(w, "path")
	for _, warning := range t.Warnings {
		fmt.Fprintf(w, "warning: %s\n", terminal.OneLine(warning))
	}
	if t.Failure != "" {
		fmt.Fprintf(w, "FAILED %s\n", terminal.OneLine(t.Failure))
	}
}

func chosen(yes bool) string {
	if yes {
		return "chosen"
	}
	return ""
}
