package reports

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/internal/record"
)

// Shown is a part of a Report with everything in it.
type Shown struct {
	Schema         string                `json:"schema"` // "gpc-tune/show/1"
	Experiment     string                `json:"experiment"`
	Configurations []ShownConfiguration  `json:"configurations"`
	Nested         []Nested              `json:"nested,omitempty"` // with all configurations
	Races          []Race                `json:"races,omitempty"`
	Illustrations  []record.Illustration `json:"illustrations,omitempty"`
}

// ShownConfiguration is a configuration, its number in the Report, and the trials that are asked for.
type ShownConfiguration struct {
	Number int `json:"number"`
	Configuration
	Trials []Trial `json:"trials,omitempty"`
}

// Show picks a configuration by its number, or all with -1, and if trial is not -1 the trial of this index of every study
// of theirs. It is an error if there is none.
func (r *Report) Show(configuration, trial int) (*Shown, error) {
	if configuration < -1 || configuration >= len(r.Configurations) {
		return nil, fmt.Errorf("no configuration %d; the run has 0 to %d", configuration, len(r.Configurations)-1)
	}
	out := &Shown{Schema: "gpc-tune/show/1", Experiment: r.Experiment, Configurations: []ShownConfiguration{}}
	if configuration == -1 && trial == -1 {
		out.Nested, out.Races, out.Illustrations = r.Nested, r.Races, r.Illustrations
	}
	last := -1
	for i, c := range r.Configurations {
		if configuration >= 0 && i != configuration {
			continue
		}
		s := ShownConfiguration{Number: i, Configuration: c}
		for _, study := range c.studies {
			for _, t := range c.trials(study) {
				if last = max(last, t.Trial); t.Trial == trial {
					s.Trials = append(s.Trials, t)
				}
			}
		}
		if trial == -1 || s.Trials != nil {
			out.Configurations = append(out.Configurations, s)
		}
	}
	if trial != -1 && len(out.Configurations) == 0 {
		return nil, fmt.Errorf("no trial %d on record; there are %d", trial, last+1)
	}
	return out, nil
}

// ShownForms are the forms in which it is written.
var ShownForms = Forms[*Shown]{{"text", shownText}, {"json", writeJSON[*Shown]}}

func shownText(out io.Writer, s *Shown) error {
	w := bufio.NewWriter(out) // keeps the first error
	for i, c := range s.Configurations {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s #%d  %s\n", s.Experiment, c.Number, c.Status)
		if c.Trials == nil {
			c.Configuration.writeAll(w)
		}
		for _, t := range c.Trials {
			fmt.Fprintln(w)
			t.write(w, c.maximised())
		}
	}
	(&Report{Nested: s.Nested, Races: s.Races}).writeContests(w, true)
	for k, i := range s.Illustrations {
		if k > 0 {
			fmt.Fprintln(w)
		}
		writeIllustration(w, s.Experiment, k, i)
	}
	return w.Flush()
}

// writeAll writes everything but curves.
func (c Configuration) writeAll(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(name, format string, args ...any) {
		if text := fmt.Sprintf(format, args...); text != "" {
			fmt.Fprintf(t, "%s\t%s\n", OneLine(name), OneLine(text))
		}
	}
	for _, f := range c.facts(shortest) {
		line(f.Name, "%s", f.Text)
	}
	for _, h := range c.Hyperparameters {
		line(h.Name, "%s", shortest(h.Number))
	}
	for _, e := range c.StandardErrors {
		line("± "+e.Name, "%s", shortest(e.Number))
	}
	for _, m := range c.Posterior {
		line("posterior "+m.Name, "%s ± %s, R-hat %s, effective samples %s", shortest(m.Mean), shortest(m.SD), shortest(m.RHat), shortest(m.ESS))
	}
	t.Flush() // errors surface in w

	for _, h := range c.tables() {
		h.table(shortest).section(w, h.heading)
	}
	for _, warning := range c.Warnings {
		fmt.Fprintf(w, "warning: %s\n", OneLine(warning))
	}
	for _, f := range c.Failures {
		fmt.Fprintf(w, "FAILED %s\n", OneLine(f.String()))
	}
}

// fact is something by its name.
type fact struct{ Name, Text string }

// facts say what the configuration is and what its log evidence came to.
func (c Configuration) facts(number func(Number) string) []fact {
	facts := []fact{
		{"dataset", fmt.Sprintf("%s, %d cases, %d inputs, preprocess %s", c.Dataset, c.Cases, c.Inputs, c.Preprocess)},
		{"classes", strings.Join(c.Classes, ", ")},
		{"kernel", c.Kernel.Text},
		{"mean", c.Mean.Text},
		{"likelihood", c.Likelihood.Text},
		{"inference", c.Inference.Text},
		{"tune", c.Tune + " of " + c.tuned()},
		{"log evidence", number(c.LogEvidence) + also(c.Converged)},
		{"leave one out", number(c.leaveOneOut())},
	}
	return slices.DeleteFunc(facts, func(f fact) bool { return f.Text == "" })
}

