package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/page"
	"github.com/gpc-tune/gpc-tune/reports/picture"
)

func reportCommand() *cobra.Command {
	var formats, figures []string
	c := &cobra.Command{
		Use:   "report DIR",
		Short: "Write the report files of a run again, and print the report",
		Long: `Write results.json, results.csv, timings.json and the other report files of the run in a folder
again, from its journal; nothing is computed again, and the files are byte-identical to those of the
run. If the run is not finished, they say what is missing. The formats svg, pdf and png write each
figure to its own file, figures/NAME.svg; gpc-tune list figures lists the figures.`,
		Example: "  gpc-tune report runs/crabs\n  gpc-tune report runs/crabs --formats html,predictions\n  gpc-tune " +
			"report runs/crabs --formats png --figure curves-test > curves.png",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			folder, err := readFolder(c, args[0])
			if err != nil {
				return err
			}
			switch {
			case c.Flags().Changed("formats"):
			case len(figures) > 0:
				formats = []string{"svg"}
			default:
				formats = append([]string{page.Formats[0].Name}, folder.Manifest.Formats...)
			}
			for _, name := range formats {
				if _, err := page.FormatNamed(name); err != nil {
					return misused(err)
				}
			}
			if len(figures) > 0 {
				report, err := folder.Timed()
				if err != nil {
					return err
				}
				return printFigures(c, report, figures, formats)
			}
			report, err := folder.Report()
			if err != nil {
				return err
			}
			for _, f := range page.Formats {
				if f.File == "" && slices.Contains(formats, f.Name) {
					if err := printReport(c, f, report); err != nil {
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
	takesRuns(c, 1)
	f := c.Flags()
	f.StringSliceVar(&formats, "formats", nil, "`formats` to write, besides those always written: "+
		strings.Join(formatNames(), ", ")+" (default: text and those of the experiment)")
	f.StringSliceVar(&figures, "figure", nil,
		"print these figures, `names`, one below the other, as svg or in the given format, and write no files")
	return c
}

// printFigures prints figures in the first of the formats that can draw them.
func printFigures(c *cobra.Command, report *reports.Report, names, formats []string) error {
	var drawn []figure.Figure
	for _, name := range names {
		f, err := picture.Named(report, name)
		if err != nil {
			return misused(err)
		}
		drawn = append(drawn, f)
	}
	for _, format := range page.Formats {
		if format.Draw != nil && slices.Contains(formats, format.Name) {
			return format.Draw(forPrograms(c), drawn...)
		}
	}
	return usage("--figure %s: a figure is printed as svg, pdf or png, not %s",
		strings.Join(names, ","), strings.Join(formats, ", "))
}
