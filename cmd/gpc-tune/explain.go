package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/gpc-tune/gpc-tune/experiments"
)

// exitCodes says what the exit codes mean, and what to do.
var exitCodes = []struct {
	code int
	doc  string
}{
	{exitDone, "done"},
	{exitUnexpected, "an unexpected error: a fault of gpc-tune, or of the machine"},
	{exitUsage, "a mistake on the command line"},
	{exitInvalid, "an invalid configuration, data or environment: every mistake is shown with its place; nothing has run"},
	{exitFailures, "finished, but some trials, fits or checks failed: the report says which and why"},
	{exitStopped, "stopped before the end, by a limit or a full disk: the same command with --resume goes on"},
	{exitForeign, "the run folder belongs to another configuration: name another with -o, or add --extend to ask more of the same"},
	{130, "interrupted by SIGINT (Ctrl-C); the same command with --resume goes on"},
	{143, "interrupted by SIGTERM; the same command with --resume goes on"},
}

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
					if _, err := fmt.Fprintf(c.OutOrStdout(), "%d  %s\n", e.code, e.doc); err != nil {
						return err
					}
				}
			}
			if found {
				return nil
			}
			if err := experiments.Explain(c.OutOrStdout(), args[0]); err != nil {
				return usageError{err}
			}
			return nil
		},
	}
}
