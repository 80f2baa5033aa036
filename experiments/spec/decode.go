package spec

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/experiments/declared"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
)

// decoder reads the sections of a file.
type decoder struct{ *declared.Decoder }

func newDecoder(file string) *decoder {
	d := declared.NewDecoder(strictyaml.NewFindings(file))
	d.Sections = otherSections
	return &decoder{d}
}

// otherSections returns the part of an error message that says in which other sections of the file
// a key belongs: `; preprocess is a key of data`. have are the keys of the mapping that has the
// mistake. It is "" if this mapping is no section, or no other section has the key or its singular.
func otherSections(key string, have []string) string {
	has := func(keys []Key, name string) bool {
		return slices.ContainsFunc(keys, func(k Key) bool { return k.Name == name })
	}
	var sections []string
	isSection := false
	for _, s := range Sections {
		here := slices.Contains(have, s.Keys[0].Name)
		if isSection = isSection || here; here || !has(s.Keys, key) {
			continue
		}
		if s.Name == "file" {
			return fmt.Sprintf("; %s stands at the top of the file", key)
		}
		if has(Sections[0].Keys, s.Name) {
			sections = append(sections, s.Name)
		}
	}
	switch one := strings.TrimSuffix(key, "s"); {
	case !isSection:
		return ""
	case len(sections) == 0 && one != key: // the plural, as in groups
		return otherSections(one, have)
	case len(sections) == 0:
		return ""
	}
	return fmt.Sprintf("; %s is a key of %s", key, strings.Join(sections, " and of "))
}

// parse reads one YAML document and replaces aliases by their anchors; nil if that fails.
func (d *decoder) parse(text []byte) *strictyaml.Node { return strictyaml.Parse(text, d.Found) }

// expanded returns the cross product of a part of the file in which any value may be a list of
// alternatives. Values of the keys in lists are lists themselves, not alternatives.
func (d *decoder) expanded(n *strictyaml.Node, lists []string) []*strictyaml.Node {
	return strictyaml.Expand(n, lists, d.Found)
}

func component[I any](d *decoder, n *strictyaml.Node, what string, table registry.Table[I]) (v I, name string,
	ok bool) {
	return declared.Component(d.Decoder, n, what, table)
}

func choose(d *decoder, parent *strictyaml.Node, key string, value *string, have []string) {
	declared.Choose(d.Decoder, parent, key, value, have)
}

// keysOf returns the keys of a struct.
func keysOf(v reflect.Value) (keys []string) {
	registry.Options(v, func(name string, _ reflect.Value, _ reflect.StructField) { keys = append(keys, name) })
	return keys
}

// option returns the options of a component, or nil.
func option(n *strictyaml.Node) *strictyaml.Node {
	if n.Kind == strictyaml.MappingNode && len(n.Content) == 2 {
		return n.Content[1]
	}
	return nil
}

// valueOr returns the value of a key, or else the mapping itself.
func valueOr(n *strictyaml.Node, key string) *strictyaml.Node {
	return cmp.Or(strictyaml.Find(n, key), n)
}

func names[T any](table []T, name func(T) string) []string {
	var all []string
	for _, row := range table {
		all = append(all, name(row))
	}
	return all
}
