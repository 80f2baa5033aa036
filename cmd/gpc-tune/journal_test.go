package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
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

	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
	"github.com/gpc-tune/gpc-tune/internal/testing/golden"
	"github.com/gpc-tune/gpc-tune/record"
)

// lattice is an experiment of many short jobs: rows of two grids on six training sets.
const lattice = `version: 1
name: lattice
data: {dataset: ripley, subsample: 60}
model: {kernel: se, likelihood: probit, inference: [laplace, ep]}
tune: {method: grid, grid: {length_scale: {log: [-2, 1], points: 12}, amplitude: {log: [0, 3], points: 3}}}
evaluate: {kfold: {k: 5}}
`

const latticeJobs = 2 * 6 * (12 + 1)

// gpcTune is the program itself: the test binary under its other name.
func gpcTune(t testing.TB, dir string, args ...string) *exec.Cmd {
	t.Helper()
	path, err := exec.LookPath("gpc-tune")
	if err != nil {
		t.Fatal(err)
	}
	if signal.Ignored(syscall.SIGHUP) { // nohup ignores it: a child would ignore it too, unless this process catches it
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	c := exec.Command(path, args...)
	c.Dir = dir
	return c
}

// succeeds runs the program, which must succeed, and returns its output.
func succeeds(t testing.TB, dir string, args ...string) string {
	t.Helper()
	out, err := gpcTune(t, dir, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v\n%s", args, err, out)
	}
	return string(out)
}

// write writes a file in a new folder and returns the folder.
func write(t testing.TB, name, text string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return dir
}

func results(t testing.TB, dir string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// journalSize is the total size in bytes of a run's journal segments.
func journalSize(dir string) (n int64) {
	names, _ := filepath.Glob(filepath.Join(dir, "journal", "*.jsonl"))
	for _, name := range names {
		if info, err := os.Stat(name); err == nil {
			n += info.Size()
		}
	}
	return n
}

// journalled counts the lines in a run's journal, and the different jobs among them.
func journalled(t testing.TB, dir string) (lines, jobs int) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "journal", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]bool{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range bytes.Split(text, []byte("\n")) {
			var line record.Line
			if json.Unmarshal(one, &line) == nil {
				lines++
				keys[line.Key] = true
			}
		}
	}
	return lines, len(keys)
}

// process is a running command.
type process struct {
	*exec.Cmd
	out   transcript
	err   error         // how it ended
	ended chan struct{} // closed when it has
}

func start(t testing.TB, dir string, args ...string) *process {
	t.Helper()
	p := &process{Cmd: gpcTune(t, dir, args...)}
	p.begin(t)
	return p
}

// begin starts the command. Its output is kept unless it goes elsewhere.
func (p *process) begin(t testing.TB) {
	t.Helper()
	if p.Stdout == nil {
		p.Stdout = &p.out
	}
	if p.Stderr == nil {
		p.Stderr = &p.out
	}
	p.ended = make(chan struct{})
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		p.err = p.Wait()
	}()
}

// kill kills the process and reports whether it was still running.
func (p *process) kill(t testing.TB) bool {
	t.Helper()
	if err := p.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
	if <-p.ended; p.err == nil {
		return false
	}
	if s, ok := p.ProcessState.Sys().(syscall.WaitStatus); !ok || s.Signal() != syscall.SIGKILL {
		t.Fatalf("%v\n%s", p.err, &p.out)
	}
	return true
}

// wholeLattice runs lattice undisturbed with the kernel held, in the folder "whole" of dir, and
// returns the size of its journal. Processes of the test that start later compute a few jobs each
// before they are held in dir.
func wholeLattice(t *testing.T, dir string) int64 {
	t.Helper()
	t.Setenv(heldIn, dir)
	t.Setenv(heldAfter, "1000000")
	succeeds(t, dir, "run", "lattice.yaml", "-o", "whole", "-j", "1", "--set", "model.kernel=held")
	if lines, jobs := journalled(t, filepath.Join(dir, "whole")); lines != latticeJobs || jobs != latticeJobs {
		t.Fatalf("%d lines of %d jobs, want %d", lines, jobs, latticeJobs)
	}
	t.Setenv(heldAfter, "20")
	return journalSize(filepath.Join(dir, "whole"))
}

