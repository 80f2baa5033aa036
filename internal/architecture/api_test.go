package architecture

import (
	"go/types"
	"slices"
	"strings"
	"testing"
)

// kits are the packages of forTests with which other programs test their components.
var kits = []string{"approx/approxtest", "approx/likelihood/likelihoodtest", "cv/scoretest", "cv/splittertest",
	"objective/kernel/kerneltest", "search/searchtest", "search/searchtest/spaces"}

// exports counts what packages export: types with functions, and methods, those of interfaces too.
type exports struct{ names, methods int }

func (e *exports) add(p *types.Package) {
	for _, name := range p.Scope().Names() {
		object := p.Scope().Lookup(name)
		if !object.Exported() {
			continue
		}
		switch object := object.(type) {
		case *types.Func:
			e.names++
		case *types.TypeName:
			e.names++
			named, _ := object.Type().(*types.Named)
			if named == nil || object.IsAlias() {
				continue
			}
			for i := range named.NumMethods() {
				if named.Method(i).Exported() {
					e.methods++
				}
			}
			if of, is := named.Underlying().(*types.Interface); is {
				for i := range of.NumExplicitMethods() {
					if of.ExplicitMethod(i).Exported() {
						e.methods++
					}
				}
			}
		}
	}
}

// The packages for other programs, and their kits, export no more than these numbers of types with
// functions, and of methods. What is exported has to be kept, so a number goes up on purpose only.
func TestExportsAreFew(t *testing.T) {
	most := map[string]exports{"approx": {148, 226}, "objective": {156, 301}, "search": {90, 110}, "cv": {74, 48},
		"record": {60, 50}, "reports": {171, 85}, "experiments": {124, 96}}
	got := map[string]exports{}
	for _, p := range program(t) {
		if !slices.Contains(library, room(p)) && !slices.Contains(kits, room(p)) {
			continue
		}
		floor, _, _ := strings.Cut(room(p), "/")
		e := got[floor]
		e.add(p.Types)
		got[floor] = e
	}
	for floor, e := range got {
		if e.names > most[floor].names || e.methods > most[floor].methods {
			t.Errorf("%s exports %d types and functions with %d methods; the limits are %d and %d. Keep new names small, "+
				"or raise the limit and tell of them in CHANGELOG.md", floor, e.names, e.methods, most[floor].names,
				most[floor].methods)
		}
	}
}
