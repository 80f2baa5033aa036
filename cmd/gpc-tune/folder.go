package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gpc-tune/gpc-tune/experiments"
	"github.com/gpc-tune/gpc-tune/reports"
)

// statusCommand is `gpc-tune status`.
func statusCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "status DIR",
		Short: "Show how far a run is: jobs done and failed, time left, what to do next",
		Long: `Show how far the run in a folder is, from its journal alone, also while it runs. Times are those of one worker, from the
wall times of the jobs done.`,
		Args: cobra.ExactArgs(1),
	}
	shown(c, reports.ProgressForms, func(args []string) (*reports.Progress, error) {
		folder, err := experiments.ReadFolder(args[0])
		if err != nil {
			return nil, err
		}
		return folder.Progress()
	})
	return c
}

// shown has c write what build makes, in the form that --format names.
func shown[T any](c *cobra.Command, forms reports.Forms[T], build func(args []string) (T, error)) {
	format := c.Flags().String("format", forms[0].Name, "what to print: "+strings.Join(forms.Names(), " | "))
	c.RunE = func(c *cobra.Command, args []string) error {
		render, err := forms.Named(*format)
		if err != nil {
			return usageError{err}
		}
		v, err := build(args)
		if err != nil {
			return err
		}
		return render(c.OutOrStdout(), v)
	}
}

// reportCommand is `gpc-tune report`.
func reportCommand() *cobra.Command {
	var formats []string
	c := &cobra.Command{
		Use:   "report DIR",
		Short: "Write the report files of a run again, from its journal, and print the text",
		Long: `Write results.json, results.csv, timings.json and the other report files of the run in a folder again, from its manifest and
journal alone: the bytes are those that the run wrote. Of a run that is not finished they say what is missing.`,
		Example: "  gpc-tune report runs/crabs\n  gpc-tune report runs/crabs --formats svg,predictions",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			folder, err := experiments.ReadFolder(args[0])
			if err != nil {
				return err
			}
			if !c.Flags().Changed("formats") {
				formats = append([]string{reports.Formats[0].Name}, folder.Manifest.Formats...)
			}
			for _, name := range formats {
				if _, err := reports.FormatNamed(name); err != nil {
					return usageError{err}
				}
			}
			report, err := folder.Report()
			if err != nil {
				return err
			}
			for _, f := range reports.Formats {
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
	for _, f := range reports.Formats {
		names = append(names, f.Name)
	}
	c.Flags().StringSliceVar(&formats, "formats", nil, "beside what is always written: "+strings.Join(names, ", ")+" (default text, and those of the experiment)")
	return c
}
