package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/gpc-tune/gpc-tune/experiments/data/sets"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
)

// block is a fenced code block of a page.
type block struct {
	page, text string
	line       int
}

// blocks returns the code blocks in a language in README.md and in all pages below docs.
func blocks(t *testing.T, language string) (all []block) {
	add := func(path string) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var open *block
		line := 0
		for text := range strings.Lines(string(text)) {
			line++
			of, fence := strings.CutPrefix(text, "```")
			switch {
			case fence && open != nil:
				open = nil
			case fence && strings.TrimSpace(of) == language:
				all = append(all, block{page: path, line: line + 1})
				open = &all[len(all)-1]
			case fence:
				open = new(block) // a block in another language
			case open != nil:
				open.text += text
			}
		}
	}
	for _, page := range pages(t) {
		add("../../" + page)
	}
	return all
}

// pages are the paths of README.md and of all pages below docs, from the root of the repository.
func pages(t *testing.T) (all []string) {
	t.Helper()
	all = []string{"README.md"}
	err := filepath.WalkDir("../../docs", func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".md") {
			all = append(all, strings.TrimPrefix(filepath.ToSlash(path), "../../"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// shellWord matches a word of a command line, quoted or not, or the end of a command.
var shellWord = regexp.MustCompile(`#.*|'[^']*'|[|&;<>]+|[^\s'|&;<>]+`)

// typed returns the arguments of every gpc-tune command in a shell block, and the file to which its
// output goes.
func typed(text string) (all []call) {
	for _, line := range strings.Split(strings.ReplaceAll(text, "\\\n", " "), "\n") {
		var c call
		end := func() {
			if len(c.args) > 2 && c.args[0] == "go" && c.args[1] == "run" && c.args[2] == "./cmd/gpc-tune" {
				c.args = c.args[2:]
			}
			if len(c.args) > 0 && filepath.Base(c.args[0]) == "gpc-tune" {
				all = append(all, call{c.args[1:], c.to})
			}
			c = call{}
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
				c.to, redirected = w, false
			default:
				c.args = append(c.args, strings.Trim(w, "'"))
			}
		}
		end()
	}
	return all
}

// call is a command line.
type call struct {
	args []string
	to   string
}

func (c call) String() string { return "gpc-tune " + strings.Join(c.args, " ") }

func TestTyped(t *testing.T) {
	got := typed("zcat a.gz | ./gpc-tune predict m.json - > out.csv   # comment\n" +
		"go run ./cmd/gpc-tune run f.yaml --set 'a={b: {}}' \\\n  -j 1\nmake\ngpc-tune run x &\n")
	want := []call{{[]string{"predict", "m.json", "-"}, "out.csv"},
		{[]string{"run", "f.yaml", "--set", "a={b: {}}", "-j", "1"}, ""}, {[]string{"run", "x"}, ""}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Every gpc-tune command line on a page is valid: the command, its flags and the number of its
// arguments are right, the experiments and the data sets that it names exist, and explain and list
// are asked for existing names.
func TestCommandsOfPages(t *testing.T) {
	count := 0
	for _, b := range blocks(t, "sh") {
		for _, c := range typed(b.text) {
			count++
			args := c.args
			if err := parses(args); err != nil {
				t.Errorf("%s:%d: %s: %v", b.page, b.line, c, err)
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
					t.Errorf("%s:%d: %s: %s", b.page, b.line, c, log.String())
				}
			}
			if i := slices.Index(args, "--data"); i >= 0 && !strings.Contains(args[i+1], ".") {
				if !slices.ContainsFunc(sets.Table, func(s sets.Set) bool { return s.Name == args[i+1] }) {
					t.Errorf("%s:%d: no data set %s", b.page, b.line, args[i+1])
				}
			}
		}
	}
	if count < 50 {
		t.Errorf("only %d commands", count)
	}
	spans := regexp.MustCompile("`(gpc-tune [a-z][^`\n]*)`")
	for _, page := range pages(t) {
		for _, m := range spans.FindAllStringSubmatch(readPage(t, page), -1) {
			for _, c := range typed(strings.ReplaceAll(m[1], " N", " 1")) {
				if err := parses(c.args); err != nil && !strings.Contains(err.Error(), "arg(s)") { // often without them
					t.Errorf("%s: %s: %v", page, c, err)
				}
			}
		}
	}
	for _, wrong := range [][]string{{"rnu", "f.yaml"}, {"run"}, {"run", "f.yaml", "--sett", "x"}, {"fit", "-j", "x"}} {
		if parses(wrong) == nil {
			t.Errorf("%q is taken for a command", wrong)
		}
	}
}

// parses checks a command line without running it.
func parses(args []string) error {
	root := &cobra.Command{Use: "gpc-tune"}
	root.AddCommand(commands(nil)...)
	root.InitDefaultHelpCmd()
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

// Every experiment on a page is valid, and so is every part of one, completed with data and a
// model.
func TestExperimentsOfPages(t *testing.T) {
	all := blocks(t, "yaml")
	has := func(text, key string) bool { return regexp.MustCompile(`(?m)^` + key + `:`).MatchString(text) }
	for _, b := range all {
		text, complete := b.text, has(b.text, "program")
		if !complete && !has(text, "data") && !has(text, "illustrate") {
			text += "\ndata: {dataset: crabs}\n"
		}
		if !complete && !has(text, "model") {
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

// The search of a shell script on the page finds the minimum of the script on the page.
func TestProgramOfPage(t *testing.T) {
	dir := t.TempDir()
	found := map[string]string{}
	for kind, of := range map[string]struct{ name, begins string }{"yaml": {"search.yaml", "program:\n  command: [sh, train.sh, \"{rate}\", \"{layers}\""},
		"sh": {"train.sh", "# train.sh"}} {
		for _, b := range blocks(t, kind) {
			if strings.HasPrefix(b.text, of.begins) {
				found[of.name] += b.text
			}
		}
		if err := os.WriteFile(filepath.Join(dir, of.name), []byte(found[of.name]), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	out := succeeds(t, dir, "search", "search.yaml", "-j", "4")
	best := regexp.MustCompile(`(?m)^best: value (\S+) at rate=0.000\d+ layers=3 kind=poly degree=1\.\d+; #0, bayes$`).FindStringSubmatch(out)
	if best == nil {
		t.Fatal(out)
	}
	if value, err := strconv.ParseFloat(best[1], 64); err != nil || value > 0.1 {
		t.Error(best[0], err)
	}
}

// copyExperiments copies the experiments and data that pages name into a folder, under the paths
// that they have in the repository.
func copyExperiments(t *testing.T, dir string) {
	t.Helper()
	for _, folder := range []string{"experiments/gallery", "experiments/data/sets"} {
		to := filepath.Join(dir, filepath.FromSlash(folder))
		if err := os.CopyFS(to, os.DirFS("../../"+folder)); err != nil {
			t.Fatal(err)
		}
	}
}

// The commands of these pages, run one after the other in one folder, do what the page says: on 40
// cases, with two folds and one restart.
func TestPagesRun(t *testing.T) {
	small := []string{"--set", "data.subsample=40", "--set", "evaluate={kfold: {k: 2}}", "--set", "tune.restarts=1"}
	for page, before := range map[string]struct{ cases, text string }{
		"README.md":        {},
		"docs/own-data.md": {cases: "pima_test.csv"},
		"docs/run-folder.md": {"crabs.csv", "gpc-tune run gallery:crabs\n" +
			"gpc-tune run gallery:crabs --set model.likelihood=logit -o runs/crabs-logit\n"},
		"docs/models.md":   {},
		"docs/resuming.md": {text: "gpc-tune init FILE.yaml\ngpc-tune run FILE.yaml -o DIR\n"},
	} {
		t.Run(filepath.Base(page), func(t *testing.T) {
			dir := t.TempDir()
			copyExperiments(t, dir)
			cases := filepath.Join(dir, "new.csv")
			if before.cases != "" {
				content, err := os.ReadFile(filepath.Join(dir, "experiments", "data", "sets", before.cases))
				if err == nil {
					err = os.WriteFile(cases, content, 0o666)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			calls := typed(before.text)
			for _, b := range blocks(t, "sh") {
				if b.page == "../../"+page {
					calls = append(calls, typed(b.text)...)
				}
			}
			t.Chdir(dir)
			done := 0
			for _, c := range calls {
				if done == exhaustive.Of(5, len(calls)) {
					break
				}
				switch c.args[0] {
				case "serve", "serve-model", "submit": // they do not end, or need a cluster
					continue
				case "run", "fit", "plan":
					c.args = append(c.args, small...)
				case "check":
					c.args = append(c.args, "--set", "data.subsample=40", "--no-sampling")
				}
				var in, out, log bytes.Buffer
				if slices.Contains(c.args, "-") {
					text, err := os.ReadFile(cases)
					if err != nil {
						t.Fatal(err)
					}
					in.Write(text)
				}
				if code := run(t.Context(), nil, c.args, &in, &out, &log); code != exitDone {
					t.Fatalf("%s: exit code %d\n%s", c, code, log.String())
				}
				if c.to != "" {
					if err := os.WriteFile(filepath.Join(dir, c.to), out.Bytes(), 0o666); err != nil {
						t.Fatal(err)
					}
				}
				done++
			}
			if done < 4 {
				t.Errorf("only %d commands", done)
			}
		})
	}
}
