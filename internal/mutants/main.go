// Mutants measures the tests: it changes the code in many small ways, one at a time, and counts the changes that a test
// notices.
//
// All mutants of a draw are compiled into the test programs at once, each behind a condition, with go test's -overlay, so that
// the tree stays as it is and nothing is compiled again for the next mutant. First every test runs alone without a mutant,
// and the program notes which mutants it reaches and how long it takes; then each mutant meets the tests that reach it, those
// of its own package first and the fast ones before the slow ones, up to the first that fails. (The tools that exist compile
// for every mutant, run all tests of a package, try all mutants rather than a sample, and keep no list of equivalent ones.)
//
// A mutant is killed by a test that fails or takes far longer than without it, and reached by none or alive otherwise.
// equivalent.txt lists mutants that compute the same, each with the reason; they do not count.
package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

const module = "github.com/gpc-tune/gpc-tune"

// mutated are the packages that mutants are drawn from.
var mutated = []string{"cv", "search", "objective", "objective/kernel", "objective/param", "approx", "approx/likelihood",
	"experiments/data", "reports"}

// tested are the packages whose tests meet the mutants of the others.
var tested = append(slices.Clone(mutated), "objective/comparator", "experiments", "experiments/live")

//go:embed equivalent.txt
var equivalentText string

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run() error {
	seed := flag.Uint64("seed", 1, "of the draw")
	each := flag.Int("each", 36, "mutants of a package")
	only := flag.String("only", "", "draw from these packages alone, separated by commas")
	own := flag.Bool("own", false, "run the tests of the packages that mutants are drawn from alone")
	match := flag.String("match", "", "run only mutants whose file:line has this in it")
	least := flag.Float64("least", 0.95, "fail where a smaller part of the mutants is killed")
	out := flag.String("o", "", "write the figures to this Markdown file")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	equivalent, err := readEquivalent(equivalentText)
	if err != nil {
		return err
	}
	packages, tests := mutated, tested
	if *only != "" {
		packages = strings.Split(*only, ",")
	}
	if *own {
		tests = packages
	}
	folder, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	s, err := draw(ctx, packages, *seed, *each, folder)
	if err != nil {
		return err
	}
	fmt.Printf("%d mutants drawn; building the tests of %d packages\n", len(s.mutants), len(tests))
	t := &trial{folder: folder, overlay: s.overlay}
	if err := t.build(ctx, tests); err != nil {
		return err
	}
	if err := t.trace(ctx); err != nil {
		return err
	}
	var results []Result
	for _, m := range s.mutants {
		if !strings.Contains(fmt.Sprintf("%s:%d", m.File, m.Line), *match) {
			continue
		}
		reason, listed := equivalent[m.key()]
		r, err := t.judge(ctx, m, listed)
		if err != nil {
			return err
		}
		r.Reason = reason
		results = append(results, r)
		fmt.Println(r)
	}
	page, rate, faults := summary(results, *seed, *each)
	fmt.Print(page)
	if *out != "" {
		if err := os.WriteFile(*out, []byte(page), 0o666); err != nil {
			return err
		}
	}
	for _, f := range faults {
		fmt.Println(f)
	}
	for key := range equivalent {
		if *only == "" && !s.known[key] {
			fmt.Printf("equivalent.txt lists what is no more in the code: %s: %s (%s)\n", key[0], key[1], key[2])
		}
	}
	switch {
	case t.failing > 0:
		return fmt.Errorf("%d tests fail without a mutant", t.failing)
	case len(faults) > 0:
		return fmt.Errorf("%d mutants listed as equivalent are killed; take them off the list", len(faults))
	case rate < *least:
		return fmt.Errorf("%.1f %% are killed, %.1f %% are wanted", 100*rate, 100*(*least))
	}
	return nil
}

// readEquivalent reads the list: of a mutant four lines, the file, the line of source, the change and the reason; then a blank one.
func readEquivalent(list string) (map[[3]string]string, error) {
	all := map[[3]string]string{}
	if list = strings.TrimSpace(list); list == "" {
		return all, nil
	}
	for _, block := range strings.Split(list, "\n\n") {
		l := strings.Split(block, "\n")
		if len(l) != 4 {
			return nil, fmt.Errorf("equivalent.txt: want a file, a line, a change and a reason, each on its line, have %q", block)
		}
		all[[3]string{l[0], l[1], l[2]}] = l[3]
	}
	return all, nil
}

// sources are the mutants that were drawn and the sources that have all of them.
type sources struct {
	mutants []Mutant
	overlay string             // the file that go test's -overlay takes
	known   map[[3]string]bool // every place, drawn or not
}

