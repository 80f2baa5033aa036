package main

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gpc-tune/gpc-tune/internal/testing/golden"
	"github.com/gpc-tune/gpc-tune/internal/testing/needs"
)

// array is an experiment of some seconds: rows of a grid under Laplace's method.
const array = `version: 1
name: array
data: {dataset: ionosphere, preprocess: standardize}
model: {kernel: se, likelihood: probit, inference: laplace}
tune: {method: grid, grid: {length_scale: {log: [0, 4], points: 40}, amplitude: {log: [0, 3], points: 8}}}
evaluate: {kfold: {k: 4}}
`

const arrayJobs = 5 * (40 + 1)

// cluster is a Slurm cluster with one node.
type cluster struct {
	t      testing.TB
	folder string
	start  string // the script that starts it
}

// startSlurm starts a cluster that ends with the test.
func startSlurm(t testing.TB, tasks int) *cluster {
	t.Helper()
	for _, program := range []string{"munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "scancel", "sinfo"} {
		needs.Program(t, program, "slurm-wlm and munge, and run it as root")
	}
	needs.That(t, os.Geteuid() == 0, "root, to start a Slurm of its own: run it as root, as in a container with slurm-wlm and munge")
	folder, err := os.MkdirTemp("", "slurm") // a short name, because it is part of a socket's name
	if err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs("testdata/slurm/start.sh")
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{t: t, folder: folder, start: script}
	t.Setenv("SLURM_CONF", filepath.Join(folder, "slurm.conf"))
	t.Cleanup(func() {
		for _, daemon := range []string{"slurmctld", "slurmd", "munged"} {
			c.end(daemon, syscall.SIGKILL)
		}
		if t.Failed() {
			for _, daemon := range []string{"slurmctld", "slurmd"} {
				text, _ := os.ReadFile(filepath.Join(folder, daemon+".log"))
				t.Logf("%s:\n%s", daemon, text[max(0, len(text)-5000):])
			}
		}
		_ = os.RemoveAll(folder) // a daemon may still be writing there
	})
	c.must("sh", script, folder, strconv.Itoa(freePort(t)), strconv.Itoa(tasks))
	return c
}

// freePort returns the first of two adjacent free ports.
func freePort(t testing.TB) int {
	t.Helper()
	for range 100 {
		first, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		port := first.Addr().(*net.TCPAddr).Port
		second, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port+1))
		_ = first.Close()
		if err == nil {
			_ = second.Close()
			return port
		}
	}
	t.Fatal("no two ports are free")
	return 0
}

// must runs a command of the cluster that must succeed, and returns its output.
func (c *cluster) must(name string, args ...string) string {
	c.t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		c.t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}

// end signals a daemon and waits until it has ended.
func (c *cluster) end(daemon string, s syscall.Signal) {
	text, err := os.ReadFile(filepath.Join(c.folder, daemon+".pid"))
	if err != nil {
		return
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return
	}
	_ = syscall.Kill(pid, s)
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if _, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); err != nil { // ended, even if its parent has not waited for it
			return
		}
	}
}

// crash kills the controller, once it has saved its tasks, which are stopped meanwhile, and starts
// it again.
func (c *cluster) crash() {
	c.t.Helper()
	since := time.Now().Add(time.Second)
	until(c.t, "the controller to save its jobs", func() bool {
		c.signal(syscall.SIGSTOP)
		saved, err := os.Stat(filepath.Join(c.folder, "state", "job_state"))
		return err == nil && saved.ModTime().After(since)
	})
	c.end("slurmctld", syscall.SIGKILL)
	c.signal(syscall.SIGCONT)
	c.must("sh", c.start, c.folder)
}

