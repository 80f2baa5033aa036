package declared

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// Decoder reads YAML nodes into Go values strictly. Unknown and duplicate keys, wrong types and
// values out of range are problems with their line and column, and decoding continues to find the
// next one. (The strict mode of the YAML library gives no columns, ignores nested nodes and
// suggests no similar names.)
type Decoder struct {
	Found *strictyaml.Findings
	*settings
	// Sections says in which other sections of the file an unknown key belongs, given the keys that
	// the present section has; "": in none. It may be nil.
	Sections func(key string, have []string) string
}

// settings collects the settings of hyperparameters, which are checked once the component's
// transforms are known. Decoders of several texts share it.
type settings struct{ settings []located }

// NewDecoder makes a decoder that adds problems to found.
func NewDecoder(found *strictyaml.Findings) *Decoder {
	return &Decoder{Found: found, settings: &settings{}}
}

// As returns the same decoder for another text.
func (d *Decoder) As(file string) *Decoder { return &Decoder{d.Found.As(file), d.settings, d.Sections} }

// located is a hyperparameter's setting with its position.
type located struct {
	key     string
	node    *strictyaml.Node
	setting param.Setting
}

// Into decodes n into v, a pointer. Keys of a mapping that v's struct does not have are problems.
// also lists further keys that the caller has removed from the mapping, for complete suggestions.
func (d *Decoder) Into(n *strictyaml.Node, v any, also ...string) {
	d.value(n, reflect.ValueOf(v).Elem(), also)
}

// Reading returns the registry.Decode of a node, or nil if there are no options.
func (d *Decoder) Reading(n *strictyaml.Node, also ...string) registry.Decode {
	if n == nil || strictyaml.IsNull(n) {
		return nil
	}
	return func(v any) error {
		before := d.Found.Found()
		d.Into(n, v, also...)
		if d.Found.Found() > before {
			return ErrReported
		}
		return nil
	}
}

var (
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
	rawNode         = reflect.TypeFor[*strictyaml.Node]() // a part of the file that is decoded later
)

// ListOrMap is a value that a file writes as a list or as a mapping. Its methods return pointers to
// the fields for each.
type ListOrMap interface {
	List() any
	Map() any
}

// text reads a value that reads its own text.
func (d *Decoder) text(n *strictyaml.Node, v reflect.Value) {
	err := writtenAs(n, v.Type())
	if err == nil {
		err = v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(n.Value))
	}
	if err != nil {
		d.At(n, "%v", err)
	}
}

func (d *Decoder) value(n *strictyaml.Node, v reflect.Value, also []string) {
	if isLiteral(v.Type()) && n.Value != "" { // null is a value too
		d.literal(n, v)
		return
	}
	if strictyaml.IsNull(n) && !(v.Kind() == reflect.Slice && isLiteral(v.Type().Elem()) && n.Value != "") {
		return // an empty value: the default applies
	}
	if v.CanAddr() && n.Kind == strictyaml.ScalarNode && v.Addr().Type().Implements(textUnmarshaler) {
		d.text(n, v)
		return
	}
	if v.CanAddr() && d.inner(n, v.Addr().Interface()) {
		return
	}
	if of, is := addressed(v).(ListOrMap); is {
		form := of.List()
		if n.Kind == strictyaml.MappingNode {
			form = of.Map()
		}
		d.value(n, reflect.ValueOf(form).Elem(), nil)
		return
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
		d.Mapping(n, func(key, value *strictyaml.Node) {
			e := reflect.New(v.Type().Elem()).Elem()
			d.value(value, e, nil)
			if v.IsNil() {
				v.Set(reflect.MakeMap(v.Type()))
			}
			v.SetMapIndex(reflect.ValueOf(key.Value), e)
		})
	case reflect.Slice:
		d.list(n, v)
	case reflect.Array:
		if n.Kind != strictyaml.SequenceNode || len(n.Content) != v.Len() {
			d.At(n, "expected a list of %d values, found %s", v.Len(), strictyaml.Describe(n))
			return
		}
		d.elements(n, v)
	case reflect.Interface:
		if p, _, ok := Component(d, n, "prior", param.Priors); ok {
			v.Set(reflect.ValueOf(p))
		}
	default:
		d.scalar(n, v)
	}
}

// addressed returns the pointer to a value, or nil if it is not addressable.
func addressed(v reflect.Value) any {
	if !v.CanAddr() {
		return nil
	}
	return v.Addr().Interface()
}

// Inner returns the kind of the components that an option of type t holds, with an example of a
// list of them; "": no components.
func Inner(t reflect.Type) (what, example string) {
	switch t {
	case reflect.TypeFor[kernel.Named]():
		return "kernel", "[se, noise]"
	case reflect.TypeFor[likelihood.Named]():
		return "likelihood", "[probit, logit]"
	}
	return "", ""
}

