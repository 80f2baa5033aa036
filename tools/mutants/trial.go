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
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
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
	together = 2 * time.Second // time of the tests, without a mutant, that may share a process
	apart    = 5 * time.Second // a test that takes longer is run by subtests
)

// test is one test function, or one subtest of it.
type test struct {
	folder, name, sub string
	took              time.Duration
}

// pattern is the regular expression of tests that run in one process.
func pattern(tests []test) string {
	var names, subs []string
	for _, one := range tests {
		names, subs = append(names, one.name), append(subs, regexp.QuoteMeta(one.sub))
	}
	if tests[0].sub != "" {
		return "^" + names[0] + "$/^(" + strings.Join(subs, "|") + ")$"
	}
	return "^(" + strings.Join(names, "|") + ")$"
}

// joins reports whether two tests can run in the same process.
func (one test) joins(other test) bool {
	whole := one.sub == ""
	return one.folder == other.folder && whole == (other.sub == "") && (whole || one.name == other.name)
}

// trial has the test programs, into which all mutants are compiled.
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

// trace runs every test alone, a long one by its subtests, without a mutant, and notes which
// mutants it reaches.
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
	note := func(one test, reached []int, err error) {
		mu.Lock()
		defer mu.Unlock()
		if err != nil { // what it reaches says nothing
			fmt.Println(err)
			t.failing++
		}
		for _, k := range reached {
			t.reach[k] = append(t.reach[k], one)
		}
	}
	workers := pool.New().WithMaxGoroutines(atOnce)
	for _, one := range tests {
		workers.Go(func() {
			reached, subs, err := t.alone(ctx, &one)
			if err != nil || one.took < apart || len(reached) == 0 || len(subs) < 2 {
				note(one, reached, err)
				return
			}
			parts, reaches := make([]test, len(subs)), make([][]int, len(subs))
			for i, sub := range subs {
				parts[i] = one
				parts[i].sub = sub
				if reaches[i], _, err = t.alone(ctx, &parts[i]); err != nil { // it needs the subtests before it
					note(one, reached, nil)
					return
				}
			}
			for i, part := range parts {
				note(part, reaches[i], nil)
			}
		})
	}
	workers.Wait()
	return ctx.Err()
}

// passed is the line of a subtest that passed.
var passed = regexp.MustCompile(`(?m)^    --- PASS: [^/]+/(\S+) \(`)

// alone runs one test without a mutant. It returns the numbers of the mutants that the test
// reaches, and its subtests if each of them can run alone.
func (t *trial) alone(ctx context.Context, one *test) (reached []int, subs []string, err error) {
	file := t.program(one.folder) + "." + one.name + "." + url.PathEscape(one.sub)
	defer os.Remove(file)
	started := time.Now()
	out, err := t.command(ctx, one.folder, "MUTANT_TRACE="+file, "-test.v", "-test.run", pattern([]test{*one}),
		"-test.timeout", "10m").CombinedOutput()
	one.took = time.Since(started)
	if err != nil {
		return nil, nil, fmt.Errorf("%s %s of %s fails without a mutant, run alone: %w\n%s", one.name, one.sub,
			one.folder, err, out)
	}
	for _, line := range passed.FindAllSubmatch(out, -1) {
		subs = append(subs, string(line[1]))
	}
	if slices.ContainsFunc(subs, func(sub string) bool { return strings.Contains(sub, "/") }) {
		subs = nil
	}
	list, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	for k := range strings.FieldsSeq(string(list)) {
		n, err := strconv.Atoi(k)
		if err != nil {
			return nil, nil, err
		}
		reached = append(reached, n)
	}
	return reached, subs, err
}

// judge runs the tests that reach a mutant, up to the first that fails. Tests of the mutant's
// package come first, and fast tests before slow ones. They run in groups that take little time
// together.
func (t *trial) judge(ctx context.Context, m mutant) (r result, err error) {
	tests := slices.Clone(t.reach[m.number])
	slices.SortStableFunc(tests, func(a, b test) int { return cmp.Compare(a.took, b.took) })
	home := func(one test) bool { return one.folder == path.Dir(m.file) }
	away := slices.DeleteFunc(slices.Clone(tests), home)
	tests = append(slices.DeleteFunc(tests, func(one test) bool { return !home(one) }), away...)
	r = result{mutant: m, reached: len(tests)}
	for started := time.Now(); len(tests) > 0 && r.by == "" && err == nil && time.Since(started) < t.within; {
		n, took := 1, tests[0].took
		for n < len(tests) && tests[n].joins(tests[0]) && took+tests[n].took <= together {
			took += tests[n].took
			n++
		}
		r.end, r.by, err = t.notices(ctx, m.number, tests[:n], 20*time.Second+10*took)
		tests = tests[n:]
	}
	r.left = len(tests)
	return r, err
}

// notices runs tests of one package with a mutant and returns the first test that fails or exceeds
// its time; "" if all pass.
func (t *trial) notices(ctx context.Context, k int, tests []test, limit time.Duration) (end, string, error) {
	inTime, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	out, failed := t.command(inTime, tests[0].folder, fmt.Sprintf("MUTANT=%d", k), "-test.failfast",
		"-test.run", pattern(tests), "-test.timeout", limit.String()).CombinedOutput()
	if ctx.Err() != nil || failed == nil {
		return alive, "", ctx.Err()
	}
	by := tests[0].name
	if _, after, told := strings.Cut(string(out), "--- FAIL: "); told {
		by, _, _ = strings.Cut(after, " ")
	}
	by = tests[0].folder + "." + by
	if inTime.Err() != nil || bytes.Contains(out, []byte("panic: test timed out after")) {
		return killedByTime, by, nil
	}
	return killed, by, nil
}
