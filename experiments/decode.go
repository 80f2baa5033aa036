package experiments

import (
	"encoding"
	"math"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/objective/param"
)

// decoder reads YAML nodes into Go values strictly: unknown and duplicate keys, wrong types and values outside the
// domain are problems with their line and column, and it goes on to find the next one. (The library's own strict mode
// gives no columns, stops short of nested nodes and knows no nearest name.)
type decoder struct {
	file string
	*findings
}

// findings is what decoders of several texts share.
type findings struct {
	problems []Problem
	settings []located // hyperparameter settings met, to be checked once the component's transforms are known
}

func newDecoder(file string) *decoder { return &decoder{file, &findings{}} }

// as is the same decoder on another text.
func (d *decoder) as(file string) *decoder { return &decoder{file, d.findings} }

// located is a hyperparameter's setting and where it was written.
type located struct {
	key     string
	node    *yaml.Node
	setting param.Setting
}

// into decodes n into v, a pointer. Keys of a mapping that v's struct does not know are problems; also names further
// keys that the caller has taken out of the mapping, so that suggestions are complete.
func (d *decoder) into(n *yaml.Node, v any, also ...string) {
	d.value(n, reflect.ValueOf(v).Elem(), also)
}

// reading returns the registry.Decode of a node, or nil if there are no options.
func (d *decoder) reading(n *yaml.Node, also ...string) registry.Decode {
	if n == nil || isNull(n) {
		return nil
	}
	return func(v any) error {
		before := len(d.problems)
		d.into(n, v, also...)
		if len(d.problems) > before {
			return errReported
		}
		return nil
	}
}

var (
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
	rawNode         = reflect.TypeFor[*yaml.Node]() // a part of the file to be read later
)

func (d *decoder) value(n *yaml.Node, v reflect.Value, also []string) {
	if isNull(n) {
		return // an empty value says nothing: the default holds
	}
	if v.CanAddr() && n.Kind == yaml.ScalarNode {
		if v.Addr().Type().Implements(textUnmarshaler) {
			if err := v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(n.Value)); err != nil {
				d.at(n, "%v", err)
			}
			return
		}
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.Type() == rawNode {
			v.Set(reflect.ValueOf(n))
			return
		}
		p := reflect.New(v.Type().Elem())
		d.value(n, p.Elem(), nil)
		v.Set(p)
	case reflect.Struct:
		d.structure(n, v, also)
	case reflect.Map:
		d.mapping(n, func(key, value *yaml.Node) {
			e := reflect.New(v.Type().Elem()).Elem()
			d.value(value, e, nil)
			if v.IsNil() {
				v.Set(reflect.MakeMap(v.Type()))
			}
			v.SetMapIndex(reflect.ValueOf(key.Value), e)
		})
	case reflect.Slice:
		if n.Kind == yaml.ScalarNode { // one is a list of one
			n = &yaml.Node{Kind: yaml.SequenceNode, Line: n.Line, Column: n.Column, Content: []*yaml.Node{n}}
		}
		if n.Kind != yaml.SequenceNode {
			d.at(n, "expected a list, found %s", kindName(n))
			return
		}
		s := reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content))
		d.elements(n, s)
		v.Set(s)
	case reflect.Array:
		if n.Kind != yaml.SequenceNode || len(n.Content) != v.Len() {
			d.at(n, "expected a list of %d values, found %s", v.Len(), kindName(n))
			return
		}
		d.elements(n, v)
	case reflect.Interface: // the one component that stands within another
		if p, _, ok := component(d, n, "prior", param.Priors); ok {
			v.Set(reflect.ValueOf(p))
		}
	default:
		d.scalar(n, v)
	}
}

// elements decodes the elements of a list.
func (d *decoder) elements(n *yaml.Node, v reflect.Value) {
	for i, c := range n.Content {
		if isNull(c) {
			d.at(c, "expected an element, found nothing")
			continue
		}
		d.value(c, v.Index(i), nil)
	}
}

// scalar decodes a bool, a whole number, a number or a text.
func (d *decoder) scalar(n *yaml.Node, v reflect.Value) {
	if n.Kind != yaml.ScalarNode {
		d.at(n, "expected %s, found %s", typeName(v.Kind()), kindName(n))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(n.Value)
		return
	case reflect.Float64:
		var f float64
		if (n.Tag == "!!float" || n.Tag == "!!int") && n.Decode(&f) == nil && !math.IsNaN(f) && !math.IsInf(f, 0) {
			v.SetFloat(f)
			return
		}
	default:
		// The library checks the range of integers and the spelling of booleans, but cuts off what stands after a point.
		var f float64
		whole := n.Tag != "!!float" || n.Decode(&f) == nil && f == math.Trunc(f) && math.Abs(f) < 1<<53
		if whole && n.Decode(v.Addr().Interface()) == nil {
			return
		}
	}
	d.at(n, "expected %s, found %q", typeName(v.Kind()), n.Value)
}

