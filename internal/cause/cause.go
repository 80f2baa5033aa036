// Package cause has the kinds of warnings and failures. A warning or a failure is made with its
// kind where it happens, and keeps it in errors, in the journal and in reports; its text is for
// people only, and nothing reads it.
package cause

import (
	_ "embed"
	"fmt"
)

// Source is this file: its comments are descriptions in the schema of results.json.
//
//go:embed cause.go
var Source string

// Notice is a warning or a failure. As an error, which others may wrap, it gives its kind to them.
type Notice struct {
	Kind Kind `json:"kind,omitempty"` // kind of the notice, independent of its text
	// the place within the computation: a restart, values of hyperparameters, a class
	At    string `json:"at,omitempty"`
	Text  string `json:"text"`            // in words
	Cases int    `json:"cases,omitempty"` // number of cases it concerns, if it counts them
}

// IsZero reports whether there is no notice.
func (n Notice) IsZero() bool { return n == Notice{} }

// String is the notice in one line, with its place.
func (n Notice) String() string {
	text := n.Text
	if n.At != "" {
		text = n.At + ": " + text
	}
	if n.Cases > 0 {
		text += fmt.Sprintf(" (cases: %d)", n.Cases)
	}
	return text
}

// Error returns String.
func (n Notice) Error() string { return n.String() }

// Cause returns the kind of the notice.
func (n Notice) Cause() Kind { return n.Kind }

// In returns the notice with place put before its own place.
func (n Notice) In(place string) Notice {
	if n.At != "" {
		place += ": " + n.At
	}
	n.At = place
	return n
}

// Texts returns each notice as one line.
func Texts(notices []Notice) []string {
	texts := make([]string, len(notices))
	for i, n := range notices {
		texts[i] = n.String()
	}
	return texts
}

// Kind is the kind of a warning or of a failure, as the journal and results.json have it. The zero
// value is the kind of a warning without a row here, such as a warning of a component that another
// program registers.
type Kind string

// New makes a notice of this kind.
func (k Kind) New(format string, args ...any) Notice {
	return Notice{Kind: k, Text: fmt.Sprintf(format, args...)}
}

// Of is New, of a number of cases.
func (k Kind) Of(cases int, format string, args ...any) Notice {
	n := k.New(format, args...)
	n.Cases = cases
	return n
}
