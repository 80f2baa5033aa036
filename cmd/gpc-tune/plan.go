package main

import (
	"fmt"
	"runtime"
	"text/tabwriter"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/gpc-tune/gpc-tune/experiments"
	"github.com/gpc-tune/gpc-tune/reports"
)

// validateCommand is `gpc-tune validate`.
func validateCommand() *cobra.Command {
	var settings []string
	var withData bool
	c := &cobra.Command{
		Use:   "validate FILE.yaml | gallery:NAME",
		Short: "Check a configuration file; every mistake is shown with its place",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			spec, err := experiments.Load(args[0], settings)
			if err != nil {
				return err
			}
			if withData {
				if _, err := experiments.NewPlan(c.Context(), spec); err != nil {
					return err
				}
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "%s is valid (%s)\n", args[0], spec)
			return err
		},
	}
	c.Flags().StringArrayVar(&settings, "set", nil, "change a value of the file, as in --set model.likelihood=logit (repeatable)")
	c.Flags().BoolVar(&withData, "data", false, "read the data too, and check the file against them")
	return c
}

// planCommand is `gpc-tune plan`.
func planCommand() *cobra.Command {
	var settings []string
	var dir string
	c := &cobra.Command{
		Use:   "plan FILE.yaml | gallery:NAME",
		Short: "Show what would run: configurations, jobs, memory, and what is already done",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			plan, err := loadPlan(c, args[0], settings)
			if err != nil {
				return err
			}
			if dir == "" {
				dir = "runs/" + plan.Name()
			}
			return printPlan(c, plan, dir, runtime.GOMAXPROCS(0))
		},
	}
	c.Flags().StringArrayVar(&settings, "set", nil, "change a value of the file, as in --set model.likelihood=logit (repeatable)")
	c.Flags().StringVarP(&dir, "output", "o", "", "run folder (default runs/NAME)")
	return c
}

func printPlan(c *cobra.Command, plan *experiments.Plan, dir string, workers int) error {
	done, err := plan.Done(dir)
	if err != nil {
		return err
	}
	rates, note := experiments.LoadRates()
	w := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "dataset\tkernel\tlikelihood\tinference\tcases\tinputs\tfree\ttrainings\tjobs\tmemory of one job")
	if rates != nil {
		fmt.Fprint(w, "\ttime of one evaluation\tevaluations of a job\ttime of a job\tof all")
	}
	fmt.Fprintln(w)
	unknown, all, longest := 0, 0.0, 0.0
	for _, r := range plan.Overview(rates) {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t%s", r.Dataset, r.Kernel, r.Likelihood, r.Methods(), r.Cases, r.Inputs, r.Free, len(r.Studies), r.Jobs, humanize.IBytes(uint64(r.Memory)))
		switch {
		case rates != nil && r.All > 0:
			fmt.Fprintf(w, "\t%v\t%.0f\t%v\t%v", reports.Duration(r.Evaluation), r.Evaluations, reports.Duration(r.Longest), reports.Duration(r.All))
			all, longest = all+r.All, max(longest, r.Longest)
		case rates != nil:
			fmt.Fprint(w, "\t?\t?\t?\t?")
			unknown++
		}
		fmt.Fprintln(w)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, warning := range plan.Manifest.Warnings {
		fmt.Fprintf(c.ErrOrStderr(), "warning: %s\n", warning)
	}
	about := "about"
	more := plan.Contested()
	if more > 0 {
		about = "at most about"
		fmt.Fprintf(c.OutOrStdout(), "at most %d jobs, %d of them for configurations that must first prevail over others; %d are done in %s\n", plan.Jobs()+more, more, done, dir)
	} else {
		fmt.Fprintf(c.OutOrStdout(), "%d jobs, %d of them done in %s\n", plan.Jobs(), done, dir)
	}
	switch {
	case rates == nil:
		_, err = fmt.Fprintln(c.OutOrStdout(), note)
	case unknown == 0:
		_, err = fmt.Fprintf(c.OutOrStdout(), "%s %v with -j %d\n", about, reports.Duration(max(all/float64(workers), longest)), workers)
	}
	return err
}
