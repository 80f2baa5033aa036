package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	runs "github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/experiments/submit"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/reports/page"
	"github.com/gpc-tune/gpc-tune/search"
)

// submitCommand is `gpc-tune submit`, with a command below it for every engine.
func submitCommand(signals *interrupts) *cobra.Command {
	c := &cobra.Command{
		Use:   "submit ENGINE FILE.yaml | gallery:NAME",
		Short: "Have an experiment run in blocks: by processes here, or on a cluster",
		Long: `Lay an experiment out in its run folder and have an engine start a gpc-tune worker for every block of its jobs. Again with
the same file it sends only what is missing. Whatever happens to the workers, results.json has the bytes that gpc-tune run writes.`,
		RunE: func(_ *cobra.Command, args []string) error {
			_, err := submit.Table.Lookup("engine", strings.Join(args, " "))
			return usageError{err}
		},
	}
	for _, e := range submit.Table {
		c.AddCommand(engineCommand(e, signals))
	}
	return c
}

// once lists the flags that submitting again is not to repeat, or that the run folder has in other
// ways.
var once = []string{"output", "set", "blocks", "extend", "retry-failed", "dry-run", "force"}

func engineCommand(e registry.Entry[submit.Engine], signals *interrupts) *cobra.Command {
	var (
		dir      string
		settings []string
		blocks   int
		laying   = runs.LayOutOptions{Engine: e.Name}
		run      submit.Run
	)
	engine, _ := e.New(nil)
	c := &cobra.Command{
		Use:   e.Name + " FILE.yaml | gallery:NAME",
		Short: strings.ToUpper(e.Doc[:1]) + e.Doc[1:],
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) (err error) {
			if err := engine.Check(); err != nil {
				return usageError{err}
			}
			if run.Jobs < 1 || blocks < 0 || run.Timeout < 0 {
				return usageError{fmt.Errorf("-j must be at least 1, --blocks and --trial-timeout not negative")}
			}
			plan, err := loadPlan(c, args[0], settings)
			if err != nil {
				return err
			}
			if dir == "" {
				dir = "runs/" + plan.Name()
			}
			c.Flags().Visit(func(f *pflag.Flag) {
				if !slices.Contains(once, f.Name) {
					laying.Options = append(laying.Options, "--"+f.Name+"="+f.Value.String())
				}
			})
			laying.Blocks, laying.Jobs, laying.DryRun, laying.Warn = blocks, run.Jobs, run.DryRun, warner(c)
			if run.LaidOut, err = runs.LayOut(plan, dir, laying); err != nil {
				return err
			}
			if run.Workload, err = run.Missing(); err != nil {
				return err
			}
			if run.Program, err = os.Executable(); err != nil {
				return err
			}
			run.Out, run.Log = forPrograms(c), c.ErrOrStderr()
			drained, finished := signals.drain()
			defer finished()
			run.Drain = drained
			if len(run.Workload.Waves) > 0 {
				if done, err := engine.Submit(c.Context(), &run); err != nil || !done {
					return err
				}
			} else if run.DryRun {
				fmt.Fprintf(run.Log, "nothing is missing in %s but the report\n", dir)
				return nil
			}
			report, summary, err := runs.Run(c.Context(), plan, dir,
				runs.Options{Resume: true, Warn: warner(c), Options: search.Options{TrialTimeout: run.Timeout}})
			if err != nil {
				return err
			}
			finished()
			if err := page.Formats[0].Render(c.OutOrStdout(), report); err != nil {
				return err
			}
			return ended(c, dir, summary, nil)
		},
	}
	f := c.Flags()
	f.StringVarP(&dir, "output", "o", "", "run folder (default runs/NAME)")
	f.StringArrayVar(&settings, "set", nil,
		"change a value of the file, as in --set model.likelihood=logit (repeatable)")
	f.IntVar(&blocks, "blocks", 0, "into how many blocks the jobs are divided (default as before, or blocks of "+
		"about an hour; 16 where times are not known, see gpc-tune doctor)")
	f.IntVarP(&run.Jobs, "jobs", "j", 1, "jobs that a block runs at a time")
	trialTimeoutFlag(c, &run.Timeout)
	f.BoolVar(&laying.Extend, "extend", false,
		"go on with a run of which the file asks for more than before; what is done is used again")
	retryFlag(c, &laying.Retry)
	f.BoolVar(&run.DryRun, "dry-run", false, "show what would be started, and write and start nothing")
	engine.Flags(f)
	return c
}

// ended says where the results are, or how a run that was stopped goes on.
func ended(c *cobra.Command, dir string, summary search.Summary, err error) error {
	if err != nil {
		if errors.Is(err, search.ErrStopped) && summary.Total > 0 {
			return fmt.Errorf("%w\n%d of %d jobs are done", err, summary.Done+summary.Skipped, summary.Total)
		}
		return err
	}
	fmt.Fprintf(c.ErrOrStderr(), "results: %s\n", dir)
	if summary.Failed > 0 {
		fmt.Fprintf(c.ErrOrStderr(), "gpc-tune: %d of %d jobs failed; the report lists them, and --retry-failed "+
			"runs them again\n", summary.Failed, summary.Total)
		return exitCode(exitFailures)
	}
	return nil
}
