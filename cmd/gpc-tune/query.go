package main

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/gpc-tune/gpc-tune/experiments/query"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

func evidenceCommand() *cobra.Command {
	var q query.Query
	c := &cobra.Command{
		Use:   "evidence --data NAME|FILE --kernel K --likelihood L --inference I [--theta name=value,…]",
		Short: "Evaluate one model at one point: log evidence, gradient, test scores, as JSON",
		Example: `  gpc-tune evidence --data crabs --kernel se --likelihood probit --inference ep \
      --theta log_amplitude=1.1513,log_length_scale=0 --preprocess standardize`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			answer, err := q.Evaluate(c.Context())
			if answer == nil {
				return err
			}
			encoder := json.NewEncoder(forPrograms(c))
			encoder.SetIndent("", "  ")
			return errors.Join(err, encoder.Encode(answer))
		},
	}
	modelFlags(c, &q)
	f := c.Flags()
	f.StringVar(&q.Test, "test", "", "a file of test data, or \"none\" to ignore the test set of a bundled data set")
	f.StringVar(&q.Inference, "inference", "laplace", "an inference method: its name, or YAML flow text")
	f.StringVar(&q.Classes, "classes", "joint", "joint | one_vs_rest (one binary classifier for each class)")
	f.BoolVar(&q.LeaveOneOut, "leave-one-out", false,
		"add the mean leave-one-out log probability, nats per case, computed from the same fit")
	f.BoolVar(&q.Corrected, "corrected", false,
		"add the log evidence of ep with the leading term that EP leaves out, in the time of some fits")
	_ = c.MarkFlagRequired("data") // cannot fail: the flag exists
	return c
}

// modelFlags adds the flags for data, for a model without inference, and for a point.
func modelFlags(c *cobra.Command, q *query.Query) {
	f := c.Flags()
	f.StringVar(&q.Data, "data", "", "a bundled data set or a file of training data")
	f.StringVar(&q.Positive, "positive", "", "the class coded +1 (default: the last in natural order)")
	f.StringVar(&q.Label, "label", "", "the column of the label: its name, or its number from 1 (default: the last)")
	f.StringVar(&q.Preprocess, "preprocess", "none", "none | standardize | whiten")
	f.StringVar(&q.Kernel, "kernel", "se", "a kernel: its name, or YAML flow text")
	f.StringVar(&q.Mean, "mean", "zero", "zero | constant, or YAML flow text")
	f.StringVar(&q.Likelihood, "likelihood", "probit", "a likelihood: its name, or YAML flow text")
	f.StringToStringVar(&q.Theta, "theta", nil,
		"hyperparameters, `name=value`, positive ones as logarithms: log_amplitude=1,log_length_scale=0")
}

// drawnForms are the formats of draws; the first is the default.
var drawnForms = table.Forms[*query.Drawn]{
	{Name: "csv", Render: drawnTable},
	{Name: "json", Render: func(w io.Writer, d *query.Drawn) error { return json.NewEncoder(w).Encode(d) }},
	{Name: "svg", Render: drawnAs(figure.SVG)},
	{Name: "pdf", Render: drawnAs(figure.PDF)},
	{Name: "png", Render: drawnAs(figure.PNG)},
}

func drawnTable(w io.Writer, d *query.Drawn) error {
	out := csv.NewWriter(w)
	out.Write(d.Columns) // errors surface in out.Error
	for _, row := range d.Rows {
		cells := make([]string, len(row))
		for c, v := range row {
			cells[c] = strconv.FormatFloat(float64(v), 'g', -1, 64)
		}
		out.Write(cells)
	}
	out.Flush()
	return out.Error()
}

// drawnAs writes the picture of draws.
func drawnAs(write func(io.Writer, ...figure.Figure) error) func(io.Writer, *query.Drawn) error {
	return func(w io.Writer, d *query.Drawn) error {
		f, err := d.Figure()
		if err != nil {
			return err
		}
		return write(w, f)
	}
}

func sampleCommand() *cobra.Command {
	var s query.Sampling
	var format string
	var written func(io.Writer, string, func(io.Writer) error) error
	c := &cobra.Command{
		Use:   "sample (--data NAME|FILE | --grid lo:hi:points) --kernel K --likelihood L [--theta name=value,…]",
		Short: "Draw latent functions from a prior, and convert them to class probabilities",
		Long: `Draw latent functions f1, f2, … from the prior of a model, at the cases of a data set or on a grid of
one input. The likelihood converts each to p1, p2, …, the probability of the positive class; with
softmax there is a function and a probability for each class. Inputs are written after --preprocess,
as the kernel uses them. Pictures (svg, png) need a single input.`,
		Example: "  gpc-tune sample --grid -5:5:101 --kernel se --likelihood probit --theta " +
			"log_amplitude=1,log_length_scale=0 --draws 3 --seed 1\n  gpc-tune sample --grid -5:5:201 --kernel se " +
			"--theta log_amplitude=2,log_length_scale=-1 --format svg > prior.svg",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			render, err := drawnForms.Named(format)
			if err != nil {
				return misused(err)
			}
			drawn, err := s.Draw(c.Context())
			if err != nil {
				return err
			}
			warnAll(c, drawn.Warnings)
			return written(forPrograms(c), format, func(w io.Writer) error { return render(w, drawn) })
		},
	}
	written = safeCSVFlag(c)
	modelFlags(c, &s.Query)
	f := c.Flags()
	f.StringVar(&s.Grid, "grid", "", "a grid of one input instead of data: `lo:hi:points`")
	f.StringSliceVar(&s.Names, "class-names", nil, "with --grid and softmax, the classes: `names`, as in a,b,c")
	f.IntVar(&s.Count, "draws", 3, "number of draws")
	f.Uint64Var(&s.Seed, "seed", 1, "seed of the random numbers")
	formatFlag(c, &format, drawnForms.Names())
	return c
}
