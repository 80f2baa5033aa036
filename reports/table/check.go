package table

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
)

// CheckForms are the formats of a Check.
var CheckForms = Forms[*reports.Check]{{Name: "text", Render: checkText},
	{Name: "json", Render: reports.WriteJSON[*reports.Check]}, {Name: "csv", Render: checkCSV}}

// checkText writes a table, followed by the notes of the rows.
func checkText(out io.Writer, c *reports.Check) error {
	w := bufio.NewWriter(out) // keeps the first error
	fmt.Fprintln(w, c.Experiment)
	checkTable(c).print(w, Screen{}, true)
	fmt.Fprintln(w)
	for i, r := range c.Rows {
		for _, f := range r.Failures {
			fmt.Fprintf(w, "#%d FAILED: %s\n", i, f)
		}
		for _, n := range r.Notes {
			fmt.Fprintf(w, "#%d %s\n", i, n)
		}
	}
	for _, n := range c.Notes {
		fmt.Fprintln(w, n)
	}
	fmt.Fprintf(w, "gradient error: largest |g - d| / max(1, |g|, |log evidence|) with differences "+
		"d = (8(L₁ - L₋₁) - (L₂ - L₋₂))/12h, h = %v on the theta scale\n", float64(c.Step))
	return w.Flush()
}

// checkTable has a row for every CheckRow.
func checkTable(c *reports.Check) Table {
	t := Table{Columns: []Column{
		numbers("#"), words("dataset"), words("preprocess"), words("kernel"), words("mean"), words("theta"),
		words("likelihood"), {Name: "inference", KeepInText: true},
		numbers("log evidence"), numbers("±"), numbers("converged"), numbers("gradient error"),
		numbers("above sampled"),
		numbers("in s.e."), {Name: "check", KeepInText: true},
	}}
	cell := func(format string, x reports.Number) string {
		if math.IsNaN(float64(x)) {
			return "-"
		}
		return fmt.Sprintf(format, float64(x))
	}
	var parts []record.Component
	for _, r := range c.Rows {
		parts = append(parts, r.Likelihood, r.Inference)
	}
	short := reports.ShortNames(parts)
	for i, r := range c.Rows {
		converged, verdict := "yes", "ok"
		if !r.Converged {
			converged = "no"
		}
		switch {
		case len(r.Failures) > 0:
			verdict = "FAILED"
		case r.Reference:
			verdict = "reference"
		case r.LowerBound && !math.IsNaN(float64(r.Difference)):
			verdict = "ok, lower bound"
		}
		t.Add(i, r.Dataset, r.Preprocess, reports.ShortName(r.Kernel), r.Mean.Text,
			abridged(r.Theta), short[r.Likelihood.Text], short[r.Inference.Text],
			cell("%.3f", r.LogEvidence), cell("%.3f", r.StandardError), converged, cell("%.1e", r.GradientError),
			cell("%+.3f", r.Difference), cell("%+.1f", r.InStandardErrors), verdict)
	}
	return t
}

// abridged leaves out the middle of long lists, which JSON and CSV contain.
func abridged(v reports.Values) string {
	const most = 4
	if len(v) <= most {
		return reports.Assignments(v, reports.Significant)
	}
	return fmt.Sprintf("%s … %s", reports.Assignments(v[:most-1], reports.Significant),
		reports.Assignments(v[len(v)-1:], reports.Significant))
}

// checkCSV writes a header and a row for every CheckRow. Numbers are exact; missing ones are empty
// cells.
func checkCSV(w io.Writer, c *reports.Check) error {
	t := Table{Columns: Columns("dataset", "preprocess", "kernel", "mean", "likelihood", "inference", "theta",
		"log_evidence", "standard_error", "converged", "gradient_error", "reference", "lower_bound", "difference",
		"in_standard_errors", "failures", "notes")}
	for _, r := range c.Rows {
		t.Add(r.Dataset, r.Preprocess, r.Kernel.Text, r.Mean.Text, r.Likelihood.Text, r.Inference.Text, r.Theta,
			r.LogEvidence, r.StandardError, r.Converged, r.GradientError, r.Reference, r.LowerBound, r.Difference,
			r.InStandardErrors, strings.Join(r.Failures, "; "), strings.Join(r.Notes, "; "))
	}
	return writeCSV(w, t)
}
