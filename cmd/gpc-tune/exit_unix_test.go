//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gpc-tune/gpc-tune/experiments"
	"github.com/gpc-tune/gpc-tune/experiments/journal"
	"github.com/gpc-tune/gpc-tune/experiments/submit"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
	"github.com/gpc-tune/gpc-tune/internal/testing/golden"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/search/schedule"
)

// The page and explain describe every exit code in the same words, and every error has its code.
func TestExitCodesAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/troubleshooting.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`(?m)^\| [0-9]+ .*$`).FindAllString(string(text), -1)
	var want []string
	explained := succeeds(t, t.TempDir(), "explain", "exit-codes")
	for _, e := range exitCodes {
		want = append(want, fmt.Sprintf("| %d | %s | %s |", e.code, e.meaning, e.remedy))
		if line := fmt.Sprintf("%d  %s", e.code, e.meaning); !strings.Contains(explained, line) || succeeds(t, t.TempDir(), "explain", fmt.Sprint(e.code))[:len(line)] != line {
			t.Errorf("explain does not say %q", line)
		}
	}
	golden.Equal(t, "docs/troubleshooting.md has not the rows of the program", strings.Join(rows, "\n"), strings.Join(want, "\n"))
	for want, errs := range map[int][]error{
		exitUnexpected: {errors.New("?"), errOutput},
		exitUsage:      {usageError{errors.New("?")}, submit.ErrOptions, experiments.ErrUnfinished},
		exitInvalid: {experiments.Problems{{}}, experiments.ErrInvalid, experiments.ErrEnvironment, schedule.ErrMemory, experiments.ErrFolder, journal.ErrUnwritable, reports.ErrNothingInCommon,
			&os.PathError{Err: syscall.EMFILE}, &os.LinkError{Err: syscall.ENOSPC}, fmt.Errorf("%w: %w", experiments.ErrUnreported, syscall.EROFS), fmt.Errorf("%w: %w", journal.ErrJournal, syscall.EACCES)},
		exitFailures: {experiments.ErrNoFit, exitCode(exitFailures)},
		exitStopped: {schedule.ErrStopped, schedule.ErrFailures, journal.ErrJournal, experiments.ErrUnreported, submit.ErrEngine,
			fmt.Errorf("%w: %w", experiments.ErrUnreported, &os.PathError{Err: syscall.ENOSPC}), fmt.Errorf("%w: %w", journal.ErrJournal, &os.PathError{Err: syscall.EMFILE})},
		exitForeign: {experiments.ErrOtherConfiguration},
	} {
		for _, err := range errs {
			if got := code(fmt.Errorf("outside: %w", err)); got != want {
				t.Errorf("%v ends with %d, want %d", err, got, want)
			}
		}
	}
}

// ends runs a shell command, in which GPC is the program, and returns its exit code and output.
func ends(t *testing.T, dir, command string, attr *syscall.SysProcAttr) (code int, said string) {
	t.Helper()
	program, err := exec.LookPath("gpc-tune")
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command("sh", "-c", command)
	c.Dir, c.SysProcAttr, c.WaitDelay = dir, attr, time.Second
	c.Env = append(os.Environ(), "GPC="+program, "HOME="+dir, "XDG_CONFIG_HOME="+dir)
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Run(); err != nil && c.ProcessState == nil {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), out.String()
}

