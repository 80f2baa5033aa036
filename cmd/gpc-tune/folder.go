package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	runs "github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/experiments/submit"
	"github.com/gpc-tune/gpc-tune/internal/atomicfile"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/page"
	"github.com/gpc-tune/gpc-tune/reports/picture"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

// statusCommand is `gpc-tune status`.
func statusCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "status DIR",
		Short: "Show how far a run is: jobs done and failed, time left, what to do next",
		Long: `Show how far the run in a folder is, from its journal alone, also while it runs. Times are those of one worker, from the
wall times of the jobs done. Of a run that was submitted to a cluster it shows too what is in the queue.`,
		Args: cobra.ExactArgs(1),
	}
	shown(c, "text", table.ProgressForms, func(args []string) (*reports.Progress, error) {
		folder, err := readFolder(c, args[0])
		if err != nil {
			return nil, err
		}
		progress, err := folder.Progress()
		if err != nil {
			return nil, err
		}
		return progress, submit.Status(c.Context(), args[0], progress)
	})
	return c
}

// shown has c print what build makes, in the form that --format names.
func shown[T any](c *cobra.Command, format string, forms reports.Forms[T], build func(args []string) (T, error)) {
	c.Flags().StringVar(&format, "format", format, "what to print: "+strings.Join(forms.Names(), " | "))
	c.RunE = func(c *cobra.Command, args []string) error {
		render, err := forms.Named(format)
		if err != nil {
			return usageError{err}
		}
		v, err := build(args)
		if err != nil {
			return err
		}
		return render(inForm(c, format), v)
	}
}

// reported is the report of a run folder.
func reported(c *cobra.Command, dir string) (*reports.Report, error) {
	folder, err := readFolder(c, dir)
	if err != nil {
		return nil, err
	}
	return folder.Report()
}

// readFolder reads a run folder, and warns of what is wrong with it.
func readFolder(c *cobra.Command, dir string) (*runs.Folder, error) {
	folder, err := runs.ReadFolder(dir)
	if err != nil {
		return nil, err
	}
	for _, note := range folder.Notes {
		warner(c)("%s", note)
	}
	return folder, nil
}

// showCommand is `gpc-tune show`.
func showCommand() *cobra.Command {
	configuration, trial := -1, -1
	c := &cobra.Command{
		Use:   "show DIR",
		Short: "Show all that is on record of a configuration, or of one of its trials",
		Long: `Show all that the run in a folder has on record of every configuration, or of one, numbered as in the report: hyperparameters,
restarts, points, folds with their scores, warnings and failures. --trial shows one trial of it, on all the training data and in every fold.`,
		Example: "  gpc-tune show runs/crabs --configuration 1\n  gpc-tune show runs/crabs --configuration 1 --trial 0",
		Args:    cobra.ExactArgs(1),
	}
	shown(c, "text", table.ShownForms, func(args []string) (*reports.Shown, error) {
		report, err := reported(c, args[0])
		if err != nil {
			return nil, err
		}
		found, err := report.Show(configuration, trial)
		if err != nil {
			return nil, usageError{err}
		}
		return found, nil
	})
	c.Flags().IntVar(&configuration, "configuration", -1, "number of the configuration (default all)")
	c.Flags().IntVar(&trial, "trial", -1, "number of a trial")
	return c
}

// exportCommand is `gpc-tune export`.
func exportCommand() *cobra.Command {
	what, file := table.Exports[0].Name, ""
	c := &cobra.Command{
		Use:   "export DIR",
		Short: "Write configurations, folds, trials, paths or predictions of a run as one table for programs",
		Args:  cobra.ExactArgs(1),
	}
	shown(c, "csv", table.RowForms, func(args []string) (rows table.Rows, err error) {
		export, err := table.ExportNamed(what)
		if err != nil {
			return rows, usageError{err}
		}
		report, err := reported(c, args[0])
		if err != nil {
			return rows, err
		}
		return export.Rows(report), nil
	})
	print, written := c.RunE, safeCSVFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		write := func(w io.Writer) error {
			return written(w, c.Flag("format").Value.String(), func(w io.Writer) error {
				c.SetOut(w)
				return print(c, args)
			})
		}
		if file == "" {
			return write(forPrograms(c))
		}
		return atomicfile.Write(file, write)
	}
	var docs []string
	for _, e := range table.Exports {
		docs = append(docs, "  "+e.Name+": "+e.Doc)
	}
	c.Long = "Write a table of the run in a folder, from its journal alone:\n" + strings.Join(docs, "\n")
	c.Example = "  gpc-tune export runs/crabs --what predictions --format json -o predictions.json"
	c.Flags().StringVar(&what, "what", what, "one of the tables above")
	c.Flags().StringVarP(&file, "output", "o", "", "file to write (default: standard output)")
	return c
}

