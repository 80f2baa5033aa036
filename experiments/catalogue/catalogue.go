// Package catalogue documents the names that a configuration file can use and the formats of files.
// It also writes a configuration file to start with.
package catalogue

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
)

// All lists the names that a configuration file can use, and the compatible pairs of likelihood and
// inference.
func All() []spec.Kind {
	all := spec.Kinds()
	after := 1 + slices.IndexFunc(all, func(k spec.Kind) bool { return k.Name == "inference" })
	return slices.Insert(all, after, spec.Kind{Name: "pairs", Note: pairs()})
}

const legend = "L: a log evidence; ∇: with its exact gradient; ≤: a lower bound of the true one. loo: " +
	"leave-one-out from the one fit. " +
	"(1): not possible, for the inference …\n"

// pairs returns a Markdown table of likelihood and inference: what each pair can compute, or why it
// is impossible. It uses the check that validates a plan, with the default options of each method.
func pairs() string {
	var text strings.Builder
	text.WriteString(legend)
	for _, targets := range []struct {
		name    string
		classes int
	}{{"Two classes", 2}, {"Three classes", 3}, {"Numbers", 0}} {
		text.WriteByte('\n')
		header := []string{targets.name}
		for _, l := range likelihood.Table {
			if !l.NeedsOptions { // a choice of likelihoods adds no column
				header = append(header, l.Name)
			}
		}
		rows := [][]string{header}
		rows = append(rows, slices.Repeat([]string{"---"}, len(rows[0])))
		var reasons []string
		for _, method := range approx.Table {
			row := []string{method.Name}
			for _, name := range header[1:] {
				caps, err := approx.Table.Default(method.Name).Uses(likelihood.Table.Default(name), targets.classes)
				if err == nil {
					row = append(row, abilities(caps))
					continue
				}
				reason := strings.TrimPrefix(err.Error(), method.Name+" ")
				if !slices.Contains(reasons, reason) {
					reasons = append(reasons, reason)
				}
				row = append(row, fmt.Sprintf("(%d)", slices.Index(reasons, reason)+1))
			}
			rows = append(rows, row)
		}
		align(&text, rows)
		text.WriteByte('\n')
		for k, reason := range reasons {
			fmt.Fprintf(&text, "%d. %s\n", k+1, reason)
		}
	}
	return text.String()
}

// abilities abbreviates the quantities that a method can compute with a likelihood.
func abilities(c approx.Caps) string {
	var out []string
	if !c.NoEvidence {
		evidence := "L"
		if c.Gradient {
			evidence = "∇L"
		}
		if c.LowerBound {
			evidence += "≤"
		}
		out = append(out, evidence)
	}
	switch {
	case c.LeaveOneOutGradient:
		out = append(out, "∇loo")
	case c.LeaveOneOut:
		out = append(out, "loo")
	}
	return strings.Join(out, " ")
}

// align formats the rows of a Markdown table.
func align(text *strings.Builder, rows [][]string) {
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for c, cell := range row {
			width[c] = max(width[c], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		for c, cell := range row {
			fmt.Fprintf(text, "| %-*s ", width[c], cell)
		}
		text.WriteString("|\n")
	}
}
