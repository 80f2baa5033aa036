package architecture

import (
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

const (
	maxWords    = 40  // words in a sentence
	maxCell     = 200 // characters in a cell of a table
	maxFirst    = 150 // lines of README.md
	leastPages  = 60
	leastPhrase = 1000
)

// pages returns the paths, from the root of the module, of the Markdown pages for readers.
func pages(t *testing.T) (paths []string) {
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(path string, e fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".md") {
			within, _ := filepath.Rel(root, path)
			paths = append(paths, filepath.ToSlash(within))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return append(paths, "README.md", "CHANGELOG.md")
}

func page(t *testing.T, path string) string {
	text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// passage is a paragraph, an item of a list, a heading or a cell of a table.
type passage struct {
	line int
	text string
	cell bool
}

var (
	item     = regexp.MustCompile(`^\s*(?:[-*+]|\d+\.)\s+`)
	tag      = regexp.MustCompile(`</?[a-zA-Z][^>]*>`)
	target   = regexp.MustCompile(`!?\[([^\]]*)\]\([^)\s]*\)`)
	cellEnd  = regexp.MustCompile(`(?:^|[^\\])\|`)
	sentence = regexp.MustCompile(`[.!?][)"'”’*_` + "`" + `\]]*\s+`)
)

// passages returns the passages of a page, without code and without the targets of links.
func passages(text string) (all []passage) {
	var open *passage
	end := func() {
		if open != nil {
			all = append(all, *open)
			open = nil
		}
	}
	fenced, blank := false, true
	for i, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(trimmed, "```"):
			fenced = !fenced
			end()
		case fenced:
		case trimmed == "":
			end()
		case blank && strings.HasPrefix(line, "    ") && open == nil: // a block of code
			continue
		case strings.HasPrefix(trimmed, "|"):
			end()
			for _, c := range cells(trimmed) {
				all = append(all, passage{i + 1, c, true})
			}
		case strings.HasPrefix(line, "#"):
			end()
			all = append(all, passage{line: i + 1, text: trimmed})
		default:
			if open == nil || item.MatchString(line) {
				end()
				open = &passage{line: i + 1}
			}
			open.text += " " + item.ReplaceAllString(line, "")
		}
		blank = trimmed == ""
	}
	end()
	for i := range all {
		all[i].text = strings.TrimSpace(target.ReplaceAllString(tag.ReplaceAllString(all[i].text, " "), "$1"))
	}
	return all
}

// cells returns the cells of a row of a table; \| does not separate cells.
func cells(row string) (cells []string) {
	row = strings.TrimPrefix(row, "|")
	for {
		at := cellEnd.FindStringIndex(row)
		if at == nil {
			return cells
		}
		cells = append(cells, strings.TrimSpace(row[:at[1]-1]))
		row = row[at[1]:]
	}
}

// sentences splits a passage after full stops, unless a small letter or a digit follows, as in “et al. (2002)”.
func sentences(text string) (all []string) {
	from := 0
	for _, at := range sentence.FindAllStringIndex(text, -1) {
		next, _ := utf8.DecodeRuneInString(strings.TrimLeft(text[at[1]:], "*_\"'([“"))
		if unicode.IsLower(next) || unicode.IsDigit(next) {
			continue
		}
		all = append(all, text[from:at[0]+1])
		from = at[1]
	}
	return append(all, text[from:])
}

// words counts the words that contain a letter or a digit.
func words(text string) (count int) {
	for _, w := range strings.Fields(text) {
		if strings.ContainsFunc(w, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			count++
		}
	}
	return count
}

// hard lists the sentences and cells that are hard to read on a page.
func hard(text string) (problems []string) {
	for _, p := range passages(text) {
		if n := utf8.RuneCountInString(p.text); p.cell && n > maxCell {
			problems = append(problems, fmt.Sprintf("%d: a cell of %d characters: %.60s …", p.line, n, p.text))
		}
		for _, s := range sentences(p.text) {
			if n := words(s); n > maxWords {
				problems = append(problems, fmt.Sprintf("%d: a sentence of %d words: %.60s …", p.line, n, s))
			}
		}
	}
	return problems
}

// reported matches lines of the gallery that quote the warnings of a run, with wrapped errors.
var reported = regexp.MustCompile(`(?m)^- #\d+: .*$`)

// On every page a sentence has at most 40 words and a cell of a table at most 200 characters.
func TestPagesReadEasily(t *testing.T) {
	all := pages(t)
	if len(all) < leastPages {
		t.Errorf("only %d pages", len(all))
	}
	count := 0
	for _, path := range all {
		text := page(t, path)
		count += len(passages(text))
		if strings.HasPrefix(path, "docs/gallery/") {
			text = reported.ReplaceAllString(text, "- reported")
		}
		for _, p := range hard(text) {
			t.Errorf("%s:%s", path, p)
		}
	}
	if count < leastPhrase {
		t.Errorf("only %d passages", count)
	}
	if lines := strings.Count(page(t, "README.md"), "\n"); lines > maxFirst {
		t.Errorf("README.md has %d lines, more than %d", lines, maxFirst)
	}
}

// The check finds long sentences and cells, and ignores code.
func TestHardPagesAreSeen(t *testing.T) {
	long, wide := strings.Repeat("word ", maxWords)+"end", strings.Repeat("x", maxCell)
	for text, want := range map[string]int{
		long + ".":                                   1,
		"* " + long + ".\n* " + long + ".":           2,
		"Short. " + long + ". Short.":                1,
		"> " + long + " et al. (2002) say.":          1,
		"# " + long:                                  1,
		"|a|\n|---|\n|" + wide + "x|":                1,
		"|a|\n|---|\n|" + wide + "|":                 0,
		"| " + long + " | b |":                       2,
		"| p(y\\|f) " + wide + " | b |":              1,
		"half of it " + long[:20] + ". " + long[:20]: 0,
		"```\n" + long + "\n```":                     0,
		"text\n\n    " + long + "\n":                 0,
		"[" + long + "](somewhere)":                  1,
		strings.Repeat("word ", maxWords) + "—":      0,
	} {
		if got := hard(text); len(got) != want {
			t.Errorf("%.30q: %q, want %d", text, got, want)
		}
	}
}

var (
	link   = regexp.MustCompile(`\]\(([^)\s]+)\)|(?:href|src)="([^"]+)"`)
	inCode = regexp.MustCompile("`[^`\n]*`")
)

// links returns the targets of the links of a page, with their lines.
func links(text string) (all []passage) {
	fenced := false
	for i, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		}
		if fenced {
			continue
		}
		for _, m := range link.FindAllStringSubmatch(inCode.ReplaceAllString(line, "code"), -1) {
			all = append(all, passage{line: i + 1, text: m[1] + m[2]})
		}
	}
	return all
}

