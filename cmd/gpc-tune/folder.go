package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/gpc-tune/gpc-tune/experiments/classifier/predict"
	runs "github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/experiments/submit"
	"github.com/gpc-tune/gpc-tune/internal/atomicfile"
	"github.com/gpc-tune/gpc-tune/internal/terminal"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/stores"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

func statusCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "status DIR",
		Short: "Show the progress of a run: jobs done and failed, time left, what to do next",
		Long: `Show the progress of the run in a folder, also while it runs. The time left is for one worker,
estimated from the times of finished jobs. For a run on a cluster, the jobs in the queue are shown
too.`,
		Args: cobra.ExactArgs(1),
	}
	takesRuns(c, 1)
	shown(c, table.ProgressForms, func(args []string) (*reports.Progress, error) {
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

// shown makes the command c print the result of build in the format that --format names.
func shown[T any](c *cobra.Command, forms table.Forms[T], build func(args []string) (T, error)) {
	var format string
	formatFlag(c, &format, forms.Names())
	c.RunE = func(c *cobra.Command, args []string) error {
		render, err := forms.Named(format)
		if err != nil {
			return misused(err)
		}
		v, err := build(args)
		if err != nil {
			return err
		}
		return render(inForm(c, format), v)
	}
}

// reported builds the report of a run folder.
func reported(c *cobra.Command, dir string) (*reports.Report, error) {
	folder, err := readFolder(c, dir)
	if err != nil {
		return nil, err
	}
	return folder.Report()
}

// readFolder reads a run folder, with warnings for its problems.
func readFolder(c *cobra.Command, dir string) (*runs.Folder, error) {
	folder, err := runs.ReadFolder(dir)
	if err != nil {
		return nil, err
	}
	warnAll(c, folder.Notes)
	return folder, nil
}

func showCommand() *cobra.Command {
	configuration, trial := -1, -1
	c := &cobra.Command{
		Use:   "show DIR | MODEL.json",
		Short: "Show all records of a run, of one configuration, or of one of its trials; or a model file",
		Long: `Show all records of every configuration of the run in a folder: hyperparameters, restarts, points,
folds with their scores, warnings and failures. --configuration shows one, numbered as in the report;
--trial shows one of its trials, on all training data and in every fold.

Of a model file it shows what it predicts from what, and which classes and cases were left out.`,
		Example: "  gpc-tune show runs/crabs --configuration 1\n  gpc-tune show runs/crabs --configuration 1 --trial 0",
		Args:    cobra.ExactArgs(1),
	}
	takesRuns(c, 1)
	shown(c, table.ShownForms, func(args []string) (*reports.Shown, error) {
		report, err := reported(c, args[0])
		if err != nil {
			return nil, err
		}
		found, err := report.Show(configuration, trial)
		if err != nil {
			return nil, misused(err)
		}
		return found, nil
	})
	showRun := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if !isModel(args[0]) {
			return showRun(c, args)
		}
		model, err := predict.LoadClassifier(args[0])
		if err != nil {
			return err
		}
		w := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
		for _, f := range model.Facts() {
			fmt.Fprintf(w, "%s\t%s\n", f.Name, terminal.OneLine(f.Text))
		}
		return w.Flush()
	}
	c.Flags().IntVar(&configuration, "configuration", -1, "number of the configuration (default: all)")
	c.Flags().IntVar(&trial, "trial", -1, "number of a trial")
	return c
}

func exportCommand() *cobra.Command {
	what := table.Exported()[0].Name
	c := &cobra.Command{
		Use:   "export DIR",
		Short: "Write configurations, folds, trials, paths or predictions of a run as one table",
		Args:  cobra.ExactArgs(1),
	}
	takesRuns(c, 1)
	shown(c, table.DataForms, func(args []string) (t table.Table, err error) {
		export, err := table.ExportNamed(what)
		if err != nil {
			return t, misused(err)
		}
		report, err := reported(c, args[0])
		if err != nil {
			return t, err
		}
		if t = export.Export(report); len(t.Rows) == 0 {
			fmt.Fprintf(c.ErrOrStderr(), "this run has no rows of %s (%s)\n", export.Name, export.Doc)
		}
		return t, nil
	})
	print, safe, write := c.RunE, safeCSVFlag(c), fileFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		i := slices.IndexFunc(stores.All, func(s stores.Store) bool { return s.Name == what })
		if i >= 0 {
			return store(c, stores.All[i], args[0], write)
		}
		return write(func(w io.Writer) error {
			return safe(w, c.Flag("format").Value.String(), func(w io.Writer) error {
				c.SetOut(w)
				return print(c, args)
			})
		})
	}
	var docs []string
	for _, e := range table.Exported() {
		docs = append(docs, "  "+e.Name+": "+e.Doc)
	}
	docs = append(docs, "", "Or write all of it for another program, with hyperparameters in natural units:")
	for _, s := range stores.All {
		docs = append(docs, "  "+s.Name+": "+s.Doc)
	}
	c.Long = "Write one table of the run in a folder:\n" + strings.Join(docs, "\n")
	c.Example = "  gpc-tune export runs/crabs --what predictions --format json -o predictions.json"
	c.Flags().StringVar(&what, "what", what, "one of the tables above")
	return c
}

// store writes the run in a folder in the form of another program: one file, or a folder of files.
func store(c *cobra.Command, s stores.Store, dir string, write func(func(io.Writer) error) error) error {
	to := c.Flag("output").Value.String()
	switch {
	case c.Flags().Changed("format"):
		return usage("--what %s has a form of its own; leave out --format", s.Name)
	case s.Folder && to == "":
		return usage("--what %s writes a folder; name it, as in -o mlruns", s.Name)
	}
	report, err := reported(c, dir)
	if err != nil {
		return err
	}
	files, err := s.Files(report)
	if err != nil {
		return err
	}
	for _, f := range files {
		content := func(w io.Writer) error { _, err := w.Write(f.Text); return err }
		if !s.Folder {
			if err := write(content); err != nil {
				return err
			}
			continue
		}
		name := filepath.Join(to, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return err
		}
		if err := atomicfile.Write(name, content); err != nil {
			return err
		}
	}
	return nil
}

func compareCommand() *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use:   "compare DIR [DIR2]",
		Short: "Compare the configurations of a run or of two runs: with the best one, or in pairs",
		Long: `Compare each configuration of a run with the best one: the difference of the deciding score,
with one-sided 95 % bounds, and whether it is in the set of those that may be the best.

With --all, or for two runs, all pairs of configurations with the same data are compared: the
difference of the log evidences and the Bayes factor, every score, and McNemar's exact test of the
decisions, with an interval for the difference of the error rates. Differences of scores have the
corrected resampled t-test over folds (Nadeau & Bengio 2003). These p values are not corrected:
with many pairs, some are small by chance. --format json has all pairs.`,
		Example: "  gpc-tune compare runs/crabs\n  gpc-tune compare runs/crabs --all\n  gpc-tune compare runs/crabs " +
			"runs/crabs-logit --format json",
		Args: cobra.RangeArgs(1, 2),
	}
	takesRuns(c, 2)
	shown(c, table.ComparisonForms, func(args []string) (*reports.Comparison, error) {
		var runs []*reports.Report
		for _, dir := range args {
			report, err := reported(c, dir)
			if err != nil {
				return nil, err
			}
			runs = append(runs, report)
		}
		compared, err := reports.Compare(runs...)
		if err == nil && !all && len(runs) == 1 {
			compared.Run = runs[0]
		}
		return compared, err
	})
	c.Flags().BoolVar(&all, "all", false, "of one run, all pairs")
	return c
}
