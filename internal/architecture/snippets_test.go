package architecture

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// given are names that the snippets of README.md and docs use without declaring them.
const given = `
var (
	ctx    context.Context
	x, z   [][]float64
	labels []string
	file   io.ReadWriter
	o      *objective.Objective
)
`

var fenced = regexp.MustCompile("(?ms)^```go\n(.*?)^```$")

// TestSnippetsCompile type-checks the Go snippets of README.md and docs. A snippet is a whole file if it begins with
// package, else the body of a function.
func TestSnippetsCompile(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	known := importable(t)
	for _, name := range append(files, filepath.Join("..", "..", "README.md")) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range fenced.FindAllSubmatchIndex(text, -1) {
			line := 1 + strings.Count(string(text[:at[2]]), "\n")
			for _, wrong := range compile(known, string(text[at[2]:at[3]])) {
				t.Errorf("%s: the snippet that begins in line %d: %v", filepath.Base(name), line, wrong)
			}
		}
	}
}

// The test finds the kinds of mistakes that snippets have had.
func TestSnippetsThatDoNotCompile(t *testing.T) {
	known := importable(t)
	for snippet, want := range map[string]string{
		"model := objective.Model{}\no, err := objective.New(model, nil, objective.NoSuchData(x))\n": "NoSuchData",
		"d, err := objective.NewData(x)\n":                       "not enough arguments",
		"package main\n\nfunc main() { nowhere.Do() }\n":         "nowhere",
		"o, err := objective.New(objective.Model{}, nil, 7\n":    "missing ','",
		"d, err := objective.NewData(labels, labels); if err {}": "cannot use",
	} {
		if wrong := compile(known, snippet); !strings.Contains(fmt.Sprint(wrong), want) {
			t.Errorf("%q: %v, want %q", snippet, wrong, want)
		}
	}
	if wrong := compile(known, "d, err := objective.NewData(x, labels)\n"); len(wrong) > 0 {
		t.Error(wrong)
	}
}

type packagesByPath map[string]*types.Package

// Import implements types.Importer.
func (p packagesByPath) Import(path string) (*types.Package, error) {
	if of, is := p[path]; is {
		return of, nil
	}
	return nil, fmt.Errorf("no package %s among those that the module imports", path)
}

// importable returns the packages of the module and those that they import.
func importable(t *testing.T) packagesByPath {
	known := packagesByPath{}
	for _, p := range program(t) {
		known[p.PkgPath] = p.Types
	}
	for _, p := range program(t) {
		for _, i := range p.Types.Imports() {
			if known[i.Path()] == nil {
				known[i.Path()] = i
			}
		}
	}
	return known
}

// compile returns the errors in a snippet, except unused names.
func compile(known packagesByPath, snippet string) (wrong []error) {
	if strings.HasPrefix(snippet, "package ") {
		return check(known, snippet)
	}
	var imports strings.Builder
	var paths []string
	for path, p := range known {
		if room, ours := strings.CutPrefix(path, module); ours && !slices.Contains(library, room) ||
			!ours && strings.Contains(path, ".") && path != "gonum.org/v1/gonum/optimize" {
			continue // not for other programs, not in the standard library, and not shown in docs/go.md
		}
		if regexp.MustCompile(`\b` + p.Name() + `\.[A-Z]`).MatchString(given + snippet) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	taken := map[string]bool{}
	for _, path := range paths {
		if name := known[path].Name(); !taken[name] {
			fmt.Fprintf(&imports, "import %q\n", path)
			taken[name] = true
		}
	}
	return check(known, "package snippet\n"+imports.String()+given+"func _() {\n"+snippet+"}\n")
}

func check(known packagesByPath, source string) (wrong []error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "snippet.go", source, 0)
	if err != nil {
		return []error{err}
	}
	c := types.Config{Importer: known, Error: func(err error) {
		if e, is := err.(types.Error); is && !e.Soft {
			wrong = append(wrong, err)
		}
	}}
	_, _ = c.Check("snippet", fset, []*ast.File{file}, nil) // errors are in wrong
	return wrong
}