// anchors returns the names that GitHub gives the headings of a page in links.
func anchors(text string) map[string]bool {
	all, count := map[string]bool{}, map[string]int{}
	for _, p := range passages(text) {
		title, is := strings.CutPrefix(strings.TrimLeft(p.text, "#"), " ")
		if !is || !strings.HasPrefix(p.text, "#") {
			continue
		}
		name := strings.Map(func(r rune) rune {
			switch {
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			case r == ' ':
				return '-'
			}
			return -1
		}, strings.ReplaceAll(title, "\\", ""))
		if n := count[name]; n > 0 {
			all[fmt.Sprintf("%s-%d", name, n)] = true
		}
		count[name]++
		all[name] = true
	}
	return all
}

// The target of every link to a page, heading or file exists.
func TestLinksLeadSomewhere(t *testing.T) {
	count := 0
	for _, path := range pages(t) {
		for _, l := range links(page(t, path)) {
			to, err := url.Parse(l.text)
			if err != nil {
				t.Errorf("%s:%d: %v", path, l.line, err)
				continue
			}
			if to.Scheme != "" {
				continue
			}
			count++
			file := path
			if to.Path != "" {
				file = filepath.ToSlash(filepath.Join(filepath.Dir(path), to.Path))
			}
			if _, err := os.Stat(filepath.Join("..", "..", file)); err != nil {
				t.Errorf("%s:%d: no %s", path, l.line, file)
			} else if to.Fragment != "" && strings.HasSuffix(file, ".md") && !anchors(page(t, file))[to.Fragment] {
				t.Errorf("%s:%d: %s has no heading #%s", path, l.line, file, to.Fragment)
			}
		}
	}
	if count < 200 {
		t.Errorf("only %d links", count)
	}
}

// Anchors are the names that GitHub forms from headings; links in code are ignored.
func TestAnchors(t *testing.T) {
	got := anchors("# The `run` folder\n\n## Csató, Fokoué & Opper (2000)\n\n## a\\_b\n\n## Twice\n\n## Twice\n")
	for _, want := range []string{"the-run-folder", "csató-fokoué--opper-2000", "a_b", "twice", "twice-1"} {
		if !got[want] {
			t.Errorf("no %s in %v", want, got)
		}
	}
	if got := links("[a](b.md) `[c](d)`\n```\n[e](f)\n```\n<img src=\"g.svg\">"); len(got) != 2 || got[1].text != "g.svg" {
		t.Errorf("links %v", got)
	}
}

// docs/architecture.md lists every package of allowed, and no other.
func TestEveryRoomIsOnItsPage(t *testing.T) {
	text := page(t, "docs/architecture.md")
	for room := range allowed {
		if !strings.Contains(text, "`"+room+"`") {
			t.Errorf("no %s", room)
		}
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z/]+)`").FindAllStringSubmatch(text, -1) {
		if _, is := allowed[m[1]]; !is && strings.Contains(m[1], "/") {
			t.Errorf("there is no room %s", m[1])
		}
	}
}

// walkStep matches the file of a step of a walk, and the functions that the step names.
var (
	walkStep = regexp.MustCompile("(?m)^\\d+\\. `([a-z_/]+\\.go)`(.*)$")
	walkFunc = regexp.MustCompile("`(?:([A-Za-z]+)\\.)?([A-Za-z]+)`")
)

// The walks of docs/architecture.md have at most seven steps, whose files have the functions that
// the steps name first.
func TestWalksAreInTheCode(t *testing.T) {
	_, walks, _ := strings.Cut(page(t, "docs/architecture.md"), "## Five walks")
	walks, _, _ = strings.Cut(walks, "\n## ")
	parts := strings.Split(walks, "\n**")[1:]
	if len(parts) != 5 {
		t.Errorf("%d walks, want 5", len(parts))
	}
	for _, walk := range parts {
		steps := walkStep.FindAllStringSubmatch(walk, -1)
		if len(steps) < 5 || len(steps) > 7 {
			t.Errorf("%.30s: %d steps, want 5 to 7", walk, len(steps))
		}
		for _, s := range steps {
			source, f := page(t, s[1]), walkFunc.FindStringSubmatch(s[2])
			receiver := ""
			if f[1] != "" {
				receiver = `\(\w* ?\*?` + f[1] + `(\[\w+\])?\) `
			}
			if !regexp.MustCompile(`(?m)^func ` + receiver + f[2] + `[\[(]`).MatchString(source) {
				t.Errorf("%.30s: %s has no function %s.%s", walk, s[1], f[1], f[2])
			}
		}
	}
}
