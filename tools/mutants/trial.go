//go:build unix

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
	"path"
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
	atOnce   = 2               // test programs that run at the same time
	memory   = 12 << 20        // KiB of address space that a test program may take; a mutant may ask for all there is
	together = 2 * time.Second // how long tests may take, without a mutant, that run in one process
)

// test is one test function.
type test struct {
	folder, name string
	took         time.Duration
}

// trial has the test programs, which have all mutants.
type trial struct {
	temporary string
	within    time.Duration  // after it no further test of a mutant begins
	reach     map[int][]test // the tests that reach a mutant, by its number
	failing   int            // tests that fail without a mutant; they are left out
}

// program is the file of the tests of a package.
func (t *trial) program(folder string) string {
	return filepath.Join(t.temporary, strings.ReplaceAll(folder, "/", "_")+".test")
}

// build compiles the tests of packages with such sources.
func (t *trial) build(ctx context.Context, folders []string, text map[string]string) error {
	replace := map[string]string{}
	for name, s := range text {
		replace[name] = filepath.Join(t.temporary, fmt.Sprintf("%d.go", len(replace)))
		if err := os.WriteFile(replace[name], []byte(s), 0o666); err != nil {
			return err
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	overlay := filepath.Join(t.temporary, "overlay.json")
	if err := os.WriteFile(overlay, list, 0o666); err != nil {
		return err
	}
	for _, f := range folders {
		c := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", t.program(f), "./"+f)
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("go test -c ./%s: %w\n%s", f, err, out)
		}
	}
	return nil
}

// command runs tests in a process group, so that all its processes can be killed together.
func (t *trial) command(ctx context.Context, folder, environment string, arguments ...string) *exec.Cmd {
	limited := fmt.Sprintf(`ulimit -v %d; exec "$0" "$@"`, memory)
	c := exec.CommandContext(ctx, "sh", append([]string{"-c", limited, t.program(folder)}, arguments...)...)
	c.Dir = folder
	c.Env = append(os.Environ(), environment)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = time.Second
	return c
}

// trace runs every test alone, without a mutant, and notes which mutants it reaches.
func (t *trial) trace(ctx context.Context, folders []string) error {
	var tests []test
	for _, f := range folders {
		list, err := t.command(ctx, f, "MUTANT=", "-test.list", "^(Test|Example)").Output()
		if err != nil {
			return fmt.Errorf("the tests of %s: %w", f, err)
		}
		for name := range strings.FieldsSeq(string(list)) {
			tests = append(tests, test{folder: f, name: name})
		}
	}
	var mu sync.Mutex
	workers := pool.New().WithMaxGoroutines(atOnce)
	for _, one := range tests {
		workers.Go(func() {
			started := time.Now()
			reached, err := t.alone(ctx, one)
			one.took = time.Since(started)
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
func (t *trial) alone(ctx context.Context, one test) (reached []int, err error) {
	file := t.program(one.folder) + "." + one.name
	defer os.Remove(file)
	c := t.command(ctx, one.folder, "MUTANT_TRACE="+file, "-test.run", "^"+one.name+"$", "-test.timeout", "10m")
	if out, err := c.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s of %s fails without a mutant, run alone: %w\n%s", one.name, one.folder, err, out)
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

// judge runs the tests that reach a mutant, up to the first that fails: those of its own package
// first, the fast ones before the slow ones, in groups that take little time together.
func (t *trial) judge(ctx context.Context, m mutant) (r result, err error) {
	tests := slices.Clone(t.reach[m.number])
	slices.SortStableFunc(tests, func(a, b test) int { return cmp.Compare(a.took, b.took) })
	home := func(one test) bool { return one.folder == path.Dir(m.file) }
	away := slices.DeleteFunc(slices.Clone(tests), home)
	tests = append(slices.DeleteFunc(tests, func(one test) bool { return !home(one) }), away...)
	r = result{mutant: m, reached: len(tests)}
	for started := time.Now(); len(tests) > 0 && r.by == "" && err == nil && time.Since(started) < t.within; {
		n, took := 1, tests[0].took
		for n < len(tests) && tests[n].folder == tests[0].folder && took+tests[n].took <= together {
			took += tests[n].took
			n++
		}
		r.end, r.by, err = t.notices(ctx, m.number, tests[:n], 20*time.Second+10*took)
		tests = tests[n:]
	}
	return r, err
}

// notices runs tests of one package with a mutant and returns the first test that fails or exceeds
// its time; "" if all pass.
func (t *trial) notices(ctx context.Context, k int, tests []test, limit time.Duration) (end, string, error) {
	names := make([]string, len(tests))
	for i, one := range tests {
		names[i] = one.name
	}
	inTime, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	out, failed := t.command(inTime, tests[0].folder, fmt.Sprintf("MUTANT=%d", k), "-test.failfast",
		"-test.run", "^("+strings.Join(names, "|")+")$", "-test.timeout", limit.String()).CombinedOutput()
	if ctx.Err() != nil || failed == nil {
		return alive, "", ctx.Err()
	}
	by := names[0]
	if _, after, told := strings.Cut(string(out), "--- FAIL: "); told {
		by, _, _ = strings.Cut(after, " ")
	}
	by = tests[0].folder + "." + by
	if inTime.Err() != nil || bytes.Contains(out, []byte("panic: test timed out after")) {
		return killedByTime, by, nil
	}
	return killed, by, nil
}
