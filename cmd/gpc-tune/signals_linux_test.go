package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gpc-tune/gpc-tune/internal/atomicfile"
)

// patience is how long a test waits for what happens at once on an idle machine. What it has to be
// distinguished from takes longer: the grace period, or forever.
const patience = 15 * time.Second

// long is an experiment whose jobs take minutes, short one that takes no time.
const (
	long = `{data: {dataset: housing_binary, preprocess: standardize}, model: {kernel: {se: {ard: true}}, likelihood: probit, inference: ep},
		tune: {method: bfgs, restarts: 8}, evaluate: {hold_out: {}}}`
	short = `{data: {dataset: crabs, preprocess: standardize, subsample: 20}, model: {kernel: [se, linear], likelihood: probit, inference: laplace}, tune: none, evaluate: {kfold: {k: 2}}}`
)

// pipe makes a FIFO and opens it for a test.
func pipe(t *testing.T, name string, flags int) *os.File {
	t.Helper()
	if err := syscall.Mkfifo(name, 0o600); err != nil && !errors.Is(err, fs.ErrExist) {
		t.Fatal(err)
	}
	var fd int
	var err error
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if fd, err = syscall.Open(name, flags|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0); err != syscall.ENXIO { // nobody reads yet
			break
		}
	}
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

// ticks is the processor time of a process in 1/100 s.
func ticks(pid int) int {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, after, _ := bytes.Cut(text, []byte(") "))
	fields := strings.Fields(string(after))
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return user + system
}

// interruption is a command that is told to stop.
type interruption struct {
	name    string
	args    []string
	ready   func(t *testing.T, p *process, dir string) // returns when the command is where the signal has to reach it
	prepare func(t *testing.T, p *process, dir string)
	signals int
	code    int // 0: that of the signal
	done    bool
}

// reading waits until the command reads the FIFO with this name in its folder, which never gets any
// data.
func reading(name string) func(*testing.T, *process, string) {
	return func(t *testing.T, _ *process, dir string) { pipe(t, filepath.Join(dir, name), syscall.O_WRONLY) }
}

// computing waits until the command has used 0.3 s of processor time.
func computing(t *testing.T, p *process, _ string) { used(t, p, 30) }

// draining waits until the command computes jobs, after it has created its run folder.
func draining(t *testing.T, p *process, dir string) {
	for deadline := time.Now().Add(2 * patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(dir, "run", "manifest.json")); err == nil {
			break
		}
	}
	computing(t, p, dir)
}

// used waits until the command has used the given processor time, in 1/100 s.
func used(t *testing.T, p *process, least int) {
	for deadline := time.Now().Add(2 * patience); ; time.Sleep(5 * time.Millisecond) {
		if ticks(p.Process.Pid) >= least {
			return
		}
		select {
		case <-p.ended:
			t.Fatalf("ended before it was told to: %v\n%s", p.err, &p.out)
		default:
		}
		if time.Now().After(deadline) {
			t.Fatal("it does not compute")
		}
	}
}

// writing waits until the command is blocked in a write.
func writing(t *testing.T, p *process, _ string) {
	for deadline := time.Now().Add(2 * patience); ; time.Sleep(5 * time.Millisecond) {
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/syscall", p.Process.Pid))
		for _, task := range tasks {
			if text, _ := os.ReadFile(task); strings.HasPrefix(string(text), strconv.Itoa(syscall.SYS_WRITE)+" ") {
				return
			}
		}
		select {
		case <-p.ended:
			t.Fatalf("ended before it was told to: %v\n%s", p.err, &p.out)
		default:
		}
		if time.Now().After(deadline) {
			t.Fatal("it does not write")
		}
	}
}

