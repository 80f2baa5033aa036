package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/gpc-tune/gpc-tune/experiments"
)

// fitCommand is `gpc-tune fit`.
func fitCommand(drain <-chan struct{}) *cobra.Command {
	var (
		name, memory string
		settings     []string
		options      experiments.FitOptions
	)
	c := &cobra.Command{
		Use:   "fit FILE.yaml | gallery:NAME -m MODEL.json",
		Short: "Tune on all of the training data, and keep the classifier",
		Long: `Tune on all of the training data, as run does, and write the classifier to a model file, from which gpc-tune predict
predicts. Of several configurations, the one with the best tuning objective is kept, or the one that --configuration names.`,
		Example: "  gpc-tune fit gallery:crabs -m crabs.json\n  gpc-tune predict crabs.json new.csv",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if options.Workers < 1 {
				return usageError{fmt.Errorf("-j %d: at least one job must run at a time", options.Workers)}
			}
			if c.Flags().Changed("configuration") && options.Configuration < 0 {
				return usageError{fmt.Errorf("--configuration %d: configurations are counted from 0", options.Configuration)}
			}
			limit, err := parseBytes(memory)
			if err != nil {
				return usageError{err}
			}
			plan, err := loadPlan(c, args[0], settings)
			if err != nil {
				return err
			}
			bar := newProgress(c.ErrOrStderr(), plan.Jobs())
			options.MemoryLimit, options.Drain, options.Progress = limit, drain, bar.event
			options.Warn = func(format string, args ...any) {
				fmt.Fprintf(c.ErrOrStderr(), "warning: "+format+"\n", args...)
			}
			model, summary, err := plan.Fit(c.Context(), name, options)
			bar.finish()
			if err != nil {
				if code(err) == exitStopped {
					err = fmt.Errorf("%w; nothing was written: begin again", err)
				}
				return err
			}
			fmt.Fprintf(c.ErrOrStderr(), "model: %s, log evidence %.6g\n", name, float64(model.LogEvidence))
			if summary.Failed > 0 {
				fmt.Fprintf(c.ErrOrStderr(), "gpc-tune: %d of %d jobs failed; gpc-tune run says why\n", summary.Failed, summary.Total)
				return exitCode(exitFailures)
			}
			return nil
		},
	}
	f := c.Flags()
	f.StringVarP(&name, "model", "m", "", "model file to write")
	f.IntVar(&options.Configuration, "configuration", -1, "number of the configuration, from 0 (default: the one with the best tuning objective)")
	f.IntVarP(&options.Workers, "jobs", "j", runtime.GOMAXPROCS(0), "jobs that run at a time; cores that have none left serve the large ones that run")
	f.StringArrayVar(&settings, "set", nil, "change a value of the file, as in --set model.likelihood=logit (repeatable)")
	f.StringVar(&memory, "memory", "", "memory that running jobs may take together, as in 8GiB (default: what is free; no limit where the system does not tell)")
	if err := c.MarkFlagRequired("model"); err != nil {
		panic(err)
	}
	return c
}
