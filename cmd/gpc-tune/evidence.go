package main

import (
	"encoding/json"
	"errors"

	"github.com/spf13/cobra"

	"github.com/gpc-tune/gpc-tune/experiments/ask"
)

// evidenceCommand is `gpc-tune evidence`.
func evidenceCommand() *cobra.Command {
	var q ask.Query
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
	f.StringVar(&q.Test, "test", "", "a file of test data, or \"none\" to leave out a bundled test set")
	f.StringVar(&q.Inference, "inference", "laplace", "an inference's name, or YAML flow text")
	f.StringVar(&q.Classes, "classes", "joint", "joint | one_vs_rest (a binary method on more than two classes)")
	f.BoolVar(&q.LeaveOneOut, "leave-one-out", false,
		"add the mean leave-one-out log probability of the one fit, nats per case")
	if err := c.MarkFlagRequired("data"); err != nil {
		panic(err)
	}
	return c
}

// modelFlags are the flags of data, of a model without inference, and of a point.
func modelFlags(c *cobra.Command, q *ask.Query) {
	f := c.Flags()
	f.StringVar(&q.Data, "data", "", "a bundled data set or a file of training data")
	f.StringVar(&q.Positive, "positive", "", "the class coded +1 (default: the last in natural order)")
	f.StringVar(&q.Label, "label", "", "the label's column: a name, or a number from 1 (default: the last)")
	f.StringVar(&q.Preprocess, "preprocess", "none", "none | standardize | whiten")
	f.StringVar(&q.Kernel, "kernel", "se", "a kernel's name, or YAML flow text")
	f.StringVar(&q.Mean, "mean", "zero", "zero | constant, or YAML flow text")
	f.StringVar(&q.Likelihood, "likelihood", "probit", "a likelihood's name, or YAML flow text")
	f.StringToStringVar(&q.Theta, "theta", nil,
		"hyperparameters on the theta scale, as in log_amplitude=1,log_length_scale=0")
}
