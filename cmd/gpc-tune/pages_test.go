package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
)

// block is a fenced one of a page.
type block struct {
	page, text string
	line       int
}

// blocks are those in a language of README.md and of all pages below docs.
func blocks(t *testing.T, language string) (all []block) {
	begin := regexp.MustCompile("(?ms)^```" + language + "\n(.*?)^```$")
	add := func(path string) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range begin.FindAllSubmatchIndex(text, -1) {
			line := 1 + bytes.Count(text[:at[2]], []byte("\n"))
			all = append(all, block{path, string(text[at[2]:at[3]]), line})
		}
	}
	add("../../README.md")
	err := filepath.WalkDir("../../docs", func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".md") {
			add(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// shellWord is one of a command line, quoted or not, or what ends a command.
var shellWord = regexp.MustCompile(`#.*|'[^']*'|[|&;<>]+|[^\s'|&;<>]+`)

// typed are the arguments of every gpc-tune in a block for the shell.
func typed(text string) (all [][]string) {
	for _, line := range strings.Split(strings.ReplaceAll(text, "\\\n", " "), "\n") {
		var args []string
		end := func() {
			if len(args) > 2 && args[0] == "go" && args[1] == "run" && args[2] == "./cmd/gpc-tune" {
				args = args[2:]
			}
			if len(args) > 0 && filepath.Base(args[0]) == "gpc-tune" {
				all = append(all, args[1:])
			}
			args = nil
		}
		redirected := false
		for _, w := range shellWord.FindAllString(line, -1) {
			switch {
			case strings.HasPrefix(w, "#"):
			case strings.ContainsAny(w[:1], "<>"):
				redirected = true
			case strings.ContainsAny(w[:1], "|&;"):
				end()
			case redirected:
				redirected = false
			default:
				args = append(args, strings.Trim(w, "'"))
			}
		}
		end()
	}
	return all
}

func TestTyped(t *testing.T) {
	got := typed("zcat a.gz | ./gpc-tune predict m.json - > out.csv   # comment\n" +
		"go run ./cmd/gpc-tune run f.yaml --set 'a={b: {}}' \\\n  -j 1\nmake\ngpc-tune run x &\n")
	want := [][]string{{"predict", "m.json", "-"}, {"run", "f.yaml", "--set", "a={b: {}}", "-j", "1"}, {"run", "x"}}
	if !slices.EqualFunc(got, want, slices.Equal[[]string]) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Every command line of gpc-tune that a page shows is one: the command, its flags and the number of its
// arguments are right, the experiments and the data sets that it names come along, and what explain and list
// are asked for is there.
func TestCommandsOfPages(t *testing.T) {
	count := 0
	for _, b := range blocks(t, "sh") {
		for _, args := range typed(b.text) {
			count++
			if err := parses(args); err != nil {
				t.Errorf("%s:%d: gpc-tune %s: %v", b.page, b.line, strings.Join(args, " "), err)
			}
			for _, a := range args {
				if strings.HasPrefix(a, "gallery:") {
					if _, err := spec.Load(a, nil); err != nil {
						t.Errorf("%s:%d: %v", b.page, b.line, err)
					}
				}
				if strings.HasPrefix(a, "experiments/") {
					if _, err := os.Stat(filepath.Join("..", "..", a)); err != nil {
						t.Errorf("%s:%d: %v", b.page, b.line, err)
					}
				}
			}
			if args[0] == "explain" || args[0] == "list" {
				var out, log bytes.Buffer
				if code := run(t.Context(), nil, args, nil, &out, &log); code != exitDone {
					t.Errorf("%s:%d: gpc-tune %s: %s", b.page, b.line, strings.Join(args, " "), log.String())
				}
			}
			if i := slices.Index(args, "--data"); i >= 0 && !strings.Contains(args[i+1], ".") {
				if !slices.ContainsFunc(data.Table, func(s data.Set) bool { return s.Name == args[i+1] }) {
					t.Errorf("%s:%d: no data set %s", b.page, b.line, args[i+1])
				}
			}
		}
	}
	if count < 50 {
		t.Errorf("only %d commands", count)
	}
	for _, wrong := range [][]string{{"rnu", "f.yaml"}, {"run"}, {"run", "f.yaml", "--sett", "x"}, {"fit", "-j", "x"}} {
		if parses(wrong) == nil {
			t.Errorf("%q is taken for a command", wrong)
		}
	}
}

// parses says what is wrong with a command line, without doing what it asks for.
func parses(args []string) error {
	root := &cobra.Command{Use: "gpc-tune"}
	root.AddCommand(commands(nil)...)
	command, rest, err := root.Find(args)
	if err != nil {
		return err
	}
	command.InitDefaultHelpFlag()
	if err := command.ParseFlags(rest); err != nil {
		return err
	}
	return command.ValidateArgs(command.Flags().Args())
}

// Every experiment that a page shows is one, and so are its parts: what a part lacks of data and model is added.
func TestExperimentsOfPages(t *testing.T) {
	all := blocks(t, "yaml")
	has := func(text, key string) bool { return regexp.MustCompile(`(?m)^` + key + `:`).MatchString(text) }
	for _, b := range all {
		text := b.text
		if !has(text, "data") && !has(text, "illustrate") {
			text += "\ndata: {dataset: crabs}\n"
		}
		if !has(text, "model") {
			text += "\nmodel: {kernel: se, likelihood: probit, inference: [laplace, ep]}\n"
		}
		if _, err := spec.Parse(b.page, []byte(text), nil); err != nil {
			t.Errorf("the example from line %d: %v", b.line, err)
		}
	}
	if len(all) < 15 {
		t.Errorf("only %d examples", len(all))
	}
}
