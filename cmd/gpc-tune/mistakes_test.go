package main

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/internal/testing/golden"
)

var update = flag.Bool("update", false, "write what is compared with files")

// Every mistake in testdata/mistakes.txt gives the message below it. A person has read the
// messages: each tells the place, the mistake, and what to do.
func TestMistakes(t *testing.T) {
	golden.Equal(t, "mistakes.txt (if it is meant: go test ./cmd/gpc-tune -run Mistakes -update)", answered(t), recorded(t))
}

const mistakes = "testdata/mistakes.txt"

func recorded(t *testing.T) string {
	text, err := os.ReadFile(mistakes)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// answered returns the file of mistakes with the current messages.
func answered(t *testing.T) string {
	head, rest, _ := strings.Cut(recorded(t), "\n# ")
	entries := strings.Split(rest, "\n# ")
	if len(entries) < 61 {
		t.Fatalf("%d mistakes, want 60 and more", len(entries)-1)
	}
	dir := t.TempDir()
	written := func(entry string) (text string) {
		for line := range strings.Lines(entry) {
			if code, is := strings.CutPrefix(line, "    "); is {
				text += code
			}
		}
		return text
	}
	last := len(entries) - 1
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write("patients.csv", written(entries[last]))
	out := head
	for _, entry := range entries[:last] {
		title, _, _ := strings.Cut(entry, "\n")
		text := written(entry)
		write("file.yaml", text)
		var printed, complaints bytes.Buffer
		code := run(context.Background(), nil, []string{"validate", filepath.Join(dir, "file.yaml")}, strings.NewReader(""),
			&printed, &complaints)
		if code != exitInvalid {
			t.Errorf("%s: exit code %d, want %d: %s", title, code, exitInvalid, printed.String())
		}
		out += "\n# " + title + "\n"
		for line := range strings.Lines(text) {
			out += "    " + line
		}
		answer := strings.ReplaceAll(strings.TrimPrefix(complaints.String(), "gpc-tune: "), dir+string(filepath.Separator), "")
		out += strings.ReplaceAll(answer, dir, "DIR")
	}
	out += "\n# " + entries[last]
	if *update {
		if err := os.WriteFile(mistakes, []byte(out), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return out
}
