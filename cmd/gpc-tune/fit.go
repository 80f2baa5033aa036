package main

import (
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"github.com/gpc-tune/gpc-tune/experiments/classifier"
)

func fitCommand(signals *interrupts) *cobra.Command {
	var (
		name    string
		e       experiment
		options classifier.FitOptions
		check   func() error
	)
	c := &cobra.Command{
		Use:   "fit FILE.yaml | gallery:NAME -m MODEL.json",
		Short: "Tune on all of the training data, and keep the classifier",
		Long: `Tune on all of the training data, as run does, and write the classifier to a model file, from which
gpc-tune predict predicts. Of several configurations the best is kept, or the one that
--configuration names. What is best, --by says: a score of held-out cases (gpc-tune list scores),
mean_loss, log_evidence, or the tuning objective. Without it, it is what decides the run, if that is
finished in -o or runs/NAME: a race, nested cross-validation, or else the first score. Where there
is no run, it is the tuning objective, and the first score where comparators or several objectives
are among the configurations; what is held out for a score is then computed first, as run does.

With -o the finished jobs are kept in a run folder, so that a fit that was stopped goes on with
--resume. The jobs are those that run does on all of the training data: what either has done in the
folder, the other need not do again.`,
		Example: "  gpc-tune fit gallery:crabs -m crabs.json\n  gpc-tune predict crabs.json new.csv\n  gpc-tune run " +
			"gallery:crabs && gpc-tune fit gallery:crabs -o runs/crabs -m crabs.json",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := check(); err != nil {
				return err
			}
			if options.Dir == "" && options.Resume {
				return usage("--resume and --retry-failed go on with the jobs of a run folder; name it with -o")
			}
			if c.Flags().Changed("configuration") && options.Configuration < 0 {
				return usage("--configuration %d: configurations are counted from 0", options.Configuration)
			}
			plan, err := e.plan(c, args[0])
			if err != nil {
				return err
			}
			if options.Dir == "" && classifier.Finished(plan, e.dir) {
				options.Dir = e.dir
				fmt.Fprintf(c.ErrOrStderr(), "from the run in %s\n", e.dir)
			}
			if options.Dir == "" { // nothing that has been done would be kept
				signals = nil
			}
			bar, done := begin(c, signals, &options.Options)
			model, summary, err := classifier.Fit(c.Context(), plan, name, options)
			done()
			bar.finish()
			switch {
			case err == nil:
			case code(err) != exitStopped:
				return err
			case options.Dir == "":
				return fmt.Errorf("%w\nno model was written, and nothing was kept: begin again, with -o DIR to "+
					"keep what is done", err)
			default:
				return fmt.Errorf("%w\nno model was written; %d of %d jobs are done in %s: go on with the same "+
					"command and --resume", err, summary.Done+summary.Skipped, summary.Total, options.Dir)
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
	f.IntVar(&options.Configuration, "configuration", -1,
		"number of the configuration, from 0 (default: the best)")
	f.StringVar(&options.By, "by", "", "what is best: a score, mean_loss, log_evidence or the tuning objective "+
		"(default: see above)")
	c.MarkFlagsMutuallyExclusive("configuration", "by")
	f.StringVarP(&options.Dir, "output", "o", "", "run folder that keeps the finished jobs (default: none does)")
	check = runFlags(c, &options.Options)
	_ = c.MarkFlagRequired("model") // there is such a flag
	return c
}
