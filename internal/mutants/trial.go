package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/sourcegraph/conc/pool"
)

const (
	memory   = 12 << 20        // KiB of address space that a test program may take; a mutant may ask for all there is
	together = 2 * time.Second // how long tests may take, without a mutant, that run in one process
)

// test is one test function.
type test struct {
	name string
	took time.Duration
}

// trial has the test program of a package, with all its mutants.
type trial struct {
	folder, program string
	reach           map[int][]test // the tests that reach a mutant, by its number
	failing         int            // tests that fail without a mutant; they are left out
}

// build compiles the tests of a package with such sources, into a temporary folder.
func build(ctx context.Context, folder, temporary string, text map[string]string) (*trial, error) {
	t := &trial{folder: folder, program: filepath.Join(temporary, "program"), reach: map[int][]test{}}
	replace := map[string]string{}
	for name, s := range text {
		replace[name] = filepath.Join(temporary, fmt.Sprintf("%d.go", len(replace)))
		if err := os.WriteFile(replace[name], []byte(s), 0o666); err != nil {
			return nil, err
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, err
	}
	overlay := filepath.Join(temporary, "overlay.json")
	if err := os.WriteFile(overlay, list, 0o666); err != nil {
		return nil, err
	}
	c := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", t.program, "./"+folder)
	if out, err := c.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go test -c ./%s: %w\n%s", folder, err, out)
	}
	return t, nil
}

// try compiles a package with all its mutants, and says what becomes of each.
func try(ctx context.Context, folder string, s *source, drawn []mutant) (met []result, failing int, err error) {
	temporary, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return nil, 0, err
	}
	defer os.RemoveAll(temporary)
	t, err := build(ctx, folder, temporary, s.with(drawn...))
	if err != nil {
		return nil, 0, err
	}
	if err := t.trace(ctx); err != nil {
		return nil, 0, err
	}
	for _, m := range drawn {
		r, err := t.judge(ctx, m)
		if err != nil {
			return nil, 0, err
		}
		met = append(met, r)
	}
	return met, t.failing, nil
}

// command runs tests in a process group, which is ended as a whole.
func (t *trial) command(ctx context.Context, environment string, arguments ...string) *exec.Cmd {
	limited := fmt.Sprintf(`ulimit -v %d; exec "$0" "$@"`, memory)
	c := exec.CommandContext(ctx, "sh", append([]string{"-c", limited, t.program}, arguments...)...)
	c.Dir = t.folder
	c.Env = append(os.Environ(), environment)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = time.Second
	return c
}

// trace runs every test alone, without a mutant, two at a time, and notes which mutants it reaches.
func (t *trial) trace(ctx context.Context) error {
	list, err := t.command(ctx, "MUTANT=", "-test.list", "^(Test|Example)").Output()
	if err != nil {
		return fmt.Errorf("the tests of %s: %w", t.folder, err)
	}
	var mu sync.Mutex
	workers := pool.New().WithMaxGoroutines(2)
	for name := range strings.FieldsSeq(string(list)) {
		workers.Go(func() {
			started := time.Now()
			reached, err := t.alone(ctx, name)
			one := test{name, time.Since(started)}
			mu.Lock()
			defer mu.Unlock()
			if err != nil { // what it reaches says nothing
				fmt.Println(err)
				t.failing++
			}
			for _, k := range reached {
				t.reach[k] = append(t.reach[k], one)
			}
		})
	}
	workers.Wait()
	return ctx.Err()
}

// alone runs one test without a mutant: the numbers of the mutants that it reaches.
func (t *trial) alone(ctx context.Context, name string) (reached []int, err error) {
	file := t.program + "." + name
	defer os.Remove(file)
	c := t.command(ctx, "MUTANT_TRACE="+file, "-test.run", "^"+name+"$", "-test.timeout", "10m")
	if out, err := c.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s of %s fails without a mutant, run alone: %w\n%s", name, t.folder, err, out)
	}
	list, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for k := range strings.FieldsSeq(string(list)) {
		n, err := strconv.Atoi(k)
		if err != nil {
			return nil, err
		}
		reached = append(reached, n)
	}
	return reached, err
}

// judge runs the tests that reach a mutant, up to the first that fails: the fast ones before the
// slow ones, in groups that take little time together.
func (t *trial) judge(ctx context.Context, m mutant) (r result, err error) {
	tests := slices.Clone(t.reach[m.number])
	slices.SortStableFunc(tests, func(a, b test) int { return cmp.Compare(a.took, b.took) })
	r = result{mutant: m, reached: len(tests)}
	for len(tests) > 0 && r.by == "" && err == nil {
		n, took := 1, tests[0].took
		for n < len(tests) && took+tests[n].took <= together {
			took += tests[n].took
			n++
		}
		r.end, r.by, err = t.notices(ctx, m.number, tests[:n], 20*time.Second+10*took)
		tests = tests[n:]
	}
	return r, err
}

// notices runs tests with a mutant: the test that fails or does not end in time; "" if all pass.
func (t *trial) notices(ctx context.Context, k int, tests []test, limit time.Duration) (end, string, error) {
	names := make([]string, len(tests))
	for i, one := range tests {
		names[i] = one.name
	}
	inTime, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	out, failed := t.command(inTime, fmt.Sprintf("MUTANT=%d", k), "-test.failfast",
		"-test.run", "^("+strings.Join(names, "|")+")$", "-test.timeout", limit.String()).CombinedOutput()
	if ctx.Err() != nil || failed == nil {
		return alive, "", ctx.Err()
	}
	by := names[0]
	if _, after, told := strings.Cut(string(out), "--- FAIL: "); told {
		by, _, _ = strings.Cut(after, " ")
	}
	if inTime.Err() != nil || bytes.Contains(out, []byte("panic: test timed out after")) {
		return killedByTime, by, nil
	}
	return killed, by, nil
}
