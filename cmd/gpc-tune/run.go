package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gpc-tune/gpc-tune/experiments/classifier/predict"
	runs "github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/internal/terminal"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/page"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

func runCommand(signals *interrupts) *cobra.Command {
	var (
		e       experiment
		format  string
		dryRun  bool
		options runs.Options
		check   func() error
	)
	c := &cobra.Command{
		Use:   "run FILE.yaml | gallery:NAME",
		Short: "Run an experiment and report it",
		Long: `Run the experiment that a YAML file declares: tune each configuration on each training set, predict
the held-out cases, score the predictions, and write the report.

Finished jobs are kept in the run folder. Therefore --resume continues a run that was stopped. If the
file now has more restarts, grid points, trials, folds or configurations, --extend runs only what is
new. Several processes may run the same file in one folder; they share the work.`,
		Example: "  gpc-tune run experiments/gallery/crabs.yaml\n  gpc-tune run gallery:crabs --set " +
			"model.likelihood=logit -o runs/crabs-logit",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			shown, err := page.FormatNamed(format)
			if err != nil {
				return misused(err)
			}
			if err := check(); err != nil {
				return err
			}
			plan, err := e.plan(c, args[0])
			if err != nil {
				return err
			}
			if err := continues(c, args[0], e.dir); err != nil {
				return err
			}
			if dryRun {
				return printPlan(c, plan, e.dir, options)
			}
			if of := plan.Spec.Program; of != nil {
				signals.patient(of.Grace)
				if n := options.Workers; c.Flags().Changed("jobs") && n > 1 && plan.Waits() {
					fmt.Fprintf(c.ErrOrStderr(), "one worker of %d is busy: each trial is proposed from results of "+
						"all before it; tune: {parallel: %d} or {asynchronous: %d} keeps all busy, with other trials\n",
						n, 2*n, n)
				}
			}
			bar, done := begin(c, signals, &options)
			bar.of(plan.Manifest.Configurations)
			report, summary, err := predict.Run(c.Context(), plan, e.dir, options)
			done()
			bar.finish()
			switch {
			case err == nil:
				if err := printReport(c, shown, report); err != nil {
					return err
				}
			case report != nil && len(report.SoFar) > 0:
				for _, f := range table.Answered(report, table.MostAnswered) {
					fmt.Fprintf(c.ErrOrStderr(), "%s: %s\n", f.Name, f.Text)
				}
			}
			again := runs.ResumeCommand(plan.Manifest, args[0], e.dir, e.settings)
			err = finished(c, e.dir, again, summary, err)
			if err == nil && plan.Spec.Program != nil && !slices.ContainsFunc(report.Configurations,
				func(c reports.Configuration) bool { return len(c.Best) > 0 }) {
				return exitCode(exitFailures) // every trial is outside of required bounds
			}
			return err
		},
	}
	e.flags(c)
	check = runFlags(c, &options)
	formatFlag(c, &format, formatNames())
	c.Flags().BoolVar(&dryRun, "dry-run", false, "show what would run, and run nothing")
	return c
}

// continues returns an error if a flag continues a run whose folder does not exist: --extend and
// --retry-failed, or --resume if there is a folder of the same name next to the file, which is then
// meant. Scripts that are started again and again begin with --resume too.
func continues(c *cobra.Command, file, dir string) error {
	flags := slices.DeleteFunc([]string{"resume", "extend", "retry-failed"}, func(name string) bool {
		return !c.Flags().Changed(name)
	})
	exists := func(dir string) bool {
		_, err := os.Stat(dir)
		return !errors.Is(err, fs.ErrNotExist)
	}
	if len(flags) == 0 || exists(dir) {
		return nil
	}
	text := "leave it out to begin one"
	if other := filepath.Join(filepath.Dir(file), dir); !filepath.IsAbs(dir) && exists(other) {
		text = fmt.Sprintf("add -o %s, the folder next to the file", terminal.CommandLine(other))
	} else if flags[0] == "resume" {
		return nil
	}
	return usage("no run at %s, which --%s continues; %s", dir, flags[0], text)
}

// searchCommand is the command run for an experiment file of a program.
func searchCommand(signals *interrupts) *cobra.Command {
	c := runCommand(signals)
	c.Use, c.Short = "search FILE.yaml", "Search the hyperparameters of any program, and report the best"
	c.Long = `Search the hyperparameters of a program for the best value that it prints. A YAML file declares its
command, the ranges of the hyperparameters, and how to search:

  program:
    command: [python3, train.py, "--rate={rate}", "--dropout={dropout}"]
    hyperparameters:
      rate: {log: {from: 1e-5, to: 1}}
      dropout: {linear: {from: 0, to: 0.9}}
    minimize: true
    timeout: 10m
  tune: {method: bayes, trials: 60}

The last line of standard output is the value. A trial fails if the program ends with an error or in
time, or prints no number; the search goes on, and the report has the reason. Finished trials are
kept in the run folder, as for gpc-tune run: --resume continues a search that was stopped, --extend
one with more trials, --retry-failed repeats failed trials. gpc-tune submit, status, show, export,
report and serve take such files and their run folders too.

Trials of auto and bayes, which learn from each one, run one after another unless the file says parallel
or asynchronous.`
	c.Flags().VisitAll(func(f *pflag.Flag) { f.Usage = strings.ReplaceAll(f.Usage, "a run", "a search") })
	c.Example = "  gpc-tune search train.yaml -j 4\n" +
		"  gpc-tune search train.yaml --resume --set tune.trials=100 --extend"
	return c
}
