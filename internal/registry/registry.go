// Package registry implements the ordered tables of components (kernels, likelihoods,
// approximations, strategies, splitters, scores, formats). A table is an explicit list, so a new
// component is one file and one line; the same table feeds YAML decoding, `gpc-tune list`, error
// messages and the conformance tests.
//
// It does not register anything in init functions and does not depend on a file format.
package registry

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// Decode fills v, a pointer to a component's options, from the user's input; nil options mean the
// defaults.
type Decode func(v any) error

// Entry is one component: its name in a YAML file, one line of documentation, and its constructor.
// With an error the constructor also returns the component as far as it was read, to find further
// mistakes.
type Entry[I any] struct {
	Name string
	Doc  string
	New  func(Decode) (I, error)

	NeedsOptions bool // the component has no default: New(nil) is an example

	version    int  // less than 2: the first version
	registered bool // registered by another program
}

// At returns the entry with a version of what the component computes; the default is 1. It is
// raised whenever results change by more than rounding, so that a run is never resumed with results
// of both versions.
func (e Entry[I]) At(version int) Entry[I] {
	e.version = version
	return e
}

// Table is an ordered list of components of one kind.
type Table[I any] []Entry[I]

// Of makes the entry of a component of type T, decoded from its zero value, or from one with its
// defaults, and used as an I. It panics at start-up if T does not implement I or if name or doc is
// empty.
func Of[T, I any](name, doc string, defaults ...T) Entry[I] {
	var zero T
	if _, ok := any(zero).(I); !ok || name == "" || doc == "" {
		panic(fmt.Sprintf("registry: entry %q of type %T needs a name, a doc and the component's methods", name, zero))
	}
	return Entry[I]{Name: name, Doc: doc, New: func(decode Decode) (I, error) {
		v := append(defaults, zero)[0]
		if decode != nil {
			if err := decode(&v); err != nil {
				return any(v).(I), err
			}
		}
		return any(v).(I), nil
	}}
}

// Composed makes the entry of a component that needs options, such as a sum of kernels. It is
// decoded from its zero value; without options New returns the example, for lists and tests.
func Composed[T, I any](name, doc string, example T) Entry[I] {
	e := Of[T, I](name, doc)
	decoded := e.New
	e.NeedsOptions, e.New = true, func(decode Decode) (I, error) {
		if decode == nil {
			return any(example).(I), nil
		}
		return decoded(decode)
	}
	return e
}

// Lookup finds an entry by name; what is the kind of component ("kernel"). For an unknown name the
// error suggests the nearest one and lists all.
func (t Table[I]) Lookup(what, name string) (Entry[I], error) {
	return Find(what, name, t, func(e Entry[I]) string { return e.Name })
}

// Find returns the row of a list that nameOf calls by this name; what is the kind of row ("score").
// For an unknown name the error suggests the nearest one and lists all.
func Find[T any](what, name string, rows []T, nameOf func(T) string) (row T, err error) {
	names := make([]string, len(rows))
	for i, row := range rows {
		if names[i] = nameOf(row); names[i] == name {
			return row, nil
		}
	}
	return row, Known(what, name, names)
}

// Default is the component with this name without options. It panics if there is none.
func (t Table[I]) Default(name string) I {
	e, err := t.Lookup("component", name)
	if err != nil {
		panic(err)
	}
	v, err := e.New(nil)
	if err != nil {
		panic(err)
	}
	return v
}

// VersionOf is the version of the component with this name in keys: 0 for the first version of this
// module's own components, and for unknown names.
func (t Table[I]) VersionOf(name string) int {
	for _, e := range t {
		if e.Name == name {
			return e.keyVersion()
		}
	}
	return 0
}

// keyVersion is the version in keys, or 0.
func (e Entry[I]) keyVersion() int {
	if e.version < 2 && !e.registered {
		return 0
	}
	return e.version
}

// Raised calls put with every component that has a version in keys, and with its origin, by which
// its values are recognised.
func (t Table[I]) Raised(put func(name string, version int, origin any)) {
	for _, e := range t {
		if e.keyVersion() == 0 {
			continue
		}
		v, err := e.New(nil)
		if err != nil {
			panic(fmt.Sprintf("registry: %s has no value without options: %v", e.Name, err))
		}
		put(e.Name, e.keyVersion(), origin(v))
	}
}