// A sweep is killed a few times at random, in one process or in three that share the folder from
// the start. It gives the bytes of an undisturbed sweep, and few jobs run twice. Each kill comes
// when the journal has grown by a random length. No process has time for all jobs before the last
// kill.
func TestKilledAndResumedGivesTheSameBytes(t *testing.T) {
	dir := write(t, "lattice.yaml", lattice)
	whole := wholeLattice(t, dir)
	want := results(t, filepath.Join(dir, "whole"))
	for name, c := range map[string]struct{ processes, kills int }{
		"one": {1, exhaustive.Of(2, 6)}, "three": {3, exhaustive.Of(2, 6)}, "unharmed": {3, 0}} {
		if name != "three" && !exhaustive.All() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			processes, kills := c.processes, c.kills
			random := rand.New(rand.NewPCG(1, uint64(processes)))
			folder, here := filepath.Join(dir, name), t.TempDir()
			t.Setenv(heldIn, here)
			run := func() *process {
				return start(t, dir, "run", "lattice.yaml", "-o", name, "-j", strconv.Itoa(3-min(processes, 2)), "--resume", "--set", "model.kernel=held")
			}
			var running []*process
			for range processes {
				running = append(running, run())
			}
			hits, grown := 0, 0
			for killed := 0; killed < kills; killed++ {
				size := journalSize(folder)
				enough, victim := size+1+random.Int64N(3*whole/latticeJobs), random.IntN(processes)
				running[victim].until(t, "new jobs", func() bool {
					return journalSize(folder) >= enough || !slices.ContainsFunc(running, func(p *process) bool { return !isHeld(here, p.Process.Pid) })
				})
				time.Sleep(time.Duration(random.Int64N(int64(4 * time.Millisecond))))
				if !running[victim].kill(t) {
					t.Fatalf("ended before it was killed:\n%s", &running[victim].out)
				}
				if journalSize(folder) > size {
					grown++
				}
				if _, jobs := journalled(t, folder); jobs < latticeJobs {
					hits++
				}
				running[victim] = run()
			}
			release(t, here)
			for _, p := range running {
				if <-p.ended; p.err != nil {
					t.Fatalf("%v\n%s", p.err, &p.out)
				}
			}
			lines, jobs := journalled(t, folder)
			segments, _ := filepath.Glob(filepath.Join(folder, "journal", "*.jsonl"))
			t.Logf("%d kills of an unfinished sweep, %d of them after new jobs; %d segments, %d lines of %d jobs", hits, grown, len(segments), lines, jobs)
			if hits < kills || grown < kills/2 {
				t.Errorf("only %d kills hit an unfinished sweep, %d with new jobs", hits, grown)
			}
			if jobs != latticeJobs || lines > 4*latticeJobs/3 {
				t.Errorf("%d lines of %d jobs, want %d jobs, few of them twice", lines, jobs, latticeJobs)
			}
			golden.Equal(t, "results.json differs from the uninterrupted run's", results(t, folder), want)
			if lost, _ := filepath.Glob(filepath.Join(folder, "*.json.*")); len(lost) > kills {
				t.Errorf("left behind: %v", lost)
			}
		})
	}
}

func TestInterruptEndsResumable(t *testing.T) {
	dir := write(t, "lattice.yaml", lattice)
	t.Setenv(heldIn, dir)
	t.Setenv(heldAfter, "20")
	p := start(t, dir, "run", "lattice.yaml", "-o", "run", "-j", "1", "--set", "model.kernel=held")
	p.until(t, "a job that is held", func() bool { return isHeld(dir, p.Process.Pid) })
	if err := p.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	p.says(t, finishing, 1)
	release(t, dir)
	if <-p.ended; p.ProcessState.ExitCode() != 128+int(syscall.SIGINT) {
		t.Fatalf("interrupted run ended with %v, want exit code 130", p.err)
	}
	if lines, _ := journalled(t, filepath.Join(dir, "run")); lines == 0 || lines == latticeJobs {
		t.Errorf("%d jobs were done", lines)
	}
	succeeds(t, dir, "run", "lattice.yaml", "-o", "run", "--resume", "--set", "model.kernel=held")
}

