// Command gpc-tune tunes, cross-validates and compares Gaussian-process classifiers declared in a
// YAML file.
//
// Results go to stdout, everything else to stderr. Exit codes are defined in exit.go, signal
// handling in signals.go.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"

	"github.com/gpc-tune/gpc-tune/internal/atomicfile"
	"github.com/gpc-tune/gpc-tune/internal/build"
	"github.com/gpc-tune/gpc-tune/internal/panicked"
	"github.com/gpc-tune/gpc-tune/internal/pattern"
	"github.com/gpc-tune/gpc-tune/internal/terminal"
)

func main() {
	// A crash of the Go runtime, for example when out of memory, would end the program with exit
	// code 2, the code for wrong usage. With this setting it ends with SIGABRT.
	debug.SetTraceback("crash")
	ctx, signals := watch()
	terminal.StartedAs(startedBy(os.Args[0]), func() (names []string) {
		for _, c := range commands(signals) {
			names = append(names, regexp.QuoteMeta(c.Name()))
		}
		return names
	})
	signals.exit(run(ctx, signals, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// byGoRun matches the path of a program that go run has made: in a folder for this one call, or in
// the cache of builds.
var byGoRun = pattern.Of(`/(go-build\d+/b\d+/exe|[0-9a-f]{64}-d)/[^/]+$`)

// startedBy returns the beginning of the command line of a program with this path: go run with the
// folder of this package or its import path, or else the name gpc-tune.
func startedBy(path string) string {
	if !byGoRun().MatchString(filepath.ToSlash(path)) {
		return "gpc-tune"
	}
	const folder = "./cmd/gpc-tune"
	if _, err := os.Stat(filepath.Join(folder, "main.go")); err == nil {
		return "go run " + folder
	}
	return "go run github.com/gpc-tune/gpc-tune/cmd/gpc-tune"
}

// commands are the commands of the program.
func commands(signals *interrupts) []*cobra.Command {
	return append([]*cobra.Command{
		runCommand(signals), searchCommand(signals), askCommand(), tellCommand(), validateCommand(), planCommand(),
		submitCommand(signals),
		workerCommand(signals), fitCommand(signals), predictCommand(), effectsCommand(), cardCommand(),
		evidenceCommand(), statusCommand(), showCommand(), exportCommand(), compareCommand(), reportCommand(),
		serveCommand(signals), serveModelCommand(signals), checkCommand(), sampleCommand(), listCommand(),
		schemaCommand(), initCommand(), explainCommand(), dataCommand(), manCommand(), versionCommand(),
		pipeCommand(signals, run),
	}, controlCommands()...)
}

// saysWhatIsMissing makes the error of too few arguments say so.
func saysWhatIsMissing(c *cobra.Command) {
	permitted := c.Args
	if permitted == nil {
		return
	}
	c.Args = func(c *cobra.Command, args []string) error {
		err := permitted(c, args)
		for more := range 3 {
			if err != nil && permitted(c, append(slices.Clone(args), make([]string, more+1)...)) == nil {
				return usage("an argument is missing")
			}
		}
		return err
	}
}

// run is the whole program: it parses args, runs the command and returns the exit code.
func run(ctx context.Context, signals *interrupts, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := &cobra.Command{
		Use:   "gpc-tune",
		Short: "Tune and compare Gaussian-process classifiers",
		Long: `Tune, cross-validate and compare Gaussian-process classifiers that a YAML file declares.

For a table of your own, gpc-tune init writes such a file, and gpc-tune run runs it and prints the
report. gpc-tune list shows every name that a file can use, and gpc-tune explain explains one.`,
		Example: `  gpc-tune init patients.csv
  gpc-tune run patients.yaml
  gpc-tune run gallery:crabs`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	// An error before a command starts is a mistake on the command line.
	started := false
	var guard func(c *cobra.Command)
	guard = func(c *cobra.Command) {
		start := c.RunE
		c.RunE = func(c *cobra.Command, args []string) (err error) {
			started = true
			if err := build.CheckEnvironment(); err != nil {
				return err
			}
			if panicking := panicked.Try(func() { err = start(c, args) }); panicking != nil {
				return fmt.Errorf("%w\nthis is a fault of gpc-tune: please report it, with the command and "+
					"its input files", panicking)
			}
			return err
		}
		saysWhatIsMissing(c)
		for _, below := range c.Commands() {
			guard(below)
		}
	}
	for _, c := range commands(signals) {
		guard(c)
		completed(c)
		root.AddCommand(c)
	}
	root.SetArgs(args)
	root.SetIn(stdin)
	out, log := newOutput(stdout), newOutput(stderr)
	log.messages = true
	defer log.close()
	root.SetOut(out)
	root.SetErr(log)
	ran, err := root.ExecuteContextC(ctx)
	err = out.ended(err)
	if err == nil {
		return exitDone
	}
	var silent exitCode
	if !errors.As(err, &silent) {
		message := err.Error()
		if !ran.HasParent() && len(args) > 0 && isCases(args[0]) {
			message = fmt.Sprintf("%s is a file of cases; %s writes an experiment for it", args[0],
				command("init", args[0]))
		}
		if remedy := atomicfile.Remedy(err); remedy != "" {
			message += "; " + remedy
		}
		fmt.Fprintf(log, "gpc-tune: %s\n", message)
	}
	if !started && !errors.Is(err, errOutput) && !errors.As(err, &silent) {
		if ran.HasParent() {
			fmt.Fprintf(log, "usage: %s\n", ran.UseLine())
		}
		return exitUsage
	}
	return code(err)
}
