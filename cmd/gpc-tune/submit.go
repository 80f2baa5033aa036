package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gpc-tune/gpc-tune/experiments/classifier/predict"
	"github.com/gpc-tune/gpc-tune/experiments/plan"
	runs "github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/experiments/submit"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/reports/page"
	"github.com/gpc-tune/gpc-tune/search/schedule"
)

// submitCommand is `gpc-tune submit`, with a subcommand for every engine.
func submitCommand(signals *interrupts) *cobra.Command {
	c := &cobra.Command{
		Use:   "submit ENGINE FILE.yaml | gallery:NAME",
		Short: "Run an experiment in blocks: by processes on this machine, or on a cluster",
		Long: `Prepare the run folder of an experiment, divide its jobs into blocks, and let an engine start a
gpc-tune worker for each block. The same command again submits only what is missing. results.json is
byte-identical to that of gpc-tune run, even if workers were killed or restarted.`,
		RunE: func(_ *cobra.Command, args []string) error {
			_, err := submit.Table.Lookup("engine", strings.Join(args, " "))
			return misused(err)
		},
	}
	for _, e := range submit.Table {
		c.AddCommand(engineCommand(e, signals))
	}
	return c
}

// once lists the flags that are not repeated when submitting again, or that the run folder stores
// elsewhere.
var once = []string{"output", "set", "blocks", "extend", "retry-failed", "dry-run", "force", "measure"}

func engineCommand(e registry.Entry[submit.Engine], signals *interrupts) *cobra.Command {
	var (
		asked   experiment
		blocks  int
		measure bool
		laying  = runs.LayOutOptions{Engine: e.Name}
		run     submit.Run
	)
	engine, _ := e.New(nil)
	c := &cobra.Command{
		Use:   e.Name + " FILE.yaml | gallery:NAME",
		Short: strings.ToUpper(e.Doc[:1]) + e.Doc[1:],
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) (err error) {
			if err := engine.Check(); err != nil {
				return misused(err)
			}
			if run.Jobs < 1 || blocks < 0 || run.Timeout < 0 {
				return usage("-j must be at least 1, --blocks and --trial-timeout not negative")
			}
			p, err := asked.plan(c, args[0])
			if err != nil {
				return err
			}
			c.Flags().Visit(func(f *pflag.Flag) {
				if !slices.Contains(once, f.Name) {
					laying.Options = append(laying.Options, "--"+f.Name+"="+f.Value.String())
				}
			})
			laying.Blocks, laying.Jobs, laying.DryRun, laying.Warn = blocks, run.Jobs, run.DryRun, warner(c)
			if measure {
				laying.Rates = plan.Measured(c.Context())
			}
			if run.LaidOut, err = runs.LayOut(p, asked.dir, laying); err != nil {
				return err
			}
			if run.Workload, err = run.Missing(); err != nil {
				return err
			}
			if run.Program, err = os.Executable(); err != nil {
				return err
			}
			run.Out, run.Log = forPrograms(c), c.ErrOrStderr()
			drained, undrain := signals.drain()
			defer undrain()
			run.Drain = drained
			if len(run.Workload.Waves) > 0 {
				if done, err := engine.Submit(c.Context(), &run); err != nil || !done {
					return err
				}
			} else if run.DryRun {
				fmt.Fprintf(run.Log, "in %s only the report is missing\n", asked.dir)
				return nil
			}
			report, summary, err := predict.Run(c.Context(), p, asked.dir,
				runs.Options{Resume: true, Process: true, Warn: warner(c),
					Options: schedule.Options{TrialTimeout: run.Timeout}})
			undrain()
			if err == nil {
				if err := page.Formats[0].Render(c.OutOrStdout(), report); err != nil {
					return err
				}
			}
			return finished(c, asked.dir, "", summary, err)
		},
	}
	asked.flags(c)
	f := c.Flags()
	f.IntVar(&blocks, "blocks", 0, "number of blocks (default: as before, or 16; with --measure blocks of about "+
		"an hour)")
	f.BoolVar(&measure, "measure", false, "time the models on this machine first, for the number of blocks and for "+
		"the time limits that are asked of a queue")
	f.IntVarP(&run.Jobs, "jobs", "j", 1, "number of jobs that a block runs at the same time")
	trialTimeoutFlag(c, &run.Timeout)
	extendFlag(c, &laying.Extend)
	retryFlag(c, &laying.Retry)
	f.BoolVar(&run.DryRun, "dry-run", false, "show what would be submitted, but write and submit nothing")
	engine.Flags(f)
	return c
}
