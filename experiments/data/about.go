package data

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/internal/cause"
)

// byReason lists roles whose columns are left out, with the reason, in the order of the text.
var byReason = []struct {
	role   role
	reason string
}{{carried, "id"}, {needed, "group"}, {weighing, "weights"}, {trying, "counts"}}

// leftOut lists the columns of a file that are neither inputs nor the label.
func (s Spec) leftOut(t *table) (out []LeftOut) {
	ignoring := "dropped"
	if s.Columns.Chosen != nil {
		ignoring = "not among columns"
	}
	for j, r := range t.roles {
		if r == ignored {
			out = append(out, LeftOut{t.Names[j], ignoring})
		}
	}
	for _, of := range byReason {
		for j, r := range t.roles {
			if r == of.role {
				out = append(out, LeftOut{t.Names[j], of.reason})
			}
		}
	}
	return out
}

// about describes in one line the label, the inputs, and the columns that are left out, with
// reasons.
func (d *Data) about(s Spec) string {
	text := d.Schema.Label.Name
	if d.Guessed {
		text += " (guessed: no label is declared)"
	}
	if d.Classes == nil {
		text += fmt.Sprintf(": numbers, %.6g to %.6g", slices.Min(d.Targets), slices.Max(d.Targets))
	} else {
		var classes []Count
		for k, n := range d.Counts() {
			classes = append(classes, Count{Class: d.Classes[k], N: n})
		}
		text += ": " + Abridged(counted(classes))
	}
	inputs := len(d.Schema.Inputs)
	text += fmt.Sprintf("; from %d input%s", inputs, map[bool]string{true: "", false: "s"}[inputs == 1])
	if columns := len(d.ColumnNames); columns != inputs {
		text += fmt.Sprintf(", coded in %d columns", columns)
	}
	if s.Duplicates == "together" || s.Group != "" {
		of := map[bool]string{true: "equal rows", false: string(s.Group)}[s.Group == ""]
		text += fmt.Sprintf("; %d groups by %s", len(slices.Compact(slices.Sorted(slices.Values(d.Groups)))), of)
	}
	var left []string
	leave := func(names []string, why string) {
		if len(names) > 0 {
			left = append(left, fmt.Sprintf("%s (%s)", Abridged(names), why))
		}
	}
	var names []string
	for i, c := range d.LeftOut {
		if names = append(names, c.Column); i+1 == len(d.LeftOut) || d.LeftOut[i+1].Reason != c.Reason {
			leave(names, c.Reason)
			names = nil
		}
	}
	leave(counted(d.OtherClasses), "not in classes")
	if s.Subsample > 0 {
		leave([]string{"all other cases"}, "subsample")
	}
	for _, w := range d.Warnings {
		if w.Kind == cause.Dropped || w.Kind == cause.LeftOut {
			leave([]string{fmt.Sprintf("cases: %d", w.Cases)}, w.Text)
		}
	}
	if left != nil {
		text += "; left out: " + strings.Join(left, ", ")
	}
	return text
}

// counted returns texts of the classes with their numbers of cases.
func counted(classes []Count) (out []string) {
	for _, c := range classes {
		out = append(out, fmt.Sprintf("%s (%d)", c.Class, c.N))
	}
	return out
}
