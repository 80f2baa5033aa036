package experiments

import (
	"fmt"

	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
)

// Problem is one mistake in a configuration: where it stands, what was expected, and what to do.
type Problem = strictyaml.Problem

// Problems are all the mistakes of a configuration, in the order of the file, at most twenty of a kind with a count of the
// others. A nil Problems is no error.
type Problems = strictyaml.Problems

// ErrMistakes is what all Problems are, for errors.Is.
var ErrMistakes = strictyaml.ErrMistakes

// errReported is what a decoding step returns when the problem itself is already on the list.
var errReported = fmt.Errorf("experiments: reported")

// at adds a problem at a node of the YAML file.
func (d *decoder) at(n *strictyaml.Node, format string, args ...any) { d.found.At(n, format, args...) }

// err returns the problems found so far, or nil.
func (d *decoder) err() error { return d.found.Err() }
