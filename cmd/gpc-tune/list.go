package main

import (
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	gpctune "github.com/gpc-tune/gpc-tune"

	"github.com/gpc-tune/gpc-tune/experiments/catalogue"
	"github.com/gpc-tune/gpc-tune/experiments/columns"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/query"
	"github.com/gpc-tune/gpc-tune/internal/build"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/internal/terminal"
)

func listCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list [KIND]",
		Short: "List the names that a file can use: kernels, likelihoods, inference methods, …; and the gallery of " +
			"published experiments",
		Args: cobra.MaximumNArgs(1),
		ValidArgsFunction: func(c *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
			return fixed(kindNames()...)(c, args, start)
		},
		RunE: func(c *cobra.Command, args []string) error {
			w := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
			found := false
			for _, k := range catalogue.All() {
				if len(args) == 1 && args[0] != k.Name {
					continue
				}
				found = true
				if len(args) == 0 {
					fmt.Fprintf(w, "%s\n", k.Name)
				}
				for _, e := range k.Entries {
					fmt.Fprintf(w, "  %s\t%s\n", e.Name, e.Doc)
				}
				io.WriteString(w, k.Note) // Flush returns the error
			}
			if !found {
				return usage("unknown list %q%s", args[0], registry.Suggest(args[0], kindNames()))
			}
			return w.Flush()
		},
	}
}

// kindNames are the names of the lists.
func kindNames() (names []string) {
	for _, k := range catalogue.All() {
		names = append(names, k.Name)
	}
	return names
}

