package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gpc-tune/gpc-tune/experiments/doctor"
)

func doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Check that gpc-tune works on this machine",
		Long: `Check that gpc-tune works on this machine: models give the known values, vector instructions and plain
ones agree, and run folders can be created in the current folder. The speed of matrix products and
factorisations on one core is shown too. Each line is printed as soon as it is known. How long an
experiment takes here is shown by gpc-tune plan.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			out := forPrograms(c)
			return doctor.Doctor(c.Context(), func(what, found string) { fmt.Fprintf(out, "%-42s %s\n", what, found) })
		},
	}
}
