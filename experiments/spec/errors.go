package spec

import (
	"fmt"

	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
)

// errReported is what a decoding step returns when the problem itself is already on the list.
var errReported = fmt.Errorf("experiments: reported")

// at adds a problem at a node of the YAML file.
func (d *decoder) at(n *strictyaml.Node, format string, args ...any) { d.found.At(n, format, args...) }

// err returns the problems found so far, or nil.
func (d *decoder) err() error { return d.found.Err() }

// parse reads one YAML document and replaces aliases by what they stand for; nil if that is a problem.
func (d *decoder) parse(text []byte) *strictyaml.Node { return strictyaml.Parse(text, d.found) }

// expanded is the cross product of a part of the file in which any value may be a list of alternatives; the values of the
// keys in lists are lists by nature.
func (d *decoder) expanded(n *strictyaml.Node, lists []string) []*strictyaml.Node {
	return strictyaml.Expand(n, lists, d.found)
}

func names[T any](table []T, name func(T) string) []string {
	var all []string
	for _, row := range table {
		all = append(all, name(row))
	}
	return all
}
