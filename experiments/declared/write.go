package declared

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// text returns the flow text that declares v. A component that is not in the table is an error that
// says how to register it.
func text[I any](v I, what string, table registry.Table[I]) (string, error) {
	name := table.NameOf(v)
	if name == "" {
		return "", fmt.Errorf("a %s of type %T has no name, so that no file can tell of it; register it, and "+
			"use what was registered", what, v)
	}
	defaults := optionsOf(table.Default(name))
	if e, _ := table.Lookup(what, name); e.NeedsOptions {
		defaults = reflect.Zero(defaults.Type())
	}
	parts, err := changedOptions(optionsOf(v), defaults)
	if err != nil || parts == "" {
		return name, err
	}
	return "{" + name + ": " + parts + "}", nil
}

// optionsOf returns the struct with the options of a component.
func optionsOf[I any](v I) reflect.Value {
	if made, is := any(v).(registry.Made[I]); is {
		return reflect.ValueOf(made.Options())
	}
	return reflect.ValueOf(v)
}

// changedOptions formats the options that differ from the defaults; zero values are left out.
func changedOptions(v, defaults reflect.Value) (string, error) {
	if v.IsZero() || v.Type() == defaults.Type() && reflect.DeepEqual(v.Interface(), defaults.Interface()) {
		return "", nil
	}
	if of, is := v.Interface().(interface{ Word() string }); is && of.Word() != "" {
		return of.Word(), nil
	}
	if of, is := v.Interface().(interface{ Names() []string }); is && v.CanInt() {
		if n := v.Int(); n >= 0 && n < int64(len(of.Names())) {
			return of.Names()[n], nil
		} // else it is written as a number, which the reader refuses
	}
	switch k := v.Kind(); {
	case k == reflect.Interface:
		return text(v.Interface().(param.Prior), "prior", param.Priors)
	case k == reflect.Pointer:
		return scalar(v.Elem())
	case k == reflect.Struct && inner(v) == nil:
		return fields(v, defaults)
	}
	return scalar(v)
}

// fields formats the fields of a struct that have yaml tags.
func fields(v, defaults reflect.Value) (string, error) {
	usual := map[string]reflect.Value{}
	registry.Options(defaults, func(name string, f reflect.Value, _ reflect.StructField) { usual[name] = f })
	var parts []string
	var wrong error
	registry.Options(v, func(name string, f reflect.Value, _ reflect.StructField) {
		switch text, err := changedOptions(f, usual[name]); {
		case err != nil:
			wrong = err
		case text != "":
			parts = append(parts, name+": "+text)
		}
	})
	if len(parts) == 0 || wrong != nil {
		return "", wrong
	}
	return "{" + strings.Join(parts, ", ") + "}", nil
}

func list(v reflect.Value) (string, error) {
	var parts []string
	for i := range v.Len() {
		text, err := scalar(v.Index(i))
		if err != nil {
			return "", err
		}
		parts = append(parts, text)
	}
	return "[" + strings.Join(parts, ", ") + "]", nil
}

// inner writes the kernel, or the likelihood, inside another one that a value holds; nil: it holds
// none.
func inner(v reflect.Value) func() (string, error) {
	switch of := v.Interface().(type) {
	case kernel.Named:
		return func() (string, error) { return text(of.Kernel, "kernel", kernel.Table) }
	case kernel.PerClass:
		return func() (string, error) { return text(of.Kernel, "kernel", kernel.Table) }
	case likelihood.Named:
		return func() (string, error) { return text(of.Likelihood, "likelihood", likelihood.Table) }
	}
	return nil
}

// scalar is a bool, a number, a word or a component inside another; or a list of these.
func scalar(v reflect.Value) (string, error) {
	switch k := v.Kind(); {
	case inner(v) != nil:
		return inner(v)()
	case k == reflect.Bool:
		return strconv.FormatBool(v.Bool()), nil
	case v.CanFloat():
		return strconv.FormatFloat(v.Float(), 'g', -1, 64), nil
	case v.CanInt():
		return strconv.FormatInt(v.Int(), 10), nil
	case v.CanUint():
		return strconv.FormatUint(v.Uint(), 10), nil
	case k == reflect.String:
		return strconv.Quote(v.String()), nil
	case k == reflect.Slice || k == reflect.Array:
		return list(v)
	}
	return "", fmt.Errorf("an option of type %v cannot be written as a text", v.Type())
}
