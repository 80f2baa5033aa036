package main

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/gpc-tune/gpc-tune/experiments/classifier/predict"
	"github.com/gpc-tune/gpc-tune/experiments/data/tables"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/terminal"
)

func predictCommand() *cobra.Command {
	var format string
	var deciding func() spec.Deciding
	var safe func(io.Writer, string, func(io.Writer) error) error
	var write func(func(io.Writer) error) error
	c := &cobra.Command{
		Use:   "predict MODEL.json DATA | -",
		Short: "Predict cases with a model file: class probabilities, latent mean and variance, decisions",
		Long: `Predict the cases of a file, of a bundled data set, or of standard input (-), with a model file
written by gpc-tune fit. CSV is read and written in parts, so that files of any length fit in memory.
Columns are matched by name, in any order; in files without a header, by position. The label may be
missing; if it is present, the predictions are scored. A value that cannot be read, such as a word in
a column of numbers, is taken for missing. Such values are counted and named on standard error, and in
the warnings of JSON; with --strict they are an error.

Each decision is the most probable class or, where the model was fitted with a threshold, the second
class from that probability on; --threshold sets another. Where the model was fitted with costs, or
with --loss, it is the class with the least expected cost, and with --reject a case may be rejected at
a cost.

With --sets, or where the model was fitted with predict: {sets: …}, the column set names the classes that
contain the true one with the coverage, for each class. --sets 0.9 needs a model fitted with sets.

With --why, columns say what moved each prediction from base, the mean over training cases (or with
logistic_regression the prediction at the medians of all inputs): base, why[INPUT]
for every input, whose sum is the difference, the nearest training cases by the kernel, and inputs
outside of their range. Up to ten inputs these Shapley values are exact, beyond that sampled, with
their standard error. It takes up to seconds a case.`,
		Example: "  gpc-tune predict crabs.json new.csv -o predictions.csv\n  zcat new.csv.gz | gpc-tune predict " +
			"crabs.json -\n  gpc-tune predict pima.json pima " +
			"--loss Yes,No,5 --reject 0.4",
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			render, err := predict.PredictedFormats.Named(format)
			if err != nil {
				return misused(err)
			}
			if err := modelArgument(c, args[0], args[1]); err != nil {
				return err
			}
			deciding := deciding()
			fitted, err := predict.LoadClassifier(args[0])
			if err != nil {
				return err
			}
			if about := fitted.About(); about != "" {
				fmt.Fprintf(c.ErrOrStderr(), "predicts %s\n", terminal.OneLine(about))
			}
			var table *predict.Predicted
			if err := write(func(w io.Writer) error {
				return safe(w, format, func(w io.Writer) error {
					if deciding.Why {
						w = &explainedCases{Writer: w, messages: c.ErrOrStderr(), last: time.Now()}
					}
					file, _ := tables.Located(args[1])
					if _, missing := os.Stat(file); format == "csv" && (args[1] == "-" || missing == nil) {
						table, err = fitted.Stream(c.Context(), args[1], c.InOrStdin(), deciding, w)
						return err
					}
					if args[1] == "-" {
						return usage("--format %s needs all cases at once, and standard input may have no end; use "+
							"csv, or name a file", format)
					}
					if table, err = fitted.Predict(args[1], deciding); err != nil {
						return err
					}
					return render(w, table)
				})
			}); err != nil {
				return err
			}
			warnAll(c, table.Warnings)
			printScores(c.ErrOrStderr(), table)
			return nil
		},
	}
	safe, write = safeCSVFlag(c), fileFlag(c)
	formatFlag(c, &format, predict.PredictedFormats.Names())
	deciding = decidingFlags(c)
	return c
}

// explainedCases says every ten seconds how many rows of cases a CSV table has.
type explainedCases struct {
	io.Writer
	messages io.Writer
	lines    int
	last     time.Time // the time of the last message
}

func (e *explainedCases) Write(text []byte) (int, error) {
	e.lines += bytes.Count(text, []byte("\n"))
	if time.Since(e.last) > quietInterval {
		fmt.Fprintf(e.messages, "explained %d cases\n", e.lines-1) // the first line has the names of columns
		e.last = time.Now()
	}
	return e.Writer.Write(text)
}

// printScores prints the scores of predictions of labelled cases.
func printScores(w io.Writer, t *predict.Predicted) {
	if t.Labelled > 0 {
		errors := ""
		if _, costs := t.Scores["mean_loss"]; costs {
			errors = "; the errors are of the most probable class, and mean_loss is of the decisions"
		}
		fmt.Fprintf(w, "scores, labelled cases: %d%s\n", t.Labelled, errors)
	}
	for _, name := range slices.Sorted(maps.Keys(t.Scores)) {
		s := t.Scores[name]
		fmt.Fprintf(w, "  %s %.6g", terminal.OneLine(t.About(name)), float64(s.Value))
		if s.CI95 != nil {
			fmt.Fprintf(w, " (95 %% %.6g to %.6g)", float64(s.CI95[0]), float64(s.CI95[1]))
		}
		fmt.Fprintln(w)
	}
}

// decidingFlags adds the flags of decisions.
func decidingFlags(c *cobra.Command) func() spec.Deciding {
	var loss, whyOf string
	var reject, threshold, sets float64
	var strict, why bool
	f := c.Flags()
	f.StringVar(&loss, "loss", "", "costs of decisions: 'truth,decision,cost …', '{truth: {decision: "+
		"cost}}', or a file with either or a CSV matrix (default: those of the model file, or 1 for an error)")
	f.Float64Var(&reject, "reject", 0, "cost of rejecting a case; its decision is then \"reject\"")
	f.Float64Var(&threshold, "threshold", 0, "probability from which the second of two classes is decided "+
		"(default: that of the model file, or 1/2)")
	f.Float64Var(&sets, "sets", 0, "coverage of the sets of classes, between 0 and 1 (default: that of the model file)")
	f.BoolVar(&strict, "strict", false, "refuse cases with a value that cannot be read or with an unknown category "+
		"(default: it is taken for missing, counted and named)")
	if c.Name() == "predict" {
		f.BoolVar(&why, "why", false, "explain each prediction: add columns with the effect of every input, the "+
			"nearest training cases, and inputs outside of what was seen")
		f.StringVar(&whyOf, "why-of", "", "explain the probability of this `class` (default: the most probable one)")
	}
	return func() spec.Deciding {
		out := spec.Deciding{Loss: loss, Strict: strict, Why: why || whyOf != "", WhyOf: whyOf}
		if f.Changed("reject") {
			out.Reject = &reject
		}
		if f.Changed("threshold") {
			out.Threshold = &threshold
		}
		if f.Changed("sets") {
			out.Coverage = &sets
		}
		return out
	}
}
