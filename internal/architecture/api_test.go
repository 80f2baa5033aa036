package architecture

import (
	"cmp"
	"flag"
	"fmt"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/internal/testing/golden"
)

var update = flag.Bool("update", false, "record the exported identifiers in docs/api.txt")

// kits are the packages of forTests with which other programs test their components.
var kits = []string{"approx/approxtest", "approx/likelihood/likelihoodtest", "cv/scoretest", "cv/splittertest",
	"objective/kernel/kerneltest", "search/searchtest"}

// TestAPI compares what the packages for other programs export with docs/api.txt, so that nothing exported changes by
// accident.
func TestAPI(t *testing.T) {
	file := filepath.Join("..", "..", "docs", "api.txt")
	var lines []string
	for _, p := range program(t) {
		if slices.Contains(library, room(p)) || slices.Contains(kits, room(p)) {
			lines = append(lines, exported(p.Types, room(p))...)
		}
	}
	slices.Sort(lines)
	text := []byte(strings.Join(lines, "\n") + "\n")
	if *update {
		if err := os.WriteFile(file, text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	golden.Equal(t, "what packages export is not what docs/api.txt has on record. If the change is meant, record it with\n"+
		"\tgo test ./internal/architecture -run API -update\nand tell of it in CHANGELOG.md, as docs/run-folder.md says", text, want)
}

// exported lists what a package exports: one identifier, field or method per line.
func exported(p *types.Package, room string) (lines []string) {
	qualify := func(other *types.Package) string {
		if other == p {
			return ""
		}
		return cmp.Or(other.Name(), other.Path())
	}
	add := func(format string, args ...any) { lines = append(lines, room+": "+fmt.Sprintf(format, args...)) }
	for _, name := range p.Scope().Names() {
		object := p.Scope().Lookup(name)
		if !object.Exported() {
			continue
		}
		of, isType := object.(*types.TypeName)
		if !isType {
			add("%s", types.ObjectString(object, qualify))
			continue
		}
		named, _ := of.Type().(*types.Named)
		if of.IsAlias() || named == nil {
			add("%s", types.ObjectString(object, qualify))
			continue
		}
		switch u := named.Underlying().(type) {
		case *types.Struct:
			add("type %s struct", types.TypeString(named, qualify))
			for i := range u.NumFields() {
				if f := u.Field(i); f.Exported() {
					add("type %s struct, %s %s", name, f.Name(), types.TypeString(f.Type(), qualify))
				}
			}
		case *types.Interface:
			add("type %s interface", types.TypeString(named, qualify))
			for i := range u.NumMethods() {
				m := u.Method(i)
				if token.IsExported(m.Name()) {
					add("type %s interface, %s%s", name, m.Name(), signature(m, qualify))
				} else {
					add("type %s interface, and methods that are not exported", name)
				}
			}
		default:
			add("type %s %s", types.TypeString(named, qualify), types.TypeString(u, qualify))
		}
		for i := range named.NumMethods() {
			if m := named.Method(i); m.Exported() {
				add("method (%s) %s%s", name, m.Name(), signature(m, qualify))
			}
		}
	}
	return lines
}

func signature(f *types.Func, qualify types.Qualifier) string {
	return strings.TrimPrefix(types.TypeString(f.Type(), qualify), "func")
}