func (d *decoder) structure(n *yaml.Node, v reflect.Value, also []string) {
	fields := map[string]reflect.Value{}
	names := slices.Clone(also)
	collect(v, func(name string, f reflect.Value) {
		fields[name] = f
		names = append(names, name)
	})
	d.mapping(n, func(key, value *yaml.Node) {
		f, ok := fields[key.Value]
		if !ok {
			d.at(key, "unknown key %q%s", key.Value, registry.Suggest(key.Value, names))
			return
		}
		d.value(value, f, nil)
		if s, ok := f.Interface().(param.Setting); ok {
			d.settings = append(d.settings, located{key.Value, value, s})
		}
	})
}

// collect visits the fields that have a yaml name, those of inlined structs included.
func collect(v reflect.Value, visit func(name string, f reflect.Value)) {
	for i := range v.NumField() {
		tag, options, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
		switch {
		case options == "inline":
			collect(v.Field(i), visit)
		case tag != "" && tag != "-":
			visit(tag, v.Field(i))
		}
	}
}

// keysOf are the keys of a struct.
func keysOf(v reflect.Value) (keys []string) {
	collect(v, func(name string, _ reflect.Value) { keys = append(keys, name) })
	return keys
}

// mapping visits the entries of a mapping node; another kind of node and duplicate keys are problems.
func (d *decoder) mapping(n *yaml.Node, visit func(key, value *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		d.at(n, "expected a mapping (key: value), found %s", kindName(n))
		return
	}
	first := map[string]*yaml.Node{}
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i]
		switch earlier := first[key.Value]; {
		case key.Kind != yaml.ScalarNode:
			d.at(key, "a key must be plain text, found %s", kindName(key))
		case earlier != nil:
			d.at(key, "duplicate key %q, first given at line %d", key.Value, earlier.Line)
		default:
			first[key.Value] = key
			visit(key, n.Content[i+1])
		}
	}
}

// named reads a component, which is written as its name or as a mapping of its name to its options.
func (d *decoder) named(n *yaml.Node, what string) (name string, options *yaml.Node, ok bool) {
	switch {
	case n.Kind == yaml.ScalarNode && !isNull(n):
		return n.Value, nil, true
	case n.Kind == yaml.MappingNode && len(n.Content) == 2 && n.Content[0].Kind == yaml.ScalarNode:
		return n.Content[0].Value, n.Content[1], true
	}
	d.at(n, "expected a %s: its name, or {name: {options}}, found %s", what, kindName(n))
	return "", nil, false
}

// component reads a member of a table.
func component[I any](d *decoder, n *yaml.Node, what string, table registry.Table[I]) (v I, name string, ok bool) {
	name, options, ok := d.named(n, what)
	if !ok {
		return v, name, false
	}
	e, err := table.Lookup(what, name)
	if err != nil {
		d.at(n, "%v", err)
		return v, name, false
	}
	v, err = e.New(d.reading(options))
	if err != nil && err != errReported {
		d.at(n, "%v", err)
	}
	return v, name, err == nil
}

// checkSettings checks the settings met since mark against the hyperparameters they belong to.
func (d *decoder) checkSettings(mark int, specs []param.Spec) {
	for _, l := range d.settings[mark:] {
		for _, s := range specs {
			name := s.Name[strings.LastIndexByte(s.Name, '.')+1:]
			if base, _, _ := strings.Cut(name, "["); base == l.key {
				if err := l.setting.Check(l.key, s.Map); err != nil {
					d.at(l.node, "%v", err)
				}
				break
			}
		}
	}
	d.settings = d.settings[:mark]
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

func kindName(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	if isNull(n) {
		return "nothing"
	}
	return "\"" + n.Value + "\""
}

func typeName(k reflect.Kind) string {
	switch k {
	case reflect.Bool:
		return "true or false"
	case reflect.Float64:
		return "a number"
	case reflect.String:
		return "text"
	}
	if k >= reflect.Uint && k <= reflect.Uint64 {
		return "a whole number, 0 or more"
	}
	return "a whole number"
}