// Made is a component that a function has made from functions. Its options are not its fields.
type Made[I any] interface {
	// Origin returns a pointer that is the same for all components of one call of the function.
	Origin() any
	// Options returns a new struct of the options, with yaml tags.
	Options() any
	// With returns the component with options: a pointer to a struct of Options that was read.
	With(options any) I
}

// origin identifies a component: the type of v or, for Made components, their Origin.
func origin(v any) any {
	if of, made := v.(interface{ Origin() any }); made {
		return of.Origin()
	}
	return reflect.TypeOf(v)
}

// ofMade makes the entry of a component that a function has made.
func ofMade[I any](name, doc string, made Made[I]) Entry[I] {
	if doc == "" {
		panic(fmt.Sprintf("registry: entry %q needs a doc", name))
	}
	return Entry[I]{Name: name, Doc: doc, New: func(decode Decode) (I, error) {
		options := reflect.New(reflect.TypeOf(made.Options()))
		options.Elem().Set(reflect.ValueOf(made.Options()))
		var err error
		if decode != nil {
			err = decode(options.Interface())
		}
		return made.With(options.Elem().Interface()), err
	}}
}

// Register appends a component of another program to a table: a type with defaults, or a Made
// component. kind describes it. It panics if the name is taken or not in lower case, if the version
// is below 1, if the type has an entry already, and as Of does.
func Register[T, I any](t *Table[I], kind, name, doc string, version int, defaults ...T) {
	var e Entry[I]
	if made, is := any(append(defaults, *new(T))[0]).(Made[I]); is {
		e = ofMade(name, doc, made)
	} else {
		e = Of[T, I](name, doc, defaults...)
	}
	CheckName(kind, name, version, t.Names())
	if v, err := e.New(nil); err == nil {
		if other := t.NameOf(v); other != "" {
			panic(fmt.Sprintf("%s %q: it is %q already, by its type %T; give it a type of its own", kind, name, other,
				v))
		}
	}
	e.version, e.registered = version, true
	*t = append(*t, e)
}

// CheckName panics if a component of another program cannot have this name and version.
func CheckName(kind, name string, version int, have []string) {
	switch {
	case !component.MatchString(name):
		panic(fmt.Sprintf("%s %q: a name is written in lower-case letters, digits and underscores", kind, name))
	case slices.Contains(have, name):
		panic(fmt.Sprintf("%s %q: the name is taken", kind, name))
	case version < 1:
		panic(fmt.Sprintf("%s %q: version %d; versions count from 1, and go up whenever results change", kind, name,
			version))
	}
}

var component = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// Names lists the entries in table order.
func (t Table[I]) Names() []string {
	names := make([]string, len(t))
	for i, e := range t {
		names[i] = e.Name
	}
	return names
}

// NameOf is the name of the entry whose component has v's Origin, "" if there is none.
func (t Table[I]) NameOf(v I) string {
	for _, e := range t {
		if own, err := e.New(nil); err == nil && origin(own) == origin(v) {
			return e.Name
		}
	}
	return ""
}

// Known is an error with a suggestion if have lacks a name; what describes the names.
func Known(what, name string, have []string) error {
	if slices.Contains(have, name) {
		return nil
	}
	return fmt.Errorf("unknown %s %q%s", what, name, Suggest(name, have))
}

// Choose sets dst to the value with this name, which is its position among all names; what
// describes the type in errors.
func Choose[T interface {
	~int
	Names() []string
}](dst *T, what string, text []byte) error {
	have := (*dst).Names()
	if err := Known(what, string(text), have); err != nil {
		return err
	}
	*dst = T(slices.Index(have, string(text)))
	return nil
}

// Suggest returns the end of an error message about an unknown name: Nearest, and the whole list:
// `; did you mean "probit"? (have probit, logit)`.
func Suggest(name string, have []string) string {
	if len(have) == 0 {
		return " (there are none)"
	}
	return Nearest(name, have) + " (have " + strings.Join(have, ", ") + ")"
}

