package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/gpc-tune/gpc-tune/experiments/ask"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/reports/figure"
)

// drawFormats are the ways to write draws; the first is the default.
var drawFormats = []struct {
	name  string
	write func(io.Writer, *ask.Drawn) error
}{
	{"csv", func(w io.Writer, d *ask.Drawn) error {
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
	}},
	{"json", func(w io.Writer, d *ask.Drawn) error { return json.NewEncoder(w).Encode(d) }},
	{"svg", drawnAs(figure.SVG)},
	{"png", drawnAs(figure.PNG)},
}

// drawnAs writes the picture of draws.
func drawnAs(write func(io.Writer, ...figure.Figure) error) func(io.Writer, *ask.Drawn) error {
	return func(w io.Writer, d *ask.Drawn) error {
		f, err := d.Figure()
		if err != nil {
			return err
		}
		return write(w, f)
	}
}

// sampleCommand is `gpc-tune sample`.
func sampleCommand() *cobra.Command {
	var s ask.Sampling
	var format string
	var written func(io.Writer, string, func(io.Writer) error) error
	c := &cobra.Command{
		Use:   "sample (--data NAME|FILE | --grid lo:hi:points) --kernel K --likelihood L [--theta name=value,…]",
		Short: "Draw latent functions from a prior, and squash them to class probabilities",
		Long: `Draw latent functions f1, f2, … from the prior of a model at the cases of a data set or on a grid of one input, and squash
each to p1, p2, …, the probability of the positive class. Softmax has a function and a probability for every class.
Inputs are written as the kernel sees them, after --preprocess. A picture has one input.`,
		Example: "  gpc-tune sample --grid -5:5:101 --kernel se --likelihood probit --theta " +
			"log_amplitude=1,log_length_scale=0 --draws 3 --seed 1\n" +
			"  gpc-tune sample --grid -5:5:201 --kernel se --theta log_amplitude=2,log_length_scale=-1 --format svg " +
			"> prior.svg",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var names []string
			for _, f := range drawFormats {
				if names = append(names, f.name); f.name != format {
					continue
				}
				drawn, err := s.Draw(c.Context())
				if err != nil {
					return err
				}
				for _, w := range drawn.Warnings {
					fmt.Fprintf(c.ErrOrStderr(), "warning: %s\n", w)
				}
				return written(forPrograms(c), format, func(w io.Writer) error { return f.write(w, drawn) })
			}
			return usageError{fmt.Errorf("unknown format %q%s", format, registry.Suggest(format, names))}
		},
	}
	written = safeCSVFlag(c)
	modelFlags(c, &s.Query)
	f := c.Flags()
	f.StringVar(&s.Grid, "grid", "", "lo:hi:points of one input, in place of data")
	f.StringSliceVar(&s.Names, "class-names", nil, "with --grid, the classes of softmax, as in a,b,c")
	f.IntVar(&s.Count, "draws", 3, "number of draws")
	f.Uint64Var(&s.Seed, "seed", 1, "selects the random numbers")
	f.StringVar(&format, "format", drawFormats[0].name, "csv | json | svg | png")
	return c
}
