package reports

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/gpc-tune/gpc-tune/internal/record"
)

// CheckSchema names the form of a Check in JSON.
const CheckSchema = "gpc-tune/check/1"

// Check is what became of holding inference methods to differences and to Monte Carlo, at one point each.
type Check struct {
	Schema     string     `json:"schema"`
	Experiment string     `json:"experiment"`
	Passed     bool       `json:"passed"`
	Step       Number     `json:"step"` // of the differences, on the theta scale
	Rows       []CheckRow `json:"rows"`
	Notes      []string   `json:"notes"`
}

// CheckRow is one inference method on one data set, with one kernel, mean and likelihood. A Number is NaN where there is
// none, and Notes say why.
type CheckRow struct {
	Dataset    string           `json:"dataset"`
	Preprocess string           `json:"preprocess"`
	Kernel     record.Component `json:"kernel"`
	Mean       record.Component `json:"mean"`
	Likelihood record.Component `json:"likelihood"`
	Inference  record.Component `json:"inference"`
	// Theta has all hyperparameters, fixed ones too.
	Theta         Values `json:"theta"`
	LogEvidence   Number `json:"log_evidence"`   // nats
	StandardError Number `json:"standard_error"` // of a sampled one
	Converged     bool   `json:"converged"`
	// GradientError is the largest |g - d| over the free hyperparameters, divided by max(1, |g|∞, |L|), for the gradient g of
	// the log evidence L and its differences d.
	GradientError Number `json:"gradient_error"`
	Reference     bool   `json:"reference"`   // the sampled log evidence that the rows after it are held to
	LowerBound    bool   `json:"lower_bound"` // so the difference must not be positive
	// Difference is the log evidence less the reference; in standard errors, those of both.
	Difference       Number   `json:"difference"`
	InStandardErrors Number   `json:"in_standard_errors"`
	Failures         []string `json:"failures"`
	Notes            []string `json:"notes"`
}

// CheckForms are the forms in which a Check is written.
var CheckForms = Forms[*Check]{{"text", checkText}, {"json", writeJSON[*Check]}, {"csv", checkCSV}}

// checkText writes a table, and below it what the rows have to say.
func checkText(out io.Writer, c *Check) error {
	w := bufio.NewWriter(out) // keeps the first error
	t := c.table()
	fmt.Fprintln(w, c.Experiment)
	if len(t.Caption) > 0 {
		fmt.Fprintln(w, strings.Join(t.Caption, ", "))
	}
	fmt.Fprintln(w)
	t.write(w)
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
	fmt.Fprintf(w, "gradient error: largest |g - d| / max(1, |g|, |log evidence|) with differences d = (8(L₁ - L₋₁) - (L₂ - L₋₂))/12h, h = %v on the theta scale\n", float64(c.Step))
	return w.Flush()
}

// table has a row for every CheckRow.
func (c *Check) table() Table {
	words := func(name string) Column { return Column{Name: name} }
	number := func(name string) Column { return Column{Name: name, Right: true, keep: true} }
	t := Table{Columns: []Column{
		number("#"), words("dataset"), words("preprocess"), words("kernel"), words("mean"), words("theta"), words("likelihood"), {Name: "inference", keep: true},
		number("log evidence"), number("±"), number("converged"), number("gradient error"), number("above sampled"), number("in s.e."), {Name: "check", keep: true},
	}}
	cell := func(format string, x Number) string {
		if math.IsNaN(float64(x)) {
			return "-"
		}
		return fmt.Sprintf(format, float64(x))
	}
	var parts []record.Component
	for _, r := range c.Rows {
		parts = append(parts, r.Likelihood, r.Inference)
	}
	short := shorten(parts)
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
		t.Rows = append(t.Rows, []string{strconv.Itoa(i), r.Dataset, r.Preprocess, shortName(r.Kernel), r.Mean.Text, abridged(r.Theta), short[r.Likelihood.Text], short[r.Inference.Text],
			cell("%.3f", r.LogEvidence), cell("%.3f", r.StandardError), converged, cell("%.1e", r.GradientError), cell("%+.3f", r.Difference), cell("%+.1f", r.InStandardErrors), verdict})
	}
	t.lift()
	return t
}

// abridged leaves out the middle of long lists; JSON and CSV have it.
func abridged(v Values) string {
	const most = 4
	if len(v) <= most {
		return assignments(v, significant)
	}
	return fmt.Sprintf("%s … %s", assignments(v[:most-1], significant), assignments(v[len(v)-1:], significant))
}

// checkCSV writes a header and a row for every CheckRow. Numbers are exact; a cell is empty where there is none.
func checkCSV(w io.Writer, c *Check) error {
	out := csv.NewWriter(w)
	out.Write([]string{"dataset", "preprocess", "kernel", "mean", "likelihood", "inference", "theta", "log_evidence", "standard_error", "converged",
		"gradient_error", "reference", "lower_bound", "difference", "in_standard_errors", "failures", "notes"}) // errors surface in out.Error
	for _, r := range c.Rows {
		out.Write([]string{r.Dataset, r.Preprocess, r.Kernel.Text, r.Mean.Text, r.Likelihood.Text, r.Inference.Text, assignments(r.Theta, exact), exact(float64(r.LogEvidence)), exact(float64(r.StandardError)),
			strconv.FormatBool(r.Converged), exact(float64(r.GradientError)), strconv.FormatBool(r.Reference), strconv.FormatBool(r.LowerBound), exact(float64(r.Difference)),
			exact(float64(r.InStandardErrors)), strings.Join(r.Failures, "; "), strings.Join(r.Notes, "; ")})
	}
	out.Flush()
	return out.Error()
}
