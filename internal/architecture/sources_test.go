package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The tests of this file compare repetitions on a page with their source: another page, a Makefile,
// a folder.

const perMinute = 220 // words that a reader reads

// minutes is the time to read a text.
func minutes(text string) int { return max(1, (words(text)+perMinute/2)/perMinute) }

// section is the part of a page below the heading with an anchor; an empty anchor stands for the
// whole page.
func section(text, anchor string) string {
	if anchor == "" {
		return text
	}
	level, out := 0, ""
	for line := range strings.Lines(text) {
		if rest := strings.TrimLeft(line, "#"); len(rest) < len(line) && strings.HasPrefix(rest, " ") {
			switch depth := len(line) - len(rest); {
			case anchors(line)[anchor]:
				level = depth
			case depth <= level:
				return out
			}
		}
		if level > 0 {
			out += line
		}
	}
	return out
}

// readMinutes matches the times of a row: "5 min", "3, 5, 7 min".
var readMinutes = regexp.MustCompile(`(\d+(?:, \d+)*) min\b`)

// The times to read the pages follow from their numbers of words. In each row of docs/README.md the
// k-th number belongs to the k-th page, and where there is a column of times, each page has one.
func TestReadingTimes(t *testing.T) {
	rows := 0
	for i, line := range strings.Split(page(t, "docs/README.md"), "\n") {
		var told, want []string
		for _, m := range readMinutes.FindAllStringSubmatch(line, -1) {
			told = append(told, strings.Split(m[1], ", ")...)
		}
		if len(told) == 0 {
			continue
		}
		rows++
		for _, l := range links(line) {
			name, anchor, _ := strings.Cut(l.text, "#")
			want = append(want, strconv.Itoa(minutes(section(page(t, "docs/"+name), anchor))))
		}
		column := regexp.MustCompile(`\| [\d, ]+ min \|$`).MatchString(line)
		if len(told) > len(want) || column && len(told) < len(want) || !slices.Equal(told, want[:len(told)]) {
			t.Errorf("docs/README.md:%d: %s min, want %s", i+1, strings.Join(told, ", "), strings.Join(want, ", "))
		}
	}
	if rows < 18 {
		t.Errorf("only %d rows with times", rows)
	}
}

// repeated are numbers that a page repeats from another: both patterns capture the same ones, in the
// same order, the page perhaps with fewer digits.
var repeated = []struct{ page, says, source, has string }{
	{"README.md", `of (\d+) small changes of the code, drawn from all of it, they noticed (\d+)`,
		"docs/mutants.md", `\| all \| (\d+) \| (\d+) \|`},
	{"README.md", `of (\d+) published numbers`, "docs/gallery.md", `here: (\d+) rows of the ledger`},
	{"README.md", `(\d+) agree and (\d+) differ`, "docs/gallery.md", `\*\*(\d+) agree\. (\d+) differ`},
	{"README.md", `, (\d+) of them by folds`, "docs/gallery.md", `\| other folds \| (\d+) \|`},
	{"README.md", `a tuned fit took (\d+) s for 4 601 cases`, "docs/performance.md",
		"\\| spam_4601, n = 4601, 57 inputs \\| `gpc-tune fit` \\| ([\\d.]+) s"},
	{"README.md", `(\d+) s for 50 000 with 200 inducing inputs`, "docs/large-n.md",
		`\| 50 000 \| 200 \| gpc-tune \| [\d.]+ s \| ([\d.]+) s`},
	{"README.md", `peers took ([\d.]+) to ([\d.]+) times as long`, "docs/performance.md",
		`A tuned fit .* takes ([\d.]+) to [\d.]+ times as long, .* takes [\d.]+ to ([\d.]+) times as long`},
	{"README.md", `of (10 000) single-byte damages none gave another result unnoticed`,
		"docs/evidence.md", `of a run \| (10 000), drawn from a seed.*; none silent`},
}

// rounded reports whether a number is another one with as many digits or fewer.
func rounded(said, source string) bool {
	x, err := strconv.ParseFloat(strings.ReplaceAll(said, " ", ""), 64)
	y, wrong := strconv.ParseFloat(strings.ReplaceAll(source, " ", ""), 64)
	_, decimals, _ := strings.Cut(said, ".")
	return err == nil && wrong == nil && math.Abs(x-y) <= 0.5*math.Pow10(-len(decimals))
}

