package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"gpc-tune": main})
}

// exits runs a command that must end with the given code: `exits 3 gpc-tune validate bad.yaml`.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE command [argument …]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

// lattice is a grid with enough rows for kills to land between and inside them.
const lattice = `version: 1
name: lattice
data: {dataset: ripley}
model: {kernel: se, likelihood: probit, inference: [laplace, ep]}
tune: {method: grid, grid: {length_scale: {log: [-2, 1], points: 8}, amplitude: {log: [0, 3], points: 4}}}
evaluate: {test: {}, kfold: {k: 2}}
`

// gpcTune is the program itself, started from the test binary under its other name.
func gpcTune(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	path, err := exec.LookPath("gpc-tune")
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(path, args...)
	c.Dir = dir
	return c
}

func results(t *testing.T, dir string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestKilledAndResumedGivesTheSameBytes(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "lattice.yaml"), []byte(lattice), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := gpcTune(t, dir, "run", "lattice.yaml", "-o", "whole", "-j", "1").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	// Killed again and again, each time a little later, until it gets to the end.
	kills := 0
	for wait := 50 * time.Millisecond; ; wait += wait / 2 {
		c := gpcTune(t, dir, "run", "lattice.yaml", "-o", "killed", "-j", "2", "--resume")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(wait, func() { _ = c.Process.Signal(syscall.SIGKILL) })
		err := c.Wait()
		timer.Stop()
		if err == nil {
			break
		}
		if c.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Fatalf("run %d: %v", kills+1, err)
		}
		kills++
	}
	t.Logf("%d kills", kills)
	if kills == 0 {
		t.Error("the run was never killed")
	}
	if !bytes.Equal(results(t, filepath.Join(dir, "whole")), results(t, filepath.Join(dir, "killed"))) {
		t.Error("results.json differs from the uninterrupted run's")
	}
}

func TestInterruptEndsResumable(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "lattice.yaml"), []byte(lattice), 0o666); err != nil {
		t.Fatal(err)
	}
	c := gpcTune(t, dir, "run", "lattice.yaml", "-j", "1")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	journal := filepath.Join(dir, "runs", "lattice", "journal")
	for range 1000 { // until the first job is on record
		if entries, _ := os.ReadDir(journal); len(entries) > 0 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	err := c.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 128+int(syscall.SIGINT) {
		t.Fatalf("interrupted run ended with %v, want exit code 130", err)
	}
	if out, err := gpcTune(t, dir, "run", "lattice.yaml", "--resume").CombinedOutput(); err != nil {
		t.Fatalf("resumed: %v\n%s", err, out)
	}
}
