package architecture

import (
	"go/types"
	"slices"
	"strings"
	"testing"
)

// TestSignaturesNameNothingInternal: every type in the exports of a package for other programs can be named by these
// programs, since a package of the library declares it or an alias of it. This includes the fields and methods of
// aliased types.
func TestSignaturesNameNothingInternal(t *testing.T) {
	w := signatures{t: t, public: map[string]bool{}, named: map[*types.TypeName]bool{}, seen: map[types.Type]bool{}}
	for _, name := range slices.Concat(library, kits) {
		w.public[module+name] = true
	}
	var exported []types.Object
	for _, p := range program(t) {
		if !w.public[p.PkgPath] {
			continue
		}
		for _, name := range p.Types.Scope().Names() {
			object := p.Types.Scope().Lookup(name)
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
	for _, object := range exported {
		at := strings.TrimPrefix(object.Pkg().Path(), module) + "." + object.Name()
		if named, is := types.Unalias(object.Type()).(*types.Named); is && named.Obj() == object {
			w.inside(named, at)
		} else {
			w.of(object.Type(), at)
		}
	}
}

// signatures walks through every type once.
type signatures struct {
	t      *testing.T
	public map[string]bool
	named  map[*types.TypeName]bool // types with an alias
	seen   map[types.Type]bool
}

// inside checks the fields and methods of a declared type.
func (w signatures) inside(named *types.Named, at string) {
	if w.seen[named] {
		return
	}
	w.seen[named] = true
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
		case object.Pkg() == nil || !strings.HasPrefix(object.Pkg().Path(), module) || w.public[object.Pkg().Path()]:
		case w.named[object]:
			w.inside(u.Origin(), at+": "+object.Name())
		default:
			w.t.Errorf("%s: no package for other programs has a name for %s.%s", at, object.Pkg().Path(), object.Name())
		}
	case interface{ Elem() types.Type }: // pointers, slices, arrays, maps, channels
		w.of(u.Elem(), at)
		if m, is := u.(*types.Map); is {
			w.of(m.Key(), at)
		}
	case *types.Signature:
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
			}
		}
	case *types.Interface:
		for m := range u.Methods() {
			w.of(m.Type(), at+"."+m.Name())
		}
	}
}
