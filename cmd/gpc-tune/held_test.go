package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// Environment variables of a program with the kernel held.
const (
	heldIn    = "GPC_TUNE_TEST_HELD_IN"    // a folder; the kernel exists only if it is given
	heldAfter = "GPC_TUNE_TEST_HELD_AFTER" // the matrices that a process computes before it is held; none: 0
)

func init() {
	if os.Getenv(heldIn) != "" {
		kernel.Register("held", "the kernel se, in jobs that do not end before a test releases them", 1, held{})
	}
}

// held is the kernel se. In each process its matrices after the first heldAfter ones are not
// finished before the folder heldIn has the file "released": until then the process computes, and
// cannot end by itself. The folder gets the file "held-PID".
type held struct{}

var (
	filled atomic.Int64
	marked sync.Once
)

func (held) Params(dim int) []param.Spec { return kernel.SE{}.Params(dim) }
func (held) Memory(n, m, dim int) int64  { return kernel.SE{}.Memory(n, m, dim) }
func (held) Pull(grad, theta []float64, own, g kernel.Block) {
	kernel.SE{}.Pull(grad, theta, own, g)
}
func (held) Fill(dst kernel.Block, theta []float64) {
	kernel.SE{}.Fill(dst, theta)
	first, _ := strconv.ParseInt(os.Getenv(heldAfter), 10, 64)
	if dst.Rows() < 3 || filled.Add(1) <= first { // before all jobs a model is tried on two cases
		return
	}
	dir := os.Getenv(heldIn)
	marked.Do(func() {
		_ = os.WriteFile(filepath.Join(dir, fmt.Sprint("held-", os.Getpid())), nil, 0o666) // the test waits for it
	})
	for n := 0; ; n++ {
		if n%(1<<20) > 0 {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, "released")); err == nil {
			return
		}
		if _, err := os.Stat(dir); err != nil { // the test has ended
			os.Exit(1)
		}
		time.Sleep(5 * time.Millisecond) // leaves the processor to others most of the time
	}
}

// isHeld reports whether the process with a number computes a matrix that is not finished.
func isHeld(dir string, pid int) bool {
	_, err := os.Stat(filepath.Join(dir, fmt.Sprint("held-", pid)))
	return err == nil
}

// areHeld reports whether isHeld is true for all processes.
func areHeld(dir string, pids []int) bool {
	return !slices.ContainsFunc(pids, func(pid int) bool { return !isHeld(dir, pid) })
}

// release ends the waiting of all processes in a folder.
func release(t testing.TB, dir string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "released"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
}

// until waits until done returns true, for at most two minutes.
func until(t testing.TB, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited two minutes for %s", what)
		}
	}
}

// until is the function until for a state that the process reaches before it ends.
func (p *process) until(t testing.TB, what string, done func() bool) {
	t.Helper()
	until(t, what, func() bool {
		select {
		case <-p.ended:
			t.Fatalf("ended without %s: %v\n%s", what, p.err, &p.out)
		default:
		}
		return done()
	})
}

// finishing is the message of a command at the first signal, if it has jobs to finish.
const finishing = "finishing what is under way"

// says waits until the output of the process has a text n times.
func (p *process) says(t testing.TB, text string, n int) {
	t.Helper()
	p.until(t, text, func() bool { return strings.Count(p.out.String(), text) >= n })
}

// transcript is the output of a process, also while it runs.
type transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *transcript) Write(text []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(text)
}

func (o *transcript) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}
