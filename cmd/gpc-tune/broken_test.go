package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
)

// faultLine matches a fault in the output of a command: its place and its message.
var faultLine = regexp.MustCompile(`^(\w+\.yaml:\d+:\d+): (.*)$`)

// Validate, plan and run refuse every file of testdata/broken with the faults listed in faults.txt:
// the same faults at the same places, all at once, and they leave nothing behind.
func TestBrokenFiles(t *testing.T) {
	here, err := filepath.Abs(filepath.Join("testdata", "broken"))
	if err != nil {
		t.Fatal(err)
	}
	table, err := os.ReadFile(filepath.Join(here, "faults.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	want := map[string][][2]string{}
	for line := range strings.Lines(string(table)) {
		m := faultLine.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if m == nil {
			continue
		}
		file, _, _ := strings.Cut(m[1], ":")
		if want[file] == nil {
			files = append(files, file)
		}
		want[file] = append(want[file], [2]string{m[1], m[2]})
	}
	have, err := filepath.Glob(filepath.Join(here, "*.yaml"))
	if err != nil || len(have) != len(files) || len(files) < 80 {
		t.Fatalf("%d files, of which faults.txt lists %d; at least 80 are wanted (%v)", len(have), len(files), err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(here)); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for i, file := range files {
		t.Run(strings.TrimSuffix(file, ".yaml"), func(t *testing.T) {
			var first string
			for k, command := range [][]string{{"validate", file}, {"plan", file}, {"run", file}} {
				if k > 0 && !exhaustive.Tries(8, i, k) {
					continue
				}
				var out, complaints bytes.Buffer
				if code := run(context.Background(), nil, command, strings.NewReader(""), &out, &complaints); code != exitInvalid || out.Len() > 0 {
					t.Errorf("%s: exit code %d, want %d, and on stdout %q", command[0], code, exitInvalid, out.String())
				}
				text := strings.TrimPrefix(complaints.String(), "gpc-tune: ")
				if first == "" {
					first = text
				} else if text != first {
					t.Errorf("%s says\n%s\nwhere validate says\n%s", command[0], text, first)
				}
			}
			var got [][2]string
			for line := range strings.Lines(first) {
				if m := faultLine.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
					got = append(got, [2]string{m[1], m[2]})
				}
			}
			if !slices.EqualFunc(got, want[file], func(a, b [2]string) bool { return a[0] == b[0] && strings.Contains(a[1], b[1]) }) {
				t.Errorf("faults\n%s\nwant %q", first, want[file])
			}
		})
	}
	for _, name := range []string{"runs", "experiment.yaml"} {
		if _, err := os.Stat(name); err == nil {
			t.Errorf("%s was left behind", name)
		}
	}
}
