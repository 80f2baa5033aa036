package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
)

// printedBlock is a block of a page, with its first words and the commands that print its lines.
type printedBlock struct {
	page, begins string
	commands     []string
}

// printed lists all printed blocks of the pages. The commands run in one folder.
var printed = []printedBlock{
	{"README.md", "predicts: ", []string{"init study.yaml --data experiments/data/sets/pima_train.csv", "run study.yaml"}},
	{"docs/tuning.md", "best so far on ", []string{"report runs/begun"}},
	{"docs/own-data.md", "dataset  kernel ", []string{"init pima.yaml --data pima", "plan pima.yaml"}},
	{"docs/troubleshooting.md", "gpc-tune: bad.yaml:", []string{"validate bad.yaml"}},
}

// runsOfPages is the number of first blocks in printed that come from a run.
const runsOfPages = 2

// drawn are pages whose blocks are formulas or pictures.
var drawn = []string{"docs/mathematics.md", "docs/architecture.md"}

// oneLine is a line without the layout of its columns.
func oneLine(line string) string { return strings.Join(strings.Fields(line), " ") }

// printedAs reports whether a line of the output has the parts of a line of a page, which are
// separated by … or as cells of a table, in order; the first part begins the line.
func printedAs(output []string, parts []string) bool {
	return slices.ContainsFunc(output, func(line string) bool {
		rest, begins := oneLine(line), true
		for _, p := range parts {
			at := strings.Index(rest, oneLine(p))
			if at < 0 || begins && at > 0 {
				return false
			}
			rest, begins = rest[at+len(oneLine(p)):], false
		}
		return rest == "" || len(parts) > 1
	})
}

// Every block of a page that is no code equals output of the program, line by line; a line that
// ends with … goes on. So is the table of results in README.md.
func TestPrintedBlocks(t *testing.T) {
	dir := t.TempDir()
	copyExperiments(t, dir)
	bad := "data: {dataset: crabs, lable: sex}\nmodel: {kernel: sse, likelihood: probit, inference: laplace}\n"
	if err := os.WriteFile(filepath.Join(dir, "bad.yaml"), []byte(bad), 0o666); err != nil {
		t.Fatal(err)
	}
	met := make([]bool, len(printed))
	var output [][]string
	for i, p := range printed {
		if i < runsOfPages && !exhaustive.All() {
			output = append(output, nil)
			continue
		}
		if strings.HasPrefix(p.commands[0], "report runs/begun") {
			begun(t, filepath.Join(dir, "runs", "study"), filepath.Join(dir, "runs", "begun"))
		}
		var all bytes.Buffer
		for _, c := range p.commands {
			program := gpcTune(t, dir, strings.Fields(c)...)
			program.Stdout, program.Stderr = &all, &all
			if err := program.Run(); err != nil && !strings.Contains(all.String(), "bad.yaml") {
				t.Fatalf("%s: %v\n%s", c, err, &all)
			}
		}
		output = append(output, strings.Split(all.String(), "\n"))
		if i > 0 {
			continue
		}
		_, table, _ := strings.Cut(readPage(t, "README.md"), "\n| # | status |")
		table, _, _ = strings.Cut("| # | status |"+table, "\n\n")
		for _, row := range strings.Split(table, "\n") {
			parts := slices.DeleteFunc(strings.Split(row, "|"), func(p string) bool { return strings.TrimSpace(p) == "" })
			if !strings.HasPrefix(row, "| --") && !printedAs(output[0], parts) {
				t.Errorf("README.md: no row of the results has %q", parts)
			}
		}
	}
	for _, b := range blocks(t, "") {
		page := strings.TrimPrefix(b.page, "../../")
		i := slices.IndexFunc(printed, func(p printedBlock) bool {
			return p.page == page && strings.HasPrefix(b.text, p.begins)
		})
		switch {
		case slices.Contains(drawn, page):
			continue
		case i < 0:
			t.Errorf("%s:%d: no command is known that prints this block", page, b.line)
			continue
		}
		if met[i] = true; output[i] == nil {
			continue
		}
		for k, line := range strings.Split(strings.TrimSuffix(b.text, "\n"), "\n") {
			if !printedAs(output[i], strings.Split(line, "…")) {
				t.Errorf("%s:%d: not printed: %s\nbut\n%s", page, b.line+k, line, strings.Join(output[i], "\n"))
			}
		}
	}
	for i, p := range printed {
		if !met[i] {
			t.Errorf("%s has no block that begins with %q", p.page, p.begins)
		}
	}
}

