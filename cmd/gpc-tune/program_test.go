package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
	"github.com/gpc-tune/gpc-tune/internal/testing/needs"
)

// A program that go run has made is named by the command that runs it again, from the folder of the
// repository or from elsewhere; any other is gpc-tune.
func TestStartedBy(t *testing.T) {
	inRepository, elsewhere := filepath.Join("..", ".."), t.TempDir()
	cached := "/home/me/.cache/go-build/de/" + strings.Repeat("de2b3dea", 8) + "-d/gpc-tune"
	for _, c := range []struct{ folder, path, want string }{
		{elsewhere, "gpc-tune", "gpc-tune"},
		{elsewhere, "/usr/local/bin/gpc-tune", "gpc-tune"},
		{inRepository, "./gpc-tune", "gpc-tune"},
		{inRepository, "/tmp/go-build52720332/b001/gpc-tune.test", "gpc-tune"},
		{elsewhere, "/tmp/go-build52720332/b001/exe/gpc-tune", "go run github.com/gpc-tune/gpc-tune/cmd/gpc-tune"},
		{inRepository, "/tmp/go-build52720332/b001/exe/gpc-tune", "go run ./cmd/gpc-tune"},
		{inRepository, cached, "go run ./cmd/gpc-tune"},
	} {
		t.Run(c.path, func(t *testing.T) {
			t.Chdir(c.folder)
			if got := startedBy(c.path); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// Who runs the program with go run gets commands that can be copied: at the end of init, and after a
// run the one that keeps the best.
func TestCommandsAfterGoRun(t *testing.T) {
	// A program of go run has this path in the first argument.
	started := []string{"go", "run", "./cmd/gpc-tune"}
	if !exhaustive.All() { // linking takes seconds
		program, err := exec.LookPath("gpc-tune")
		if err != nil {
			t.Fatal(err)
		}
		started = []string{filepath.Join(t.TempDir(), "go-build1", "b001", "exe", "gpc-tune")}
		err = errors.Join(os.MkdirAll(filepath.Dir(started[0]), 0o777), os.Link(program, started[0]))
		needs.That(t, err == nil, "links (%v): run it on Linux or another Unix", err)
	}
	file := filepath.Join(t.TempDir(), "study.yaml")
	goRun := func(args ...string) string {
		t.Helper()
		c := exec.Command(started[0], append(started[1:], args...)...)
		c.Dir = filepath.Join("..", "..")
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	if out := goRun("init", file); !strings.Contains(out, "; next: go run ./cmd/gpc-tune run "+file) {
		t.Errorf("init: %s", out)
	}
	const small = "version: 1\nname: small\nseed: 1\ndata: {dataset: iris, preprocess: standardize}\n" +
		"model: {kernel: se, likelihood: softmax, inference: laplace}\ntune: none\nevaluate: {kfold: {k: 2}}\n"
	if err := os.WriteFile(file, []byte(small), 0o666); err != nil {
		t.Fatal(err)
	}
	want := "keep it: go run ./cmd/gpc-tune fit " + file + " -m model.json\n"
	if out := goRun("run", file, "-o", filepath.Join(t.TempDir(), "run")); !strings.Contains(out, want) {
		t.Errorf("%s\nwant %s", out, want)
	}
}
