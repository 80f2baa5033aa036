package architecture

import (
	"go/ast"
	"go/types"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"golang.org/x/tools/go/packages"
)

// library lists the packages that other programs import; their exports may be unused in this module.
var library = []string{
	"approx", "approx/likelihood", "cv", "cv/split", "experiments", "experiments/data", "experiments/data/cells", "experiments/data/sets", "experiments/classifier", "experiments/journal", "objective",
	"objective/comparator",
	"objective/inducing", "objective/kernel", "approx/param", "objective/preprocess",
	"record", "reports", "reports/figure", "reports/page", "reports/picture", "reports/stores", "reports/table", "search", "search/schedule",
}

// forTests lists the packages that only tests import.
var forTests = []string{
	"approx/approxtest", "approx/likelihood/likelihoodtest", "cv/scoretest", "cv/splittertest", "experiments/plan/plantest",
	"internal/testing/allocated", "internal/testing/bigmath",
	"internal/testing/browser", "internal/testing/exhaustive", "internal/testing/garbage", "internal/testing/golden", "internal/testing/needs", "objective/kernel/kerneltest", "reports/reporttest", "search/searchtest", "search/searchtest/spaces",
}

// kept lists exports that only tests of other packages use, or that users need to handle an error or a result.
var kept = map[string]string{
	"experiments/plan.FitTimes":      "what Rates.Times returns",
	"experiments/data.FileError":     "errors.As finds the faults of a file",
	"internal/atomicfile.Prefix":     "tests look for files that were left",
	"internal/panicked.Error":        "errors.As finds the value of the panic",
	"internal/strictyaml.NewDecoder": "tests read manifests of Kubernetes",
	"internal/strictyaml.Unmarshal":  "tests read files as the library does",
	"internal/registry.CheckName":    "packages of the library register by it",
	"internal/registry.Register":     "packages of the library register by it",
}

// TestExportsAreUsed: every other package exports only names that another package uses, and their
// types.
func TestExportsAreUsed(t *testing.T) {
	type place struct {
		file string
		line int
		name string
	}
	at := func(p *packages.Package, object types.Object) place {
		position := p.Fset.Position(object.Pos())
		return place{filepath.ToSlash(position.Filename), position.Line, object.Name()}
	}
	used := map[place]bool{}
	for _, p := range program(t) {
		for _, object := range p.TypesInfo.Uses {
			if object.Pkg() != nil && object.Pkg() != p.Types {
				used[at(p, object)] = true
			}
		}
	}
	for _, p := range program(t) {
		if slices.Contains(library, room(p)) || slices.Contains(forTests, room(p)) {
			continue
		}
		scope, all := p.Types.Scope(), ""
		for _, name := range scope.Names() {
			if object := scope.Lookup(name); object.Exported() {
				all += types.ObjectString(object, types.RelativeTo(p.Types)) + "\n"
			}
		}
		for _, name := range scope.Names() {
			object := scope.Lookup(name)
			_, isType := object.(*types.TypeName)
			named := isType && len(regexp.MustCompile(`\b`+name+`\b`).FindAllString(all, 2)) > 1
			if object.Exported() && !used[at(p, object)] && !named && kept[room(p)+"."+name] == "" {
				t.Errorf("%s: no other package uses %s", p.Fset.Position(object.Pos()), name)
			}
		}
	}
}

// filled lists unexported types whose exported fields a template or an encoding accesses by name.
var filled = map[string]string{
	"reports/page.document": "the templates", "reports/page.chapter": "the templates", "reports/page.alert": "the templates",
	"reports/page.item": "the templates", "reports/page.detail": "the templates", "reports/page.sheet": "the templates",
	"reports/page.page": "the templates", "reports/page.drawing": "the templates", "reports/page.key": "the templates",
	"reports/page.fileSet":               "the templates",
	"experiments/plan.hyperparameterKey": "the JSON that keys hash",
	"tools/bench.answer":                 "JSON of the peers",
	"experiments/submit.listed":          "JSON of Kubernetes", "experiments/submit.condition": "JSON of Kubernetes",
	"experiments/submit.clusterEvent":  "JSON of Kubernetes",
	"internal/testing/browser.message": "JSON of the DevTools protocol",
}

// TestFieldsOfUnexportedTypes finds exported fields that no other package can name.
func TestFieldsOfUnexportedTypes(t *testing.T) {
	for _, p := range program(t) {
		for _, file := range p.Syntax {
			ast.Inspect(file, func(n ast.Node) bool {
				spec, is := n.(*ast.TypeSpec)
				if !is || spec.Name.IsExported() || filled[room(p)+"."+spec.Name.Name] != "" {
					return true
				}
				if fields, is := spec.Type.(*ast.StructType); is {
					for _, f := range fields.Fields.List {
						for _, name := range f.Names {
							if name.IsExported() && f.Tag == nil {
								t.Errorf("%s: %s.%s", p.Fset.Position(name.Pos()), spec.Name.Name, name.Name)
							}
						}
					}
				}
				return true
			})
		}
	}
}