// Nearest is the part of an error message about an unknown name that suggests the name used here
// for the same thing, or else the nearest name in have: `; did you mean "probit"?`. It is "" if
// none is.
func Nearest(name string, have []string) string {
	if meant, note := Elsewhere(name, have); meant != "" {
		if note != "" {
			note = ", " + note
		}
		return fmt.Sprintf("; here that is %q%s", meant, note)
	}
	best, distance := "", len(name)/2+1
	for _, h := range have {
		if d := editDistance(strings.ToLower(name), h); d < distance {
			best, distance = h, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}

// editDistance is the Levenshtein distance between a and b, in bytes.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			substitute := diagonal
			if a[i] != b[j] {
				substitute++
			}
			diagonal = row[j+1]
			row[j+1] = min(substitute, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// Options visits the fields of a component with yaml names, including fields of inlined structs. A
// component that is no struct has none. A field of a type whose table is Inlined has an option for
// each row. The value of an option is new; it equals the field's value if that is of the row. Store
// puts it into the field.
func Options(v reflect.Value, visit func(name string, f reflect.Value, of reflect.StructField)) {
	if v.Kind() != reflect.Struct {
		return
	}
	for i := range v.NumField() {
		of, f := v.Type().Field(i), v.Field(i)
		tag, options, _ := strings.Cut(of.Tag.Get("yaml"), ",")
		switch {
		case options == "inline" && f.Kind() == reflect.Interface:
			for _, row := range inlined[f.Type()] {
				one := reflect.New(row.Type).Elem()
				for _, part := range partsOf(f) {
					if part.Type() == row.Type {
						one.Set(part)
					}
				}
				visit(row.Name, one, row)
			}
		case options == "inline":
			Options(f, visit)
		case tag != "" && tag != "-":
			visit(tag, f, of)
		}
	}
}

// inlined are the rows of the Inlined tables as fields, by the type of their interface.
var inlined = map[reflect.Type][]reflect.StructField{}

// joiner is a value of an Inlined table that may be given together with a value of another row.
type joiner interface {
	// Join returns the value of both; nil: they exclude each other.
	Join(other any) any
}

// joined is the value that a joiner returns.
type joined interface {
	// Parts are the values of the rows.
	Parts() []any
}

// partsOf are the values of rows in a field; none if it is nil.
func partsOf(f reflect.Value) (parts []reflect.Value) {
	if !f.Elem().IsValid() {
		return nil
	}
	if both, is := f.Interface().(joined); is {
		for _, part := range both.Parts() {
			parts = append(parts, reflect.ValueOf(part))
		}
		return parts
	}
	return []reflect.Value{f.Elem()}
}

// Inlined makes the names of a table options of every struct that has a field of type I with the
// tag inline. A user can give one of the names, or two if one of them is a joiner.
func Inlined[I any](t Table[I]) Table[I] {
	for _, e := range t {
		v, err := e.New(nil)
		if err != nil {
			panic(fmt.Sprintf("registry: %s has no value without options: %v", e.Name, err))
		}
		of := reflect.TypeFor[I]()
		inlined[of] = append(inlined[of], reflect.StructField{Name: e.Name, Type: reflect.TypeOf(v)})
	}
	return t
}

// Store puts the value of an option of Options, which has been read, into its field of v; other
// options are in theirs. It returns the name of the option that excludes it, if one was given.
func Store(v reflect.Value, name string, option reflect.Value) (other string) {
	for i := range v.NumField() {
		f := v.Field(i)
		if f.Kind() != reflect.Interface || option.IsZero() {
			continue
		}
		rows, value := inlined[f.Type()], option
		if !slices.ContainsFunc(rows, func(row reflect.StructField) bool { return row.Name == name }) {
			continue
		}
		for _, part := range partsOf(f) {
			at := slices.IndexFunc(rows, func(row reflect.StructField) bool { return row.Type == part.Type() })
			if at < 0 || rows[at].Name == name {
				continue
			}
			other = rows[at].Name
			if j, is := option.Interface().(joiner); is && len(partsOf(f)) == 1 {
				if both := j.Join(part.Interface()); both != nil {
					other, value = "", reflect.ValueOf(both)
				}
			}
		}
		f.Set(value)
	}
	return other
}
