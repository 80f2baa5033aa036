package table

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/gpc-tune/gpc-tune/internal/terminal"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
)

// writeIllustration writes all numbers of an illustration.
func writeIllustration(w io.Writer, experiment string, place int, i record.Illustration) {
	fmt.Fprintf(w, "%s #%d  %s\n", experiment, place, i.Kind)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, f := range []Fact{{Name: "kernel", Text: i.Kernel.Text}, {Name: "mean", Text: i.Mean.Text},
		{Name: "likelihood", Text: i.Likelihood.Text}} {
		if f.Text != "" {
			fmt.Fprintf(t, "%s\t%s\n", f.Name, f.Text)
		}
	}
	for _, h := range i.Hyperparameters {
		fmt.Fprintf(t, "%s\t%s\n", h.Name, reports.Assigned(h, reports.Exact))
	}
	t.Flush() // errors surface in w
	if i.Exact != nil {
		moments := illustrations(&reports.Report{Illustrations: []record.Illustration{i}})
		moments.MoveConstantsToCaption()
		moments.Title, moments.Caption = "moments", nil
		moments.print(w, Screen{}, false)
	}
	numbers := Table{Title: "numbers", Rows: make([][]Cell, len(i.Columns[0].Values))}
	for _, column := range i.Columns {
		numbers.Columns = append(numbers.Columns, Column{Name: column.Name, Right: true, KeepInText: true})
		for k, v := range column.Values {
			numbers.Rows[k] = append(numbers.Rows[k], written(reports.Shortest(v), v))
		}
	}
	numbers.print(w, Screen{}, false)
	for _, a := range i.Approximations {
		if !a.Failure.IsZero() {
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
			writeTrial(t, w, c.Configuration)
		}
	}
	if s.Run != nil {
		for _, t := range Of(s.Run, ForShow) {
			t.print(w, Screen{}, false)
		}
	}
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
	for _, f := range Facts(c, true) {
		line(f.Name, "%s", f.Text)
	}
	for _, h := range c.ByInput(c.Hyperparameters) {
		line(h.Name, "%s", reports.Assigned(h, reports.Exact))
	}
	for _, e := range c.StandardErrors {
		line("± "+e.Name, "%s", reports.Shortest(e.Value))
	}
	for _, m := range c.Posterior {
		line("posterior "+m.Name, "%s ± %s, R-hat %s, effective samples %s", reports.Shortest(m.Mean),
			reports.Shortest(m.SD), reports.Shortest(m.RHat), reports.Shortest(m.ESS))
	}
	t.Flush() // errors surface in w

	for _, t := range OfConfiguration(c, ForShow) {
		t.exactly()
		t.print(w, Screen{}, false)
	}
	for _, warning := range c.Warnings {
		fmt.Fprintf(w, "warning: %s\n", terminal.OneLine(warning.String()))
	}
	for _, f := range c.Failures {
		fmt.Fprintf(w, "FAILED %s\n", terminal.OneLine(f.String()))
		if f.Output != "" {
			fmt.Fprintf(w, "its output: %s.stderr.txt\n", f.Output)
		}
	}
}

// writeTrial writes a trial: its start, and every point that it reached.
func writeTrial(t reports.Trial, w io.Writer, c reports.Configuration) {
	objective := c.Maximised()
	fmt.Fprintf(w, "%s repeat %d fold %d trial %d  %s, %s\n", t.Evaluation, t.Repeat, t.Fold, t.Trial,
		cmp.Or(t.Status, "failed"), Counted(t.Evaluations, "evaluation", "evaluations"))
	if len(t.Start) > 0 {
		fmt.Fprintf(w, "start %s\n", reports.Assignments(t.Start, reports.Exact))
	}
	if t.Output != "" {
		fmt.Fprintf(w, "output %s.stdout.txt %s.stderr.txt\n", t.Output, t.Output)
	}
	points := Table{Title: "points", Columns: Columns("point", objective, "gradient", "hyperparameters", "theta",
		"scores", "", "failure")}
	for i, p := range t.Points {
		points.Add(i, p.Value, p.Gradient, p.Hyperparameters, p.Theta, p.Scores, chosen(p.Chosen, t.Own), p.Failure)
	}
	if c.Program != nil {
		points = Table{Title: "point", Columns: Columns(objective, "hyperparameters", "values", "", "failure")}
		for _, p := range t.Points {
			points.Add(p.Value, p.Hyperparameters, p.Values, chosen(p.Chosen, t.Own), p.Failure)
		}
	}
	path := Table{Title: "path", Columns: Columns("step", objective, "theta")}
	for i, s := range t.Path {
		path.Add(i, s.Value, reports.Assignments(s.Theta, reports.Significant))
	}
	way := Table{Title: "values on the way", Columns: Columns("step", objective)}
	for _, at := range t.Interim {
		way.Add(at.Step, at.Value)
	}
	for _, t := range []Table{points, path, way} {
		t.exactly()
		t.print(w, Screen{}, false)
	}
	for _, warning := range t.Warnings {
		fmt.Fprintf(w, "warning: %s\n", terminal.OneLine(warning))
	}
	if t.Failure != "" {
		fmt.Fprintf(w, "FAILED %s\n", terminal.OneLine(t.Failure))
	}
}
