package reports

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gpc-tune/gpc-tune/cv"
)

// retryHint says what can be done about failed jobs.
const retryHint = "gpc-tune run with --retry-failed runs failed jobs again"

// mostListed is how many warnings, and how many failures, of one configuration the text lists.
const mostListed = 10

// renderText writes what is missing, the summary, the hyperparameters and optima of every configuration, and all warnings
// and failures.
func renderText(out io.Writer, r *Report) error {
	w := bufio.NewWriter(out) // keeps the first error
	fmt.Fprintf(w, "%s\n", r.Experiment)
	if r.Missing > 0 {
		fmt.Fprintf(w, "INCOMPLETE: at least %d jobs are missing; resume the run to complete it\n", r.Missing)
	}
	failures := 0
	for _, c := range r.Configurations {
		failures += len(c.Failures)
	}
	if failures > 0 {
		fmt.Fprintf(w, "FAILURES: %d, listed below; %s\n", failures, retryHint)
	}
	t := r.Summary()
	if len(t.Caption) > 0 {
		fmt.Fprintf(w, "%s\n", OneLine(strings.Join(t.Caption, ", ")))
	}
	fmt.Fprintln(w)
	t.write(w)
	if t, ok := r.Pivot(nil); ok {
		fmt.Fprintf(w, "\n%s\n\n", OneLine(strings.Join(t.Caption, ", ")))
		t.write(w)
	}
	for i, c := range r.Configurations {
		fmt.Fprintln(w)
		c.write(w, i)
	}
	r.writeContests(w, false)
	if len(r.Warnings) > 0 {
		fmt.Fprintln(w)
	}
	for _, warning := range r.Warnings {
		fmt.Fprintf(w, "warning: %s\n", OneLine(warning))
	}
	return w.Flush()
}

// write lays out a table; columns are two blanks apart. Numbers are below one another, the counts of partial ones behind them.
func (t Table) write(w io.Writer) {
	lines := make([][]string, 1+len(t.Rows))
	for _, column := range t.Columns {
		lines[0] = append(lines[0], OneLine(column.Name))
	}
	for i, row := range t.Rows {
		for _, text := range row {
			lines[i+1] = append(lines[i+1], OneLine(text))
		}
	}
	behind := make([]int, len(t.Columns)) // the longest count
	counted := func(cell string) int {
		number, _ := uncounted(cell)
		return utf8.RuneCountInString(cell) - utf8.RuneCountInString(number)
	}
	for _, line := range lines[1:] {
		for c, cell := range line {
			behind[c] = max(behind[c], counted(cell))
		}
	}
	for _, line := range lines[1:] {
		for c, cell := range line {
			if t.Columns[c].Right && cell != "" {
				line[c] += strings.Repeat(" ", behind[c]-counted(cell))
			}
		}
	}
	width := make([]int, len(t.Columns))
	for _, line := range lines {
		for c, cell := range line {
			width[c] = max(width[c], utf8.RuneCountInString(cell))
		}
	}
	for _, line := range lines {
		var text strings.Builder
		for c, cell := range line {
			pad := strings.Repeat(" ", width[c]-utf8.RuneCountInString(cell))
			if t.Columns[c].Right {
				cell = pad + cell
			} else {
				cell += pad
			}
			if c > 0 {
				text.WriteString("  ")
			}
			text.WriteString(cell)
		}
		fmt.Fprintln(w, strings.TrimRight(text.String(), " "))
	}
}

// write adds what the summary has no room for.
func (c Configuration) write(w io.Writer, index int) {
	text := "no hyperparameters"
	switch {
	case c.Status == Cut:
		text = "cut by the race"
	case c.Status == Missing:
		text = "not fitted to all of the training data yet"
	case c.Status == Failed:
		text = "the fit to all of the training data has failed"
	case len(c.Hyperparameters) > 0:
		text = assignments(c.Hyperparameters, significant)
	}
	fmt.Fprintf(w, "#%d  %s\n", index, text)
	if len(c.StandardErrors) > 0 {
		fmt.Fprintf(w, "    standard errors %s%s\n", assignments(c.StandardErrors, brief), c.strongest())
	}
	if o := c.optima(); o != "" {
		fmt.Fprintf(w, "    %s\n", o)
	}
	for _, m := range c.Posterior {
		fmt.Fprintf(w, "    posterior %s %s ± %s (R-hat %s, effective samples %s)\n", m.Name, significant(float64(m.Mean)), brief(float64(m.SD)),
			cmp.Or(decimals(float64(m.RHat), 3), "unknown"), cmp.Or(decimals(float64(m.ESS), 0), "unknown"))
	}
	for _, b := range c.Best {
		by := b.By
		if by == c.Objective {
			by = c.tuned()
		}
		if slices.Contains([]string{c.tuned(), "information_bits", "errors", "rmse"}, by) {
			fmt.Fprintf(w, "    best %s of %s: %s at %s%s\n", by, c.among(b.By), significant(float64(b.Value)), assignments(c.Grid[b.Point].Point, significant), c.equals(b))
		}
	}
	for _, e := range c.Evaluations {
		if d := e.Decisions; d != nil {
			fmt.Fprintf(w, "    %s: decisions cost %s a case%s, expected %s, by the largest probability %s; %d of %d rejected\n",
				e.Scores.Partial.beside(e.Name), significant(float64(d.Loss)), e.Scores.Partial.whole(d.interval()), significant(float64(d.Expected)), significant(float64(d.Likeliest)), d.Rejected, e.Scores.N)
		}
	}
	for _, p := range c.Published {
		var figures []string
		for _, f := range p.Figures {
			here := "no figure"
			if !math.IsNaN(float64(f.Here)) {
				here = f.Partial.beside(significant(float64(f.Here)))
			}
			figures = append(figures, fmt.Sprintf("%s %s (here %s)", f.Name, significant(float64(f.Published)), here))
		}
		if p.Note != "" {
			figures = append(figures, p.Note)
		}
		fmt.Fprintf(w, "    published, %s: %s\n", p.Source, strings.Join(figures, ", "))
	}
	list(w, "warning: ", c.Warnings)
	list(w, "FAILED ", c.Failures)
}

