package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// memory is what a test program may take of the address space, in KiB: a mutant may ask for all there is.
const memory = 12 << 20

// together is how long tests may take without a mutant that run in one process.
const together = 2 * time.Second

// test is one test function.
type test struct {
	pkg, name string
	took      time.Duration
}

// trial has the test programs.
type trial struct {
	folder, overlay string
	packages        []string
	reach           map[int][]test // by a mutant's number
	failing         int            // tests that fail without a mutant, and are left out
}

func (t *trial) program(pkg string) string {
	return filepath.Join(t.folder, strings.ReplaceAll(pkg, "/", "_")+".test")
}

// build compiles the tests of the packages.
func (t *trial) build(ctx context.Context, packages []string) error {
	t.packages = packages
	for _, p := range packages {
		c := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-overlay", t.overlay, "-o", t.program(p), "./"+p)
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("go test -c ./%s: %w\n%s", p, err, out)
		}
	}
	return nil
}

// command runs tests of a package, as one process group that is ended as a whole.
func (t *trial) command(ctx context.Context, pkg string, environment []string, arguments ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, "sh", append([]string{"-c", fmt.Sprintf(`ulimit -v %d; exec "$0" "$@"`, memory), t.program(pkg)}, arguments...)...)
	c.Dir = pkg
	c.Env = append(os.Environ(), environment...)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = time.Second
	return c
}

// trace runs every test alone, without a mutant, and notes what it reaches. Two run at a time.
func (t *trial) trace(ctx context.Context) error {
	var tests []test
	for _, p := range t.packages {
		list, err := t.command(ctx, p, nil, "-test.list", "^(Test|Example)").Output()
		if err != nil {
			return fmt.Errorf("the tests of %s: %w", p, err)
		}
		for _, name := range strings.Fields(string(list)) {
			tests = append(tests, test{pkg: p, name: name})
		}
	}
	t.reach = map[int][]test{}
	var mu sync.Mutex
	next := make(chan test)
	var workers sync.WaitGroup
	for w := range 2 {
		workers.Go(func() {
			for one := range next {
				reached, took, err := t.alone(ctx, one, filepath.Join(t.folder, fmt.Sprintf("trace%d", w)))
				mu.Lock()
				one.took = took
				if err != nil { // its failures say nothing
					fmt.Println(err)
					t.failing++
				}
				for _, k := range reached {
					t.reach[k] = append(t.reach[k], one)
				}
				mu.Unlock()
			}
		})
	}
	for _, one := range tests {
		next <- one
	}
	close(next)
	workers.Wait()
	fmt.Printf("%d tests, each run alone\n", len(tests))
	return ctx.Err()
}

func (t *trial) alone(ctx context.Context, one test, file string) (reached []int, took time.Duration, err error) {
	started := time.Now()
	out, err := t.command(ctx, one.pkg, []string{"MUTANT_TRACE=" + file}, "-test.run", "^"+one.name+"$", "-test.timeout", "10m").CombinedOutput()
	took = time.Since(started)
	if err != nil {
		return nil, took, fmt.Errorf("%s of %s fails without a mutant, run alone: %w\n%s", one.name, one.pkg, err, out)
	}
	defer os.Remove(file)
	list, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return nil, took, nil
	}
	for _, k := range strings.Fields(string(list)) {
		n, err := strconv.Atoi(k)
		if err != nil {
			return nil, took, err
		}
		reached = append(reached, n)
	}
	return reached, took, err
}

// Result is what became of a mutant.
type Result struct {
	Mutant
	Killed  string // the tests that noticed it, one of which failed; "" if it is alive
	ByOwn   bool   // they are of its own package
	ByTime  bool   // they took far too long
	Reached int    // how many tests reach it
	Listed  bool   // as equivalent
	Reason  string // why it is equivalent
}

func (r Result) String() string {
	what := "ALIVE"
	switch {
	case r.Killed != "" && r.ByTime:
		what = "killed by time: " + r.Killed
	case r.Killed != "":
		what = "killed: " + r.Killed
	case r.Listed:
		what = "equivalent"
	case r.Reached == 0:
		what = "ALIVE (no test reaches it)"
	}
	return fmt.Sprintf("%s:%d: %s\n\t%s\n\t%s", r.File, r.Line, what, r.Text, r.Change)
}

// judge runs the tests that reach a mutant, in groups that take little time together, up to the first failure. Of one that is
// listed as equivalent only those of its own package run, to see that it is.
func (t *trial) judge(ctx context.Context, m Mutant, listed bool) (Result, error) {
	tests := slices.Clone(t.reach[m.number])
	r := Result{Mutant: m, Reached: len(tests), Listed: listed}
	home := filepath.ToSlash(filepath.Dir(m.File))
	slices.SortStableFunc(tests, func(a, b test) int {
		switch {
		case a.pkg == home && b.pkg != home:
			return -1
		case a.pkg != home && b.pkg == home:
			return 1
		case a.took < b.took:
			return -1
		}
		return 1
	})
	for len(tests) > 0 {
		group, took := tests[:1], tests[0].took
		for len(group) < len(tests) && tests[len(group)].pkg == group[0].pkg && took+tests[len(group)].took <= together {
			took += tests[len(group)].took
			group = tests[:len(group)+1]
		}
		tests = tests[len(group):]
		if listed && group[0].pkg != home {
			break
		}
		names := make([]string, len(group))
		for i, g := range group {
			names[i] = g.name
		}
		limit := 20*time.Second + 10*took
		inTime, cancel := context.WithTimeout(ctx, limit)
		out, err := t.command(inTime, group[0].pkg, []string{"MUTANT=" + strconv.Itoa(m.number)},
			"-test.run", "^("+strings.Join(names, "|")+")$", "-test.failfast", "-test.timeout", limit.String()).CombinedOutput()
		late := inTime.Err() != nil || bytes.Contains(out, []byte("panic: test timed out after"))
		cancel()
		if ctx.Err() != nil {
			return r, ctx.Err()
		}
		if err != nil {
			r.Killed, r.ByOwn, r.ByTime = names[0], group[0].pkg == home, late
			if _, after, ok := strings.Cut(string(out), "--- FAIL: "); ok {
				r.Killed, _, _ = strings.Cut(after, " ")
			}
			r.Killed = group[0].pkg + "." + r.Killed
			return r, nil
		}
	}
	return r, nil
}