// draw parses the packages and draws the same number of mutants from each, of which no two overlap.
func draw(ctx context.Context, packages []string, seed uint64, each int, folder string) (sources, error) {
	var s sources
	exports, err := exportData(ctx, packages)
	if err != nil {
		return s, err
	}
	var overlay []string
	s.known = map[[3]string]bool{}
	for _, p := range packages {
		fset := token.NewFileSet()
		l := &loader{fset: fset, importer: importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
			f, have := exports[path]
			if !have {
				return nil, fmt.Errorf("no export data of %s", path)
			}
			return os.Open(f)
		})}
		if err := l.load(p); err != nil {
			return s, err
		}
		for _, m := range l.all {
			s.known[m.key()] = true
		}
		drawn, err := l.choose(seed, each, len(s.mutants)+1)
		if err != nil {
			return s, err
		}
		s.mutants = append(s.mutants, drawn...)
		for name, text := range l.write(drawn) {
			to := filepath.Join(folder, strings.ReplaceAll(name, "/", "__"))
			if err := os.WriteFile(to, []byte(text), 0o666); err != nil {
				return s, err
			}
			from, err := filepath.Abs(name)
			if err != nil {
				return s, err
			}
			overlay = append(overlay, fmt.Sprintf("%q: %q", from, to))
		}
	}
	s.overlay = filepath.Join(folder, "overlay.json")
	return s, os.WriteFile(s.overlay, []byte(`{"Replace": {`+strings.Join(overlay, ",\n")+"}}"), 0o666)
}

// exportData is what the compiler wrote of the packages' imports.
func exportData(ctx context.Context, packages []string) (map[string]string, error) {
	arguments := []string{"list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}"}
	for _, p := range packages {
		arguments = append(arguments, "./"+p)
	}
	c := exec.CommandContext(ctx, "go", arguments...)
	c.Stderr = os.Stderr
	list, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	exports := map[string]string{}
	for line := range strings.Lines(string(list)) {
		if f := strings.Fields(line); len(f) == 2 {
			exports[f[0]] = f[1]
		}
	}
	return exports, nil
}

// loader has the sources of one package.
type loader struct {
	fset     *token.FileSet
	importer types.Importer
	folder   string
	name     string
	source   map[string][]byte
	all      []Mutant
}

// load reads the sources of a package.
func (l *loader) load(folder string) error {
	l.folder, l.source = folder, map[string][]byte{}
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return err
	}
	for _, n := range names {
		if strings.HasSuffix(n, "_test.go") {
			continue
		}
		text, err := os.ReadFile(n)
		if err != nil {
			return err
		}
		l.source[filepath.ToSlash(n)] = text
	}
	return l.find()
}

// find finds every mutant of the sources.
func (l *loader) find() error {
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
	files, pkg, failed := l.check(l.text(nil), info)
	if failed != nil {
		return fmt.Errorf("%s does not compile: %v", l.folder, failed[0])
	}
	l.name = pkg.Name()
	for _, f := range files {
		name := l.fset.Position(f.Pos()).Filename
		if text, ours := l.source[name]; ours {
			l.all = append(l.all, sites(pkg, info, l.fset, f, name, text)...)
		}
	}
	return nil
}

// check parses and checks sources; failed are the errors.
func (l *loader) check(source map[string]string, info *types.Info) (files []*ast.File, pkg *types.Package, failed []types.Error) {
	names := make([]string, 0, len(source))
	for n := range source {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		f, err := parser.ParseFile(l.fset, n, source[n], parser.SkipObjectResolution)
		if err != nil {
			panic(fmt.Sprintf("the source with mutants does not parse: %v", err))
		}
		files = append(files, f)
	}
	c := types.Config{Importer: l.importer, Error: func(err error) {
		var e types.Error
		if errors.As(err, &e) && !e.Soft {
			failed = append(failed, e)
		}
	}}
	pkg, _ = c.Check(module+"/"+l.folder, l.fset, files, info)
	return files, pkg, failed
}

// choose draws mutants of the package that do not overlap and of which each compiles by itself.
func (l *loader) choose(seed uint64, each, number int) ([]Mutant, error) {
	slices.SortStableFunc(l.all, func(a, b Mutant) int { return strings.Compare(a.rank(seed), b.rank(seed)) })
	var drawn []Mutant
	for _, m := range l.all {
		if len(drawn) == each {
			break
		}
		if slices.ContainsFunc(drawn, func(d Mutant) bool {
			return d.File == m.File && d.start < m.end && m.start < d.end || d.key() == m.key()
		}) {
			continue
		}
		m.number = number + len(drawn)
		if _, _, failed := l.check(l.text([]Mutant{m}), nil); failed != nil {
			continue
		}
		drawn = append(drawn, m)
	}
	if len(drawn) < each {
		return nil, fmt.Errorf("%s has only %d places for mutants", l.folder, len(drawn))
	}
	return drawn, nil
}

// text is the package's sources with the mutants.
func (l *loader) text(mutants []Mutant) map[string]string {
	all := map[string]string{}
	for name, source := range l.source {
		text := string(source)
		here := slices.DeleteFunc(slices.Clone(mutants), func(m Mutant) bool { return m.File != name })
		slices.SortFunc(here, func(a, b Mutant) int { return b.start - a.start }) // the last first: the other offsets stay
		for _, m := range here {
			text = text[:m.start] + m.rewrite(m.number, text[m.start:m.end]) + text[m.end:]
		}
		all[name] = text
	}
	if len(mutants) > 0 {
		all[path.Join(l.folder, "mutant_.go")] = strings.Replace(conditions, "package main", "package "+l.name, 1)
	}
	return all
}

// write is the sources that a draw changes.
func (l *loader) write(drawn []Mutant) map[string]string {
	all := l.text(drawn)
	for name, text := range all {
		if bytes.Equal(l.source[name], []byte(text)) {
			delete(all, name)
		}
	}
	return all
}

// conditions is put into each package with mutants.
//
//go:embed conditions.txt
var conditions string
