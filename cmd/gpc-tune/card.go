package main

import (
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gpc-tune/gpc-tune/experiments/classifier/predict"
	"github.com/gpc-tune/gpc-tune/reports/page"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

// cardForms are the formats of a model card; the first is the default.
var cardForms = table.Forms[page.Article]{
	{Name: "markdown", Render: func(w io.Writer, a page.Article) error { return a.Markdown(w) }},
	{Name: "html", Render: func(w io.Writer, a page.Article) error { return a.HTML(w) }},
}

func cardCommand() *cobra.Command {
	var format, dataset string
	var write func(func(io.Writer) error) error
	c := &cobra.Command{
		Use:   "card MODEL.json | RUN",
		Short: "Write a model card: data, model, verdict, scores, what drives it, limits, how to repeat it",
		Long: `Write a model card, as Markdown or as one page of HTML.

For the folder of a finished run it describes the best configuration: the data with the counts of the
label, the model in words, the verdict with the score corrected for the choice, all scores with
intervals, calibration, the importance of every input on held-out cases, groups of cases with worse
scores, limits, and how to repeat the run. Groups are the values of categorical inputs; their
intervals are corrected for the number of groups. The experiment file and its data have to be there.
Nothing is tuned again; one fit is computed for each fold.

For a model file of gpc-tune fit it describes what the file knows: data, model, how much the
predictions depend on each input, and limits.`,
		Example: "  gpc-tune card runs/crabs\n  gpc-tune card model.json -o card.html",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			file := c.Flag("output").Value.String()
			if !c.Flags().Changed("format") && strings.HasPrefix(filepath.Ext(file), ".htm") {
				format = "html"
			}
			render, err := cardForms.Named(format)
			if err != nil {
				return misused(err)
			}
			card, err := cardOf(c, args[0], dataset)
			if err != nil {
				return err
			}
			return write(func(w io.Writer) error { return render(w, card) })
		},
	}
	write = fileFlag(c)
	formatFlag(c, &format, cardForms.Names())
	c.Flags().StringVar(&dataset, "dataset", "", "of a run with several data sets, the one to describe")
	return c
}

// cardOf is the card of a model file, or of the folder of a run.
func cardOf(c *cobra.Command, path, dataset string) (card page.Article, err error) {
	if isModel(path) {
		model, err := predict.LoadClassifier(path)
		if err != nil {
			return card, err
		}
		return model.Card(c.Context())
	}
	folder, err := readFolder(c, path)
	if err != nil {
		return card, err
	}
	plan, err := (&experiment{}).plan(c, path)
	if err != nil {
		return card, err
	}
	return predict.RunCard(c.Context(), folder, plan, dataset)
}
