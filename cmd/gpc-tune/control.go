package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gpc-tune/gpc-tune/experiments/record"
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

// controlCommands make a command of each row, and the one that enqueues a point.
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
				k, configuration, err := controlled(c, args)
				if err != nil {
					return err
				}
				err = journal.Order(args[0], journal.Command{Verb: of.verb, Key: configuration.Studies[0].Key})
				if err == nil {
					fmt.Fprintf(c.ErrOrStderr(), "#%d %s\n", k, of.did)
				}
				return err
			},
		})
	}
	return append(out, &cobra.Command{
		Use:   "enqueue DIR CONFIGURATION NAME=VALUE...",
		Short: "Try a point of your own in a search",
		Long: `Try a point in the searches of a configuration of the run in a folder, before their other trials. Local
optimisers start there. Hyperparameters have the names of the report; those that are not given are at their initial
values, and one that is a budget is at its largest. A point that was tried before is not computed again.

Configurations are numbered as in the report. All processes that run the folder obey before their next
job. If no process runs it, gpc-tune run with --resume tries the point.`,
		Example: "  gpc-tune enqueue runs/crabs 3 amplitude=2 length_scale=1.5",
		Args:    cobra.MinimumNArgs(3),
		RunE: func(c *cobra.Command, args []string) error {
			k, configuration, err := controlled(c, args)
			if err != nil {
				return err
			}
			point, err := assigned(k, configuration, args[2:])
			if err != nil {
				return err
			}
			err = journal.Order(args[0], journal.Command{Verb: "enqueue", Key: configuration.Studies[0].Key,
				Point: point})
			if err == nil {
				fmt.Fprintf(c.ErrOrStderr(), "#%d tries it next\n", k)
			}
			return err
		},
	})
}

// controlled is the configuration that the arguments DIR and CONFIGURATION name.
func controlled(c *cobra.Command, args []string) (k int, of record.Configuration, err error) {
	folder, err := readFolder(c, args[0])
	if err != nil {
		return k, of, err
	}
	all := folder.Manifest.Configurations
	k, err = strconv.Atoi(args[1])
	if err != nil || k < 0 || k >= len(all) {
		return k, of, usage("configuration %q: the run has configurations 0 to %d, as gpc-tune status %s shows them",
			args[1], len(all)-1, args[0])
	}
	return k, all[k], nil
}

// assigned reads the values of hyperparameters of a configuration, each as NAME=VALUE.
func assigned(k int, of record.Configuration, args []string) (map[string]record.Number, error) {
	if slices.Contains([]string{"none", "grid", "mcmc"}, of.Tune) {
		return nil, usage("configuration %d has tune: %s, which searches no further points", k, of.Tune)
	}
	var have []string
	for _, h := range of.Hyperparameters {
		if !h.Fixed {
			have = append(have, h.Shown())
		}
	}
	point := map[string]record.Number{}
	for _, arg := range args {
		name, text, _ := strings.Cut(arg, "=")
		i := slices.IndexFunc(of.Hyperparameters, func(h record.Hyperparameter) bool {
			return !h.Fixed && (h.Name == name || h.Shown() == name)
		})
		if i < 0 {
			return nil, usage("%q: configuration %d tunes no %q; it tunes %s", arg, k, name, strings.Join(have, ", "))
		}
		h := of.Hyperparameters[i]
		if _, twice := point[h.Name]; twice {
			return nil, usage("%q: %s has a value already; give it once", arg, name)
		}
		value, err := strconv.ParseFloat(text, 64)
		if h.Choices != nil {
			choice := slices.Index(h.Choices, text)
			if value, err = float64(choice), nil; choice < 0 {
				return nil, usage("%q: %s is one of %s", arg, name, strings.Join(h.Choices, ", "))
			}
		}
		if err != nil || math.IsInf(value, 0) || math.IsNaN(value) ||
			h.Choices == nil && strings.ContainsAny(text, "_xX") { // which files do not take either
			return nil, usage("%q: write NAME=VALUE with a number, as in %s=2", arg, name)
		}
		point[h.Name] = record.Number(value)
	}
	for _, h := range of.Hyperparameters {
		if h.When == nil {
			continue
		}
		_, given := point[h.Name]
		if on, known := point[h.When.Name]; given && known && !slices.Contains(h.When.Values, float64(on)) {
			return nil, usage("%s has no effect with this %s; leave it out", h.Name, h.When.Name)
		}
	}
	return point, nil
}
