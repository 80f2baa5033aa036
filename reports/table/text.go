package table

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/internal/terminal"
	"github.com/gpc-tune/gpc-tune/reports"
)

// Failures is a text with the number of failures of a run and their meaning; "" if there are none.
func Failures(r *reports.Report) string {
	jobs, of, points := r.Failed()
	one, many := reports.Unit(r.Manifest)
	passed := Counted(points, "point", "points") + " that could not be evaluated, which the searches went past"
	switch {
	case jobs == 0 && points == 0:
		return ""
	case jobs == 0:
		return passed
	}
	text := fmt.Sprintf("%d of %s", jobs, Counted(of, one, many))
	if points > 0 {
		text += ", and " + passed
	}
	return text + fmt.Sprintf("; gpc-tune %s with --retry-failed runs failed %s again", r.Manifest.Command(), many)
}

// Missing returns the sentence that a run is not complete, and the way to complete it; "" for a
// complete run.
func Missing(r *reports.Report) string {
	_, many := reports.Unit(r.Manifest)
	remedy := "resume the run to complete it"
	if slices.ContainsFunc(r.Configurations, func(c reports.Configuration) bool {
		return c.Program != nil && len(c.Program.Command) == 0
	}) {
		remedy = "gpc-tune ask goes on with it"
	}
	switch {
	case r.Missing == 0:
		return ""
	case many == "trials": // the number of missing trials is not known before the search ends
		return "the search is not finished; " + remedy
	}
	return fmt.Sprintf("at least %s missing; %s", Counted(r.Missing, "job is", "jobs are"), remedy)
}

// Text writes the answer, what is missing, the tables of results, warnings and failures by cause,
// the hyperparameters and optima of every configuration, and the other tables.
func Text(out io.Writer, r *reports.Report) error { return TextOn(out, r, Screen{}) }

// TextOn writes the text for a terminal, with the answer as the last lines.
func TextOn(out io.Writer, r *reports.Report, on Screen) error {
	w := new(bytes.Buffer)
	on = on.signed()
	facts := Answered(r, MostAnswered)
	answer := func() {
		for _, f := range facts {
			name := terminal.OneLine(f.Name)
			text := on.wrap(name+": "+terminal.OneLine(f.Text), "    ")
			if rest, whole := strings.CutPrefix(text, name); whole { // not broken into lines
				text = on.bold(name) + rest
			}
			fmt.Fprintln(w, text)
		}
	}
	if on.Width == 0 && len(facts) > 0 {
		answer()
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "%s\n", r.Experiment)
	if text := Missing(r); text != "" {
		fmt.Fprintf(w, "INCOMPLETE: %s\n", text)
	}
	if text := Failures(r); text != "" {
		fmt.Fprintln(w, on.bad(on.wrap("FAILURES: "+text+"; listed below", "    ")))
	}
	write := func(results bool) {
		for s, t := range Of(r, ForText) {
			if s.Results == results && !t.Long {
				t.print(w, on, t.Name == "results")
			}
		}
	}
	write(true)
	writeCauses(w, on, "warning", r.WarningCauses())
	writeCauses(w, on, "FAILED", r.FailureCauses())
	for i, c := range r.Configurations {
		if c.Status == reports.Cut {
			continue // the summary shows it
		}
		var of bytes.Buffer
		writeConfiguration(c, &of, i)
		fmt.Fprintln(w)
		for line := range strings.Lines(of.String()) {
			fmt.Fprintln(w, on.wrap(strings.TrimSuffix(line, "\n"), "        "))
		}
		for _, t := range OfConfiguration(c, ForText) {
			t.print(w, on, false)
		}
	}
	write(false)
	if on.Width > 0 {
		fmt.Fprintln(w)
		answer()
	}
	return on.show(out, w.String())
}

