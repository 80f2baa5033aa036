package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
)

func TestMain(m *testing.M) {
	path := os.Args[0] // testscript leaves its last part
	// Scripts wait for programs, during which others may run.
	if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	testscript.Main(m, map[string]func(){"gpc-tune": func() {
		os.Args[0] = path
		main()
	}})
}

// exits runs a command that must end with the given exit code, as in `exits 3 gpc-tune validate
// bad.yaml`; `! exits 0` stands for every code except 0. gpc-tune runs in the process of the test,
// because its start takes longer than most commands, and with make test-all in a process of its own.
// In scripts, exec stands before a gpc-tune that always needs a process: one that is killed, reads
// standard input, reads a variable at its start, or waits for another program.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 3 {
		ts.Fatalf("usage: exits CODE command argument …")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got, alone := 0, args[1] == "exec"
	if alone {
		args = args[1:]
	}
	// submit starts the program of its process again, which would here be the tests.
	if args[1] == "gpc-tune" && args[2] != "submit" && !alone && !exhaustive.All() {
		got = inProcess(ts, args[2:])
	} else {
		var exit *exec.ExitError
		if err = ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
			got = exit.ExitCode()
		} else {
			ts.Check(err)
		}
	}
	if got == want == neg {
		ts.Fatalf("exit code %d, want %s%d", got, map[bool]string{true: "another than "}[neg], want)
	}
}

// folderAndVariables guards the working directory and the variables of this process: scripts run at
// the same time.
var folderAndVariables sync.Mutex

// inProcess runs gpc-tune in the folder and with the variables of a script, and returns its exit code.
func inProcess(ts *testscript.TestScript, args []string) int {
	folderAndVariables.Lock()
	defer folderAndVariables.Unlock()
	back, err := os.Getwd()
	ts.Check(err)
	ts.Check(os.Chdir(ts.MkAbs(".")))
	defer func() { ts.Check(os.Chdir(back)) }()
	for _, name := range variables {
		before, set := os.LookupEnv(name)
		ts.Check(os.Setenv(name, ts.Getenv(name)))
		if set {
			defer os.Setenv(name, before)
		} else {
			defer os.Unsetenv(name)
		}
	}
	return run(context.Background(), nil, args, strings.NewReader(""), ts.Stdout(), ts.Stderr())
}

// variables are the environment variables that scripts set.
var variables = []string{"PATH", "HOME", "TMPDIR", "XDG_CONFIG_HOME", "GPC_TUNE_SIMD", "FAKE", "LISTS", "LOST", "REFUSES"}

func TestScripts(t *testing.T) {
	scripts, err := filepath.Abs("testdata/script")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:  scripts,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
		Condition: func(name string) (bool, error) { // [all] begins a line that only make test-all runs
			if name != "all" {
				return false, fmt.Errorf("unknown condition %q", name)
			}
			return exhaustive.All(), nil
		},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error { // mutation tests reach the commands of scripts too
			for _, name := range []string{"MUTANT", "MUTANT_TRACE"} {
				env.Setenv(name, os.Getenv(name))
			}
			return nil
		},
	})
}
