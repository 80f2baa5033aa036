package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

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
		Use:   "tell RUN | FILE.yaml ID VALUE | NAME=VALUE... | failed [REASON]",
		Short: "Record the value of a point that gpc-tune ask has printed",
		Long: `Record the value of a point that gpc-tune ask has printed with this id, or that it has none. A
failed point counts as a failed trial, and the report has the reason. Several values have their names.`,
		Example: "  gpc-tune tell runs/mine 3f0b7c 0.42\n  gpc-tune tell runs/mine 3f0b7c failed \"out of memory\"",
		Args:    cobra.MinimumNArgs(3),
		RunE: func(c *cobra.Command, args []string) error {
			values, failure, err := valuesTold(args[2:])
			if err != nil {
				return err
			}
			plan, err := e.plan(c, args[0])
			if err != nil {
				return err
			}
			if err := runs.Tell(plan, e.dir, args[1], values, failure, runs.Options{Warn: warner(c)}); err != nil {
				return err
			}
			_, err = fmt.Fprintln(c.ErrOrStderr(), "recorded")
			return err
		},
	}
	e.flags(c)
	return c
}

// valuesTold reads the values of a point, or why it has none.
func valuesTold(args []string) (values map[string]float64, failure, err error) {
	if args[0] == "failed" {
		if len(args) > 1 {
			return nil, errors.New(strings.Join(args[1:], " ")), nil
		}
		return nil, errors.New("the program told that it failed"), nil
	}
	values = map[string]float64{}
	for _, arg := range args {
		name, text, named := strings.Cut(arg, "=")
		if !named {
			name, text = "", arg
		}
		v, err := strconv.ParseFloat(text, 64)
		if _, twice := values[name]; twice || err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, nil, usage("tell takes a finite number, NAME=VALUE for several, or failed and a reason, not %q",
				args)
		}
		values[name] = v
	}
	return values, nil, nil
}
