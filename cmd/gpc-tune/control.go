package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/gpc-tune/gpc-tune/experiments/journal"
	runs "github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/internal/terminal"
)

// controls are the commands for a configuration of a run, with their help and the text that each
// prints.
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

// controlCommands returns a command for each row of controls, and the commands for points.
func controlCommands() (out []*cobra.Command) {
	defer func() {
		for _, c := range out {
			takesRuns(c, 1)
		}
	}()
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
				folder, k, err := controlled(c, args)
				if err != nil {
					return err
				}
				err = journal.AppendCommand(args[0], journal.Command{Verb: of.verb,
					Key: folder.Manifest.Configurations[k].Studies[0].Key})
				if err == nil {
					fmt.Fprintf(c.ErrOrStderr(), "#%d %s\n", k, of.did)
				}
				return err
			},
		})
	}
	return append(out, enqueueCommand(), dequeueCommand())
}

func enqueueCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "enqueue DIR CONFIGURATION NAME=VALUE...",
		Short: "Try a point of your own in a search",
		Long: `Try a point in the searches of a configuration of the run in a folder, before their other trials. Local
optimisers start there. Hyperparameters have the names of the report, and choices their values in the file; those that
are not given are at their initial values, and one that is a budget is at its largest. A point that no search can try is
refused with all reasons, and gpc-tune dequeue takes one back. A point that was tried before is not computed
again, unless a program has noise: true.

Configurations are numbered as in the report. All processes that run the folder obey before their next
job. If no process runs it, gpc-tune run or search with --resume tries the point.`,
		Example: "  gpc-tune enqueue runs/crabs 3 amplitude=2 length_scale=1.5",
		Args:    cobra.MinimumNArgs(3),
		RunE: func(c *cobra.Command, args []string) error {
			folder, k, err := controlled(c, args)
			if err != nil {
				return err
			}
			of := folder.Manifest.Configurations[k]
			point, err := runs.Point(k, of, args[2:])
			if err != nil {
				return misused(err)
			}
			if t := folder.Known(k, point); t != nil {
				fmt.Fprintf(c.ErrOrStderr(), "trial %d has this point already: its result is used again, and the "+
					"program does not run\n", t.Index)
			}
			err = journal.AppendCommand(args[0], journal.Command{Verb: "enqueue", Key: of.Studies[0].Key, Point: point})
			if err == nil {
				number := 1
				for _, other := range folder.Control.Enqueued {
					if other.Configuration == k {
						number++
					}
				}
				fmt.Fprintf(c.ErrOrStderr(), "#%d tries it next\n%s takes it back\n", k,
					terminal.CommandLine("gpc-tune", "dequeue", args[0], args[1], strconv.Itoa(number)))
				if m := folder.Manifest; journal.Running(args[0]) == 0 {
					fmt.Fprintf(c.ErrOrStderr(), "no process is at work; go on with: %s\n",
						runs.ResumeCommand(m, m.Source, args[0], m.Settings))
				}
			}
			return err
		},
	}
}

func dequeueCommand() *cobra.Command {
	return &cobra.Command{
		Use:        "dequeue DIR CONFIGURATION NUMBER | NAME=VALUE...",
		Short:      "Take a point back that was enqueued",
		SuggestFor: []string{"withdraw", "unqueue", "cancel", "remove", "delete"},
		Long: `Take a point back that was enqueued for the searches of a configuration: it is not tried, or if it has
failed, its failure does not count any more. A point that has a result stays. The number is the one that gpc-tune
enqueue printed; the values of the point name it too.

Configurations are numbered as in the report. All processes that run the folder obey before their next job.`,
		Example: "  gpc-tune dequeue runs/crabs 3 1\n  gpc-tune dequeue runs/crabs 3 amplitude=2 length_scale=1.5",
		Args:    cobra.MinimumNArgs(3),
		RunE: func(c *cobra.Command, args []string) error {
			folder, k, err := controlled(c, args)
			if err != nil {
				return err
			}
			of, err := folder.Enqueued(k, args[2:])
			if err != nil {
				return misused(err)
			}
			if folder.Tried(of) != nil {
				return usage("point %d of configuration %d was tried already, and its result stays", of.Number, k)
			}
			err = journal.AppendCommand(args[0], journal.Command{Verb: "dequeue",
				Key: folder.Manifest.Configurations[k].Studies[0].Key, Number: of.Number})
			if err == nil {
				fmt.Fprintf(c.ErrOrStderr(), "#%d does not try it\n", k)
			}
			return err
		},
	}
}

// controlled is the run folder, and the number of the configuration, that the arguments DIR and
// CONFIGURATION name.
func controlled(c *cobra.Command, args []string) (folder *runs.Folder, k int, err error) {
	if folder, err = readFolder(c, args[0]); err != nil {
		return nil, 0, err
	}
	all := folder.Manifest.Configurations
	k, err = strconv.Atoi(args[1])
	if err != nil || k < 0 || k >= len(all) {
		return nil, 0, usage("configuration %q: the run has configurations 0 to %d, as gpc-tune status %s shows them",
			args[1], len(all)-1, args[0])
	}
	return folder, k, nil
}
