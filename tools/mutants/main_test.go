//go:build unix

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

const sample = `package sample

const held = 3 + 4

type numbers struct{ a []float64 }

func sum(n numbers, limit int) (total float64) {
	for i := 0; i < len(n.a); i++ {
		if n.a[i] > 0 && i != limit {
			total += 2 * n.a[i]
		}
	}
	if total < n.a[0] {
		panic("less than " + string(rune(limit+1)))
	}
	ok := total == 0
	if ok {
		n.a = make([]float64, 1, 16)
	}
	return total
}

func first(a []int) (int, error) {
	if len(a) == 0 {
		return 0, fail("none of %d", len(a)+1)
	}
	return a[0], nil
}

func fail(format string, args ...any) error { return error(nil) }
`

func loaded(t *testing.T, text string) *source {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "sample.go", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}}
	if _, err := (&types.Config{}).Check("sample", fset, []*ast.File{f}, info); err != nil {
		t.Fatal(err)
	}
	return &source{
		&packages.Package{Name: "sample", PkgPath: module + "sample", Fset: fset, Syntax: []*ast.File{f}, TypesInfo: info},
		map[string]string{"sample.go": text},
	}
}

// TestSites checks which places are changed: not constants, messages, capacities or steps of loops.
func TestSites(t *testing.T) {
	var got []string
	for _, m := range loaded(t, sample).mutants() {
		got = append(got, m.text+": "+m.change)
	}
	want := []string{
		"for i := 0; i < len(n.a); i++ {: for i := [0]; i < le + 1",
		"for i := 0; i < len(n.a); i++ {: r i := 0; i < len(n.a); i becomes <=",
		"for i := 0; i < len(n.a); i++ {: r i := 0; i < len(n.a); i becomes >=",
		"if n.a[i] > 0 && i != limit {: i] > 0 && i != limit { becomes ==",
		"if n.a[i] > 0 && i != limit {: if n.a[i] > 0 && i != l becomes <=",
		"if n.a[i] > 0 && i != limit {: if n.a[i] > 0 && i != l becomes >=",
		"if n.a[i] > 0 && i != limit {: n.a[i] > 0 && i != limit becomes ||",
		"if n.a[i] > 0 && i != limit {: n.a[i] > [0] && i != + 1",
		"total += 2 * n.a[i]: left out: total += 2 * n.a[i]",
		"total += 2 * n.a[i]: += becomes -=",
		"total += 2 * n.a[i]: total += 2 * n.a[i] becomes /",
		"total += 2 * n.a[i]: total += [2] * n.a[i + 1",
		"if total < n.a[0] {: if total < n.a[0] { becomes >=",
		"ok := total == 0: ok := total == 0 becomes !=",
		"ok := total == 0: total == [0] + 1",
		"if ok {: condition negated",
		"n.a = make([]float64, 1, 16): left out: n.a = make([]float64, 1, 16)",
		"n.a = make([]float64, 1, 16): ]float64, [1], 16) + 1",
		"if len(a) == 0 {: if len(a) == 0 { becomes !=",
		"if len(a) == 0 {: len(a) == [0] { + 1",
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("sites:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestEverySiteCompiles: every mutant compiles, alone and together with the others that do not overlap it.
func TestEverySiteCompiles(t *testing.T) {
	l := loaded(t, sample)
	for i, m := range l.mutants() {
		m.number = i + 1
		if err := l.check(l.with(m)); err != nil {
			t.Errorf("%s: %v", m.change, err)
		}
	}
	few, all := l.draw(l.mutants(), 1, 6, 1), l.draw(l.mutants(), 1, 100, 1)
	if len(few) != 6 || len(all) <= 6 || len(all) > len(l.mutants()) {
		t.Errorf("%d of six, and %d of a hundred mutants of sixteen lines", len(few), len(all))
	}
	for _, drawn := range [][]mutant{few, all} {
		if err := l.check(l.with(drawn...)); err != nil {
			t.Error(err)
		}
	}
}

// TestDrawSurvivesEdits: inserting lines elsewhere changes only the positions of the drawn mutants; another seed
// draws others.
func TestDrawSurvivesEdits(t *testing.T) {
	keys := func(text string, seed uint64) (all [][3]string) {
		l := loaded(t, text)
		for _, m := range l.draw(l.mutants(), seed, 5, 1) {
			all = append(all, m.key())
		}
		return all
	}
	edited := strings.Replace(sample, "const held", "// A comment.\n\nconst held", 1)
	if a, b := keys(sample, 1), keys(edited, 1); !slices.Equal(a, b) {
		t.Errorf("%v, after an edit %v", a, b)
	}
	if a, b := keys(sample, 1), keys(sample, 2); slices.Equal(a, b) {
		t.Errorf("two seeds draw %v", a)
	}
}

// The product has no tools, no helpers of tests and no conformance kits. Tests of the tools are not
// run.
func TestPackages(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	product, tested, err := packagesOf(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"approx", "cmd/gpc-tune", "experiments/plan", "experiments/journal"} {
		if !slices.Contains(product, folder) {
			t.Errorf("%s is not among %v", folder, product)
		}
	}
	for _, folder := range []string{"tools/mutants", "internal/testing/golden", "approx/approxtest", "internal/architecture"} {
		if slices.Contains(product, folder) || slices.Contains(tested, folder) {
			t.Errorf("%s is among %v or %v", folder, product, tested)
		}
	}
	if !slices.Contains(tested, "experiments") || !slices.Contains(tested, "cmd/gpc-tune") {
		t.Errorf("tested %v", tested)
	}
}

func TestEquivalentList(t *testing.T) {
	all, err := readEquivalent(equivalentText)
	if err != nil || len(all) == 0 {
		t.Error(len(all), err)
	}
	if _, err := readEquivalent("a\nb\nc"); err == nil {
		t.Error("a mutant without a reason is read")
	}
}

// TestSummary: 2 killed, 1 of them by the time limit, 1 alive, 1 equivalent and 1 that is listed as equivalent but
// killed.
func TestSummary(t *testing.T) {
	m := mutant{file: "p/f.go", text: "x"}
	results := []result{
		{mutant: m, end: killed, by: "T"}, {mutant: m, end: killedByTime, by: "T"}, {mutant: m, reached: 3},
		{mutant: m, end: equivalent, reason: "why"}, {mutant: m, end: killed, by: "T", reason: "why not"},
	}
	page, rate := summary(results, 7, 5)
	if rate != 0.75 || !strings.Contains(page, "| all | 5 | 3 | 1 | 1 | 1 | 75.0 % |") || !strings.Contains(page, ": why\n") {
		t.Errorf("%v\n%s", rate, page)
	}
	if err := verdict(results, 0, rate, 0.7); err == nil || !strings.Contains(err.Error(), "1 mutants listed") {
		t.Errorf("killed ones that are listed as equivalent: %v", err)
	}
	for _, c := range []struct {
		failing int
		least   float64
	}{{0, 0.8}, {1, 0.7}} {
		if err := verdict(results[:4], c.failing, rate, c.least); err == nil {
			t.Errorf("%+v is as it should be", c)
		}
	}
	if err := verdict(results[:4], 0, rate, 0.75); err != nil {
		t.Error(err)
	}
}

// TestPattern: tests of a package share a process, and so do subtests of one test.
func TestPattern(t *testing.T) {
	a, b := test{folder: "p", name: "TestA"}, test{folder: "p", name: "TestB"}
	x, y := test{folder: "p", name: "TestA", sub: "x+1"}, test{folder: "p", name: "TestA", sub: "y"}
	if got := pattern([]test{a, b}); got != "^(TestA|TestB)$" || !a.joins(b) {
		t.Error(got)
	}
	if got := pattern([]test{x, y}); got != `^TestA$/^(x\+1|y)$` || !x.joins(y) {
		t.Error(got)
	}
	other := test{folder: "p", name: "TestB", sub: "y"}
	if a.joins(x) || x.joins(other) || a.joins(test{folder: "q", name: "TestA"}) {
		t.Error("joined what runs apart")
	}
}