// forget kills the controller and starts it again without its jobs, so that it reuses their
// numbers. The node finishes the old tasks and is then restarted, because it would not take others
// with the same numbers.
func (c *cluster) forget() {
	c.t.Helper()
	c.end("slurmctld", syscall.SIGKILL)
	for _, pattern := range []string{"job*", "hash*", "last*"} {
		names, err := filepath.Glob(filepath.Join(c.folder, "state", pattern))
		if err != nil {
			c.t.Fatal(err)
		}
		for _, name := range names {
			if err := os.RemoveAll(name); err != nil {
				c.t.Fatal(err)
			}
		}
	}
	c.must("sh", c.start, c.folder)
	until(c.t, "the node to be rid of tasks that nobody knows", func() bool {
		left, err := filepath.Glob(filepath.Join(c.folder, "spool", "job*"))
		return err == nil && len(left) == 0
	})
	c.end("slurmd", syscall.SIGKILL)
	spool := filepath.Join(c.folder, "spool")
	if err := errors.Join(os.RemoveAll(spool), os.Mkdir(spool, 0o755)); err != nil {
		c.t.Fatal(err)
	}
	c.must("sh", c.start, c.folder)
}

// running lists the running tasks as JOB_TASK.
func (c *cluster) running() []string {
	c.t.Helper()
	return strings.Fields(c.must("squeue", "--noheader", "--array", "--states=RUNNING", "--format=%F_%K"))
}

// signal sends a signal to the workers whose environment has all of these variables, and returns
// their number.
func (c *cluster) signal(s syscall.Signal, variables ...string) (n int) {
	c.t.Helper()
	processes, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		c.t.Fatal(err)
	}
	variables = append(variables, "SLURM_CONF="+os.Getenv("SLURM_CONF"), "SLURM_CLUSTER_NAME=test")
	for _, name := range processes {
		text, err := os.ReadFile(name)
		if err != nil || slices.ContainsFunc(variables, func(v string) bool { return !slices.Contains(strings.Split(string(text), "\x00"), v) }) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name))); err == nil && syscall.Kill(pid, s) == nil {
			n++
		}
	}
	return n
}

// kill kills the worker of a task, like the system does when memory is short.
func (c *cluster) kill(task string) {
	c.t.Helper()
	job, index, _ := strings.Cut(task, "_")
	if c.signal(syscall.SIGKILL, "SLURM_ARRAY_JOB_ID="+job, "SLURM_ARRAY_TASK_ID="+index) == 0 {
		c.t.Errorf("task %s has no process to be killed", task)
	}
}

// drained reports whether the queue is empty.
func (c *cluster) drained() bool { return c.must("squeue", "--noheader") == "" }

