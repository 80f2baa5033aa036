package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gpc-tune/gpc-tune/internal/testing/golden"
)

// children lists the running child processes of a process.
func children(t testing.TB, pid int) (pids []int) {
	t.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range threads {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // a thread that ended
		}
		for _, word := range strings.Fields(string(text)) {
			child, err := strconv.Atoi(word)
			if err != nil {
				t.Fatal(err)
			}
			pids = append(pids, child)
		}
	}
	return pids
}

// 30 workers are killed at random, while other workers run the same blocks. The run gives the bytes
// of an undivided run, loses no job, and records no job twice with different results.
func TestKilledWorkersGiveTheSameBytes(t *testing.T) {
	if _, err := os.Stat(fmt.Sprintf("/proc/self/task/%d/children", os.Getpid())); err != nil {
		t.Skip("needs the list of a process's children in /proc: run it on Linux")
	}
	dir := write(t, "lattice.yaml", lattice)
	succeeds(t, dir, "run", "lattice.yaml", "-o", "whole", "-j", "1")
	whole := journalSize(filepath.Join(dir, "whole"))
	const kills, blocks = 30, 6
	random := rand.New(rand.NewPCG(8, kills))
	folder := filepath.Join(dir, "twin")
	submitted := start(t, dir, "submit", "local", "lattice.yaml", "-o", "twin", "--blocks", strconv.Itoa(blocks), "--parallel", "3", "--retries", strconv.Itoa(kills))
	var twice []*process
	workers := func() (pids []int) { return children(t, submitted.Process.Pid) }
	hits, size := 0, int64(0)
	for killed := 0; killed < kills; killed++ {
		enough := size + random.Int64N(max(whole-size, 1000)/int64(2*(kills-killed)))
		for deadline := time.Now().Add(10 * time.Second); (journalSize(folder) < enough || len(workers()) == 0) && time.Now().Before(deadline); {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Duration(random.Int64N(int64(4 * time.Millisecond))))
		if killed == kills/2 { // the run is laid out by now: two of its blocks run twice
			for _, block := range []string{"1/6", "4/6"} {
				twice = append(twice, start(t, dir, "worker", "twin", "--block", block, "-j", "1"))
			}
		}
		running := workers()
		for _, p := range running { // the others are stopped, so that they do not finish while this machine is busy elsewhere
			_ = syscall.Kill(p, syscall.SIGSTOP)
		}
		hit := len(running) > 0 && syscall.Kill(running[random.IntN(len(running))], syscall.SIGKILL) == nil // it may have finished already
		size = max(size, journalSize(folder))
		if _, jobs := journalled(t, folder); jobs < latticeJobs && hit {
			hits++
		}
		for _, p := range running {
			_ = syscall.Kill(p, syscall.SIGCONT)
		}
	}
	for _, p := range append(twice, submitted) {
		if <-p.ended; p.err != nil {
			t.Fatalf("%v\n%s", p.err, &p.out)
		}
	}
	lines, jobs := journalled(t, folder)
	again := strings.Count(submitted.out.String(), "ended with signal: killed; restarting it")
	t.Logf("%d kills of workers of an unfinished run, %d heard of; %d lines of %d jobs", hits, again, lines, jobs)
	if hits < kills*2/3 || again < kills/2 { // some have ended already when they are killed
		t.Errorf("%d kills hit an unfinished run, %d workers were started again:\n%s", hits, again, &submitted.out)
	}
	if jobs != latticeJobs {
		t.Errorf("%d jobs are on record, want %d", jobs, latticeJobs)
	}
	golden.Equal(t, "results.json differs from the undivided run's", results(t, folder), results(t, filepath.Join(dir, "whole")))
}

// A signal to submit local is passed on to its workers, which end resumably; submitted again, only
// the missing jobs run.
func TestSubmitIsStoppedAndGoesOn(t *testing.T) {
	dir := write(t, "lattice.yaml", lattice)
	p := start(t, dir, "submit", "local", "lattice.yaml", "-o", "twin", "--blocks", "3", "--parallel", "2")
	folder := filepath.Join(dir, "twin")
	for deadline := time.Now().Add(10 * time.Second); journalSize(folder) == 0 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if <-p.ended; p.ProcessState.ExitCode() != 128+int(syscall.SIGTERM) {
		t.Fatalf("%v, want exit code 143\n%s", p.err, &p.out)
	}
	before, _ := journalled(t, folder)
	succeeds(t, dir, "submit", "local", "lattice.yaml", "-o", "twin")
	if lines, jobs := journalled(t, folder); before == 0 || before == latticeJobs || lines != latticeJobs || jobs != latticeJobs {
		t.Errorf("%d lines before, %d of %d jobs after", before, lines, jobs)
	}
}

// A worker that is told to end records its finished jobs first.
func TestWorkerIsStopped(t *testing.T) {
	dir := write(t, "lattice.yaml", lattice)
	succeeds(t, dir, "submit", "local", "lattice.yaml", "-o", "twin", "--blocks", "2")
	if err := os.RemoveAll(filepath.Join(dir, "twin", "journal")); err != nil {
		t.Fatal(err)
	}
	p := start(t, dir, "worker", "twin", "--block", "0/2", "-j", "1")
	for deadline := time.Now().Add(10 * time.Second); journalSize(filepath.Join(dir, "twin")) == 0 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if <-p.ended; p.ProcessState.ExitCode() != 128+int(syscall.SIGTERM) {
		t.Fatalf("%v, want exit code 143\n%s", p.err, &p.out)
	}
	if lines, _ := journalled(t, filepath.Join(dir, "twin")); lines == 0 || lines > latticeJobs/2 {
		t.Errorf("%d jobs are on record", lines)
	}
}
