package experiments

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// Problem is one mistake in a configuration: where it stands, what was expected, and what to do.
type Problem struct {
	File         string
	Line, Column int
	Message      string
}

// Error formats the problem as file:line:column: message.
func (p Problem) Error() string {
	if p.Line == 0 {
		return fmt.Sprintf("%s: %s", p.File, p.Message)
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
}

// Problems are all the mistakes of a configuration, in the order of the file. A nil Problems is no error.
type Problems []Problem

// Error lists the problems, one a line.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// Is says that they are ErrInvalid.
func (ps Problems) Is(target error) bool { return target == ErrInvalid }

// errReported is what a decoding step returns when the problem itself is already on the list.
var errReported = fmt.Errorf("experiments: reported")

// at adds a problem at a node of the YAML file.
func (d *decoder) at(n *yaml.Node, format string, args ...any) {
	p := Problem{File: d.file, Message: fmt.Sprintf(format, args...)}
	if n != nil {
		p.Line, p.Column = n.Line, n.Column
	}
	d.problems = append(d.problems, p)
}

// err returns the problems found so far, sorted and without repetitions (one mistake inside a cross product is met
// many times), or nil.
func (d *decoder) err() error {
	if len(d.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(d.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return Problems(slices.Compact(d.problems))
}
