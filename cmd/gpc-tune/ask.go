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
	"github.com/gpc-tune/gpc-tune/record"
)

func askCommand() *cobra.Command {
	var e experiment
	var options runs.Options
	var untold bool
	c := &cobra.Command{
		Use:   "ask RUN | FILE.yaml",
		Short: "Print the next point of a search as JSON, for a program that tells its value",
		Long: `Print the next point of a search as a line of JSON with its id, and reserve it. A program evaluates the
point and gives the value to gpc-tune tell. Nothing else evaluates the point before, however long it takes. If
the program has died, --untold prints the point again, and tell RUN ID failed gives it up. The experiment file
has the hyperparameters and the method, and needs no command.

"id" and "point" are null if there is no point. Then "done" is true if the search is finished, and its
results are in the run folder. Otherwise the method waits for the values of the points in "untold".`,
		Example: "  gpc-tune ask search.yaml -o runs/mine\n  gpc-tune ask runs/mine\n  gpc-tune tell runs/mine ID 0.42",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			plan, err := e.plan(c, args[0])
			if err != nil {
				return err
			}
			options.Warn = warner(c)
			var points []runs.Asked
			if untold {
				points, err = runs.Untold(plan, e.dir, options)
			} else {
				points = make([]runs.Asked, 1)
				points[0], err = runs.Ask(c.Context(), plan, e.dir, options)
			}
			if err != nil {
				return err
			}
			to := json.NewEncoder(forPrograms(c))
			to.SetEscapeHTML(false)
			for _, point := range points {
				err = errors.Join(err, to.Encode(point))
			}
			return err
		},
	}
	e.flags(c)
	c.Flags().BoolVar(&untold, "untold", false, "print the points without a value, a line each, and reserve none")
	extendFlag(c, &options.Extend)
	return c
}

func tellCommand() *cobra.Command {
	var e experiment
	var options runs.Options
	var way []string
	var seconds float64
	c := &cobra.Command{
		Use:   "tell RUN | FILE.yaml ID VALUE | NAME=VALUE... | failed [REASON] | early | running",
		Short: "Record the value of a point that gpc-tune ask has printed",
		Long: `Record the value of a point that gpc-tune ask has printed with this id, or that it has none. A
failed point counts as a failed trial, and the report has the reason. Several values have their names.

--way STEP=VALUE, once for each step, gives values on the way, such as the loss after each epoch. With
running instead of a value nothing is recorded: the output is {"stop": true} if the rule stop_early of
the file stops the point there. A point that was stopped is told with early; its value is the last one on
the way, and it cannot be the best.`,
		Example: "  gpc-tune tell runs/mine 3f0b7c 0.42\n  gpc-tune tell runs/mine 3f0b7c failed \"out of memory\"\n" +
			"  gpc-tune tell runs/mine 3f0b7c running --way 1=0.9 --way 2=0.7",
		Args: cobra.MinimumNArgs(3),
		RunE: func(c *cobra.Command, args []string) error {
			told, err := valuesTold(args[2:])
			if err != nil {
				return err
			}
			if told.Way, err = wayTold(way); err != nil {
				return err
			}
			if told.Seconds = seconds; !(seconds >= 0) || math.IsInf(seconds, 0) {
				return usage("--seconds takes a number, 0 or more, not %v", seconds)
			}
			running := args[2] == "running"
			if (running || told.Early) && len(told.Way) == 0 {
				return usage("%s needs values on the way, as in --way 1=0.9", args[2])
			}
			plan, err := e.plan(c, args[0])
			if err != nil {
				return err
			}
			options.Warn = warner(c)
			if running {
				stop, err := runs.Behind(plan, e.dir, args[1], told.Way, options)
				if err != nil {
					return err
				}
				return json.NewEncoder(forPrograms(c)).Encode(map[string]bool{"stop": stop})
			}
			if err := runs.Tell(plan, e.dir, args[1], told, options); err != nil {
				return err
			}
			_, err = fmt.Fprintln(c.ErrOrStderr(), "recorded")
			return err
		},
	}
	e.flags(c)
	extendFlag(c, &options.Extend)
	c.Flags().Float64Var(&seconds, "seconds", 0, "wall time of the evaluation (default: the time since gpc-tune ask)")
	c.Flags().StringArrayVar(&way, "way", nil, "a value on the way, `STEP=VALUE` (repeatable, with growing steps)")
	return c
}

// wayTold reads values on the way.
func wayTold(texts []string) (way []record.Interim, err error) {
	for _, text := range texts {
		step, value, _ := strings.Cut(text, "=")
		x, wrongStep := strconv.ParseFloat(step, 64)
		y, wrong := strconv.ParseFloat(value, 64)
		at := record.Interim{Step: x, Value: record.Number(y)}
		if wrongStep != nil || wrong != nil || !record.Number(x).Finite() || !at.Value.Finite() ||
			len(way) > 0 && !(x > way[len(way)-1].Step) {
			return nil, usage("--way takes STEP=VALUE with finite numbers and growing steps, not %q", text)
		}
		way = append(way, at)
	}
	return way, nil
}

// valuesTold reads the values of a point, or why it has none. A point that is running has neither.
func valuesTold(args []string) (told runs.Told, err error) {
	switch args[0] {
	case "failed":
		if told.Failure = errors.New("the program told that it failed"); len(args) > 1 {
			told.Failure = errors.New(strings.Join(args[1:], " "))
		}
		return told, nil
	case "early", "running":
		if told.Early = args[0] == "early"; len(args) > 1 {
			return told, usage("%s takes no value but --way", args[0])
		}
		return told, nil
	}
	told.Values = map[string]float64{}
	for _, arg := range args {
		name, text, named := strings.Cut(arg, "=")
		if !named {
			name, text = "", arg
		}
		v, err := strconv.ParseFloat(text, 64)
		if _, twice := told.Values[name]; twice || err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return told, usage("tell takes a finite number, NAME=VALUE for several, failed and a reason, early or "+
				"running, not %q", args)
		}
		told.Values[name] = v
	}
	return told, nil
}
