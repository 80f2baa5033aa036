package main

import (
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"github.com/gpc-tune/gpc-tune/experiments/classifier/predict"
)

func fitCommand(signals *interrupts) *cobra.Command {
	var (
		name          string
		e             experiment
		options       predict.FitOptions
		configuration int
		check         func() error
	)
	c := &cobra.Command{
		Use:   "fit FILE.yaml | gallery:NAME -m MODEL.json",
		Short: "Tune on all training data, and save the classifier to a model file",
		Long: `Tune on all training data, as gpc-tune run does, and write the classifier to a model file for
gpc-tune predict. If the file declares several configurations, the best one is saved, or the one that
--configuration selects.

--by sets the criterion for the best: a score of held-out cases (gpc-tune list scores), mean_loss,
log_evidence, or the tuning objective. Without --by, if -o or runs/NAME holds a finished run, the
criterion is that of the run: a race, nested cross-validation, or else the first score. If there is
no such run, it is the tuning objective. If the configurations include comparators or have several
objectives, it is the first score, and the evaluation for it is computed first.

With -o finished jobs are kept in a run folder, so that --resume continues a fit that was stopped.
run and fit share the jobs in this folder.`,
		Example: "  gpc-tune fit gallery:crabs -m crabs.json\n  gpc-tune predict crabs.json new.csv\n  gpc-tune run " +
			"gallery:crabs && gpc-tune fit gallery:crabs -o runs/crabs -m crabs.json",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := check(); err != nil {
				return err
			}
			if options.Dir == "" && options.Resume {
				return usage("--resume and --retry-failed continue the jobs of a run folder; name it with -o")
			}
			if c.Flags().Changed("configuration") {
				options.Configuration = &configuration
				if configuration < 0 {
					return usage("--configuration %d: configurations are counted from 0", configuration)
				}
			}
			plan, err := e.plan(c, args[0])
			if err != nil {
				return err
			}
			notify(c, plan.Manifest.Warnings)
			if options.Dir == "" && predict.Finished(plan, e.dir) {
				options.Dir = e.dir
				fmt.Fprintf(c.ErrOrStderr(), "from the run in %s\n", e.dir)
			}
			if options.Dir == "" { // nothing finished would be kept
				signals = nil
			}
			bar, done := begin(c, signals, &options.Options)
			model, summary, err := predict.Fit(c.Context(), plan, name, options)
			done()
			bar.finish()
			switch {
			case err == nil:
			case code(err) != exitStopped:
				return err
			case options.Dir == "":
				return fmt.Errorf("%w\nno model was written, and no job was kept: start again, with -o DIR to "+
					"keep finished jobs", err)
			default:
				return fmt.Errorf("%w\nno model was written; %d of %d jobs are done in %s: to continue, repeat the "+
					"command with --resume", err, summary.Done+summary.Skipped, summary.Total, options.Dir)
			}
			evidence := ""
			if l := float64(model.LogEvidence); !math.IsNaN(l) {
				evidence = fmt.Sprintf(", log evidence %.6g", l)
			}
			fmt.Fprintf(c.ErrOrStderr(), "model: %s%s\n", name, evidence)
			return failures(c, summary, "gpc-tune run says why")
		},
	}
	e.settingsFlag(c)
	f := c.Flags()
	f.StringVarP(&name, "model", "m", "", "model file to write")
	f.IntVar(&configuration, "configuration", -1,
		"number of the configuration, from 0 (default: the best)")
	f.StringVar(&options.By, "by", "", "criterion for the best: a score, mean_loss, log_evidence or the "+
		"tuning objective (default: see above)")
	c.MarkFlagsMutuallyExclusive("configuration", "by")
	f.StringVarP(&options.Dir, "output", "o", "", "run folder for the finished jobs (default: they are not kept)")
	check = runFlags(c, &options.Options)
	_ = c.MarkFlagRequired("model") // cannot fail: the flag exists
	return c
}