// begun makes a run folder with only the first fold of each configuration from a finished one.
func begun(t *testing.T, finished, begun string) {
	t.Helper()
	manifest, err := os.ReadFile(filepath.Join(finished, "manifest.json"))
	segments, _ := filepath.Glob(filepath.Join(finished, "journal", "*.jsonl"))
	var lines []byte
	for _, s := range segments {
		text, wrong := os.ReadFile(s)
		if wrong != nil {
			t.Fatal(wrong)
		}
		for line := range bytes.Lines(text) {
			if regexp.MustCompile(`"(fit|trial)":\{"configuration":\d+,"study":1,`).Match(line) {
				lines = append(lines, line...)
			}
		}
	}
	if err == nil {
		err = os.MkdirAll(filepath.Join(begun, "journal"), 0o777)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(begun, "manifest.json"), manifest, 0o666)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(begun, "journal", "one.jsonl"), lines, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func readPage(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// messages are the messages in docs/troubleshooting.md, each with commands. The last command prints
// the message.
var messages = map[string][]string{
	"unknown key, unknown kernel, …":                            {"validate bad.yaml"},
	`column "a" has no value`:                                   {"validate table.yaml"},
	`column "b": "z" is not a number`:                           {"validate table.yaml"},
	"… with a likelihood of two classes cannot model 3 classes": {"validate good.yaml --set data.dataset=iris"},
	"… needs a likelihood of two classes":                       {"validate good.yaml --set model.likelihood=softmax --set model.inference=naive_mean_field"},
	"tune: … needs the gradient of …":                           {"validate good.yaml --set model.inference=sampling"},
	"not enough memory":                                         {"run good.yaml --memory 1MiB"},
	"the folder belongs to another configuration":               {"run good.yaml -o one", "run good.yaml --set seed=3 -o one"},
	"the folder holds this configuration, unfinished":           {"run good.yaml -o two", "run good.yaml -o two"},
}

// Every message that docs/troubleshooting.md explains is one of the program, and every cause has a
// row of the table of causes.
func TestMessagesOfTroubleshooting(t *testing.T) {
	page, kind, met := readPage(t, "docs/troubleshooting.md"), "", 0
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"bad.yaml":   "version: 1\nname: bad\ndata: {datset: crabs}\nmodel: {kernel: sse, likelihood: probit, inference: laplace}\n",
		"good.yaml":  "version: 1\nname: good\ndata: {dataset: crabs}\nmodel: {kernel: se, likelihood: probit, inference: laplace}\ntune: {method: bfgs}\n",
		"table.yaml": "version: 1\nname: table\ndata: {train: m.csv}\nmodel: {kernel: se, likelihood: probit, inference: laplace}\n",
		"m.csv":      "a,b,y\n1,2,x\n,3,w\n2,z,x\n4,5,w\n1,1,x\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var causes []string
	for _, k := range new(cause.Kind).JSONSchema()["enum"].([]cause.Kind) {
		what, _, _ := k.Explanation()
		causes = append(causes, what)
	}
	for _, line := range strings.Split(page, "\n") {
		row := strings.Split(line, " | ")
		first := strings.TrimPrefix(row[0], "| ")
		switch {
		case len(row) < 2:
			kind = ""
		case first == "message" || first == "cause":
			kind = first
		case kind == "cause" && first != "---" && !slices.Contains(causes, first):
			t.Errorf("there is no cause %q", first)
		case kind == "message" && first != "---":
			met++
			commands := messages[first]
			if commands == nil {
				t.Errorf("no command prints %q", first)
			}
			var said string
			for _, c := range commands {
				out, _ := gpcTune(t, ".", strings.Split(c, " ")...).CombinedOutput() // most of them fail
				said = string(out)
				if segments, _ := filepath.Glob("two/journal/*"); len(segments) == 1 { // all jobs but one are lost
					text, _ := os.ReadFile(segments[0])
					os.WriteFile(segments[0], text[:1+bytes.IndexByte(text, '\n')], 0o666)
				}
			}
			for _, part := range regexp.MustCompile(`…|, `).Split(first, -1) {
				if !strings.Contains(said, strings.TrimSpace(part)) {
					t.Errorf("%q is not in: %s", part, said)
				}
			}
		}
	}
	if met != len(messages) {
		t.Errorf("%d messages, want %d", met, len(messages))
	}
}
