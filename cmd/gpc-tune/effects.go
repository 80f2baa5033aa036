package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/gpc-tune/gpc-tune/experiments/classifier/explain"
	"github.com/gpc-tune/gpc-tune/experiments/classifier/predict"
)

func effectsCommand() *cobra.Command {
	var format string
	var write func(func(io.Writer) error) error
	var o predict.EffectOptions
	c := &cobra.Command{
		Use:   "effects MODEL.json DATA",
		Short: "Say what drives the predictions of a model: importance and effects of its inputs",
		Long: `Measure, on the cases of a file or of a bundled data set, how much every input is worth to a model
file of gpc-tune fit: the loss of information, in bits per case, if its values come from other cases.
All columns made of one column of the file count as one input. Nothing is fitted. Cases with a label
are needed, best those that the model was not fitted to.

Effects are how the predictions change with an input: partial dependence and accumulated local
effects, as probabilities and as the latent function, with 95 % bands of the joint posterior. Without
--input or --pair they are those of the six most important inputs. Tables have the extreme points; json,
svg and html have all.`,
		Example: "  gpc-tune effects pima.json pima\n  gpc-tune effects pima.json new.csv --input glu --pair age,bmi " +
			"--format html -o effects.html",
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			render, err := explain.Forms.Named(format)
			if err != nil {
				return misused(err)
			}
			if err := modelArgument(c, args[0], args[1]); err != nil {
				return err
			}
			fitted, err := predict.LoadClassifier(args[0])
			if err != nil {
				return err
			}
			effects, err := fitted.Effects(c.Context(), args[1], o)
			if err != nil {
				return err
			}
			warnAll(c, effects.Warnings)
			return write(func(w io.Writer) error { return render(w, effects) })
		},
	}
	write = fileFlag(c)
	formatFlag(c, &format, explain.Forms.Names())
	f := c.Flags()
	f.StringArrayVar(&o.Inputs, "input", nil,
		"an `input` whose effects to show (repeatable; default: the most important)")
	f.StringArrayVar(&o.Pairs, "pair", nil, "effects of one input at several values of another: `a,b` (repeatable)")
	f.IntVar(&o.Repeats, "repeats", 5, "permutations of each input")
	f.Uint64Var(&o.Seed, "seed", 1, "seed of the random numbers")
	return c
}
