package flow

import (
	"encoding"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/objective/param"
)

// Read makes the component that a node describes; what is the kind of component.
func Read[I any](n record.Node, what string, table registry.Table[I]) (v I, err error) {
	name, options, err := Named(n, what)
	if err != nil {
		return v, err
	}
	e, err := table.Lookup(what, name)
	if err != nil {
		return v, err
	}
	if v, err = e.New(decode(options)); err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return v, err
}

// Named returns a component's name and options: the node is a word, or a mapping from the name to
// options.
func Named(n record.Node, what string) (name string, options *record.Node, err error) {
	switch {
	case len(n.Parts) == 0:
		return n.Word, nil, nil
	case len(n.Parts) == 1 && n.Parts[0].Key != "":
		return n.Parts[0].Key, &n.Parts[0].Node, nil
	}
	return "", nil, fmt.Errorf("%v: want a %s, its name or {name: {options}}", n, what)
}

func decode(n *record.Node) registry.Decode {
	if n == nil {
		return nil
	}
	return func(v any) error { return set(reflect.ValueOf(v).Elem(), *n) }
}

// set sets v to the value of a node.
func set(v reflect.Value, n record.Node) error {
	if text, is := v.Addr().Interface().(encoding.TextUnmarshaler); is && len(n.Parts) == 0 {
		return text.UnmarshalText([]byte(n.Word))
	}
	switch k := v.Kind(); {
	case k == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return set(v.Elem(), n)
	case k == reflect.Struct:
		return options(v, n)
	case k == reflect.Interface: // a component inside another
		p, err := Read(n, "prior", param.Priors)
		if err == nil {
			v.Set(reflect.ValueOf(p))
		}
		return err
	case k == reflect.Slice:
		if len(n.Parts) == 0 { // one value is a list of length one
			n = record.Node{Parts: []record.Part{{Node: n}}}
		}
		v.Set(reflect.MakeSlice(v.Type(), len(n.Parts), len(n.Parts)))
		fallthrough
	case k == reflect.Array:
		if v.Len() != len(n.Parts) {
			return fmt.Errorf("%v: want %d values", n, v.Len())
		}
		for i, part := range n.Parts {
			if err := set(v.Index(i), part.Node); err != nil {
				return err
			}
		}
		return nil
	case len(n.Parts) > 0:
		return fmt.Errorf("%v: want one value", n)
	}
	return word(v, n.Word)
}

// options sets the fields of a struct that have yaml tags.
func options(v reflect.Value, n record.Node) error {
	fields := map[string]reflect.Value{}
	var names []string
	registry.Options(v, func(name string, f reflect.Value, _ reflect.StructField) {
		fields[name], names = f, append(names, name)
	})
	for _, part := range n.Parts {
		f, known := fields[part.Key]
		if !known {
			return fmt.Errorf("unknown option %q%s", part.Key, registry.Suggest(part.Key, names))
		}
		if err := set(f, part.Node); err != nil {
			return fmt.Errorf("%s: %w", part.Key, err)
		}
	}
	if len(n.Parts) == 0 {
		return fmt.Errorf("%q: want options, of %s", n.Word, strings.Join(names, ", "))
	}
	return nil
}

// word sets a bool, a number or a text.
func word(v reflect.Value, text string) error {
	var err error
	switch bits := v.Kind(); {
	case bits == reflect.String:
		v.SetString(text)
	case bits == reflect.Bool:
		var b bool
		b, err = strconv.ParseBool(text)
		v.SetBool(b)
	case v.CanFloat():
		var x float64
		x, err = strconv.ParseFloat(text, 64)
		v.SetFloat(x)
	case v.CanInt():
		var x float64 // may be written as 1e3
		x, err = strconv.ParseFloat(text, 64)
		v.SetInt(int64(x))
	case v.CanUint():
		var u uint64
		u, err = strconv.ParseUint(text, 10, v.Type().Bits())
		v.SetUint(u)
	default:
		return fmt.Errorf("an option of type %v cannot be read from a text", v.Type())
	}
	if err != nil {
		return fmt.Errorf("%q is not a value of type %v", text, v.Type())
	}
	return nil
}