// In a folder without write permission no job runs.
func TestReadOnlyFolder(t *testing.T) {
	dir := write(t, "lattice.yaml", lattice)
	run := func(args ...string) (code int, out string) {
		c := gpcTune(t, dir, append([]string{"run", "lattice.yaml", "--set", "model.inference=laplace"}, args...)...)
		if os.Geteuid() == 0 { // root may write anywhere
			program := filepath.Join(dir, "gpc-tune")
			if text, err := os.ReadFile(c.Path); err != nil || os.WriteFile(program, text, 0o755) != nil {
				t.Fatal("the program cannot be copied to where others find it")
			}
			for d := dir; d != os.TempDir(); d = filepath.Dir(d) {
				if err := os.Chmod(d, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			c.Path, c.SysProcAttr = program, &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
		text, err := c.CombinedOutput()
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return c.ProcessState.ExitCode(), string(text)
	}
	if err := os.Mkdir(filepath.Join(dir, "new"), 0o555); err != nil {
		t.Fatal(err)
	}
	if code, out := run("-o", "new"); code != exitInvalid || !strings.Contains(out, "the run folder cannot be written to: write new/manifest.json") {
		t.Errorf("a new run: exit code %d: %s", code, out)
	}
	succeeds(t, dir, "run", "lattice.yaml", "--set", "model.inference=laplace", "-o", "begun")
	journal := filepath.Join(dir, "begun", "journal")
	segments, err := filepath.Glob(filepath.Join(journal, "*.jsonl"))
	if err != nil || len(segments) != 1 {
		t.Fatal(segments, err)
	}
	if err := errors.Join(os.Truncate(segments[0], journalSize(filepath.Join(dir, "begun"))/2), os.Chmod(journal, 0o555)); err != nil {
		t.Fatal(err)
	}
	if code, out := run("-o", "begun", "--resume"); code != exitInvalid || !strings.Contains(out, "the run folder cannot be written to: open begun/journal/") {
		t.Errorf("a run that was begun: exit code %d: %s", code, out)
	}
}

// Moving the folder away ends the run, because later results would not be found again.
func TestFolderVanishes(t *testing.T) {
	dir := write(t, "lattice.yaml", lattice)
	t.Setenv(heldIn, dir)
	t.Setenv(heldAfter, "20")
	p := start(t, dir, "run", "lattice.yaml", "-o", "run", "-j", "1", "--set", "model.kernel=held")
	p.until(t, "a job that is held", func() bool { return isHeld(dir, p.Process.Pid) })
	if err := os.Rename(filepath.Join(dir, "run"), filepath.Join(dir, "away")); err != nil {
		t.Fatal(err)
	}
	release(t, dir)
	if <-p.ended; p.ProcessState.ExitCode() != exitStopped || !strings.Contains(p.out.String(), "the run folder was moved or deleted during the run; restore it") {
		t.Errorf("%v: %s", p.err, &p.out)
	}
	if lines, _ := journalled(t, filepath.Join(dir, "away")); lines == 0 || lines > latticeJobs/2 {
		t.Errorf("%d jobs were done", lines)
	}
}

// Results do not depend on workers or processors: for approximations and strategies of every kind,
// for a training set so large that idle workers share the work of another, and for averages over
// random numbers.
func TestWorkersAndProcessorsDoNotMatter(t *testing.T) {
	for name, text := range map[string]string{
		"bfgs": `{data: {dataset: crabs, preprocess: standardize, subsample: 30}, model: {kernel: se, likelihood: probit,
			inference: [laplace, ep, {ep: {schedule: parallel}}, {pl: {schedule: mixed}}]}, tune: {method: bfgs, restarts: 2}, evaluate: {kfold: {k: 2}}}`,
		"large": `{data: {dataset: crabs, preprocess: standardize}, model: {kernel: se, likelihood: probit, inference: [laplace, ep, naive_mean_field]},
			tune: none, evaluate: {hold_out: {}}}`,
		"bayes": `{data: {dataset: crabs, preprocess: whiten, subsample: 40}, model: {kernel: se, likelihood: probit, inference: [laplace, online]},
			tune: {method: bayes, initial: 4, trials: 8, batch: 2, objective: loo_log_probability}, evaluate: {kfold: {k: 2}}}`,
		"mcmc": `{data: {dataset: crabs, preprocess: standardize, subsample: 30}, model: {kernel: {se: {amplitude: {prior: {log_normal: {mean: 0, sd: 1}}}, length_scale: {prior: {log_normal: {mean: 0, sd: 1}}}}},
			likelihood: logit, inference: [laplace, ep]}, tune: {method: mcmc, restarts: 3, burn: 5, samples: 5, objective: log_posterior}, evaluate: {kfold: {k: 2}}}`,
		"grid": `{data: {dataset: iris, preprocess: standardize, subsample: 45}, model: {kernel: [se, linear], likelihood: softmax, inference: laplace},
			tune: {method: grid, grid: {amplitude: {log: [0, 2], points: 3}}}, predict: {average: {monte_carlo: {samples: 100}}}, evaluate: {kfold: {k: 3}}}`,
		"cmaes": `{data: {dataset: crabs, preprocess: standardize, subsample: 30}, model: {kernel: se, likelihood: probit, inference: [laplace, ep]},
			tune: {method: cmaes, population: 4, trials: 12, objective: {cv: {score: log_loss, kfold: {k: 2}}}}, evaluate: {hold_out: {}}}`,
	} {
		if (name == "grid" || name == "cmaes") && !exhaustive.All() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			dir := write(t, "file.yaml", text)
			var want []byte
			for i, c := range []struct{ workers, processors string }{{"1", "1"}, {"2", "2"}, {"8", "2"}} {
				if !exhaustive.Tries(2, i) {
					continue
				}
				folder := c.workers + "-" + c.processors
				run := gpcTune(t, dir, "run", "file.yaml", "-o", folder, "-j", c.workers)
				run.Env = append(os.Environ(), "GOMAXPROCS="+c.processors)
				if out, err := run.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				got := results(t, filepath.Join(dir, folder))
				if want == nil {
					want = got
				}
				golden.Equal(t, c.workers+" workers on "+c.processors+" processors: results.json differs from that of one on one", got, want)
			}
		})
	}
}
