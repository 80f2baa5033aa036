package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"gpc-tune": main})
}

// exits runs a command that must end with the given exit code: `exits 3 gpc-tune validate
// bad.yaml`.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE command [argument …]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:  "testdata/script",
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
