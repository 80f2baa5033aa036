package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/gpc-tune/gpc-tune/experiments"
	"github.com/gpc-tune/gpc-tune/reports"
)

func doctorCommand() *cobra.Command {
	var largest int
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check that gpc-tune works here, and measure how fast, for the times that plan shows",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if largest < 16 {
				return usageError{fmt.Errorf("--cases %d: at least 16 are needed to tell how time grows", largest)}
			}
			found, err := experiments.Doctor(c.Context(), largest)
			if err != nil {
				return err
			}
			if err := printCheckup(c.OutOrStdout(), found); err != nil {
				return err
			}
			return found.Err()
		},
	}
	c.Flags().IntVar(&largest, "cases", 768, "cases of the largest problem that is timed; quick methods are on twice as many too")
	return c
}

func printCheckup(out io.Writer, found *experiments.Checkup) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "gpc-tune\t%s %s %s\n", found.Build.Version, found.Build.Go, found.Build.Arch)
	fmt.Fprintf(w, "processor\t%s, %d cores\n", cmp.Or(found.CPU, "not told by the system"), found.Cores)
	memory := "not told by the system: runs have no limit but --memory"
	if found.Memory > 0 {
		memory = humanize.IBytes(uint64(found.Memory)) + " available"
	}
	fmt.Fprintf(w, "memory\t%s\n", memory)
	for _, c := range found.Checks {
		result := "yes"
		if c.Err != nil {
			result = "NO: " + c.Err.Error()
		}
		fmt.Fprintf(w, "%s\t%s\n", c.What, result)
	}
	fmt.Fprint(w, "\ninstructions\tn\tproduct, GFLOP/s\tCholesky, GFLOP/s\t(one core)\n")
	for _, s := range found.Speeds {
		fmt.Fprintf(w, "%s\t%d\t%.3g\t%.3g\n", s.Path, s.N, s.Product, s.Cholesky)
	}
	sizes := []int{500, 1000, 2000}
	fmt.Fprintf(w, "\nlog evidence and gradient, n =\t%s\t(kernel and prediction aside; one core)\n", strings.Trim(strings.ReplaceAll(fmt.Sprint(sizes), " ", "\t"), "[]"))
	for _, m := range found.Rates.MethodTimes(sizes...) {
		fmt.Fprint(w, m.Method)
		for _, s := range m.Seconds {
			fmt.Fprintf(w, "\t%v", reports.Duration(s))
		}
		fmt.Fprintln(w)
	}
	if found.Kept != "" {
		fmt.Fprintf(w, "\nkept in\t%s\n", found.Kept)
	}
	return w.Flush()
}
