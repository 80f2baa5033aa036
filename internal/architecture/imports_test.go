// Package architecture tests the project's structure: which package may import which (docs/architecture.md).
package architecture

import (
	"go/build"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/gpc-tune/gpc-tune/"

// allowed lists, for every package, the packages that it may import. A package that is not listed fails the test.
var allowed = map[string][]string{
	"internal/registry":                {},
	"internal/cause":                   {},
	"internal/panicked":                {"internal/cause"},
	"internal/pattern":                 {},
	"record":                           {"approx/param", "internal/cause", "cv", "internal/build"},
	"record/parsed":                    {"record", "internal/strictyaml"},
	"experiments/journal":              {"internal/atomicfile", "record", "internal/machine"},
	"internal/linalg":                  {},
	"internal/sparse":                  {"internal/linalg"},
	"tools/assembly":                   {},
	"internal/testing/bigmath":         {},
	"internal/testing/allocated":       {},
	"internal/testing/exhaustive":      {},
	"internal/testing/garbage":         {},
	"internal/testing/golden":          {},
	"internal/testing/needs":           {},
	"internal/terminal":                {},
	"internal/testing/browser":         {},
	"internal/machine":                 {},
	"internal/atomicfile":              {},
	"internal/random":                  {},
	"tools/mutants":                    {},
	"tools/release":                    {"internal/build"},
	"internal/strictyaml":              {"internal/pattern"},
	"experiments/classifier":           {"experiments/data", "approx", "approx/likelihood", "cv", "internal/build", "experiments/declared", "internal/interrupt", "experiments/modelfile", "record", "objective", "objective/kernel", "objective/preprocess", "internal/machine", "internal/cause"},
	"experiments/modelfile":            {"objective/comparator", "internal/strictyaml", "experiments/data", "approx", "internal/build", "experiments/declared", "record", "internal/registry", "objective", "objective/kernel", "objective/preprocess", "internal/machine"},
	"internal/interrupt":               {},
	"approx/param":                     {"internal/cause", "internal/registry"},
	"objective/kernel":                 {"internal/linalg", "internal/random", "internal/registry", "approx/param"},
	"objective/inducing":               {"internal/linalg", "internal/registry", "objective/kernel", "approx/param", "internal/cause"},
	"objective/kernel/kerneltest":      {"internal/testing/allocated", "internal/testing/exhaustive", "internal/linalg", "objective/kernel", "approx/param"},
	"approx/likelihood":                {"internal/linalg", "internal/registry", "approx/param", "approx/utility"},
	"approx/utility":                   {"internal/linalg"},
	"approx/prior":                     {"internal/cause", "internal/linalg", "internal/sparse"},
	"approx":                           {"approx/likelihood", "approx/prior", "approx/utility", "internal/random", "internal/interrupt", "internal/linalg", "internal/registry", "internal/cause"},
	"approx/approxtest":                {"approx", "approx/likelihood", "internal/testing/allocated", "internal/testing/exhaustive"},
	"objective":                        {"approx", "approx/likelihood", "internal/random", "internal/interrupt", "internal/linalg", "internal/panicked", "internal/registry", "objective/inducing", "objective/kernel", "approx/param", "internal/cause"},
	"objective/preprocess":             {"internal/linalg", "internal/registry", "internal/cause"},
	"objective/comparator":             {"cv/split", "approx", "approx/likelihood", "cv", "internal/interrupt", "internal/linalg", "internal/registry", "objective", "objective/kernel", "approx/param", "internal/cause"},
	"search":                           {"record", "internal/registry", "objective", "approx/param", "internal/cause"},
	"search/schedule":                  {"internal/interrupt", "internal/panicked", "record", "internal/registry", "approx/param", "internal/machine", "internal/cause", "search"},
	"search/searchtest/spaces":         {"record", "approx/param", "internal/cause"},
	"search/searchtest":                {"record", "approx/param", "search"},
	"cv":                               {"internal/panicked", "internal/registry", "internal/cause"},
	"cv/split":                         {"internal/panicked", "internal/registry", "internal/cause"},
	"cv/scoretest":                     {"cv"},
	"cv/splittertest":                  {"cv/split", "internal/panicked"},
	"reports":                          {"cv", "record", "internal/terminal", "internal/cause"},
	"reports/table":                    {"cv", "record", "internal/registry", "internal/terminal", "reports", "search"},
	"reports/stores":                   {"record", "reports"},
	"reports/picture/shown":            {"cv", "internal/panicked", "record", "reports", "reports/figure", "reports/table"},
	"reports/picture/tuning":           {"record", "reports", "reports/figure", "reports/picture/shown", "reports/table", "search"},
	"reports/picture/illustration":     {"record", "reports", "reports/figure", "reports/picture/shown", "reports/table"},
	"reports/picture":                  {"cv", "internal/cause", "internal/registry", "record", "reports", "reports/figure", "reports/picture/illustration", "reports/picture/shown", "reports/picture/tuning", "reports/table"},
	"reports/page":                     {"internal/pattern", "internal/panicked", "internal/registry", "internal/terminal", "reports", "reports/figure", "reports/picture", "reports/table"},
	"reports/reporttest":               {"cv", "record", "reports", "internal/cause", "record/parsed"},
	"reports/figure":                   {"internal/panicked", "internal/terminal"},
	"experiments/data":                 {"objective/preprocess", "internal/registry", "internal/cause", "experiments/data/cells", "experiments/data/sets", "experiments/data/tables"},
	"experiments/gallery":              {},
	"tools/gallery/ledger":             {"experiments/data", "experiments/gallery", "experiments/run", "record", "reports"},
	"tools/gallery":                    {"experiments/gallery", "tools/gallery/ledger", "experiments/plan", "experiments/run", "experiments/spec", "reports", "reports/page", "reports/picture", "reports/table"},
	"tools/tables":                     {"experiments/columns", "experiments/data"},
	"tools/verdicts":                   {"cv", "experiments/data"},
	"tools/large":                      {"experiments", "internal/machine", "reports", "reports/figure"},
	"experiments/live":                 {"experiments/classifier/predict", "experiments/run", "experiments/spec", "internal/panicked", "reports", "reports/page"},
	"experiments":                      {"cv/split", "experiments/job", "experiments/plan", "record", "experiments/run", "experiments/spec", "internal/build", "internal/strictyaml", "reports", "search", "search/schedule", "experiments/classifier/predict", "experiments/live", "internal/interrupt", "internal/terminal"},
	"experiments/submit":               {"internal/pattern", "experiments/run", "experiments/spec", "internal/atomicfile", "internal/machine", "internal/registry", "internal/strictyaml", "internal/terminal", "reports", "search", "search/schedule", ""},
	"cmd/gpc-tune":                     {"internal/pattern", "experiments", "experiments/query", "experiments/catalogue", "experiments/check", "experiments/classifier/explain", "experiments/classifier/predict", "experiments/columns", "experiments/data", "experiments/doctor", "experiments/live", "experiments/plan", "record", "experiments/run", "experiments/spec", "experiments/submit", "internal/atomicfile", "internal/build", "experiments/journal", "internal/panicked", "internal/registry", "internal/terminal", "reports", "reports/figure", "reports/page", "reports/picture", "reports/table", "reports/stores", "search", "search/schedule", "internal/cause", "", "experiments/data/tables"},
	"experiments/query":                {"reports/picture/illustration", "approx", "cv", "experiments/columns", "experiments/data", "experiments/illustrate", "experiments/job", "experiments/declared", "experiments/spec", "internal/atomicfile", "internal/interrupt", "internal/linalg", "record", "internal/registry", "internal/strictyaml", "objective", "objective/kernel", "approx/param", "reports", "reports/figure", "reports/picture", "internal/machine", "internal/cause", "experiments/data/cells", "experiments/data/sets", "experiments/data/tables"},
	"experiments/columns":              {"internal/pattern", "experiments/data", "internal/registry", "experiments/data/cells", "experiments/data/tables"},
	"experiments/catalogue":            {"cv/split", "internal/pattern", "", "approx", "approx/likelihood", "cv", "objective/comparator", "experiments/declared", "experiments/query", "experiments/classifier/predict", "experiments/columns", "experiments/data", "experiments/plan", "experiments/run", "experiments/spec", "experiments/journal", "internal/jsonschema", "record", "internal/registry", "internal/strictyaml", "approx/param", "reports", "reports/table", "reports/stores", "internal/cause", "experiments/data/cells", "experiments/data/tables"},
	"experiments/check":                {"approx", "experiments/query", "experiments/job", "experiments/declared", "experiments/plan", "internal/interrupt", "record", "internal/strictyaml", "objective", "reports", "internal/cause"},
	"experiments/classifier/explain":   {"internal/random", "objective", "objective/kernel", "record", "reports", "reports/figure", "reports/page", "reports/picture", "reports/table"},
	"experiments/classifier/predict":   {"experiments/classifier/explain", "internal/random", "approx", "cv", "experiments/data", "experiments/job", "experiments/declared", "experiments/plan", "experiments/run", "experiments/spec", "internal/atomicfile", "internal/interrupt", "experiments/journal", "internal/linalg", "internal/machine", "experiments/modelfile", "record", "internal/registry", "internal/strictyaml", "objective", "objective/kernel", "experiments/data/cells", "internal/terminal", "reports", "reports/page", "reports/table", "search", "search/schedule", "internal/cause"},
	"experiments/doctor":               {"experiments/query", "internal/build", "internal/linalg", "internal/machine"},
	"experiments/illustrate":           {"approx", "approx/likelihood", "experiments/declared", "record", "internal/registry", "objective", "objective/kernel", "internal/cause"},
	"experiments/job":                  {"cv/split", "experiments/spec", "approx", "cv", "experiments/data", "objective/preprocess", "record", "internal/random", "objective", "objective/comparator", "objective/kernel", "search", "search/schedule", "internal/machine", "internal/cause"},
	"experiments/declared":             {"approx", "approx/likelihood", "internal/random", "record", "internal/registry", "internal/strictyaml", "objective", "objective/comparator", "objective/kernel", "approx/param", "record/parsed"},
	"experiments/plan":                 {"cv/split", "approx", "approx/likelihood", "cv", "experiments/data", "experiments/illustrate", "experiments/job", "experiments/declared", "objective/preprocess", "experiments/spec", "internal/build", "experiments/journal", "internal/machine", "internal/panicked", "record", "internal/registry", "internal/random", "internal/strictyaml", "objective", "objective/comparator", "objective/kernel", "approx/param", "search", "search/schedule", "internal/cause"},
	"experiments/plan/plantest":        {"experiments/plan", "experiments/spec"},
	"experiments/run":                  {"experiments/declared", "experiments/plan", "experiments/spec", "internal/atomicfile", "internal/build", "experiments/journal", "internal/linalg", "internal/machine", "record", "internal/registry", "internal/strictyaml", "approx/param", "internal/terminal", "reports", "reports/page", "reports/picture", "search", "search/schedule"},
	"experiments/spec":                 {"cv/split", "internal/pattern", "approx", "approx/likelihood", "cv", "experiments/data", "experiments/gallery", "experiments/illustrate", "experiments/declared", "internal/jsonschema", "record", "internal/registry", "internal/strictyaml", "objective", "objective/comparator", "objective/kernel", "approx/param", "reports/figure", "reports/page", "reports/picture", "search", "search/schedule", "record/parsed", "experiments/data/sets", "experiments/data/tables"},
	"internal/build":                   {"internal/linalg"},
	"internal/jsonschema":              {},
	"internal/architecture":            {},
	".":                                {},
	"tools/bench":                      {"approx", "approx/likelihood", "approx/prior", "cv", "experiments", "experiments/data", "objective/preprocess", "experiments/journal", "internal/linalg", "record", "objective", "objective/kernel", "approx/param", "search", "search/schedule"},
	"approx/likelihood/likelihoodtest": {"approx/likelihood", "internal/testing/exhaustive"},
	"experiments/data/cells":           {"internal/pattern", "internal/registry"},
	"experiments/data/sets":            {"experiments/data/cells", "internal/registry"},
	"experiments/data/tables":          {"internal/pattern", "internal/registry", "internal/cause", "experiments/data/cells"},
}

// inRooms are the packages of the module by their path in it.
func inRooms(t *testing.T) map[string]*build.Package {
	t.Helper()
	root, all := filepath.Join("..", ".."), map[string]*build.Package{}
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !d.IsDir() {
			return nil
		}
		if name := d.Name(); path != root && (strings.HasPrefix(name, ".") && name != "..") || name == "testdata" {
			return filepath.SkipDir
		}
		if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil && path != root {
			return filepath.SkipDir // a separate module
		}
		p, err := build.ImportDir(path, 0)
		if _, none := err.(*build.NoGoError); none {
			return nil
		}
		if err != nil {
			return err
		}
		room, err := filepath.Rel(root, path)
		all[filepath.ToSlash(room)] = p
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestImportsPointOneWay(t *testing.T) {
	for room, p := range inRooms(t) {
		may, known := allowed[room]
		if !known {
			t.Errorf("package %s is in no room of docs/architecture.md; give it one here and there", room)
		}
		for _, i := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			if strings.HasPrefix(i, "gopkg.in/yaml") && room != "internal/strictyaml" {
				t.Errorf("%s must not import %s; internal/strictyaml reads and writes YAML", room, i)
			}
		}
		for _, i := range p.Imports {
			if to, ours := strings.CutPrefix(i, module); ours && !slices.Contains(may, to) {
				t.Errorf("%s must not import %s", room, to)
			}
		}
	}
}
