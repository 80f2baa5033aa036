package data

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/internal/cause"
)

// about describes in one line what is predicted from what, and what is left out and why.
func (d *Data) about(s Spec) string {
	text := d.Schema.Label.Name
	if s.Label == "" && s.Dataset == "" && !d.Schema.Counts {
		text += " (guessed: no label is declared)"
	}
	if d.Classes == nil {
		text += fmt.Sprintf(": numbers, %.6g to %.6g", slices.Min(d.Targets), slices.Max(d.Targets))
	} else {
		var classes []Count
		for k, n := range d.counts() {
			classes = append(classes, Count{d.Classes[k], n})
		}
		text += ": " + Abridged(counted(classes))
	}
	inputs := len(d.Schema.Inputs)
	text += fmt.Sprintf("; from %d input%s", inputs, map[bool]string{true: "", false: "s"}[inputs == 1])
	if columns := len(d.ColumnNames); columns != inputs {
		text += fmt.Sprintf(", coded in %d columns", columns)
	}
	var left []string
	leave := func(names []string, why string) {
		if len(names) > 0 {
			left = append(left, fmt.Sprintf("%s (%s)", Abridged(names), why))
		}
	}
	if s.Columns.Chosen != nil {
		leave([]string{"columns that are not listed"}, "columns")
	}
	leave(written(s.Drop), "dropped by the file")
	leave(written(s.ID), "id")
	if s.Group != "" {
		leave([]string{string(s.Group)}, "group")
	}
	if s.Weights != "" {
		leave([]string{string(s.Weights)}, "weights")
	}
	if s.Counts.Trials != "" {
		leave([]string{string(s.Counts.Trials)}, "counts")
	}
	leave(counted(d.LeftOut), "not in classes")
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

// counted are classes with their numbers of cases.
func counted(classes []Count) (out []string) {
	for _, c := range classes {
		out = append(out, fmt.Sprintf("%s (%d)", c.Class, c.N))
	}
	return out
}

// written are names as they are written.
func written(names []Name) (out []string) {
	for _, n := range names {
		out = append(out, string(n))
	}
	return out
}
