package architecture

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
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

// values defines the variables of given, and the contents of files that snippets name.
const values = `
func main() {
	for i := range 60 {
		of := func(k int) float64 { return 2 * math.Sin(float64(17*i*k+k)) }
		x, z = append(x, []float64{of(1) + float64(i%2), of(2)}), append(z, []float64{of(3), of(4)})
		labels = append(labels, []string{"calm", "storm"}[i%2])
	}
	data, err := objective.NewData(x, labels)
	if err != nil {
		panic(err)
	}
	model := objective.Model{Kernels: []kernel.Kernel{kernel.SE{}}, Likelihood: likelihood.Probit{}, Inference: approx.EP{}}
	if o, err = objective.New(model, objective.LogEvidence{}, data); err != nil {
		panic(err)
	}
	file = new(bytes.Buffer)
	ctx = context.Background()
	for i, snippet := range snippets {
		fmt.Fprintln(os.Stderr, "snippet", i)
		snippet()
	}
}
`

const (
	study = `data: {train: study.csv, label: sky}
model: {kernel: KERNEL, likelihood: probit, inference: ep}
evaluate: {kfold: {k: 3}}
`
	cases = "wind,rain,sky\n1,2,calm\n2,1,calm\n1,1,calm\n2,3,calm\n1,3,calm\n5,6,storm\n6,5,storm\n5,5,storm\n4,6,storm\n6,6,storm\n"
)

// TestSnippetsRun runs the Go snippets of docs/go.md and docs/programs.md one after the other, in a folder with the files that they name.
// Errors and panics end them. Whole programs run in make test-all; TestSnippetsCompile checks their types.
func TestSnippetsRun(t *testing.T) {
	var text []byte
	for _, page := range []string{"go.md", "programs.md"} {
		more, err := os.ReadFile(filepath.Join("..", "..", "docs", page))
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, more...)
	}
	known, folder := importable(t), t.TempDir()
	source := func(name, text string) {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	source("study.yaml", strings.Replace(study, "KERNEL", "se", 1))
	source("laplacian.yaml", strings.Replace(study, "KERNEL", "laplacian", 1))
	source("study.csv", cases)
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	programs := map[string][]string{} // files of a program by its folder, which exists in the overlay only
	bodies := "var snippets = []func(){"
	for i, of := range fenced.FindAllSubmatch(text, -1) {
		snippet, name := string(of[1]), fmt.Sprintf("snippet%d.go", i)
		if strings.HasPrefix(snippet, "package main") {
			source(name, snippet)
			programs[fmt.Sprint("program", i)] = []string{name}
			continue
		}
		source(name, "package main\n"+known.imports(snippet)+fmt.Sprintf("func snippet%d() {\n%s}\n", i, strict(snippet)))
		programs["snippets"] = append(programs["snippets"], name)
		bodies += fmt.Sprintf("snippet%d, ", i)
	}
	source("values.go", "package main\n"+known.imports(given+values)+given+values+bodies+"}\n")
	programs["snippets"] = append(programs["snippets"], "values.go")
	if len(programs) < 2 || len(programs["snippets"]) < 6 {
		t.Fatalf("too few snippets: %v", programs)
	}
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for program, files := range programs {
		for _, name := range files {
			overlay.Replace[filepath.Join(root, "internal", program, name)] = filepath.Join(folder, name)
		}
	}
	replaced, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	source("overlay.json", string(replaced))
	for program := range programs {
		if program != "snippets" && !exhaustive.All() { // linking a program takes seconds
			continue
		}
		built := filepath.Join(folder, program)
		c := exec.Command("go", "build", "-overlay", filepath.Join(folder, "overlay.json"), "-o", built, "./internal/"+program)
		c.Dir = root
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", program, err, out)
		}
		c = exec.Command(built)
		c.Dir = folder
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", program, err, out)
		}
	}
}

var assigned = regexp.MustCompile(`^([\w, ]+) :?= `)

// strict makes a snippet panic at its first error, and uses every name.
func strict(snippet string) string {
	var lines, names strings.Builder
	for line := range strings.Lines(snippet) {
		lines.WriteString(line)
		m := assigned.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		for _, name := range strings.Split(m[1], ", ") {
			switch name {
			case "_":
			case "err":
				lines.WriteString("if err != nil { panic(err) }\n")
			default:
				names.WriteString("_ = " + name + "\n")
			}
		}
	}
	return lines.String() + names.String()
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

// importable returns the packages of the module and the packages that they import.
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
	return check(known, "package snippet\n"+known.imports(given+snippet)+given+"func _() {\n"+snippet+"}\n")
}

// imports declares the packages that a text names.
func (p packagesByPath) imports(text string) string {
	var imports strings.Builder
	var paths []string
	for path, of := range p {
		if room, ours := strings.CutPrefix(path, module); ours && !slices.Contains(library, room) ||
			!ours && strings.Contains(path, ".") && path != "gonum.org/v1/gonum/optimize" {
			continue // not for other programs, not in the standard library, and not shown in docs/go.md
		}
		if regexp.MustCompile(`\b` + of.Name() + `\.[A-Z]`).MatchString(text) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	taken := map[string]bool{}
	for _, path := range paths {
		if name := p[path].Name(); !taken[name] {
			fmt.Fprintf(&imports, "import %q\n", path)
			taken[name] = true
		}
	}
	return imports.String()
}

// check returns the errors in a package of these files, except unused names.
func check(known packagesByPath, sources ...string) (wrong []error) {
	fset := token.NewFileSet()
	var files []*ast.File
	for _, source := range sources {
		file, err := parser.ParseFile(fset, "snippet.go", source, 0)
		if err != nil {
			return []error{err}
		}
		files = append(files, file)
	}
	c := types.Config{Importer: known, Error: func(err error) {
		if e, is := err.(types.Error); is && !e.Soft {
			wrong = append(wrong, err)
		}
	}}
	_, _ = c.Check("snippet", fset, files, nil) // errors are in wrong
	return wrong
}