// opened waits until the command has opened the FIFO.
func opened(t *testing.T, p *process, dir string) {
	for deadline := time.Now().Add(2 * patience); ; time.Sleep(5 * time.Millisecond) {
		files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", p.Process.Pid))
		for _, file := range files {
			if to, _ := os.Readlink(file); to == filepath.Join(dir, "fifo") {
				return
			}
		}
		if time.Now().After(deadline) {
			t.Fatal("it does not open the FIFO")
		}
	}
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

// Every command ends when told to, whatever it reads, computes or writes: at the first signal if it
// has nothing to finish, otherwise at the second. It leaves no partly written file.
func TestEveryCommandStopsWhenTold(t *testing.T) {
	made := write(t, "short.yaml", short)
	if err := os.WriteFile(filepath.Join(made, "long.yaml"), []byte(long), 0o666); err != nil {
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
		{"submit", "local", "fifo"}, {"evidence", "--data", "fifo"}, {"sample", "--data", "fifo"}, {"data", "fifo"}, {"predict", "fifo", "crabs"},
		{"predict", model, "fifo"}, {"init", "new.yaml", "--data", "fifo"},
	} {
		add(interruption{name: "reading", args: args, prepare: fifo, ready: reading("fifo")})
	}
	for _, args := range [][]string{{"status", "run"}, {"show", "run"}, {"export", "run"}, {"compare", done, "run"}, {"report", "run"}, {"serve", "run"}} {
		add(interruption{name: "reading", args: args, prepare: folder("manifest.json"), ready: reading("run/manifest.json")})
	}
	add(interruption{name: "reading", args: []string{"worker", "run", "--block", "0/2"}, prepare: folder("plan.json"), ready: reading("run/plan.json")})

	for _, args := range [][]string{
		{"check", file("long.yaml"), "-j", "1"}, {"fit", file("long.yaml"), "-m", "m.json", "-j", "1"}, {"sample", "--grid", "-5:5:4000"},
		{"evidence", "--data", "digits", "--classes", "one_vs_rest", "--likelihood", "probit", "--inference", "ep", "--theta", "log_length_scale=3,log_amplitude=1"},
	} {
		add(interruption{name: "computing", args: args, ready: computing})
	}
	for _, args := range [][]string{{"run", file("long.yaml"), "-o", "run", "-j", "1"}, {"fit", file("long.yaml"), "-m", "m.json", "-o", "run", "-j", "1"}} {
		add(interruption{name: "computing", args: args, ready: draining, signals: 2, done: true})
		add(interruption{name: "computing, nobody reads stderr", args: args, prepare: stderrFull, ready: draining, signals: 2, done: true})
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
	add(interruption{name: "writing to stderr", args: []string{"worker", done, "--block", "0/2"}, prepare: stderrFull, ready: writing, signals: 2})
	add(interruption{name: "serving", args: []string{"serve", done}, prepare: func(t *testing.T, p *process, dir string) {
		p.Stdout = pipe(t, filepath.Join(dir, "stdout"), syscall.O_RDWR)
	}, ready: serving, code: -1})

	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		for _, i := range all {
			short := make([]string, len(i.args))
			for k, a := range i.args {
				short[k] = filepath.Base(a)
			}
			t.Run(fmt.Sprintf("%v/%s/%s", signal, i.name, strings.Join(short, " ")), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				p := &process{Cmd: gpcTune(t, dir, i.args...), ended: make(chan struct{})}
				p.Stdout, p.Stderr = &p.out, &p.out
				p.WaitDelay = time.Second
				p.Env = append(os.Environ(), "GOMAXPROCS=1")
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
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		p.err = p.Wait()
	}()
	defer p.Process.Kill() // if the test fails
	i.ready(t, p, dir)
	for k := range max(1, i.signals) {
		if k > 0 {
			select {
			case <-p.ended:
				t.Fatalf("ended at the first signal: %v\n%s", p.err, &p.out)
			case <-time.After(200 * time.Millisecond):
			}
		}
		if err := p.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
	}
	told := time.Now()
	select {
	case <-p.ended:
		t.Logf("ended after %v", time.Since(told))
	case <-time.After(patience):
		t.Fatal("it goes on")
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
			dir := write(t, "long.yaml", long)
			submitted := interruption{signals: 2, ready: func(t *testing.T, p *process, dir string) {
				computes := func(pid int) bool { return ticks(pid) >= 100 } // it has passed its start, during which the first signal ends it
				for deadline := time.Now().Add(4 * patience); !slices.ContainsFunc(workers(t, dir), computes); time.Sleep(10 * time.Millisecond) {
					if time.Now().After(deadline) {
						t.Fatal("no worker is started")
					}
				}
			}}
			p := &process{Cmd: gpcTune(t, dir, "submit", "local", "long.yaml", "-o", "run", "--blocks", "2", "--parallel", "2"), ended: make(chan struct{})}
			p.Stdout, p.Stderr = &p.out, &p.out
			submitted.stop(t, p, dir, signal)
			for deadline := time.Now().Add(patience); len(workers(t, dir)) > 0; time.Sleep(10 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatalf("workers %v go on", workers(t, dir))
				}
			}
			p = &process{Cmd: gpcTune(t, dir, "worker", "run", "--block", "0/1", "-j", "1"), ended: make(chan struct{})}
			p.Stdout, p.Stderr = &p.out, &p.out
			interruption{signals: 2, ready: func(t *testing.T, p *process, _ string) { used(t, p, 200) }}.stop(t, p, dir, signal)
		})
	}
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
