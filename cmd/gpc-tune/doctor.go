package main

import (
	"cmp"
	"fmt"
	"io"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/gpc-tune/gpc-tune/experiments/doctor"
	"github.com/gpc-tune/gpc-tune/reports"
)

// quickCases is the number of cases of a quick check.
const quickCases = 192

func doctorCommand() *cobra.Command {
	var o doctor.DoctorOptions
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check that gpc-tune works on this machine, and measure its speed for the estimates of plan",
		Long: `Check that gpc-tune works on this machine, and measure how fast it is on one core. Each line is
printed as soon as it is measured. The results are saved: gpc-tune plan and gpc-tune submit estimate
times from them.

With --quick the same is checked, but only small problems of one size are timed, which takes seconds.
This does not show how time grows with the number of cases. Therefore nothing is saved, and results
saved earlier are kept.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if o.Quick && !c.Flags().Changed("cases") {
				o.Cases = quickCases
			}
			if o.Cases < 16 {
				return usage("--cases %d: at least 16 are needed to measure how time grows", o.Cases)
			}
			out := &checkup{w: c.OutOrStdout()}
			o.Tell = out
			found, err := doctor.Doctor(c.Context(), o)
			if err != nil {
				return err
			}
			if found.Kept != "" {
				out.line("", "saved in %s", found.Kept)
			}
			if o.Quick {
				out.line("", "--quick leaves out problems of more than %d cases, and how time grows. Nothing was "+
					"saved for gpc-tune plan: gpc-tune doctor without --quick does that", o.Cases)
			}
			if out.err != nil {
				return out.err
			}
			return found.Err()
		},
	}
	c.Flags().IntVar(&o.Cases, "cases", 768, fmt.Sprintf("cases of the largest problem that is timed; fast methods "+
		"also on twice as many (with --quick: of all problems, default %d)", quickCases))
	c.Flags().BoolVar(&o.Quick, "quick", false, "time small problems only, and save nothing")
	return c
}

// checkup prints the results line by line: tables, each under a header.
type checkup struct {
	w      io.Writer
	header string // of the last line
	err    error  // the first
}

// line prints a line, below the header if that is not the header of the previous line.
func (c *checkup) line(header, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if header != c.header {
		if c.header = header; header != "" {
			text = header + "\n" + text
		}
		text = "\n" + text
	}
	if c.err == nil {
		_, c.err = io.WriteString(c.w, text+"\n")
	}
}

// Machine implements doctor.Findings, as do the methods below.
func (c *checkup) Machine(found *doctor.Checkup) {
	memory := "unknown on this system: only --memory limits runs"
	if found.Memory > 0 {
		memory = humanize.IBytes(uint64(found.Memory)) + " available"
	}
	c.line("", "%-42s %s %s %s", "gpc-tune", found.Build.Version, found.Build.Go, found.Build.Arch)
	c.line("", "%-42s %s, %d cores", "processor", cmp.Or(found.CPU, "unknown"), found.Cores)
	c.line("", "%-42s %s", "memory", memory)
}

func (c *checkup) Check(found doctor.Check) {
	result := "yes"
	if found.Err != nil {
		result = "NO: " + found.Err.Error()
	}
	c.line("", "%-42s %s", found.What, result)
}

func (c *checkup) Speed(s doctor.Speed) {
	c.line("instructions      n  product, GFLOP/s  Cholesky, GFLOP/s  (one core)", "%-12s %6d %17.3g %18.3g", s.Path,
		s.N, s.Product, s.Cholesky)
}

func (c *checkup) Kernel(t doctor.ComponentTime) {
	c.times(t, "kernel, n =", fmt.Sprintf("covariance matrix and its gradient, %d inputs; one core",
		doctor.ShownInputs))
}

func (c *checkup) Method(t doctor.ComponentTime) {
	c.times(t, "inference/likelihood, n =", "log evidence and its gradient, without kernel and prediction; one core")
}

func (c *checkup) times(t doctor.ComponentTime, what, doc string) {
	header, row := fmt.Sprintf("%-36s", what), fmt.Sprintf("%-36s", t.Name)
	for i, n := range t.Cases {
		header += fmt.Sprintf(" %7d", n)
		row += fmt.Sprintf(" %7v", reports.Duration(t.Seconds[i]))
	}
	c.line(header+"  ("+doc+")", "%s", row)
}
