package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/gpc-tune/gpc-tune/internal/journal"
)

// controls are the commands for a configuration of a run: what each does, and what it prints.
var controls = []struct{ verb, short, long, did string }{
	{"drop", "Take a configuration out of a run",
		`Take a configuration out of the run in a folder: none of its jobs starts any more, it has no result, and
it is not compared. The report says so. What it has computed is kept: resume takes it back.`, "is dropped"},
	{"pause", "Start no further jobs of a configuration",
		`Start no further jobs of a configuration of the run in a folder. Its results so far are kept. When no
other jobs are left, the run ends with exit code 5.`, "is paused"},
	{"resume", "Let a configuration go on that was dropped or paused",
		`Let a configuration of the run in a folder go on that was dropped or paused. If no process runs it, gpc-tune
run with --resume goes on with its jobs.`, "goes on"},
	{"first", "Start the jobs of a configuration before those of others",
		`Start the jobs of a configuration of the run in a folder before those of all others. Of several such
commands the last one goes first. No result depends on it.`, "goes first"},
}

// controlCommands make a command of each row.
func controlCommands() (out []*cobra.Command) {
	for _, of := range controls {
		out = append(out, &cobra.Command{
			Use:   of.verb + " DIR CONFIGURATION",
			Short: of.short,
			Long: of.long + `

Configurations are numbered as in the report. All processes that run the folder obey before their next
job; jobs that have begun are finished.`,
			Example: fmt.Sprintf("  gpc-tune %s runs/crabs 3", of.verb),
			Args:    cobra.ExactArgs(2),
			RunE: func(c *cobra.Command, args []string) error {
				folder, err := readFolder(c, args[0])
				if err != nil {
					return err
				}
				all := folder.Manifest.Configurations
				k, err := strconv.Atoi(args[1])
				if err != nil || k < 0 || k >= len(all) {
					return usage("configuration %q: the run has configurations 0 to %d, as gpc-tune status %s shows "+
						"them", args[1], len(all)-1, args[0])
				}
				err = journal.Order(args[0], journal.Command{Verb: of.verb, Key: all[k].Studies[0].Key})
				if err == nil {
					fmt.Fprintf(c.ErrOrStderr(), "#%d %s\n", k, of.did)
				}
				return err
			},
		})
	}
	return out
}