// writeCauses writes one line for every cause, and its first notice.
func writeCauses(w io.Writer, on Screen, label string, all []reports.Cause) {
	for i, c := range all {
		if i == 0 {
			fmt.Fprintln(w)
		}
		name := label
		if c.Note {
			name = "note"
		}
		line := on.wrap(name+": "+CauseText(c), "    ")
		switch name {
		case "warning":
			line = on.styled("33", line)
		case "FAILED":
			line = on.bad(line)
		}
		fmt.Fprintln(w, line)
		if first := c.Notices[0]; (!c.Note || first.Configuration < 0) && first.String() != c.Cause {
			text := terminal.OneLine(first.String())
			if first.Configuration >= 0 {
				text = fmt.Sprintf("#%d %s", first.Configuration, text)
			}
			fmt.Fprintln(w, on.wrap("    first: "+text, "        "))
		}
	}
}

// CauseText is a cause in one line: what, how often, where, its meaning and its remedy.
func CauseText(c reports.Cause) string {
	text := fmt.Sprintf("%s (%s)", terminal.OneLine(c.Cause), Counted(c.Count, "time", "times"))
	var of []string
	const most = 4
	for _, n := range c.Notices {
		if name := fmt.Sprintf("#%d", n.Configuration); n.Configuration >= 0 && !slices.Contains(of, name) {
			of = append(of, name)
		}
	}
	if len(of) > most {
		of = append(of[:most-1], fmt.Sprintf("%d more", len(of)-most+1))
	}
	if len(of) > 0 {
		text += " in " + series(of)
	}
	if c.Meaning != "" {
		text += ": " + c.Meaning
	}
	if c.Remedy != "" {
		text += "; remedy: " + c.Remedy
	}
	return text
}

// writeConfiguration writes the results of a configuration that the summary does not have.
func writeConfiguration(c reports.Configuration, w io.Writer, index int) {
	text := "no hyperparameters"
	switch {
	case c.Program != nil && c.Status != reports.Done:
		text = fmt.Sprintf("%d points evaluated%s", len(c.Grid), c.SoFar())
	case c.Status == reports.Dropped:
		text = fmt.Sprintf("dropped by hand: it has no result, and is not compared; gpc-tune resume DIR %d takes it "+
			"back", index)
	case c.Status == reports.Missing:
		text = "not fitted to all of the training data yet"
	case c.Status == reports.Failed:
		text = "the fit to all of the training data has failed"
	case len(c.Hyperparameters) > 0:
		text = reports.Assignments(c.ByInput(c.Hyperparameters), reports.Readable)
	}
	fmt.Fprintf(w, "#%d  %s\n", index, text)
	if len(c.StandardErrors) > 0 {
		fmt.Fprintf(w, "    standard errors %s%s\n", reports.Assignments(c.StandardErrors, reports.Brief), strongest(c))
	}
	if len(c.Coefficients) > 0 {
		fmt.Fprintf(w, "    coefficients ± standard errors of preprocessed inputs%s: %s\n", forSecond(c),
			largestCoefficients(c))
	}
	if o := Restarts(c); o != "" {
		fmt.Fprintf(w, "    %s\n", o)
	}
	if text := tried(c); text != "" {
		fmt.Fprintf(w, "    %s\n", text)
	}
	for _, m := range c.Posterior {
		fmt.Fprintf(w, "    posterior %s %s ± %s (R-hat %s, effective samples %s)\n", terminal.OneLine(m.Name),
			reports.Readable(float64(m.Mean)), reports.Brief(float64(m.SD)),
			cmp.Or(reports.Decimals(float64(m.RHat), 3), "unknown"),
			cmp.Or(reports.Decimals(float64(m.ESS), 0), "unknown"))
	}
	for _, b := range c.Best {
		by := b.By
		if by == c.Objective {
			by = c.Tuned()
		}
		if by == c.Tuned() || brief(by) {
			among, _ := c.Among(b.By)
			why := ""
			if b.By == c.Objective {
				why = otherwise(c, float64(b.Value))
			}
			fmt.Fprintf(w, "    best %s of %s: %s%s%s\n", by, among, bestAt(c, b, reports.Readable(float64(b.Value)),
				reports.Assignments(c.ByInput(c.Grid[b.Point].Point), reports.Readable)), c.Equals(b), why)
		}
	}
	for _, e := range c.Evaluations {
		if d := e.Decisions; d != nil {
			fmt.Fprintf(w, "    %s: decisions cost %s a case%s, expected %s, by the largest probability %s; %d of "+
				"%d rejected\n",
				e.Scores.Partial.Beside(e.Name), reports.Readable(float64(d.Loss)),
				e.Scores.Partial.Whole(costInterval(*d)), reports.Readable(float64(d.Expected)),
				reports.Readable(float64(d.Likeliest)), d.Rejected, e.Scores.N)
		}
	}
}

