package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gpc-tune/gpc-tune/experiments/catalogue"
)

// explainCommand is `gpc-tune explain`.
func explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "explain NAME | CODE | exit-codes",
		Short: "Explain a name that a configuration file can have, or an exit code",
		Long: `Explain a kernel, a likelihood, an inference, a strategy or any other name that gpc-tune list shows: what it is, its hyperparameters
with their defaults and bounds, its other options, and where it stands in a file. A number is an exit code. An experiment of the
gallery explains itself: its file is printed, whose comment says where its data come from, and which may be copied and changed.`,
		Example: "  gpc-tune explain se\n  gpc-tune explain 5\n  gpc-tune explain gallery:crabs > mine.yaml",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			found := false
			for _, e := range exitCodes {
				if args[0] == "exit-codes" || args[0] == strconv.Itoa(e.code) {
					found = true
					if _, err := fmt.Fprintf(c.OutOrStdout(), "%d  %s\n", e.code,
						strings.TrimSuffix(e.meaning+": "+e.remedy, ": ")); err != nil {
						return err
					}
				}
			}
			if found {
				return nil
			}
			if err := catalogue.Explain(c.OutOrStdout(), args[0]); err != nil {
				return usageError{err}
			}
			return nil
		},
	}
}
