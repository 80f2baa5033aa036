package architecture

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"testing"
)

// TestSignaturesNameNothingInternal: every type in the exports of a package for other programs can be named by these
// programs, since a package of the library declares it or an alias of it. This includes the fields and methods of
// aliased types.
func TestSignaturesNameNothingInternal(t *testing.T) {
	w := signatures{fail: t.Errorf, public: map[string]bool{}, named: map[*types.TypeName]bool{}, seen: map[types.Type]bool{}}
	for _, name := range slices.Concat(library, kits) {
		w.public[module+name] = true
	}
	var all []*types.Package
	for _, p := range program(t) {
		all = append(all, p.Types)
	}
	w.check(all)
}

// The test finds an internal type wherever an exported declaration can have one.
func TestSignaturesThatNameSomethingInternal(t *testing.T) {
	fset := token.NewFileSet()
	hidden, err := (&types.Config{}).Check(module+"hidden", fset, []*ast.File{parsed(t, fset, `package hidden
type Number float64
type Box struct { value int }
type Made struct { value int }
type Plain struct { Value Number }
type Reader interface { Read() Number }
type List[T any] []T
`)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for source, want := range map[string]string{
		"func F(x hidden.Number) {}":                                "open.F: ",
		"func F() (x []map[string]*hidden.Number) { return }":       "open.F: ",
		"func F[T hidden.Reader](x T) {}":                           "open.F: ",
		"func F[T ~[]hidden.Number](x T) {}":                        "open.F: ",
		"type T[P hidden.Reader] struct{}":                          "open.T: ",
		"type T struct { F func(...hidden.Number) }":                "open.T.F: ",
		"type T struct { hidden.Plain }":                            "open.T.Plain: ",
		"type t struct { F hidden.Number }; type T struct { t }":    "open.T.t.F: ",
		"type t struct{}; func (t) M(hidden.Number) {}; func F() t": "open.F: t.M: ",
		"type t struct{}; func (*t) M() hidden.Number; var V *t":    "open.V: t.M: ",
		"type T int; func (*T) M(chan hidden.Number) {}":            "open.T.M: ",
		"type T interface { hidden.Reader }":                        "open.T: ",
		"type T interface { M(hidden.Number) }":                     "open.T.M: ",
		"type T = func(hidden.Number)":                              "open.T: ",
		"type T = hidden.List[hidden.Number]":                       "open.T: ",
		"type T hidden.List[hidden.Number]":                         "open.T: ",
		"const C = hidden.Number(1)":                                "open.C: ",
		"var V = hidden.Number(1)":                                  "open.V: ",
		"type Box = hidden.Box; func F(Box) {}":                     "open.Box: no program outside can make",
		"type t struct { f hidden.Number }; type T struct { f t }":  "",
		"type Number = hidden.Number; func F(hidden.Number) {}":     "",
		"type Made = hidden.Made; func New() *Made { return nil }":  "",
		"type Plain = hidden.Plain; type Number = hidden.Number":    "",
		"type Plain = hidden.Plain":                                 "open.Plain: Plain.Value: ",
		"func F(x hidden.Unknown) {}; func G(hidden.Number)":        "open.G: ",
	} {
		c := types.Config{Importer: packagesByPath{module + "hidden": hidden}, Error: func(error) {}}
		open, _ := c.Check(module+"open", fset, []*ast.File{parsed(t, fset, "package open\nimport \""+module+"hidden\"\n"+source)}, nil)
		got := ""
		w := signatures{public: map[string]bool{module + "open": true}, named: map[*types.TypeName]bool{}, seen: map[types.Type]bool{},
			fail: func(format string, args ...any) { got += fmt.Sprintf(format+"\n", args...) }}
		w.check([]*types.Package{hidden, open})
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: found %q, want %q", source, got, want)
		}
	}
}

func parsed(t *testing.T, fset *token.FileSet, source string) *ast.File {
	t.Helper()
	file, err := parser.ParseFile(fset, "source.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// signatures walks through every type once.
type signatures struct {
	fail   func(format string, args ...any)
	public map[string]bool
	named  map[*types.TypeName]bool // types with an alias
	seen   map[types.Type]bool
}

// check checks the exports of the public packages among these.
func (w signatures) check(all []*types.Package) {
	var exported []types.Object
	for _, p := range all {
		if !w.public[p.Path()] {
			continue
		}
		for _, name := range p.Scope().Names() {
			object := p.Scope().Lookup(name)
			if !object.Exported() {
				continue
			}
			exported = append(exported, object)
			if of, is := object.(*types.TypeName); is && of.IsAlias() {
				if named, is := types.Unalias(of.Type()).(*types.Named); is {
					w.named[named.Origin().Obj()] = true
				}
			}
		}
	}
	made := map[types.Type]bool{} // types that an exported function returns
	for _, object := range exported {
		if f, is := object.Type().(*types.Signature); is {
			for v := range f.Results().Variables() {
				of := types.Unalias(v.Type())
				if p, is := of.(*types.Pointer); is {
					of = types.Unalias(p.Elem())
				}
				made[of] = true
			}
		}
	}
	for _, object := range exported {
		at := strings.TrimPrefix(object.Pkg().Path(), module) + "." + object.Name()
		named, is := types.Unalias(object.Type()).(*types.Named)
		_, isType := object.(*types.TypeName)
		switch {
		case is && named.Obj() == object:
			w.inside(named, at)
		case is && isType && !w.public[named.Obj().Pkg().Path()] && sealed(named) && !made[named]:
			w.fail("%s: no program outside can make an %s.%s, of which it is an alias", at, named.Obj().Pkg().Path(), named.Obj().Name())
		default:
			w.of(object.Type(), at)
		}
	}
}

// ready are types that other programs use by their zero value.
var ready = map[string]bool{module + "approx/prior.Work": true}

// sealed reports whether a type cannot be made by another package: it has only fields that the
// other package cannot set, and its zero value is of no use.
func sealed(named *types.Named) bool {
	if ready[named.String()] {
		return false
	}
	fields, is := named.Underlying().(*types.Struct)
	if !is || fields.NumFields() == 0 {
		return false
	}
	for f := range fields.Fields() {
		if f.Exported() {
			return false
		}
	}
	return true
}

// parameters checks the constraints of type parameters.
func (w signatures) parameters(list *types.TypeParamList, at string) {
	for p := range list.TypeParams() {
		w.of(p.Constraint(), at)
	}
}

// inside checks the fields and methods of a declared type.
func (w signatures) inside(named *types.Named, at string) {
	if w.seen[named] {
		return
	}
	w.seen[named] = true
	w.parameters(named.TypeParams(), at)
	w.of(named.Underlying(), at)
	for m := range named.Methods() {
		if m.Exported() {
			w.of(m.Type(), at+"."+m.Name())
		}
	}
}

// of checks a type that is used at the given place.
func (w signatures) of(of types.Type, at string) {
	switch u := types.Unalias(of).(type) {
	case *types.Named:
		for a := range u.TypeArgs().Types() {
			w.of(a, at)
		}
		switch object := u.Origin().Obj(); {
		case object.Pkg() == nil || !strings.HasPrefix(object.Pkg().Path(), module):
		case w.public[object.Pkg().Path()]:
			if !object.Exported() {
				w.inside(u.Origin(), at+": "+object.Name())
			}
		case w.named[object]:
			w.inside(u.Origin(), at+": "+object.Name())
		default:
			w.fail("%s: no package for other programs has a name for %s.%s", at, object.Pkg().Path(), object.Name())
		}
	case interface{ Elem() types.Type }: // pointers, slices, arrays, maps, channels
		w.of(u.Elem(), at)
		if m, is := u.(*types.Map); is {
			w.of(m.Key(), at)
		}
	case *types.Signature:
		w.parameters(u.TypeParams(), at)
		for v := range u.Params().Variables() {
			w.of(v.Type(), at)
		}
		for v := range u.Results().Variables() {
			w.of(v.Type(), at)
		}
	case *types.Struct:
		for f := range u.Fields() {
			if f.Exported() {
				w.of(f.Type(), at+"."+f.Name())
			} else if f.Embedded() { // what it exports is promoted
				w.promoted(f.Type(), at+"."+f.Name())
			}
		}
	case *types.Interface:
		for m := range u.Methods() {
			w.of(m.Type(), at+"."+m.Name())
		}
		for e := range u.EmbeddedTypes() {
			w.of(e, at)
		}
	case *types.Union:
		for i := range u.Len() {
			w.of(u.Term(i).Type(), at)
		}
	}
}

// promoted checks an embedded type that has no exported name.
func (w signatures) promoted(of types.Type, at string) {
	of = types.Unalias(of)
	if p, is := of.(*types.Pointer); is {
		of = types.Unalias(p.Elem())
	}
	if named, is := of.(*types.Named); is {
		w.inside(named.Origin(), at)
	}
}