// inner reads a kernel inside another one, or a likelihood; other values are left alone.
func (d *Decoder) inner(n *strictyaml.Node, v any) bool {
	var k kernel.Named
	switch v := v.(type) {
	case *likelihood.Named:
		v.Likelihood, v.Kind, _ = d.likelihood(n)
	case *kernel.Named:
		k.Kernel, k.Kind, _ = d.kernel(n)
		*v = k
	case *kernel.PerClass:
		k.Kernel, _, _ = d.kernel(n)
		v.Kernel = k.Kernel
	default:
		return false
	}
	if _, is := k.Kernel.(kernel.PerClass); is {
		d.At(n, "per_class must stand outermost, as in {per_class: {sum: [se, noise]}}")
	}
	return true
}

// list decodes a list; one value is a list of length one.
func (d *Decoder) list(n *strictyaml.Node, v reflect.Value) {
	if n.Kind == strictyaml.ScalarNode {
		n = &strictyaml.Node{Kind: strictyaml.SequenceNode, Line: n.Line, Column: n.Column,
			Content: []*strictyaml.Node{n}}
	}
	if n.Kind != strictyaml.SequenceNode {
		of := ""
		if what, example := Inner(v.Type().Elem()); what != "" {
			of = " of " + what + "s, as in " + example
		}
		d.At(n, "expected a list%s, found %s", of, strictyaml.Describe(n))
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
	d.elements(n, v)
}

// elements decodes the elements of a list.
func (d *Decoder) elements(n *strictyaml.Node, v reflect.Value) {
	for i, c := range n.Content {
		if strictyaml.IsNull(c) && !(isLiteral(v.Index(i).Type()) && c.Value != "") {
			d.At(c, "expected an element, found nothing")
			continue
		}
		d.value(c, v.Index(i), nil)
	}
}

func isLiteral(t reflect.Type) bool { return t == reflect.TypeFor[param.Literal]() }

// literal decodes a value with its type.
func (d *Decoder) literal(n *strictyaml.Node, v reflect.Value) {
	text, json, err := strictyaml.Literal(n)
	if err != nil {
		d.At(n, "%v", err)
		return
	}
	v.Set(reflect.ValueOf(param.Literal{Text: text, JSON: json}))
}

// writtenAs refuses values that a type that reads texts would take differently from YAML: empty
// values, and numbers that are not decimal. Texts are taken as written.
func writtenAs(n *strictyaml.Node, t reflect.Type) error {
	switch {
	case n.Value == "":
		return errors.New("an empty text; write a value, or leave the key out")
	case t.Kind() == reflect.String:
		return nil
	case n.Tag == "!!int" || n.Tag == "!!float":
		_, err := strictyaml.Number(n)
		return err
	case t == reflect.TypeFor[param.Setting]():
		return fmt.Errorf("%s is not a number; write a number, {init: v} or {fixed: v}", strictyaml.Describe(n))
	}
	return nil
}

// scalar decodes a bool, an integer, a number or a text.
func (d *Decoder) scalar(n *strictyaml.Node, v reflect.Value) {
	if n.Kind != strictyaml.ScalarNode {
		d.At(n, "expected %s, found %s", TypeName(v.Kind()), strictyaml.Describe(n))
		return
	}
	var err error
	switch k := v.Kind(); {
	case k == reflect.String:
		if v.SetString(n.Value); n.Value == "" {
			err = errors.New("an empty text; write a value, or leave the key out")
		}
	case k == reflect.Bool:
		var b bool
		b, err = strictyaml.Bool(n)
		v.SetBool(b)
	case v.CanFloat():
		var f float64
		f, err = strictyaml.Number(n)
		v.SetFloat(f)
	case v.CanUint():
		var u uint64
		u, err = strictyaml.Natural(n, v.Type().Bits())
		v.SetUint(u)
	case v.CanInt():
		var i int64
		i, err = strictyaml.Whole(n, v.Type().Bits())
		v.SetInt(i)
	default:
		err = fmt.Errorf("the component declares an option of type %v, which no file can give", v.Type())
	}
	if err != nil {
		d.At(n, "%v", err)
	}
}

func (d *Decoder) structure(n *strictyaml.Node, v reflect.Value, also []string) {
	fields, intervals := map[string]reflect.Value{}, map[string]Interval{}
	names := slices.Clone(also)
	registry.Options(v, func(name string, f reflect.Value, of reflect.StructField) {
		fields[name] = f
		names = append(names, name)
		if i, ok := Within(of); ok {
			intervals[name] = i
		}
	})
	if n.Kind == strictyaml.ScalarNode {
		if example := firstNumber(n, v); example != "" {
			d.At(n, "expected a mapping (key: value), found %s; write its key too, as in {%s: %s}",
				strictyaml.Describe(n), example, n.Value)
			return
		}
	}
	d.Mapping(n, func(key, value *strictyaml.Node) {
		f, ok := fields[key.Value]
		if !ok {
			d.At(key, "unknown key %s%v", strictyaml.Describe(key), suggestion{key.Value, names, d.Sections})
			return
		}
		before, initially := d.Found.Found(), reflect.New(f.Type()).Elem()
		initially.Set(f)
		d.value(value, f, nil)
		i, ranged := intervals[key.Value]
		if ranged && !strictyaml.IsNull(value) && d.Found.Found() == before {
			d.inside(key.Value, value, f, i, "; leave the key out for the default")
		}
		if ranged && d.Found.Found() > before {
			f.Set(initially) // so that the rest of the component can still be checked
		}
		if other := registry.Store(v, key.Value, f); other != "" {
			d.At(key, "%s and %s exclude each other; leave one out", other, key.Value)
		}
		if s, ok := f.Interface().(param.Setting); ok {
			d.settings.settings = append(d.settings.settings, located{key.Value, value, s})
		}
	})
}

// firstNumber returns the first key of a struct that the number n may be meant for; empty: n is not
// a number, or there is no such key.
func firstNumber(n *strictyaml.Node, v reflect.Value) (name string) {
	if _, err := strictyaml.Number(n); err != nil {
		return ""
	}
	registry.Options(v, func(key string, f reflect.Value, _ reflect.StructField) {
		number := f.CanInt() || f.CanFloat() || f.Kind() == reflect.Pointer || isSetting(f)
		if name == "" && number && !isNamed(f) {
			name = key
		}
	})
	return name
}

func isSetting(v reflect.Value) bool { return v.Type() == reflect.TypeFor[param.Setting]() }

// isNamed reports whether a value is written as one of a list of names.
func isNamed(v reflect.Value) bool {
	_, is := v.Interface().(interface{ Names() []string })
	return is
}

// inside checks a number, or each number of a list, against the interval of its field. instead is
// the advice for a 0.
func (d *Decoder) inside(key string, n *strictyaml.Node, v reflect.Value, i Interval, instead string) {
	switch {
	case v.Kind() == reflect.Pointer:
		d.inside(key, n, v.Elem(), i, instead)
	case v.Kind() == reflect.Slice || v.Kind() == reflect.Array:
		for k := range v.Len() {
			at := n
			if n.Kind == strictyaml.SequenceNode {
				at = n.Content[k]
			}
			d.inside(key, at, v.Index(k), i, "")
		}
	case i.excludes(v):
		if !v.IsZero() {
			instead = ""
		}
		d.At(n, "%s = %s must be %v%s", key, n.Value, i, instead)
	}
}

// suggestion is the end of a message about an unknown name, computed only if the message is
// printed.
type suggestion struct {
	name     string
	have     []string
	sections func(key string, have []string) string
}

func (s suggestion) String() string {
	if len(s.name) > 200 { // too long for a typing mistake
		return registry.Suggest("", s.have)
	}
	if meant, _ := registry.Elsewhere(s.name, s.have); meant == "" && s.sections != nil {
		if where := s.sections(s.name, s.have); where != "" {
			return where + registry.Suggest("", s.have)
		}
	}
	return registry.Suggest(s.name, s.have)
}

// Places returns the positions of the values of a mapping, by key.
func (d *Decoder) Places(n *strictyaml.Node) map[string]strictyaml.Place {
	places := map[string]strictyaml.Place{}
	if n != nil && n.Kind == strictyaml.MappingNode {
		for i := 0; i < len(n.Content); i += 2 {
			places[n.Content[i].Value] = d.Found.Place(n.Content[i+1])
		}
	}
	return places
}

// Mapping visits the entries of a mapping node. Other kinds of nodes and duplicate keys are
// problems.
func (d *Decoder) Mapping(n *strictyaml.Node, visit func(key, value *strictyaml.Node)) {
	if n.Kind != strictyaml.MappingNode {
		d.At(n, "expected a mapping (key: value), found %s", strictyaml.Describe(n))
		return
	}
	first := map[string]*strictyaml.Node{}
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i]
		switch earlier := first[key.Value]; {
		case key.Kind != strictyaml.ScalarNode:
			d.At(key, "a key must be plain text, found %s", strictyaml.Describe(key))
		case earlier != nil:
			d.At(key, "duplicate key %s, first given at line %d", strictyaml.Describe(key), earlier.Line)
		default:
			first[key.Value] = key
			visit(key, n.Content[i+1])
		}
	}
}