// Every command that cannot write its result reports that, with the same exit code, and none claims
// success. A reader that stops reading is no error.
func TestOutputsThatCannotBeWritten(t *testing.T) {
	dir := write(t, "short.yaml", `{data: {dataset: crabs, preprocess: standardize, subsample: 20}, model: {kernel: [se, linear], likelihood: probit, inference: laplace}, tune: none, evaluate: {kfold: {k: 2}}}`)
	succeeds(t, dir, "run", "short.yaml", "-o", "done")
	succeeds(t, dir, "fit", "short.yaml", "-m", "model.json", "--configuration", "0")
	for i, command := range []string{
		"list", "schema", "explain gallery:crabs", "explain se", "explain 5", "version", "data crabs", "validate short.yaml", "plan short.yaml", "check short.yaml --no-sampling",
		"evidence --data crabs", "sample --grid -5:5:101", "predict model.json crabs", "effects model.json crabs", "status done", "show done", "export done", "compare done", "report done", "serve done",
		"run short.yaml -o done", "submit local short.yaml -o done", "submit local short.yaml -o new --dry-run", "--help", "run --help",
	} {
		if command != "serve done" { // serve prints an address and serves in any case
			if _, err := os.Stat("/dev/full"); err == nil && exhaustive.Tries(3, i) {
				if code, said := ends(t, dir, "$GPC "+command+" > /dev/full", nil); code != exitUnexpected || !strings.Contains(said, errOutput.Error()+": ") {
					t.Errorf("%s > /dev/full ends with %d: %s", command, code, said)
				}
			}
			if !exhaustive.Tries(3, i+1) {
				continue
			}
			code, said := ends(t, dir, "{ $GPC "+command+"; echo $? > code; } | sleep 0; cat code", nil)
			if status := strings.TrimSpace(said[strings.LastIndex(strings.TrimSpace(said), "\n")+1:]); code != 0 || status != "0" && status != "1" || strings.Contains(said, "pipe") {
				t.Errorf("%s | : ends with %s: %s", command, status, said)
			}
		}
	}
	// Messages on stderr are no result.
	if code, said := ends(t, dir, "$GPC run short.yaml -o other 2> /dev/full", nil); code != exitDone {
		t.Errorf("stderr full: %d: %s", code, said)
	}
	if code, said := ends(t, dir, "$GPC run short.yaml -o another 2>&-", nil); code != exitDone {
		t.Errorf("stderr closed: %d: %s", code, said)
	}
}

// If nobody reads a pipe, only the exit code says so.
func TestPipeThatNobodyReads(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	defer w.Close()
	for _, args := range [][]string{{"list"}, {"evidence", "--data", "crabs"}, {"schema"}} {
		c := gpcTune(t, t.TempDir(), args...)
		var said bytes.Buffer
		c.Stdout, c.Stderr = w, &said
		if err := c.Run(); c.ProcessState.ExitCode() != exitUnexpected || said.Len() > 0 {
			t.Errorf("%v: %v: %s", args, err, &said)
		}
	}
}

// A folder without write permission is an invalid environment for every command that writes there,
// and does not affect the others.
func TestReadOnlyFolders(t *testing.T) {
	dir := write(t, "short.yaml", `{data: {dataset: crabs, preprocess: standardize, subsample: 20}, model: {kernel: se, likelihood: probit, inference: laplace}, tune: none, evaluate: {kfold: {k: 2}}, report: {formats: [svg]}}`)
	succeeds(t, dir, "submit", "local", "short.yaml", "-o", "done", "--blocks", "1")
	succeeds(t, dir, "fit", "short.yaml", "-m", "model.json")
	attr := &syscall.SysProcAttr{}
	if os.Geteuid() == 0 { // root may write anywhere
		attr.Credential = &syscall.Credential{Uid: 65534, Gid: 65534}
		program := filepath.Join(dir, "program")
		path, err := exec.LookPath("gpc-tune")
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err := errors.Join(err, os.WriteFile(program, text, 0o755), os.Chmod(program, 0o755)); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
		if err := os.Rename(program, filepath.Join(dir, "gpc-tune")); err != nil {
			t.Fatal(err)
		}
	}
	for d := filepath.Dir(dir); d != os.TempDir() && d != "/"; d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.Chmod(path, 0o555)
		}
		if filepath.Base(path) == "gpc-tune" {
			return nil
		}
		return os.Chmod(path, 0o444)
	}); err != nil {
		t.Fatal(err)
	}
	defer filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error { // allows the removal of the folder
		if d.IsDir() {
			os.Chmod(path, 0o755)
		}
		return err
	})
	for command, want := range map[string]int{
		"init": exitInvalid, "run short.yaml": exitInvalid, "run short.yaml -o done": exitInvalid, "report done": exitInvalid, "export done -o table.csv": exitInvalid, "predict model.json crabs -o table.csv": exitInvalid,
		"fit short.yaml -m new.json": exitInvalid, "fit short.yaml -m model.json": exitInvalid, "fit short.yaml -m /dev/null -o new": exitInvalid, "submit local short.yaml": exitInvalid,
		"worker done --block 0/1": exitDone, "worker done --block rest": exitInvalid,
		"validate short.yaml": exitDone, "plan short.yaml": exitDone, "status done": exitDone, "show done": exitDone, "export done": exitDone, "compare done": exitInvalid, "predict model.json crabs": exitDone,
	} {
		if code, said := ends(t, dir, "$GPC "+command, attr); code != want {
			t.Errorf("%s ends with %d, want %d: %s", command, code, want, said)
		}
	}
}