// also says of a fit that it had not converged, where that is so.
func also(converged *bool) string {
	if converged == nil {
		return ""
	}
	return " (not converged)"
}

// headed is a table under a heading.
type headed struct {
	heading string
	Rows
}

// tables are the restarts, the points, the scores and the folds.
func (c Configuration) tables() []headed {
	restarts := Rows{columns: []string{"trial", "status", "evaluations", c.maximised(), "gradient", "start", "end", ""}}
	for _, r := range c.Restarts {
		restarts.add(r.Trial, r.Status, r.Evaluations, r.Value, r.Gradient, r.Start, r.End, chosen(r.Chosen))
	}
	points := Rows{columns: []string{"point", c.maximised(), "hyperparameters", "scores", ""}}
	for i, p := range c.Grid {
		points.add(i, Number(p.value()), p.Point, p.Scores, chosen(p.Chosen))
	}
	scored := Rows{columns: []string{"evaluation", "folds", "score", "value", "95 % interval", "status"}}
	for _, e := range c.Evaluations {
		for _, s := range e.Scores.Results {
			interval, of := "", e.Scores.Partial
			if !math.IsNaN(s.Lo) {
				interval = of.whole(significant(s.Lo) + " … " + significant(s.Hi))
			}
			scored.add(e.Name, fmt.Sprintf("%d of %d", e.Scored, e.Folds), s.Name, of.beside(significant(s.Value)), interval, string(e.Status))
		}
	}
	folds := Rows{columns: []string{"evaluation", "repeat", "fold", "train", "test", "status", "log evidence", "hyperparameters"}}
	for _, s := range cv.Scores {
		folds.columns = append(folds.columns, s.Name)
	}
	for _, f := range c.Folds {
		row := []any{f.Evaluation, f.Repeat, f.Fold, f.Train, f.Test, string(f.Status) + also(f.Converged), f.LogEvidence, f.Hyperparameters}
		for _, s := range cv.Scores {
			cell := ""
			if e, ok := f.Scores.Value(s.Name); ok {
				cell = significant(e.Value)
			}
			row = append(row, cell)
		}
		folds.add(row...)
	}
	return []headed{{"restarts", restarts}, {"points", points}, {"scores", scored}, {"folds", folds}}
}

// write writes a trial: where it started, and every point that it came to.
func (t Trial) write(w io.Writer, objective string) {
	fmt.Fprintf(w, "%s repeat %d fold %d trial %d  %s, %d evaluations\n", t.Evaluation, t.Repeat, t.Fold, t.Trial, cmp.Or(t.Status, "failed"), t.Evaluations)
	if len(t.Start) > 0 {
		fmt.Fprintf(w, "start %s\n", assignments(t.Start, exact))
	}
	points := Table{Columns: columns("point", objective, "gradient", "hyperparameters", "theta", "scores", "", "failure")}
	for i, p := range t.Points {
		points.Rows = append(points.Rows, []string{strconv.Itoa(i), shortest(p.Value), shortest(p.Gradient), assignments(p.Hyperparameters, significant),
			assignments(p.Theta, significant), assignments(p.Scores, significant), chosen(p.Chosen), p.Failure})
	}
	points.section(w, "points")
	path := Table{Columns: columns("step", objective, "theta")}
	for i, s := range t.Path {
		path.Rows = append(path.Rows, []string{strconv.Itoa(i), shortest(s.Value), assignments(s.Theta, significant)})
	}
	path.section(w, "path")
	for _, warning := range t.Warnings {
		fmt.Fprintf(w, "warning: %s\n", OneLine(warning))
	}
	if t.Failure != "" {
		fmt.Fprintf(w, "FAILED %s\n", OneLine(t.Failure))
	}
}

// columns are columns of these names that stay where they are.
func columns(names ...string) (out []Column) {
	for _, name := range names {
		out = append(out, Column{Name: name, keep: true})
	}
	return out
}

// section writes a table under a heading, if it has rows.
func (t Table) section(w io.Writer, heading string) {
	if len(t.Rows) > 0 {
		t.lift()
		fmt.Fprintf(w, "\n%s\n", heading)
		t.write(w)
	}
}

// shortest is x as in JSON; NaN is empty.
func shortest(x Number) string { return exact(float64(x)) }

func chosen(yes bool) string {
	if yes {
		return "chosen"
	}
	return ""
}
