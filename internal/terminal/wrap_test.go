package terminal

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// The columns of a text are counted as terminals do: two for an ideograph, none for an accent that
// combines with the letter before it.
func TestColumns(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "abc": 3, "é": 1, "e\u0301": 1, "日本": 4, "ｱ": 1, "Ａ": 2, "한글": 4, "a\u200bb": 2, "→": 1, "…": 1, "🙂": 2,
	} {
		if got := Columns(text); got != want {
			t.Errorf("%q: %d columns, want %d", text, got, want)
		}
	}
}

// A text that is cut has no more columns than asked for, and ends with an ellipsis.
func TestCut(t *testing.T) {
	for _, c := range []struct {
		text, want string
		columns    int
	}{{"abcdef", "abcdef", 6}, {"abcdef", "abcd…", 5}, {"日本語", "日…", 4}, {"日本語", "日本…", 5}, {"日本語", "日本語", 6}, {"e\u0301abc", "e\u0301a…", 3}} {
		if got := Cut(c.text, c.columns); got != c.want {
			t.Errorf("%q in %d columns: %q, want %q", c.text, c.columns, got, c.want)
		}
	}
}

// A text is broken only at blanks, each line within the columns, and every line of it by itself.
func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text, want string
		columns    int
	}{
		{"at once", "at once", 7},
		{"at once", "at\n  once", 6},
		{"at once", "at once", 0},
		{"one two three\nfour five six\n", "one two\n  three\nfour\n  five\n  six\n", 8},
		{"日本 語の 文字", "日本\n  語の\n  文字", 7},
		{"a /very/long/path b", "a\n  /very/long/path\n  b", 6},
		{"    indented text", "    indented\n  text", 12},
		{"e\u0301e\u0301e\u0301 abc", "e\u0301e\u0301e\u0301 abc", 7},
	} {
		if got := Wrap(c.text, c.columns, "  "); got != c.want {
			t.Errorf("%q in %d columns: %q, want %q", c.text, c.columns, got, c.want)
		}
	}
	random := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		var words []string
		for range random.IntN(40) {
			words = append(words, strings.Repeat([]string{"x", "é", "字"}[random.IntN(3)], 1+random.IntN(5)))
		}
		text, columns := strings.Join(words, " "), 14+random.IntN(60)
		got := Wrap(text, columns, "    ")
		lines := strings.Split(got, "\n")
		for i, line := range lines {
			n := Columns(line)
			if n > columns {
				t.Errorf("%q has %d columns of %d", line, n, columns)
			}
			if i > 0 {
				word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
				if before := Columns(lines[i-1]); before+1+Columns(word) <= columns {
					t.Errorf("%q has room for %q in %d columns", lines[i-1], word, columns)
				}
			}
		}
		if strings.ReplaceAll(got, "\n    ", " ") != text {
			t.Errorf("%q is broken elsewhere than at blanks: %q", text, got)
		}
	}
}

// Commands begin with how the program was started, wherever they stand, and stay in one line at the
// end of a text. Other uses of the name are left.
func TestCommands(t *testing.T) {
	before := program
	defer func() { program = before }()
	StartedAs("go run ./cmd/gpc-tune", func() []string { return []string{"run", "fit", "serve-model", "serve"} })
	for text, want := range map[string]string{
		"keep it: gpc-tune fit a.yaml -m m.json":   "keep it: go run ./cmd/gpc-tune fit a.yaml -m m.json",
		"gpc-tune run a && gpc-tune serve-model b": "go run ./cmd/gpc-tune run a && go run ./cmd/gpc-tune serve-model b",
		"gpc-tune: run it; (gpc-tune running)":     "gpc-tune: run it; (gpc-tune running)",
		"/opt/gpc-tune run, my-gpc-tune run":       "/opt/gpc-tune run, my-gpc-tune run",
	} {
		got := Commands(text)
		if got != want || Commands(got) != want {
			t.Errorf("%q: %q and again %q, want %q", text, got, Commands(got), want)
		}
	}
	text := "12 of 30 jobs are done; go on with: gpc-tune run 'my study.yaml' -o runs/study --resume"
	want := "12 of 30 jobs are done; go on\n  with:\n  go run ./cmd/gpc-tune run 'my study.yaml' -o runs/study --resume"
	if got := Wrap(text, 30, "  "); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	prose := "gpc-tune run with --retry-failed: gpc-tune fit does; too"
	for line := range strings.Lines(Wrap(prose, 30, "  ")) {
		if Columns(strings.TrimSuffix(line, "\n")) > 30 {
			t.Errorf("%q is no command line", line)
		}
	}
	if regexp.MustCompile(`gpc-tune\n`).MatchString(Wrap("a word and "+text, 49, "")) {
		t.Error("a command line is broken behind its name")
	}
}
