package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gpc-tune/gpc-tune/experiments/check"
	"github.com/gpc-tune/gpc-tune/experiments/doctor"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

func checkCommand() *cobra.Command {
	var format string
	var e experiment
	var options check.CheckOptions
	c := &cobra.Command{
		Use:     "check [FILE.yaml | gallery:NAME]",
		Aliases: []string{"doctor"},
		Short:   "Check gradients and log evidences of an experiment, or the program on this machine",
		Long: `Without a file, check that gpc-tune works on this machine: models give the known values, vector
instructions and plain ones agree, and run folders can be created in the current folder. The speed of
matrix products and factorisations on one core is shown too. Each line is printed as soon as it is
known. How long an experiment takes here is shown by gpc-tune plan.

With a file, fit every inference method of the file once to all training data, at the starting values
of the hyperparameters or at --theta. Compare the gradient of the log evidence with finite differences, and
the log evidence with an estimate by annealed importance sampling, with error bars. The options of
the sampler are those of the sampling entry of the file, if there is one.

The exit code is 4 if a fit fails or does not converge, if a gradient differs by more than 1e-6, or
if a lower bound lies more than two standard errors above the sampled log evidence.`,
		Example: "  gpc-tune check\n  gpc-tune check gallery:ground_truth_crabs\n  gpc-tune check " +
			"gallery:pima_grid --theta log_length_scale=1,log_amplitude=2",
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return checkMachine(c)
			}
			render, err := table.CheckForms.Named(format)
			if err != nil {
				return misused(err)
			}
			if options.Workers < 1 {
				return usage("-j %d: at least one evaluation must run at a time", options.Workers)
			}
			plan, err := e.plan(c, args[0])
			if err != nil {
				return err
			}
			check, err := check.Check(c.Context(), plan, options)
			if err != nil {
				return err
			}
			if err := render(inForm(c, format), check); err != nil {
				return err
			}
			if !check.Passed {
				return exitCode(exitFailures)
			}
			return nil
		},
	}
	e.settingsFlag(c)
	f := c.Flags()
	f.StringToStringVar(&options.Theta, "theta", nil, "hyperparameters, `name=value`, positive ones as logarithms: "+
		"log_amplitude=1,log_length_scale=0; a model without that name ignores it")
	f.BoolVar(&options.NoSampling, "no-sampling", false, "do not sample log evidences")
	f.IntVarP(&options.Workers, "jobs", "j", runtime.GOMAXPROCS(0),
		"number of evaluations that run at the same time")
	formatFlag(c, &format, table.CheckForms.Names())
	return c
}

// checkMachine checks the program itself. The flags of the command are about an experiment.
func checkMachine(c *cobra.Command) (err error) {
	c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.Changed && f.Name != "help" {
			err = usage("--%s needs an experiment: %s", f.Name, command("check", "FILE.yaml", "--"+f.Name))
		}
	})
	if err != nil {
		return err
	}
	out := forPrograms(c)
	return doctor.Doctor(c.Context(), func(what, found string) { fmt.Fprintf(out, "%-42s %s\n", what, found) })
}
