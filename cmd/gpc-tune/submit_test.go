package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gpc-tune/gpc-tune/internal/testing/golden"

	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
	"github.com/gpc-tune/gpc-tune/internal/testing/needs"
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

// Workers are killed at random, while other workers run the same blocks. The run gives the bytes
// of an undivided run, loses no job, and records no job twice with different results. No worker has
// time for its block before all kills.
func TestKilledWorkersGiveTheSameBytes(t *testing.T) {
	_, err := os.Stat(fmt.Sprintf("/proc/self/task/%d/children", os.Getpid()))
	needs.That(t, err == nil, "the list of a process's children in /proc: run it on Linux")
	dir := write(t, "lattice.yaml", lattice)
	whole := wholeLattice(t, dir)
	const blocks = 6
	kills := exhaustive.Of(2, 12)
	random := rand.New(rand.NewPCG(8, uint64(kills)))
	folder := filepath.Join(dir, "twin")
	submitted := start(t, dir, "submit", "local", "lattice.yaml", "-o", "twin", "--blocks", strconv.Itoa(blocks), "--parallel", "3", "--retries", strconv.Itoa(kills), "--set", "model.kernel=held")
	var twice []*process
	hits := 0
	for killed := 0; killed < kills; killed++ {
		enough := journalSize(folder) + random.Int64N(3*whole/latticeJobs)
		var running []int
		submitted.until(t, "new jobs", func() bool {
			running = children(t, submitted.Process.Pid)
			return len(running) > 0 && (journalSize(folder) >= enough || areHeld(dir, running))
		})
		time.Sleep(time.Duration(random.Int64N(int64(4 * time.Millisecond))))
		if killed == kills/2 { // the run is laid out by now: two of its blocks run twice
			for _, block := range []string{"1/6", "4/6"} {
				twice = append(twice, start(t, dir, "worker", "twin", "--block", block, "-j", "1"))
			}
		}
		victim := running[random.IntN(len(running))]
		_ = syscall.Kill(victim, syscall.SIGKILL) // it may just have ended
		submitted.until(t, "the end of a worker", func() bool { return !slices.Contains(children(t, submitted.Process.Pid), victim) })
		if _, jobs := journalled(t, folder); jobs < latticeJobs {
			hits++
		}
	}
	release(t, dir)
	for _, p := range append(twice, submitted) {
		if <-p.ended; p.err != nil {
			t.Fatalf("%v\n%s", p.err, &p.out)
		}
	}
	lines, jobs := journalled(t, folder)
	again := strings.Count(submitted.out.String(), "ended with signal: killed; restarting it")
	t.Logf("%d kills of workers of an unfinished run, %d heard of; %d lines of %d jobs", hits, again, lines, jobs)
	if hits < kills || again < kills*2/3 { // a worker of a block that is nearly done may end before it is killed
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
	t.Setenv(heldIn, dir)
	t.Setenv(heldAfter, "20")
	const held = "model.kernel=held"
	p := start(t, dir, "submit", "local", "lattice.yaml", "-o", "twin", "--blocks", "3", "--parallel", "2", "--set", held)
	folder := filepath.Join(dir, "twin")
	p.until(t, "workers that are held", func() bool {
		running := children(t, p.Process.Pid)
		return len(running) == 2 && areHeld(dir, running)
	})
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.says(t, finishing, 3)
	release(t, dir)
	if <-p.ended; p.ProcessState.ExitCode() != 128+int(syscall.SIGTERM) {
		t.Fatalf("%v, want exit code 143\n%s", p.err, &p.out)
	}
	before, _ := journalled(t, folder)
	succeeds(t, dir, "submit", "local", "lattice.yaml", "-o", "twin", "--set", held)
	if lines, jobs := journalled(t, folder); before == 0 || before == latticeJobs || lines != latticeJobs || jobs != latticeJobs {
		t.Errorf("%d lines before, %d of %d jobs after", before, lines, jobs)
	}
}

// A worker that is told to end records its finished jobs first.
func TestWorkerIsStopped(t *testing.T) {
	dir := write(t, "lattice.yaml", lattice)
	t.Setenv(heldIn, dir)
	release(t, dir)
	succeeds(t, dir, "submit", "local", "lattice.yaml", "-o", "twin", "--blocks", "2", "--set", "model.kernel=held")
	if err := errors.Join(os.RemoveAll(filepath.Join(dir, "twin", "journal")), os.Remove(filepath.Join(dir, "released"))); err != nil {
		t.Fatal(err)
	}
	t.Setenv(heldAfter, "20")
	p := start(t, dir, "worker", "twin", "--block", "0/2", "-j", "1")
	p.until(t, "a job that is held", func() bool { return isHeld(dir, p.Process.Pid) })
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.says(t, finishing, 1)
	release(t, dir)
	if <-p.ended; p.ProcessState.ExitCode() != 128+int(syscall.SIGTERM) {
		t.Fatalf("%v, want exit code 143\n%s", p.err, &p.out)
	}
	if lines, _ := journalled(t, filepath.Join(dir, "twin")); lines == 0 || lines > latticeJobs/2 {
		t.Errorf("%d jobs are on record", lines)
	}
}
