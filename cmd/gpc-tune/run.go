package main

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/gpc-tune/gpc-tune/experiments/plan"
	runs "github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/reports/page"
)

// runCommand is `gpc-tune run`.
func runCommand(signals *interrupts) *cobra.Command {
	var (
		dir, format string
		settings    []string
		dryRun      bool
		options     runs.Options
		check       func() error
	)
	c := &cobra.Command{
		Use:   "run FILE.yaml | gallery:NAME",
		Short: "Run an experiment and report it",
		Long: `Run the experiment that a YAML file declares: tune every configuration on every training set, predict what is held
out, score it. Finished jobs are kept in the run folder's journal, so a run that was stopped goes on with --resume. A file
that asks for more than before (restarts, grid points, trials, folds, configurations) goes on with --extend, and only what is
new runs. Several processes may run the same file in one folder; they share the work.`,
		Example: "  gpc-tune run experiments/gallery/crabs.yaml\n  gpc-tune run gallery:crabs --set " +
			"model.likelihood=logit -o runs/crabs-logit",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			shown, err := page.FormatNamed(format)
			if err != nil {
				return usageError{err}
			}
			if err := check(); err != nil {
				return err
			}
			plan, err := loadPlan(c, args[0], settings)
			if err != nil {
				return err
			}
			if dir == "" {
				dir = "runs/" + plan.Name()
			}
			if dryRun {
				return printPlan(c, plan, dir, options.Workers, options.MemoryLimit)
			}
			bar := newProgress(c.ErrOrStderr())
			options.Progress, options.Warn = bar.event, warner(c)
			drained, done := signals.drain()
			options.Drain = drained
			report, summary, err := runs.Run(c.Context(), plan, dir, options)
			done()
			bar.finish()
			if err != nil {
				if code(err) == exitStopped && summary.Total > 0 {
					return fmt.Errorf("%w\n%d of %d jobs are done; go on with: %s", err, summary.Done+summary.Skipped,
						summary.Total, runs.ResumeCommand(args[0], dir, settings))
				}
				return err
			}
			if err := shown.Render(inForm(c, format), report); err != nil {
				return err
			}
			fmt.Fprintf(c.ErrOrStderr(), "results: %s\n", dir)
			if summary.Failed > 0 {
				fmt.Fprintf(c.ErrOrStderr(), "gpc-tune: %d of %d jobs failed; the report lists them, and "+
					"--retry-failed runs them again\n", summary.Failed, summary.Total)
				return exitCode(exitFailures)
			}
			return nil
		},
	}
	var formats []string
	for _, f := range page.Formats {
		formats = append(formats, f.Name)
	}
	f := c.Flags()
	f.StringVarP(&dir, "output", "o", "", "run folder (default runs/NAME)")
	f.StringArrayVar(&settings, "set", nil,
		"change a value of the file, as in --set model.likelihood=logit (repeatable)")
	f.BoolVar(&dryRun, "dry-run", false, "show what would run, and run nothing")
	check = runFlags(c, &options)
	f.StringVar(&format, "format", "text", "what to print: "+strings.Join(formats, " | "))
	return c
}

// runFlags gives c the flags of a command that runs jobs. What it returns checks them, and enters
// them once they are parsed.
func runFlags(c *cobra.Command, o *runs.Options) (check func() error) {
	f := c.Flags()
	f.IntVarP(&o.Workers, "jobs", "j", runtime.GOMAXPROCS(0),
		"jobs that run at a time; cores that have none left serve the large ones that run")
	f.BoolVar(&o.Resume, "resume", false, "go on with a run that was stopped")
	f.BoolVar(&o.Extend, "extend", false,
		"go on with a run of which the file asks for more than before; what is done is used again")
	retryFlag(c, &o.Retry)
	memory := memoryFlag(c)
	f.DurationVar(&o.Timeout, "timeout", 0, "stop, resumable, after this time, as in 2h30m")
	trialTimeoutFlag(c, &o.TrialTimeout)
	f.Bool("keep-going", true, "go on after failed jobs") // the default, and there to be said
	failFast := f.Bool("fail-fast", false, "stop at the first failed job")
	f.IntVar(&o.MaxFailures, "max-failures", 0, "stop after this many failed jobs (0: never)")
	c.MarkFlagsMutuallyExclusive("keep-going", "fail-fast", "max-failures")
	return func() (err error) {
		if o.Workers < 1 {
			return usageError{fmt.Errorf("-j %d: at least one job must run at a time", o.Workers)}
		}
		if o.Timeout < 0 || o.TrialTimeout < 0 || o.MaxFailures < 0 {
			return usageError{fmt.Errorf("--timeout, --trial-timeout and --max-failures must not be negative; 0 " +
				"means never")}
		}
		if *failFast {
			o.MaxFailures = 1
		}
		o.Resume = o.Resume || o.Retry
		o.MemoryLimit, err = memory()
		return err
	}
}

// retryFlag gives c the flag --retry-failed.
func retryFlag(c *cobra.Command, retry *bool) {
	c.Flags().BoolVar(retry, "retry-failed", false, "go on with a run, and run the jobs again that have failed")
}

// trialTimeoutFlag gives c the flag --trial-timeout.
func trialTimeoutFlag(c *cobra.Command, limit *time.Duration) {
	c.Flags().DurationVar(limit, "trial-timeout", 0, "record a job that takes longer as failed")
}

// memoryFlag gives c the flag --memory, and reads it once it is parsed: bytes, 0 for what is free.
func memoryFlag(c *cobra.Command) (read func() (int64, error)) {
	text := c.Flags().String("memory", "", "memory that running jobs may take together, as in 8GiB (default: what "+
		"is free; no limit where the system does not tell)")
	return func() (int64, error) {
		if *text == "" {
			return 0, nil
		}
		n, err := humanize.ParseBytes(*text)
		if err != nil || n == 0 || n > math.MaxInt64 {
			return 0, usageError{fmt.Errorf("--memory %q is not a size; write for example 8GiB", *text)}
		}
		return int64(n), nil
	}
}

// warner writes warnings for the user of c.
func warner(c *cobra.Command) func(format string, args ...any) {
	return func(format string, args ...any) { fmt.Fprintf(c.ErrOrStderr(), "warning: "+format+"\n", args...) }
}

// loadPlan reads a file or a gallery entry and makes its plan.
func loadPlan(c *cobra.Command, name string, settings []string) (*plan.Plan, error) {
	return plan.Load(c.Context(), name, settings)
}
