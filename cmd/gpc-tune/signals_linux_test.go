package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"

	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gpc-tune/gpc-tune/internal/atomicfile"

	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
)

// patience is the longest time in which a command must end after a signal. A command that goes on
// instead takes longer: the grace period, or forever.
const patience = 15 * time.Second

// waits is an experiment whose jobs do not end, short one that takes no time.
const (
	waits = `{data: {dataset: crabs, preprocess: standardize, subsample: 20}, model: {kernel: held, likelihood: probit, inference: laplace}, tune: {method: bfgs, restarts: 4}, evaluate: {hold_out: {}}}`
	short = `{data: {dataset: crabs, preprocess: standardize, subsample: 20}, model: {kernel: [se, linear], likelihood: probit, inference: laplace}, tune: none, evaluate: {kfold: {k: 2}}}`
)

// hearHangups has processes that a test starts hear SIGHUP. Without it they ignore the signal where
// the test itself runs under nohup.
func hearHangups(t *testing.T) {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(hangups) })
}

// pipe makes a FIFO and opens it for a test.
func pipe(t *testing.T, name string, flags int) *os.File {
	t.Helper()
	if err := syscall.Mkfifo(name, 0o600); err != nil && !errors.Is(err, fs.ErrExist) {
		t.Fatal(err)
	}
	var fd int
	var err error
	until(t, "a reader of "+name, func() bool {
		fd, err = syscall.Open(name, flags|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
		return err != syscall.ENXIO
	})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	f := os.NewFile(uintptr(fd), name)
	t.Cleanup(func() { f.Close() })
	return f
}

// full makes a FIFO that is full and that nobody reads.
func full(t *testing.T, name string) *os.File {
	f := pipe(t, name, syscall.O_RDWR)
	c, err := f.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	block := make([]byte, 4096)
	if err := c.Control(func(fd uintptr) {
		for size := len(block); size > 0; {
			if _, err := syscall.Write(int(fd), block[:size]); err != nil {
				size /= 2
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	w, err := os.OpenFile(name, os.O_RDWR, 0) // another file description, which blocks
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// interruption is a command that gets a signal to stop.
type interruption struct {
	name    string
	args    []string
	ready   func(t *testing.T, p *process, dir string) // returns when the command is ready for the signal
	prepare func(t *testing.T, p *process, dir string)
	heard   func(t *testing.T, p *process, dir string) // returns when the command knows of the first signal and goes on; nil: it ends
	// the signal is repeated, because nothing shows that the command knows of the first
	repeated bool
	code     int // 0: the code of the signal
	done     bool
}

// reading waits until the command reads the FIFO with this name in its folder, which never gets any
// data.
func reading(name string) func(*testing.T, *process, string) {
	return func(t *testing.T, _ *process, dir string) { pipe(t, filepath.Join(dir, name), syscall.O_WRONLY) }
}

// computing waits until the command is in a computation that does not end.
func computing(t *testing.T, p *process, dir string) {
	p.until(t, "a matrix that is held", func() bool { return isHeld(dir, p.Process.Pid) })
}

// saying waits until the command has said that it finishes its jobs.
func saying(t *testing.T, p *process, _ string) { p.says(t, finishing, 1) }

// writing waits until the command is blocked in a write.
func writing(t *testing.T, p *process, _ string) {
	p.until(t, "a write", func() bool {
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/syscall", p.Process.Pid))
		return slices.ContainsFunc(tasks, func(task string) bool {
			text, _ := os.ReadFile(task)
			return strings.HasPrefix(string(text), strconv.Itoa(syscall.SYS_WRITE)+" ")
		})
	})
}

// opened waits until the command has opened the FIFO.
func opened(t *testing.T, p *process, dir string) {
	p.until(t, "opening the FIFO", func() bool {
		files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", p.Process.Pid))
		return slices.ContainsFunc(files, func(file string) bool {
			to, _ := os.Readlink(file)
			return to == filepath.Join(dir, "fifo")
		})
	})
}

// serving waits until the command has printed an address.
func serving(t *testing.T, p *process, dir string) {
	if _, err := pipe(t, filepath.Join(dir, "stdout"), syscall.O_RDWR).Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
}

func stdoutFull(t *testing.T, p *process, dir string) {
	p.Stdout = full(t, filepath.Join(dir, "stdout"))
}
func stderrFull(t *testing.T, p *process, dir string) {
	p.Stderr = full(t, filepath.Join(dir, "stderr"))
}

// Every command ends after signals, whether it reads, computes or writes: at the first signal if it
// has nothing to finish, otherwise at the second. It leaves no partly written file.
func TestEveryCommandStopsWhenTold(t *testing.T) {
	made := write(t, "short.yaml", short)
	if err := os.WriteFile(filepath.Join(made, "waits.yaml"), []byte(waits), 0o666); err != nil {
		t.Fatal(err)
	}
	succeeds(t, made, "submit", "local", "short.yaml", "-o", "done", "--blocks", "2")
	succeeds(t, made, "fit", "short.yaml", "-m", "model.json")
	done, model := filepath.Join(made, "done"), filepath.Join(made, "model.json")
	file := func(name string) string { return filepath.Join(made, name) }

	folder := func(fifo string) func(*testing.T, *process, string) { // a run folder in which one file is a FIFO
		return func(t *testing.T, _ *process, dir string) {
			if err := os.CopyFS(filepath.Join(dir, "run"), os.DirFS(done)); err != nil {
				t.Fatal(err)
			}
			name := filepath.Join(dir, "run", fifo)
			if err := errors.Join(os.Remove(name), syscall.Mkfifo(name, 0o600)); err != nil {
				t.Fatal(err)
			}
		}
	}
	fifo := func(t *testing.T, _ *process, dir string) {
		if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	into := func(t *testing.T, _ *process, dir string) { full(t, filepath.Join(dir, "fifo")) }

	all := []interruption{}
	add := func(i interruption) { all = append(all, i) }
	for _, args := range [][]string{
		{"run", "fifo"}, {"validate", "fifo"}, {"plan", "fifo"}, {"check", "fifo"}, {"fit", "fifo", "-m", "m.json"}, {"fit", "fifo", "-m", "m.json", "-o", "run"},
		{"submit", "local", "fifo"}, {"predict", "fifo", "crabs"}, {"predict", model, "fifo"}, {"predict", model, "fifo", "-o", "table.csv"},
	} {
		add(interruption{name: "reading", args: args, prepare: fifo, ready: reading("fifo")})
	}
	for _, args := range [][]string{{"status", "run"}, {"show", "run"}, {"export", "run"}, {"compare", done, "run"}, {"report", "run"}, {"serve", "run"}} {
		add(interruption{name: "reading", args: args, prepare: folder("manifest.json"), ready: reading("run/manifest.json")})
	}
	add(interruption{name: "reading", args: []string{"worker", "run", "--block", "0/2"}, prepare: folder("plan.json"), ready: reading("run/plan.json")})

	for _, args := range [][]string{
		{"check", file("waits.yaml"), "-j", "1"}, {"fit", file("waits.yaml"), "-m", "m.json", "-j", "1"}, {"sample", "--grid", "-5:5:3", "--kernel", "held"},
		{"evidence", "--data", "crabs", "--kernel", "held"},
	} {
		add(interruption{name: "computing", args: args, ready: computing})
	}
	for _, args := range [][]string{{"run", file("waits.yaml"), "-o", "run", "-j", "1"}, {"fit", file("waits.yaml"), "-m", "m.json", "-o", "run", "-j", "1"}} {
		add(interruption{name: "computing", args: args, ready: computing, heard: saying, done: true})
		add(interruption{name: "computing, nobody reads stderr", args: args, prepare: stderrFull, ready: computing, heard: writing, done: true})
	}

	for _, args := range [][]string{
		{"list"}, {"schema"}, {"explain", "gallery:crabs"}, {"explain", "se"}, {"version"}, {"data", "crabs"}, {"validate", file("short.yaml")}, {"plan", file("short.yaml")},
		{"check", file("short.yaml"), "--no-sampling"}, {"evidence", "--data", "crabs"}, {"sample", "--grid", "-5:5:101"}, {"predict", model, "crabs"},
		{"status", done}, {"show", done}, {"export", done}, {"compare", done}, {"report", done}, {"run", file("short.yaml")},
		{"submit", "local", file("short.yaml"), "-o", "run"},
	} {
		add(interruption{name: "writing", args: args, prepare: stdoutFull, ready: writing})
	}
	add(interruption{name: "writing", args: []string{"serve", done}, prepare: stdoutFull, ready: writing, code: -1})
	add(interruption{name: "writing", args: []string{"export", done, "-o", "fifo"}, prepare: into, ready: opened})
	add(interruption{name: "writing", args: []string{"predict", model, "crabs", "-o", "fifo"}, prepare: into, ready: opened})
	add(interruption{name: "writing", args: []string{"fit", file("short.yaml"), "-m", "fifo"}, prepare: into, ready: opened})
	add(interruption{name: "writing to stderr", args: []string{"init", "new.yaml"}, prepare: stderrFull, ready: writing})
	add(interruption{name: "writing to stderr", args: []string{"worker", done, "--block", "0/2"}, prepare: stderrFull, ready: writing, repeated: true})
	add(interruption{name: "serving", args: []string{"serve", done}, prepare: func(t *testing.T, p *process, dir string) {
		p.Stdout = pipe(t, filepath.Join(dir, "stdout"), syscall.O_RDWR)
	}, ready: serving, code: -1})

	hearHangups(t)
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		for k, i := range all {
			// All are handled alike. Each command hears one of the first two, and SIGHUP where it could leave a file.
			if hangup := slices.Contains(i.args, "-o") || slices.Contains(i.args, "-m"); signal == syscall.SIGHUP && !hangup ||
				signal == syscall.SIGINT && k%2 == 1 || signal == syscall.SIGTERM && k%2 == 0 || !exhaustive.Tries(4, k/2) {
				continue
			}
			short := make([]string, len(i.args))
			for k, a := range i.args {
				short[k] = filepath.Base(a)
			}
			t.Run(fmt.Sprintf("%v/%s/%s", signal, i.name, strings.Join(short, " ")), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				p := &process{Cmd: gpcTune(t, dir, i.args...)}
				p.WaitDelay = time.Second
				p.Env = append(os.Environ(), "GOMAXPROCS=1", heldIn+"="+dir)
				if i.prepare != nil {
					i.prepare(t, p, dir)
				}
				i.stop(t, p, dir, signal)
				if i.done {
					p := gpcTune(t, dir, "status", "run")
					if out, err := p.CombinedOutput(); err != nil {
						t.Errorf("%v: %s", err, out)
					}
				}
			})
		}
	}
}

// stop starts the command, sends the signals, and checks how it ends and what it leaves.
func (i interruption) stop(t *testing.T, p *process, dir string, signal syscall.Signal) {
	t.Helper()
	p.begin(t)
	defer p.Process.Kill() // if the test fails
	i.ready(t, p, dir)
	if err := p.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	if i.heard != nil {
		i.heard(t, p, dir)
		second := signal
		if signal == syscall.SIGHUP { // the second hang-up is no second demand
			second = syscall.SIGTERM
		}
		if err := p.Process.Signal(second); err != nil {
			t.Fatal(err)
		}
	}
	for last := time.Now(); ; {
		select {
		case <-p.ended:
			t.Logf("ended after %v", time.Since(last))
		case <-time.After(20 * time.Millisecond):
			if i.repeated {
				_ = p.Process.Signal(signal) // it may just have ended
			}
			if time.Since(last) > patience {
				t.Fatal("it goes on")
			}
			continue
		}
		break
	}
	want := map[bool]int{true: 0, false: 128 + int(signal)}[i.code < 0]
	if code := p.ProcessState.ExitCode(); code != want {
		t.Errorf("%v, want exit code %d\n%s", p.err, want, &p.out)
	}
	if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if strings.HasPrefix(d.Name(), atomicfile.Prefix) || filepath.Ext(path) == ".json" && filepath.Base(path) == "m.json" {
			t.Errorf("%s is left", path)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}

// The processes started by submit local end with it, and a worker ends at its second signal.
func TestSubmitAndWorkersStopWhenTold(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			dir := write(t, "waits.yaml", waits)
			command := func(args ...string) *process {
				p := &process{Cmd: gpcTune(t, dir, args...)}
				p.Env = append(os.Environ(), heldIn+"="+dir)
				return p
			}
			interruption{ready: func(t *testing.T, p *process, dir string) {
				p.until(t, "two workers that are held", func() bool {
					running := workers(t, dir)
					return len(running) == 2 && areHeld(dir, running)
				})
			}, heard: func(t *testing.T, p *process, _ string) { p.says(t, finishing, 3) }}.stop(t, command("submit", "local", "waits.yaml", "-o", "run", "--blocks", "2", "--parallel", "2"), dir, signal)
			until(t, "the end of the workers", func() bool { return len(workers(t, dir)) == 0 })
			interruption{ready: computing, heard: saying}.stop(t, command("worker", "run", "--block", "0/1", "-j", "1"), dir, signal)
		})
	}
}

// When a terminal closes, which may send SIGHUP twice, a run finishes the jobs under way and ends
// resumably. It goes on if SIGHUP is ignored, as after nohup. A command that has nothing to finish
// ends.
func TestHangup(t *testing.T) {
	hearHangups(t)
	for name, command := range map[string]string{"closed": "", "nohup": "trap '' HUP; "} {
		dir := write(t, "waits.yaml", waits)
		t.Setenv(heldIn, dir)
		p := &process{Cmd: exec.Command("sh", "-c", command+"exec gpc-tune run waits.yaml -o run -j 1")}
		p.Dir = dir
		p.begin(t)
		p.until(t, "a job that is held", func() bool { return isHeld(dir, p.Process.Pid) })
		final := syscall.SIGHUP
		if name == "nohup" {
			final = syscall.SIGTERM
		}
		if err := errors.Join(p.Process.Signal(syscall.SIGHUP), p.Process.Signal(final)); err != nil {
			t.Fatal(err)
		}
		p.says(t, finishing, 1)
		if name == "closed" {
			if err := p.Process.Signal(final); err != nil {
				t.Fatal(err)
			}
			select {
			case <-p.ended:
				t.Fatalf("it does not finish its jobs: %v\n%s", p.err, &p.out)
			case <-time.After(4 * last):
			}
		}
		release(t, dir)
		if <-p.ended; p.ProcessState.ExitCode() != 128+int(final) || !strings.Contains(p.out.String(), "--resume") {
			t.Errorf("%s: %v, want exit code %d\n%s", name, p.err, 128+int(final), &p.out)
		}
		if lines, _ := journalled(t, filepath.Join(dir, "run")); lines != 1 {
			t.Errorf("%s: %d jobs are on record, want that of the signal", name, lines)
		}
		succeeds(t, dir, "run", "waits.yaml", "-o", "run", "--resume")
	}
	dir := t.TempDir()
	p := &process{Cmd: gpcTune(t, dir, "validate", "fifo")}
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	interruption{ready: reading("fifo")}.stop(t, p, dir, syscall.SIGHUP)
}

// workers lists the processes that work on runs in a folder.
func workers(t *testing.T, dir string) (pids []int) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		if text, err := os.ReadFile(name); err == nil && strings.Contains(string(text), "\x00worker\x00") {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			if in, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid)); err == nil && in == dir {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}