func dataCommand() *cobra.Command {
	var label string
	c := &cobra.Command{
		Use:   "data NAME | FILE",
		Short: "Describe a bundled data set or a data file: cases, columns, classes, missing values, source",
		Long: `Describe a bundled data set or a data file: its cases and classes. For a table of columns, show what
each column contains and how gpc-tune init would use it.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := casesArgument(c, args[0]); err != nil {
				return err
			}
			d, err := query.Describe(args[0], label)
			if err != nil {
				return err
			}
			w := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
			describe(w, d.Summary)
			if d.Table != nil {
				describeColumns(w, d.Table)
			}
			return w.Flush()
		},
	}
	c.Flags().StringVar(&label, "label", "", "the column of the label: its name, or its number from 1")
	c.AddCommand(uspsCommand(), wavesCommand())
	return c
}

func uspsCommand() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "usps ZIP.TRAIN ZIP.TEST",
		Short: "Rebuild the USPS digits of GPML section 3.7 from the public files",
		Long: `Rebuild the repartitioned and smoothed USPS digits of Rasmussen & Williams, section 3.7, from
zip.train and zip.test (plain or .gz). These may not be distributed with gpc-tune; they are on the data
page of The Elements of Statistical Learning.

The files written are read by the gallery's experiments on digits: usps_resampled_train.csv.gz and
usps_resampled_test.csv.gz have ten digits, 4649 cases each; usps_3v5_train.csv.gz and
usps_3v5_test.csv.gz have the threes and fives among them, 767 and 773 cases. The files are checked
against known checksums.`,
		Example: "  gpc-tune data usps zip.train.gz zip.test.gz && gpc-tune run gallery:usps_3v5_grid",
		Args:    cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			names, err := query.RepartitionUSPS(args[0], args[1], dir)
			return told(c, names, err)
		},
	}
	c.Flags().StringVarP(&dir, "output", "o", ".", "folder to write to")
	return c
}

func wavesCommand() *cobra.Command {
	var dir string
	var cases, inputs int
	c := &cobra.Command{
		Use:   "waves",
		Short: "Draw a data set of two classes, of any size, for comparing methods on many cases",
		Long: `Draw cases with inputs uniform between -3 and 3. The probability of class 1 is 1/(1 + exp(-f)) with
f = 2.5 sin(1.5 x1) + 0.75 x1 cos(2 x2) - 0.5; further inputs are irrelevant. The files are
waves_N_train.csv.gz and waves_N_test.csv.gz; the test set has 5000 cases.

numpy.random.default_rng(20240501) gives the same numbers, to the last bit:
X = uniform(-3, 3, (N + 5000, inputs)), then y = uniform(N + 5000) < 1/(1 + exp(-f)); the last 5000
cases are the test set.`,
		Example: "  gpc-tune data waves -n 20000 && gpc-tune data waves_20000_train.csv.gz",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, args []string) error {
			names, err := query.Waves(cases, inputs, dir)
			return told(c, names, err)
		},
	}
	c.Flags().IntVarP(&cases, "cases", "n", 20000, "number of training cases")
	c.Flags().IntVarP(&inputs, "inputs", "d", 2, "number of inputs; the class depends on the first two")
	c.Flags().StringVarP(&dir, "output", "o", ".", "folder to write to")
	return c
}

// told prints the names of the files written.
func told(c *cobra.Command, names []string, err error) error {
	for _, name := range names {
		fmt.Fprintln(c.OutOrStdout(), name)
	}
	return err
}

// describe writes a summary as rows of a name and a value.
func describe(w io.Writer, d data.Summary) {
	row := func(name, format string, args ...any) {
		fmt.Fprintf(w, "%s\t%s\n", name, terminal.OneLine(fmt.Sprintf(format, args...)))
	}
	row("name", "%s", d.Name)
	row("form", "%s", d.Form)
	row("cases", "%d", d.Cases)
	row("inputs", "%d: %s", len(d.Inputs), data.Abridged(d.Inputs))
	for _, c := range d.Classes {
		row("class", "%s: %d", c.Class, c.N)
	}
	if t := d.Target; t != nil {
		row("label", "numeric, %g … %g, mean %.6g, median %g", t.Min, t.Max, t.Mean, t.Median)
	}
	for _, m := range d.Missing {
		row("missing", "%s: %d", m.Input, m.N)
	}
	if d.Groups > 0 {
		row("groups", "%d", d.Groups)
	}
	for _, s := range []struct{ name, value string }{{"sha256", d.Hash}, {"source", d.Citation},
		{"licence", d.Licence}} {
		if s.value != "" {
			row(s.name, "%s", s.value)
		}
	}
	for _, warning := range d.Warnings {
		row("warning", "%s", warning)
	}
	if d.Test != nil {
		row("test", "")
		describe(w, *d.Test)
	}
}

// describeColumns writes the meaning that was assumed for each column.
func describeColumns(w io.Writer, t *columns.Table) {
	repeat := "repeats of earlier rows"
	if t.Spec.Duplicates != "" {
		repeat += "; duplicates: " + t.Spec.Duplicates + " keeps equal inputs in one part of a split"
	}
	for _, of := range []struct {
		n    int
		what string
	}{{t.Duplicates, repeat}, {t.Unlabelled, "without a label"}} {
		if of.n > 0 {
			fmt.Fprintf(w, "rows\t%d %s\n", of.n, of.what)
		}
	}
	if t.Spellings != "" {
		fmt.Fprintf(w, "spelling\tignore_case takes as one what differs in letter case; %s\n",
			terminal.OneLine(t.Spellings))
	}
	fmt.Fprintln(w, "\ncolumn\tused as\tkind\tmissing\tfound")
	for _, c := range t.Columns {
		found := c.Found
		if c.Use == columns.Label {
			found = t.Reason() + ": " + found
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\n", terminal.OneLine(c.Name), c.UsedAs, c.Kind, c.Missing,
			terminal.OneLine(found))
	}
}

func versionCommand() *cobra.Command {
	var licences bool
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the version, the commit, the Go release and the architecture, or the licences",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if licences {
				_, err := fmt.Fprintf(c.OutOrStdout(), "%s\n%s", gpctune.License, gpctune.Notice)
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "gpc-tune %s %s %s/%s\n", build.Version(), runtime.Version(),
				runtime.GOOS, runtime.GOARCH)
			if revision, time, changed := build.Commit(); revision != "" {
				fmt.Fprintf(c.OutOrStdout(), "commit %s %s%s\n", revision, time,
					map[bool]string{true: ", with uncommitted changes"}[changed])
			}
			return nil
		},
	}
	c.Flags().BoolVar(&licences, "licences", false,
		"print the licences of gpc-tune and of the modules, fonts and data sets that it contains")
	return c
}

func explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "explain WORD…",
		Short: "Explain a word: a name or a key of the file, a word of a report, a command, an exit code",
		Long: `Explain a word that the program uses:
  a name that gpc-tune list shows, such as a kernel: its meaning, hyperparameters, defaults, bounds
  and options, and how to write it in a file
  a key of the experiment file: its meaning, its default and an example
  a word of a report or a message (skill, in the set, nats), a column of a table (bits, loo), a
  field of results.json
  a command or a flag (resume, --resume)
  a number, or exit-codes: exit codes

For an experiment of the gallery (gallery:NAME) its file is printed. Its first comment says where the
data come from. Copy and change it for your own experiments.`,
		Example: "  gpc-tune explain se\n  gpc-tune explain missing\n  gpc-tune explain bits\n" +
			"  gpc-tune explain 5\n  gpc-tune explain gallery:crabs > mine.yaml",
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: topics,
		RunE: func(c *cobra.Command, args []string) error {
			found, name := false, strings.Join(args, " ")
			for _, e := range exitCodes {
				if name == "exit-codes" || name == "exit codes" || name == strconv.Itoa(e.code) {
					found = true
					if _, err := fmt.Fprintf(c.OutOrStdout(), "%d  %s\n", e.code,
						strings.TrimSuffix(e.meaning+": "+e.remedy, ": ")); err != nil {
						return err
					}
				}
			}
			if found {
				return nil
			}
			err, used := catalogue.Explain(c.OutOrStdout(), name), usages(c.Root(), strings.TrimLeft(name, "-"))
			switch {
			case used == "":
				return misused(err)
			case err == nil:
				used = "\n" + used
			}
			_, err = io.WriteString(c.OutOrStdout(), used)
			return err
		},
	}
}

// usages documents the command with this name and the flags with it, each with its commands.
func usages(root *cobra.Command, name string) string {
	var text strings.Builder
	var docs []string
	commands := map[string][]string{} // names of commands with a flag, for each documentation of it
	for _, c := range root.Commands() {
		if c.Name() == name {
			fmt.Fprintf(&text, "%s (a command)\n%s\n  %s\n", name, c.Short, c.UseLine())
		}
		if f := c.Flag(name); f != nil {
			if commands[f.Usage] == nil {
				docs = append(docs, f.Usage)
			}
			commands[f.Usage] = append(commands[f.Usage], c.Name())
		}
	}
	for _, doc := range docs {
		if text.Len() > 0 {
			text.WriteByte('\n')
		}
		fmt.Fprintf(&text, "--%s (a flag of %s)\n%s\n", name, strings.Join(commands[doc], ", "), doc)
	}
	return text.String()
}

func schemaCommand() *cobra.Command {
	var names, docs []string
	for _, s := range catalogue.Schemas {
		names, docs = append(names, s.Name), append(docs, "  "+s.Name+": "+s.Doc)
	}
	return &cobra.Command{
		Use:   "schema [NAME]",
		Short: "Print the JSON Schema of the experiment file, or of an output",
		Long: "Print a JSON Schema (draft 2020-12), by default that of the experiment file:\n" +
			strings.Join(docs, "\n") + `

An editor with a YAML language server completes keys and checks a file that begins with
  # yaml-language-server: $schema=gpc-tune.schema.json
gpc-tune validate also finds mistakes that depend on the data or on several keys together.`,
		Example:   "  gpc-tune schema > gpc-tune.schema.json\n  gpc-tune schema results",
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: names,
		RunE: func(c *cobra.Command, args []string) error {
			return misused(catalogue.WriteSchema(forPrograms(c), append(args, names[0])[0]))
		},
	}
}
