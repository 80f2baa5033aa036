package main

import (
	"errors"
	"fmt"
	"runtime"
	"text/tabwriter"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/gpc-tune/gpc-tune/experiments/plan"
	"github.com/gpc-tune/gpc-tune/experiments/rates"
	runs "github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/reports"
)

// validateCommand is `gpc-tune validate`.
func validateCommand() *cobra.Command {
	var settings []string
	var noData, withData bool
	c := &cobra.Command{
		Use:   "validate FILE.yaml | gallery:NAME",
		Short: "Check a configuration file and its data; every mistake is shown with its place",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if noData && withData {
				return usageError{errors.New("--data and --no-data are both given; keep one")}
			}
			var checked fmt.Stringer
			if noData {
				spec, err := spec.Load(args[0], settings)
				if err != nil {
					return err
				}
				checked = spec
			} else {
				plan, err := loadPlan(c, args[0], settings)
				if err != nil {
					return err
				}
				checked = plan.Spec
			}
			_, err := fmt.Fprintf(c.OutOrStdout(), "%s is valid (%s)\n", args[0], checked)
			return err
		},
	}
	c.Flags().StringArrayVar(&settings, "set", nil,
		"change a value of the file, as in --set model.likelihood=logit (repeatable)")
	c.Flags().BoolVar(&noData, "no-data", false, "do not read the data: leave out what only they show")
	c.Flags().BoolVar(&withData, "data", false, "read the data too, which is the default")
	_ = c.Flags().MarkHidden("data") // there is such a flag
	return c
}

// planCommand is `gpc-tune plan`.
func planCommand() *cobra.Command {
	var settings []string
	var dir string
	var memory func() (int64, error)
	c := &cobra.Command{
		Use:   "plan FILE.yaml | gallery:NAME",
		Short: "Show what would run: configurations, jobs, memory, and what is already done",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			limit, err := memory()
			if err != nil {
				return err
			}
			plan, err := loadPlan(c, args[0], settings)
			if err != nil {
				return err
			}
			if dir == "" {
				dir = "runs/" + plan.Name()
			}
			return printPlan(c, plan, dir, runtime.GOMAXPROCS(0), limit)
		},
	}
	c.Flags().StringArrayVar(&settings, "set", nil,
		"change a value of the file, as in --set model.likelihood=logit (repeatable)")
	c.Flags().StringVarP(&dir, "output", "o", "", "run folder (default runs/NAME)")
	memory = memoryFlag(c)
	return c
}

// printPlan shows the plan, and ends as the run would before its first job where a job needs more
// memory than there is.
func printPlan(c *cobra.Command, plan *plan.Plan, dir string, workers int, memory int64) error {
	done, extends, err := runs.Done(plan, dir)
	if err != nil {
		return err
	}
	rates, note := rates.LoadRates()
	w := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
	overview := plan.Overview(rates)
	if len(overview) > 0 {
		fmt.Fprint(w, "dataset\tkernel\tlikelihood\tinference\tcases\tinputs\tfree\ttrainings\tjobs\tmemory of one job")
		if rates != nil {
			fmt.Fprint(w, "\ttime of one evaluation\tevaluations of a job\ttime of a job\tof all")
		}
		fmt.Fprintln(w)
	}
	unknown, all, path := 0, 0.0, 0.0
	limit := map[bool]string{true: "at most "}
	for _, r := range overview {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%d\t%d\t%d\t%s%d\t%s", reports.OneLine(r.Dataset), r.Kernel, r.Likelihood,
			r.Methods(), r.Cases, r.Inputs, r.Free, len(r.Studies), limit[r.AtMost], r.Jobs,
			humanize.IBytes(uint64(r.Memory)))
		switch {
		case rates != nil && r.All > 0:
			fmt.Fprintf(w, "\t%v\t%.0f\t%v\t%s%v", reports.Duration(r.Evaluation), r.Evaluations,
				reports.Duration(r.Longest), limit[r.AtMost], reports.Duration(r.All))
			all, path = all+r.All, max(path, r.Path)
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
	jobs, atMost := plan.Jobs()
	state := ""
	switch {
	case extends:
		state = ", which this extends: gpc-tune run --extend uses them again"
	case done > 0:
		folder, err := runs.ReadFolder(dir)
		if err != nil {
			return err
		}
		progress, err := folder.Progress()
		if err != nil {
			return err
		}
		if progress.Finished {
			state = ", which is finished"
		}
	}
	contested := ""
	if n := plan.Contested(); n > 0 {
		contested = fmt.Sprintf("%d of them for configurations that must first prevail over others, ", n)
	}
	if n := len(plan.Manifest.Illustrations); n > 0 {
		fmt.Fprintf(c.OutOrStdout(), "illustrations: %d, with the plan\n", n)
	}
	fmt.Fprintf(c.OutOrStdout(), "%s%d jobs, %s%d of them done in %s%s\n", limit[atMost], jobs, contested, done, dir,
		state)
	switch {
	case rates == nil:
		_, err = fmt.Fprintln(c.OutOrStdout(), note)
	case unknown == 0:
		_, err = fmt.Fprintf(c.OutOrStdout(), "%sabout %v for all of them with -j %d\n", limit[atMost],
			reports.Duration(max(all/float64(workers), path)), workers)
	}
	return errors.Join(err, runs.Admit(plan.Search(), memory))
}