// interval is that of the cost, if it has one.
func (d Decisions) interval() string {
	if d.CI95 == nil {
		return ""
	}
	return fmt.Sprintf(" (95 %% %s to %s)", significant(float64(d.CI95[0])), significant(float64(d.CI95[1])))
}

// optima sums up the restarts or the chains, if there are any.
func (c Configuration) optima() string {
	o := c.Optima()
	switch {
	case len(c.Posterior) > 0:
		return fmt.Sprintf("chains %d (%d failed); the figures above are those of their best sample, the scores averages over all samples", o.Restarts, o.Failed)
	case o.Restarts == 0:
		return ""
	case o.Distinct == 0:
		return fmt.Sprintf("restarts %d%s (%d failed)", o.Restarts, c.soFar(), o.Failed)
	}
	return fmt.Sprintf("restarts %d%s (%d failed), distinct optima %d, %s %.3f … %.3f (best reached by %d)", o.Restarts, c.soFar(), o.Failed, o.Distinct, c.tuned(), o.Lo, o.Hi, o.AtBest)
}

// soFar says of what is counted that more may come.
func (c Configuration) soFar() string {
	if c.Status == Missing {
		return " so far"
	}
	return ""
}

// equals says that other points are as good as the one that is called the best.
func (c Configuration) equals(b Best) string {
	n := 0
	for _, p := range c.Grid {
		if v, known := p.by(b.By, c.Objective); known && v == float64(b.Value) {
			n++
		}
	}
	if n < 2 {
		return ""
	}
	return fmt.Sprintf(", the first of %d with it", n)
}

// among says of how many points the best by the tuning objective or a score was found: not all may have one.
func (c Configuration) among(by string) string {
	n := 0
	for _, p := range c.Grid {
		if _, known := p.by(by, c.Objective); known {
			n++
		}
	}
	if n < len(c.Grid) {
		return fmt.Sprintf("%d of %d points%s", n, len(c.Grid), c.soFar())
	}
	return fmt.Sprintf("%d points%s", n, c.soFar())
}

// strongest is the correlation of largest size.
func (c Configuration) strongest() string {
	text, largest := "", -1.0
	for a, row := range c.Correlations {
		for b, r := range row[:a] {
			if size := math.Abs(float64(r)); size > largest {
				largest = size
				text = fmt.Sprintf("; largest correlation %.2f (%s, %s)", float64(r), c.StandardErrors[b].Name, c.StandardErrors[a].Name)
			}
		}
	}
	return text
}

// tuned names the tuning objective, and whose it is if another inference predicts.
func (c Configuration) tuned() string {
	if c.hybrid() {
		return c.maximised() + " of " + c.TuneInference.Text
	}
	return c.maximised()
}

// maximised names the tuning objective for people: its values have their sign turned where less of a score is better.
func (c Configuration) maximised() string {
	if name, cross := strings.CutPrefix(c.Objective, "cv_"); cross {
		if s, err := cv.ScoreNamed(name); err == nil && !s.Greater {
			return "negative " + c.Objective
		}
	}
	return c.Objective
}

// list writes the first mostListed of the items, one a line, and counts the rest.
func list[T any](w io.Writer, label string, items []T) {
	for i, item := range items {
		if i == mostListed {
			fmt.Fprintf(w, "    %sand %d more\n", label, len(items)-i)
			return
		}
		fmt.Fprintf(w, "    %s%s\n", label, OneLine(fmt.Sprint(item)))
	}
}

// String says where something failed, and why.
func (f Failure) String() string {
	where := f.Evaluation
	if f.Repeat > 0 {
		where += fmt.Sprintf(" repeat %d", f.Repeat)
	}
	where += fmt.Sprintf(" fold %d", f.Fold)
	if f.Trial != nil {
		where += fmt.Sprintf(" trial %d", *f.Trial)
	}
	if len(f.Theta) > 0 {
		where += " at " + assignments(f.Theta, significant)
	}
	return where + ": " + f.Message
}

// brief is x to two digits.
func brief(x float64) string { return fmt.Sprintf("%.2g", x) }

// significant is x to six digits.
func significant(x float64) string { return fmt.Sprintf("%.6g", x) }
