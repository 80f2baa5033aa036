// Command gpc-tune tunes, cross-validates and compares Gaussian-process classifiers declared in a YAML file.
//
// Results go to stdout, everything else to stderr. Exit codes: 0 done; 1 unexpected error; 2 usage; 3 invalid
// configuration, data or environment; 4 finished, but some trials or checks failed; 5 stopped, can be resumed; 6 the run folder belongs to
// another configuration; 130 and 143 interrupted by SIGINT or SIGTERM, can be resumed.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/gpc-tune/gpc-tune/experiments"
	"github.com/gpc-tune/gpc-tune/experiments/submit"
	"github.com/gpc-tune/gpc-tune/internal/journal"
	"github.com/gpc-tune/gpc-tune/internal/panicked"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/search"
)

func main() {
	ctx, drain, signalled := watch()
	code := run(ctx, drain, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	if s := signalled(); s != 0 && code != exitDone {
		code = 128 + int(s)
	}
	os.Exit(code)
}

// Exit codes.
const (
	exitDone       = 0
	exitUnexpected = 1
	exitUsage      = 2
	exitInvalid    = 3
	exitFailures   = 4
	exitStopped    = 5
	exitForeign    = 6
)

// grace is how long running fits may go on after the first signal: clusters kill what is there 30 s after it.
const grace = 25 * time.Second

// watch turns signals into a drain (the first: finish what runs, start nothing) and a cancellation (the second, or the end
// of the grace period); the third ends the program. signalled tells which signal came, 0 for none.
func watch() (ctx context.Context, drain <-chan struct{}, signalled func() syscall.Signal) {
	ctx, cancel := context.WithCancel(context.Background())
	first := make(chan struct{})
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	got := make(chan syscall.Signal, 1)
	go func() {
		got <- (<-signals).(syscall.Signal)
		fmt.Fprintf(os.Stderr, "\ngpc-tune: finishing what is under way for up to %v; signal again to stop at once\n", grace)
		close(first)
		select {
		case <-signals:
		case <-time.After(grace):
		}
		cancel()
		signal.Reset()
	}()
	return ctx, first, func() syscall.Signal {
		select {
		case s := <-got:
			return s
		default:
			return 0
		}
	}
}

// run is the whole program: it parses args, does the command and returns the exit code.
func run(ctx context.Context, drain <-chan struct{}, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := &cobra.Command{
		Use:           "gpc-tune",
		Short:         "Tune and compare Gaussian-process classifiers",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	// What fails before a command starts is a mistake on the command line.
	started := false
	var guard func(c *cobra.Command)
	guard = func(c *cobra.Command) {
		start := c.RunE
		c.RunE = func(c *cobra.Command, args []string) (err error) {
			started = true
			if err := experiments.CheckEnvironment(); err != nil {
				return err
			}
			if panicking := panicked.Try(func() { err = start(c, args) }); panicking != nil {
				return fmt.Errorf("%w\nthis is a fault of gpc-tune: please report it, with the command and its files", panicking)
			}
			return err
		}
		for _, below := range c.Commands() {
			guard(below)
		}
	}
	for _, c := range []*cobra.Command{runCommand(drain), validateCommand(), planCommand(), submitCommand(drain), workerCommand(drain), fitCommand(drain), predictCommand(), evidenceCommand(), statusCommand(), showCommand(), exportCommand(), compareCommand(), reportCommand(), serveCommand(drain), checkCommand(), sampleCommand(), listCommand(), schemaCommand(), initCommand(), explainCommand(), dataCommand(), doctorCommand(), versionCommand()} {
		guard(c)
		root.AddCommand(c)
	}
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	command, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitDone
	}
	var silent exitCode
	if !errors.As(err, &silent) {
		fmt.Fprintf(stderr, "gpc-tune: %v\n", err)
	}
	if !started {
		if command.HasParent() {
			fmt.Fprintf(stderr, "usage: %s\n", command.UseLine())
		}
		return exitUsage
	}
	return code(err)
}

// usageError is a mistake on the command line.
type usageError struct{ error }

// exitCode is an error whose message has been printed, or needs none.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

// code maps an error to the exit code that tells a script what to do next.
func code(err error) int {
	var exit exitCode
	var usage usageError
	var problems experiments.Problems
	switch {
	case errors.As(err, &exit):
		return int(exit)
	case errors.As(err, &usage), errors.Is(err, submit.ErrOptions), errors.Is(err, experiments.ErrUnfinished):
		return exitUsage
	case errors.As(err, &problems), errors.Is(err, experiments.ErrInvalid), errors.Is(err, experiments.ErrEnvironment), errors.Is(err, search.ErrMemory), errors.Is(err, experiments.ErrFolder), errors.Is(err, journal.ErrUnwritable), errors.Is(err, reports.ErrNothingInCommon):
		return exitInvalid
	case errors.Is(err, experiments.ErrNoFit):
		return exitFailures
	case errors.Is(err, experiments.ErrOtherConfiguration):
		return exitForeign
	case errors.Is(err, search.ErrStopped), errors.Is(err, search.ErrFailures), errors.Is(err, journal.ErrJournal), errors.Is(err, experiments.ErrUnreported), errors.Is(err, submit.ErrEngine):
		return exitStopped
	}
	return exitUnexpected
}