// Named reads a component, written as its name or as a mapping from its name to its options.
func (d *Decoder) Named(n *strictyaml.Node, what string) (name string, options *strictyaml.Node, ok bool) {
	switch {
	case n.Kind == strictyaml.ScalarNode && !strictyaml.IsNull(n):
		return n.Value, nil, true
	case n.Kind == strictyaml.MappingNode && len(n.Content) == 2 && n.Content[0].Kind == strictyaml.ScalarNode:
		return n.Content[0].Value, n.Content[1], true
	}
	d.At(n, "expected a %s: its name, or {name: {options}}, found %s", what, strictyaml.Describe(n))
	return "", nil, false
}

// Component reads a component of a table.
func Component[I any](d *Decoder, n *strictyaml.Node, what string, table registry.Table[I]) (v I, name string,
	ok bool) {
	name, options, ok := d.Named(n, what)
	if !ok {
		return v, name, false
	}
	e, err := table.Lookup(what, name)
	if err != nil {
		d.At(n, "%v", err)
		return v, name, false
	}
	read := d.Reading(options)
	if read == nil && e.NeedsOptions {
		read = func(any) error { return nil } // checking the component finds missing keys
	}
	v, err = e.New(read)
	if err != nil && err != ErrReported {
		d.At(n, "%v", err)
	}
	return v, name, err == nil
}

