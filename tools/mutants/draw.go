//go:build unix

package main

import (
	"context"
	_ "embed"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// source is a package without its tests.
type source struct {
	*packages.Package
	text map[string]string // key: file name
}

// packagesOf lists two groups of packages. product has the packages without tools, conformance kits
// and helpers of tests. tested has the packages with tests of the product.
func packagesOf(ctx context.Context) (product, tested []string, err error) {
	const mode = packages.NeedName | packages.NeedFiles | packages.NeedForTest
	all, err := packages.Load(&packages.Config{Context: ctx, Mode: mode, Tests: true}, "./...")
	for _, p := range all {
		folder, inside := strings.CutPrefix(p.PkgPath, module)
		switch name := path.Base(folder); {
		case !inside || strings.HasSuffix(p.ID, ".test"):
		case p.ForTest != "":
			if of := strings.TrimPrefix(p.ForTest, module); !slices.Contains(tested, of) {
				tested = append(tested, of)
			}
		case !strings.HasPrefix(folder, "tools/") && !strings.HasPrefix(folder, "internal/testing/") &&
			!strings.HasSuffix(name, "test") && len(p.GoFiles) > 0:
			product = append(product, folder)
		}
	}
	tested = slices.DeleteFunc(tested, func(folder string) bool { // only tests of the product
		return strings.HasPrefix(folder, "tools/") || strings.HasPrefix(folder, "internal/testing/") ||
			folder == "internal/architecture"
	})
	return product, tested, err
}

// load reads a package with its types.
func load(ctx context.Context, folder string) (*source, error) {
	const mode = packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedExportFile |
		packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo
	all, err := packages.Load(&packages.Config{Context: ctx, Mode: mode}, "./"+folder)
	if err != nil {
		return nil, err
	}
	s := &source{all[0], map[string]string{}}
	if len(s.Errors) > 0 {
		return nil, s.Errors[0]
	}
	for _, name := range s.GoFiles {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		s.text[name] = string(text)
	}
	return s, nil
}

// mutants finds all mutants of the package.
func (s *source) mutants() (all []mutant) {
	for _, f := range s.Syntax {
		name := s.Fset.Position(f.Pos()).Filename
		here := finder{info: s.TypesInfo, fset: s.Fset, path: name, source: s.text[name]}
		here.file = path.Join(strings.TrimPrefix(s.PkgPath, module), filepath.Base(name))
		all = append(all, here.sites(f)...)
	}
	return all
}

// draw chooses mutants that do not overlap and that each compile alone, and numbers them from first
// on.
func (s *source) draw(found []mutant, seed uint64, each, first int) []mutant {
	slices.SortStableFunc(found, func(a, b mutant) int { return strings.Compare(a.rank(seed), b.rank(seed)) })
	var drawn []mutant
	for _, m := range found {
		if len(drawn) == each {
			break
		}
		taken := func(d mutant) bool {
			return d.path == m.path && d.start < m.end && m.start < d.end || d.key() == m.key()
		}
		m.number = first + len(drawn)
		if !slices.ContainsFunc(drawn, taken) && s.check(s.with(m)) == nil {
			drawn = append(drawn, m)
		}
	}
	return drawn
}

// with returns the files of the package with these mutants, and the file of conditions that mutants
// need.
func (s *source) with(mutants ...mutant) map[string]string {
	all := maps.Clone(s.text)
	fromLast := func(a, b mutant) int { return b.start - a.start } // last first: earlier offsets stay valid
	for _, m := range slices.SortedFunc(slices.Values(mutants), fromLast) {
		text := all[m.path]
		all[m.path] = text[:m.start] + m.rewrite(m.number, text[m.start:m.end]) + text[m.end:]
		added := filepath.Join(filepath.Dir(m.path), "mutant_.go")
		all[added] = strings.Replace(conditions, "package main", "package "+s.Name, 1)
	}
	return all
}

// conditions is the source file added to each package with mutants.
//
//go:embed conditions.txt
var conditions string

// check returns the error with which the package with these files fails to compile.
func (s *source) check(text map[string]string) (failed error) {
	var files []*ast.File
	fset := token.NewFileSet()
	for _, name := range slices.Sorted(maps.Keys(text)) {
		f, err := parser.ParseFile(fset, name, text[name], parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	c := types.Config{Importer: s, Error: func(err error) {
		var e types.Error
		if errors.As(err, &e) && !e.Soft { // soft ones are of variables and imports that nobody uses
			failed = err
		}
	}}
	_, _ = c.Check(s.PkgPath, fset, files, nil)
	return failed
}

// Import implements types.Importer.
func (s *source) Import(path string) (*types.Package, error) {
	if p := s.Imports[path]; p != nil {
		return p.Types, nil
	}
	return standard.Import(path) // what the conditions need
}

// standard has the packages of the standard library. The default importer does not find them in a
// program built with -trimpath.
var standard = importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
	file, err := exec.Command("go", "list", "-export", "-f", "{{.Export}}", path).Output()
	if err != nil {
		return nil, err
	}
	return os.Open(strings.TrimSpace(string(file)))
})
