package main

import (
	"runtime"

	"github.com/spf13/cobra"

	"github.com/gpc-tune/gpc-tune/internal/check"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

func checkCommand() *cobra.Command {
	var format string
	var e experiment
	var options check.CheckOptions
	c := &cobra.Command{
		Use:   "check FILE.yaml | gallery:NAME",
		Short: "Hold gradients to differences, and log evidences to Monte Carlo with error bars",
		Long: `Fit every inference of the file once to all of the training data, where the hyperparameters start or
at --theta, and hold the gradient of its log evidence to differences and the log evidence to a
sampled one (annealed importance sampling), whose options are those of the file's sampling entry if
it has one. The exit code is 4 if a fit fails or does not converge, a gradient is off by more than
1e-6, or a lower bound lies more than two standard errors above the sampled log evidence.`,
		Example: "  gpc-tune check gallery:ground_truth_crabs\n  gpc-tune check gallery:pima_grid --theta " +
			"log_length_scale=1,log_amplitude=2",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
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
	f.StringToStringVar(&options.Theta, "theta", nil, "hyperparameters on the theta scale, as in "+
		"log_amplitude=1,log_length_scale=0, wherever there is one of that name")
	f.BoolVar(&options.NoSampling, "no-sampling", false, "leave out the sampled log evidences")
	f.IntVarP(&options.Workers, "jobs", "j", runtime.GOMAXPROCS(0), "evaluations that run at a time")
	formatFlag(c, &format, table.CheckForms.Names())
	return c
}