// compareCommand is `gpc-tune compare`.
func compareCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "compare DIR [DIR2]",
		Short: "Compare configurations that share data and splits, in pairs: Bayes factors and tests",
		Long: `Compare the configurations of a run in pairs, or those of one run with those of another, where they have the same data:
the difference of the log evidences, the logarithm of the Bayes factor; for every score the mean difference over folds that
hold out the same cases, with the corrected resampled t-test (Nadeau & Bengio 2003) and its 95 % interval; and McNemar's exact
test of the decisions, with an interval for the difference of the error rates. P values are for one pair: with many pairs
some are small by chance.`,
		Example: "  gpc-tune compare runs/crabs\n  gpc-tune compare runs/crabs runs/crabs-logit --format json",
		Args:    cobra.RangeArgs(1, 2),
	}
	shown(c, "text", table.ComparisonForms, func(args []string) (*reports.Comparison, error) {
		var runs []*reports.Report
		for _, dir := range args {
			report, err := reported(c, dir)
			if err != nil {
				return nil, err
			}
			runs = append(runs, report)
		}
		return reports.Compare(runs...)
	})
	return c
}

// reportCommand is `gpc-tune report`.
func reportCommand() *cobra.Command {
	var formats []string
	var figures []string
	c := &cobra.Command{
		Use:   "report DIR",
		Short: "Write the report files of a run again, from its journal, and print the text",
		Long: `Write results.json, results.csv, timings.json and the other report files of the run in a folder again, from its manifest and
journal alone: the bytes are those that the run wrote. Of a run that is not finished they say what is missing. The formats svg and png
write every figure to a file of its own, figures/NAME.svg; gpc-tune list figures says what is drawn.`,
		Example: "  gpc-tune report runs/crabs\n  gpc-tune report runs/crabs --formats html,predictions\n  gpc-tune " +
			"report runs/crabs --format png --figure curves-test > curves.png",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			folder, err := readFolder(c, args[0])
			if err != nil {
				return err
			}
			if !c.Flags().Changed("formats") && !c.Flags().Changed("format") {
				formats = append([]string{page.Formats[0].Name}, folder.Manifest.Formats...)
			}
			for _, name := range formats {
				if _, err := page.FormatNamed(name); err != nil {
					return usageError{err}
				}
			}
			report, err := folder.Report()
			if err != nil {
				return err
			}
			if len(figures) > 0 {
				var drawn []figure.Figure
				for _, name := range figures {
					f, err := picture.Named(report, name)
					if err != nil {
						return usageError{err}
					}
					drawn = append(drawn, f)
				}
				if !c.Flags().Changed("formats") && !c.Flags().Changed("format") {
					formats = []string{"svg"}
				}
				for _, format := range page.Formats {
					if format.Draw != nil && slices.Contains(formats, format.Name) {
						return format.Draw(forPrograms(c), drawn...)
					}
				}
				return usageError{fmt.Errorf("--figure %s: a figure is printed as svg, png, not %s",
					strings.Join(figures, ","), strings.Join(formats, ", "))}
			}
			for _, f := range page.Formats {
				if f.File == "" && slices.Contains(formats, f.Name) {
					if err := f.Render(c.OutOrStdout(), report); err != nil {
						return err
					}
				}
			}
			files, err := folder.Write(report, formats)
			for _, name := range files {
				fmt.Fprintf(c.ErrOrStderr(), "wrote %s\n", name)
			}
			return err
		},
	}
	var names []string
	for _, f := range page.Formats {
		names = append(names, f.Name)
	}
	c.Flags().StringSliceVar(&formats, "formats", nil,
		"beside what is always written: "+strings.Join(names, ", ")+" (default text, and those of the experiment)")
	c.Flags().StringSliceVar(&figures, "figure", nil,
		"print these figures, one below the other, as svg or as the format that is named, and write nothing")
	c.Flags().StringSliceVar(&formats, "format", nil, "the same, as the other commands call it")
	c.Flags().MarkHidden("format")
	return c
}
