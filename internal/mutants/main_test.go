package main

import (
	"go/importer"
	"go/token"
	"slices"
	"strings"
	"testing"
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
`

func loaded(t *testing.T, text string) *loader {
	t.Helper()
	fset := token.NewFileSet()
	l := &loader{fset: fset, importer: importer.Default(), folder: "sample", source: map[string][]byte{"sample/sample.go": []byte(text)}}
	if err := l.find(); err != nil {
		t.Fatal(err)
	}
	return l
}

// TestSites: what is changed, and that what the language, a message, a capacity or a loop's step needs is not.
func TestSites(t *testing.T) {
	var got []string
	for _, m := range loaded(t, sample).all {
		got = append(got, m.Text+": "+m.Change)
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
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("sites:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestEverySiteCompiles, alone and with all others that it does not overlap.
func TestEverySiteCompiles(t *testing.T) {
	l := loaded(t, sample)
	for i, m := range l.all {
		m.number = i + 1
		if _, _, failed := l.check(l.text([]Mutant{m}), nil); failed != nil {
			t.Errorf("%s: %v", m.Change, failed)
		}
	}
	drawn, err := l.choose(1, 6, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, failed := l.check(l.text(drawn), nil); failed != nil {
		t.Error(failed)
	}
	if _, err := l.choose(1, 100, 1); err == nil {
		t.Error("a hundred mutants of sixteen lines")
	}
}

// TestDrawSurvivesEdits: lines put in elsewhere change nothing of a draw but the places; another seed draws others.
func TestDrawSurvivesEdits(t *testing.T) {
	keys := func(text string, seed uint64) (all [][3]string) {
		drawn, err := loaded(t, text).choose(seed, 5, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range drawn {
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

func TestEquivalentList(t *testing.T) {
	all, err := readEquivalent(equivalentText)
	if err != nil || len(all) == 0 {
		t.Error(len(all), err)
	}
	if _, err := readEquivalent("a\nb\nc"); err == nil {
		t.Error("a mutant without a reason is read")
	}
}

// TestSummary: 1 of own tests, 1 of others by time, 1 alive, 1 equivalent and 1 that is listed as such but killed.
func TestSummary(t *testing.T) {
	m := Mutant{File: "p/f.go", Text: "x"}
	page, rate, faults := summary([]Result{
		{Mutant: m, Killed: "p.T", ByOwn: true}, {Mutant: m, Killed: "q.T", ByTime: true}, {Mutant: m, Reached: 3},
		{Mutant: m, Listed: true, Reason: "why"}, {Mutant: m, Listed: true, Killed: "p.T", ByOwn: true},
	}, 7, 5)
	if rate != 0.75 || len(faults) != 1 || !strings.Contains(page, "| all | 5 | 2 | 1 | 1 | 1 | 1 | 75.0 % |") || !strings.Contains(page, "why") {
		t.Errorf("%v, %v\n%s", rate, faults, page)
	}
}