// The controller of a cluster loses all its jobs, and is later killed once more, while tasks are
// killed, requeued and run twice. The run gives the bytes of a run in one process, and every job is
// recorded.
func TestSlurm(t *testing.T) {
	c := startSlurm(t, 4)
	dir := write(t, "array.yaml", array)
	succeeds(t, dir, "run", "array.yaml", "-o", "whole")
	folder := filepath.Join(dir, "a run's folder")
	done := func() int {
		_, jobs := journalled(t, folder)
		return jobs
	}
	submit := func(flags ...string) string {
		t.Helper()
		return succeeds(t, dir, append([]string{"submit", "slurm", "array.yaml", "-o", folder}, flags...)...)
	}
	status := func() string {
		t.Helper()
		return succeeds(t, dir, "status", folder)
	}
	if text := submit("--dry-run", "--blocks", "10"); !strings.Contains(text, "--array=0-3 ") || done() != 0 {
		t.Fatalf("a dry run of two arrays: %s", text)
	}

	// Job arrays of this cluster have at most 6 tasks. The controller loses them before much is
	// done.
	out := submit("--blocks", "10")
	if strings.Count(out, "job ") != 3 {
		t.Fatalf("three jobs were to be sent: %s", out)
	}
	if out = submit(); !strings.Contains(out, "all missing jobs are in the queue already") {
		t.Fatal(out)
	}
	if out = status(); !strings.Contains(out, "slurm: ") || !strings.Contains(out, "next: gpc-tune submit slurm array.yaml -o ") {
		t.Fatal(out)
	}
	until(t, "a first job", func() bool { return done() > 0 })
	c.forget()
	if out = status(); !strings.Contains(out, "slurm: 0 blocks running, 0 in the queue") {
		t.Fatal(out)
	}

	// Submitted again. One task is killed, one is requeued, and the controller is killed while it
	// handles both.
	before := done()
	if out = submit(); !strings.Contains(out, "job 1: ") {
		t.Fatalf("the numbers of jobs do not begin anew: %s", out)
	}
	until(t, "jobs of the second submission", func() bool {
		return done() > before+2 && len(c.running()) >= 2
	})
	victims := c.running()
	c.kill(victims[0])
	c.must("scontrol", "requeue", victims[1])
	middle := done()
	c.crash()
	if middle >= arrayJobs*3/4 {
		t.Fatalf("%d of %d jobs were done when the controller was killed: too late to test anything", middle, arrayJobs)
	}

	// Every remaining block, some of them twice.
	until(t, "the controller to have the tasks again", func() bool { return len(c.running()) > 0 || done() > middle })
	submit("--force")
	for range 5 {
		until(t, "an empty queue", c.drained)
		if out = submit(); strings.Contains(out, "results: ") {
			break
		}
	}
	if out = status(); !strings.Contains(out, "finished, 205 of 205 known jobs done, 0 failed") {
		t.Fatal(out)
	}
	lines, jobs := journalled(t, folder)
	logs, _ := filepath.Glob(filepath.Join(folder, "slurm", "*.log"))
	t.Logf("%d jobs were done before the first crash, %d before the second; %d lines of %d jobs; %d logs", before, middle, lines, jobs, len(logs))
	if jobs != arrayJobs || lines < jobs {
		t.Errorf("%d lines of %d jobs, want %d jobs", lines, jobs, arrayJobs)
	}
	golden.Equal(t, "results.json differs from that of one process", results(t, folder), results(t, filepath.Join(dir, "whole")))
}

// An error that a worker cannot resolve ends its task at once. Every wave of nested
// cross-validation waits for the one before.
func TestSlurmWaves(t *testing.T) {
	c := startSlurm(t, 8)
	dir := write(t, "nested.yaml", `{data: {dataset: crabs, preprocess: standardize, subsample: 60}, model: {kernel: [se, linear], likelihood: probit, inference: laplace},
		tune: {method: bfgs, restarts: 2}, evaluate: {nested: {outer: {kfold: {k: 2}}, inner: {kfold: {k: 2}}}}}`)
	succeeds(t, dir, "run", "nested.yaml", "-o", "whole")
	template := "#!/bin/sh\n{{.Directives}}\n#SBATCH --nice=1\nexport FROM_TEMPLATE=1\n{{.Command}}\n"
	if err := os.WriteFile(filepath.Join(dir, "mine.sh"), []byte(template), 0o666); err != nil {
		t.Fatal(err)
	}
	args := []string{"submit", "slurm", "nested.yaml", "-o", "run", "--blocks", "4", "--template", "mine.sh", "--partition", "test", "--time", "5", "--mem", "600M", "--array-parallelism", "3"}
	succeeds(t, dir, args...)
	until(t, "an empty queue", c.drained)
	golden.Equal(t, "results.json differs from that of one process",
		results(t, filepath.Join(dir, "run")), results(t, filepath.Join(dir, "whole")))
	script, err := os.ReadFile(filepath.Join(dir, "run", "slurm", "worker.sh"))
	if err != nil || !bytes.Contains(script, []byte("FROM_TEMPLATE")) || !bytes.Contains(script, []byte("--mem=600M")) {
		t.Errorf("%v: the script is\n%s", err, script)
	}
	program := gpcTune(t, dir).Path
	t.Setenv("PATH", filepath.Dir(program)) // a directory without squeue
	if err := os.RemoveAll(filepath.Join(dir, "run", "journal")); err != nil {
		t.Fatal(err)
	}
	text, err := gpcTune(t, dir, args...).CombinedOutput()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != exitStopped || !strings.Contains(string(text), "squeue") {
		t.Errorf("without a cluster submit ends with %v: %s", err, text)
	}
}
