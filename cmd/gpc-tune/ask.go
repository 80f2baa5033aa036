package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/spf13/cobra"

	runs "github.com/gpc-tune/gpc-tune/experiments/run"
)

func askCommand() *cobra.Command {
	var e experiment
	c := &cobra.Command{
		Use:   "ask RUN | FILE.yaml",
		Short: "Print the next point of a search as JSON, for a program that tells its value",
		Long: `Print the next point of a search as a line of JSON with its id, and reserve it. A program evaluates the
point and gives the value to gpc-tune tell. Nothing else evaluates the point before, however long it takes; if
the program has died, tell RUN ID failed gives the point up. The experiment file has the hyperparameters and the
method, and needs no command.

"id" and "point" are null if there is no point. Then "done" is true if the search is finished, and its
results are in the run folder. Otherwise the method waits for the values of the points in "untold".`,
		Example: "  gpc-tune ask search.yaml -o runs/mine\n  gpc-tune ask runs/mine\n  gpc-tune tell runs/mine ID 0.42",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			plan, err := e.plan(c, args[0])
			if err != nil {
				return err
			}
			asked, err := runs.Ask(c.Context(), plan, e.dir, runs.Options{Warn: warner(c)})
			if err != nil {
				return err
			}
			to := json.NewEncoder(forPrograms(c))
			to.SetEscapeHTML(false)
			return to.Encode(asked)
		},
	}
	e.flags(c)
	return c
}

func tellCommand() *cobra.Command {
	var e experiment
	c := &cobra.Command{
		Use:   "tell RUN | FILE.yaml ID VALUE | failed [REASON]",
		Short: "Record the value of a point that gpc-tune ask has printed",
		Long: `Record the value of a point that gpc-tune ask has printed with this id, or that it has none. A
failed point counts as a failed trial, and the report has the reason.`,
		Example: "  gpc-tune tell runs/mine 3f0b7c 0.42\n  gpc-tune tell runs/mine 3f0b7c failed \"out of memory\"",
		Args:    cobra.RangeArgs(3, 4),
		RunE: func(c *cobra.Command, args []string) error {
			value, failure := math.NaN(), errors.New("the program told that it failed")
			if args[2] != "failed" {
				var err error
				if value, err = strconv.ParseFloat(args[2], 64); err != nil || math.IsNaN(value) ||
					math.IsInf(value, 0) || len(args) > 3 {
					return usage("tell takes a finite number, or failed and a reason, not %q", args[2:])
				}
				failure = nil
			} else if len(args) > 3 {
				failure = errors.New(args[3])
			}
			plan, err := e.plan(c, args[0])
			if err != nil {
				return err
			}
			if err := runs.Tell(plan, e.dir, args[1], value, failure, runs.Options{Warn: warner(c)}); err != nil {
				return err
			}
			_, err = fmt.Fprintln(c.ErrOrStderr(), "recorded")
			return err
		},
	}
	e.flags(c)
	return c
}