// Numbers that a page repeats from another page equal the numbers of that page, and the answers
// about speed and trust in README.md have no other numbers.
func TestRepeatedNumbers(t *testing.T) {
	_, answers, _ := strings.Cut(page(t, "README.md"), "\n## Speed and trust\n")
	answers, _, _ = strings.Cut(answers, "\n## ")
	for _, r := range repeated {
		said := regexp.MustCompile(r.says).FindStringSubmatch(page(t, r.page))
		source := regexp.MustCompile(r.has).FindStringSubmatch(page(t, r.source))
		same := len(said) > 1 && len(said) == len(source)
		for k := 1; same && k < len(said); k++ {
			same = rounded(said[k], source[k])
		}
		if !same {
			t.Errorf("%s says %q, %s %q", r.page, said, r.source, source)
		}
		answers = regexp.MustCompile(r.says).ReplaceAllString(answers, "")
	}
	for _, row := range strings.Split(answers, "\n") {
		if of := cells(row); len(of) > 1 && regexp.MustCompile(`\d`).MatchString(of[1]) {
			t.Errorf("README.md has numbers whose source is not checked: %s", of[1])
		}
	}
}

var (
	madeBy  = regexp.MustCompile("`make ([a-z][a-z-]*)|\\bmake ([a-z]+-[a-z-]+)")
	goOfDir = regexp.MustCompile(`\bgo (?:run|test|build|generate) (\./[\w/-]+)`)
	ofTests = regexp.MustCompile(`\bgo test (\./[\w/-]+)(?:/\.\.\.)? -run '?([\w|/]+)`)
	aTarget = regexp.MustCompile(`(?m)^([a-z][a-z-]*):`)
)

// Commands that comments and pages name exist: targets of the Makefile, folders that go run and the
// like are called for, and tests of a folder. The comment of a program begins with its name.
func TestCommandsThatAreNamedExist(t *testing.T) {
	targets := map[string]bool{}
	for _, m := range aTarget.FindAllStringSubmatch(page(t, "Makefile"), -1) {
		targets[m[1]] = true
	}
	root, found := filepath.Join("..", ".."), 0
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		within, _ := filepath.Rel(root, path)
		switch {
		case err != nil:
			return err
		case e.IsDir() && (e.Name() == "testdata" || e.Name() == "runs" || strings.HasPrefix(e.Name(), ".") && path != root):
			return filepath.SkipDir
		case e.IsDir() || !slices.Contains([]string{".go", ".s", ".md", ".yaml", ".py", ".R", ""}, filepath.Ext(path)):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for i, line := range strings.Split(string(text), "\n") {
			if !strings.Contains(line, "make ") && !strings.Contains(line, "go ") {
				continue
			}
			for _, m := range madeBy.FindAllStringSubmatch(line, -1) {
				if found++; !targets[m[1]+m[2]] {
					t.Errorf("%s:%d: the Makefile has no target %s", within, i+1, m[1]+m[2])
				}
			}
			for _, m := range goOfDir.FindAllStringSubmatch(line, -1) {
				of := root // or a module of its own
				if strings.HasPrefix(within, filepath.Join("docs", "example")) {
					of = filepath.Join(root, "docs", "example")
				}
				if _, err := os.Stat(filepath.Join(of, m[1])); err != nil {
					t.Errorf("%s:%d: %s: there is no %s", within, i+1, m[0], m[1])
				}
				found++
			}
			for _, m := range ofTests.FindAllStringSubmatch(strings.ReplaceAll(line, `\|`, "|"), -1) {
				for _, name := range strings.Split(m[2], "|") {
					name, _, _ = strings.Cut(name, "/")
					if found++; !hasTest(t, filepath.Join(root, m[1]), name) {
						t.Errorf("%s:%d: %s has no test %s", within, i+1, m[1], name)
					}
				}
			}
		}
		return programComment(t, path, text)
	})
	if err != nil || found < 60 {
		t.Errorf("%d found, %v", found, err)
	}
}

// hasTest reports whether a folder, or a folder in it, has a test whose name contains this one.
func hasTest(t *testing.T, folder, name string) (found bool) {
	of := regexp.MustCompile(`(?m)^func (?:Test|Fuzz|Example|Benchmark)\w*\(`)
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || found || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, f := range of.FindAllString(string(text), -1) {
			found = found || strings.Contains(f, name)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return found
}

// programComment checks that the comment of a program begins with the name of its folder or module.
func programComment(t *testing.T, path string, text []byte) error {
	if filepath.Base(path) != "main.go" {
		return nil
	}
	f, err := parser.ParseFile(token.NewFileSet(), path, text, parser.PackageClauseOnly|parser.ParseComments)
	if err != nil || f.Name.Name != "main" {
		return err
	}
	folder, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return err
	}
	names := []string{filepath.Base(folder)}
	if module, err := os.ReadFile(filepath.Join(folder, "go.mod")); err == nil {
		name, _, _ := strings.Cut(strings.TrimPrefix(string(module), "module "), "\n")
		names = append(names, name[strings.LastIndex(name, "/")+1:])
	}
	doc := strings.TrimPrefix(docOf(f), "Command ")
	if !slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(strings.ToLower(doc), n+" ") }) {
		t.Errorf("%s: the comment %.30q does not begin with one of %q", path, doc, names)
	}
	return nil
}

func docOf(f *ast.File) string {
	if f.Doc == nil {
		return ""
	}
	return f.Doc.Text()
}