// A crash of the Go runtime is not reported as a usage error.
func TestCrashIsNoUsageError(t *testing.T) {
	dir := write(t, "waits.yaml", waits)
	t.Setenv(heldIn, dir)
	p := start(t, dir, "run", "waits.yaml", "-o", "run")
	p.until(t, "a job that is held", func() bool { return isHeld(dir, p.Process.Pid) })
	if err := p.Process.Signal(syscall.SIGQUIT); err != nil { // the runtime ends as on any fatal error
		t.Fatal(err)
	}
	<-p.ended
	if s, ok := p.ProcessState.Sys().(syscall.WaitStatus); !ok || s.Signal() != syscall.SIGABRT || s.CoreDump() {
		t.Errorf("%v", p.err)
	}
}

// A run folder's name with several lines or shell syntax stays a name, also for the shell that
// executes a dry run's output.
func TestDryRunTakesNamesForNames(t *testing.T) {
	dir := write(t, "short.yaml", `{data: {dataset: crabs, subsample: 20}, model: {kernel: se, likelihood: probit, inference: laplace}, tune: none, evaluate: {kfold: {k: 2}}}`)
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "bin"), 0o777), os.WriteFile(filepath.Join(dir, "bin", "sbatch"), []byte("#!/bin/sh\necho 7\n"), 0o777)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"x\nEND\ntouch injected\ncat <<'END'", "x\n#SBATCH --wrap=id\ny", "a'; touch injected; '", "$(touch injected)", "`touch injected`", "\x1b[2J", "a\rb\xff", "{{.Name}}", "x\nEND_\nEND"} {
		out := gpcTune(t, dir, "submit", "slurm", "short.yaml", "-o", name, "--dry-run", "--time", "1:00")
		script, err := out.Output()
		if err != nil {
			t.Fatal(err)
		}
		c := exec.Command("sh", "-e")
		c.Dir, c.Stdin, c.Env = dir, bytes.NewReader(script), append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"))
		if said, err := c.CombinedOutput(); err != nil {
			t.Errorf("%q: %v: %s\n%s", name, err, said, script)
		}
		if injected, _ := filepath.Glob(filepath.Join(dir, "injected")); injected != nil {
			t.Fatalf("%q is executed:\n%s", name, script)
		}
		worker, err := os.ReadFile(filepath.Join(dir, name, "slurm", "worker.sh"))
		if err != nil {
			t.Errorf("%q: %v", name, err)
		}
		if n := len(regexp.MustCompile(`(?m)^#SBATCH`).FindAll(worker[:max(0, bytes.Index(worker, []byte("\nexec ")))], -1)); n != 6 {
			t.Errorf("%q: %d directives\n%s", name, n, worker)
		}
	}
}