// kernel reads a kernel and its name.
func (d *Decoder) kernel(n *strictyaml.Node) (k kernel.Kernel, name string, ok bool) {
	before := d.Found.Found()
	specs := func(k kernel.Kernel) []param.Spec { return k.Params(1) }
	k, name, _ = tunable(d, n, "kernel", kernel.Table, specs, kernel.Check)
	return k, name, d.Found.Found() == before
}

// likelihood reads a likelihood and its name.
func (d *Decoder) likelihood(n *strictyaml.Node) (l likelihood.Likelihood, name string, ok bool) {
	return tunable(d, n, "likelihood", likelihood.Table, likelihood.Likelihood.Params, likelihood.Check)
}

// tunable reads a component with hyperparameters, and its name, and checks it. ok is true even if
// the checks find mistakes, so that further ones are found.
func tunable[I any](d *Decoder, n *strictyaml.Node, what string, table registry.Table[I],
	specs func(I) []param.Spec, check func(I) error) (v I, name string, ok bool) {
	mark, before := len(d.settings.settings), d.Found.Found()
	if v, name, ok = Component(d, n, what, table); !ok {
		return v, name, ok
	}
	if len(d.settings.settings) > mark { // inner components have been checked
		d.checkSettings(mark, specs(v))
	}
	if d.Found.Found() == before { // finds errors that depend on more than the settings
		if err := check(v); err != nil {
			d.At(n, "%v", err)
		}
	}
	return v, name, true
}

// checkSettings checks the settings collected since mark against their hyperparameters.
func (d *Decoder) checkSettings(mark int, specs []param.Spec) {
	for _, l := range d.settings.settings[mark:] {
		for _, s := range specs {
			name := s.Name[strings.LastIndexByte(s.Name, '.')+1:]
			if base, _, _ := strings.Cut(name, "["); base == l.key {
				if err := l.setting.Check(l.key, s.Map); err != nil {
					d.At(l.node, "%v", err)
				}
				break
			}
		}
	}
	d.settings.settings = d.settings.settings[:mark]
}

// TypeName describes the values of a kind of scalar.
func TypeName(k reflect.Kind) string {
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

// ErrReported is returned by a decoding step whose problem has already been reported.
var ErrReported = errors.New("declared: reported")

// At adds a problem at a node of the file.
func (d *Decoder) At(n *strictyaml.Node, format string, args ...any) { d.Found.At(n, format, args...) }

// Choose checks that a value is one of have; an empty one becomes the first.
func Choose(d *Decoder, parent *strictyaml.Node, key string, value *string, have []string) {
	if *value == "" {
		*value = have[0]
	}
	if !slices.Contains(have, *value) {
		n := parent
		if v := strictyaml.Find(parent, key); v != nil {
			n = Element(v, *value)
		}
		what := strings.TrimSuffix(key, "s")
		if key == "classes" {
			what = "way to model classes"
		}
		d.At(n, "unknown %s %q%s", what, *value, registry.Suggest(*value, have))
	}
}

// Element returns the element of a list with this value, or else the node itself.
func Element(n *strictyaml.Node, value string) *strictyaml.Node {
	for _, c := range n.Content {
		if c.Value == value {
			n = c
		}
	}
	return n
}