// costInterval is the interval of the mean cost, if there is one.
func costInterval(d reports.Decisions) string {
	if d.CI95 == nil {
		return ""
	}
	return fmt.Sprintf(" (95 %% %s to %s)", reports.Readable(float64(d.CI95[0])),
		reports.Readable(float64(d.CI95[1])))
}

// Restarts summarises the restarts or the chains, if there are any.
func Restarts(c reports.Configuration) string {
	o := c.Optima()
	switch {
	case len(c.Posterior) > 0:
		return fmt.Sprintf("chains %d (%d failed); the figures above are those of their best sample, the scores "+
			"averages over all samples", o.Restarts, o.Failed)
	case o.Restarts == 0:
		return ""
	}
	of := ""
	if start := c.Starts()[0].Preliminary; start != "" {
		of = " of " + start
	}
	if len(c.Starts()) > o.Restarts {
		of += " with this choice"
	}
	text := fmt.Sprintf("%s%s%s (%d failed)", Counted(o.Restarts, "restart", "restarts"), of, c.SoFar(), o.Failed)
	switch {
	case o.Distinct == 0:
		return text
	case o.Distinct == 1 && o.Restarts-o.Failed == 1:
		text += fmt.Sprintf(", ended at %s %.3f", c.Tuned(), o.Hi)
	case o.Distinct == 1:
		text += fmt.Sprintf(", all at %s %.3f", c.Tuned(), o.Hi)
	default:
		text += fmt.Sprintf(", %d different optima: %s from %.3f to %.3f, the best found by %s", o.Distinct,
			c.Tuned(), o.Lo, o.Hi, Counted(o.AtBest, "restart", "restarts"))
	}
	if c.Starts()[0].Preliminary == "" {
		text += otherwise(c, o.Hi)
	}
	return text
}

// otherwise explains why the log evidence of the final fit is another number than the one that
// tuning reached. It is empty if both are the same, or if another objective was tuned.
func otherwise(c reports.Configuration, tuned float64) string {
	final := float64(c.LogEvidence)
	if c.Hybrid() || c.Objective != "log_evidence" || c.LogEvidence.None() ||
		fmt.Sprintf("%.3f", final) == fmt.Sprintf("%.3f", tuned) {
		return ""
	}
	why := "of the final fit"
	if c.Inducing != nil && c.Inducing.Before != nil {
		why = "of the final fit, whose inducing inputs were selected again there"
	}
	return fmt.Sprintf("; the log evidence %.3f is that %s", final, why)
}

// tried lists the numbers of inducing inputs that were tried, with their log evidences.
func tried(c reports.Configuration) string {
	if c.Inducing == nil || len(c.Inducing.Tried) == 0 {
		return ""
	}
	var all []string
	for _, of := range c.Inducing.Tried {
		all = append(all, fmt.Sprintf("%d: %.3f", of.Points, float64(of.LogEvidence)))
	}
	return "log evidence by the number of inducing inputs " + strings.Join(all, ", ")
}

// strongest is the correlation with the largest absolute value.
func strongest(c reports.Configuration) string {
	text, largest := "", -1.0
	for a, row := range c.Correlations {
		for b, r := range row[:a] {
			if size := math.Abs(float64(r)); size > largest {
				largest = size
				text = terminal.OneLine(fmt.Sprintf("; largest correlation %.2f (%s, %s)", float64(r),
					c.StandardErrors[b].Name, c.StandardErrors[a].Name))
			}
		}
	}
	return text
}

// brief reports whether a score is shown in short summaries.
func brief(name string) bool {
	s, err := cv.ScoreNamed(name)
	return err == nil && s.Column.Brief
}
