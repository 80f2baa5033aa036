package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/gpc-tune/gpc-tune/experiments/catalogue"
	"github.com/gpc-tune/gpc-tune/experiments/columns"
	"github.com/gpc-tune/gpc-tune/experiments/data/tables"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/atomicfile"
	"github.com/gpc-tune/gpc-tune/internal/terminal"
	"github.com/gpc-tune/gpc-tune/reports"
)

// writeStarted writes an experiment file, with these sections in place of its own. force overwrites
// a file.
func writeStarted(name, text, sections string, force bool) (err error) {
	if sections != "" {
		if text, err = catalogue.WithSections(text, sections); err != nil {
			return err
		}
	}
	create := atomicfile.Create
	if force {
		create = atomicfile.Write
	}
	err = create(name, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
	switch {
	case errors.Is(err, fs.ErrExist):
		return usage("%s exists already; give another name, or --force to overwrite it", name)
	case err != nil:
		return fmt.Errorf("%w: %w", spec.ErrInvalid, err)
	}
	return nil
}

func initCommand() *cobra.Command {
	var source, label, known, sections, within string
	var inputs []string
	var force bool
	c := &cobra.Command{
		Use:   "init [DATA | FILE.yaml]",
		Short: "Write an experiment file for your data, to begin with",
		Long: "Write a commented experiment file that runs as it is. For DATA, a file of training data or a bundled " +
			"data set, its name is the name of the data with .yaml; with --data it is FILE.yaml or experiment.yaml. " +
			"An existing file is overwritten with --force alone.",
		Example: "  gpc-tune init patients.csv\n  gpc-tune init patients.csv --label state --time 30m\n" +
			"  gpc-tune init studies/first.yaml --data patients.csv",
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			name := append(args, "experiment.yaml")[0]
			if len(args) > 0 && !c.Flags().Changed("data") && !isExperiment(name) {
				source, name = name, experimentOf(name)
			}
			if err := casesArgument(c, source); err != nil {
				return err
			}
			file, _ := tables.Located(source)
			cases, missing := os.Stat(file)
			if old, err := os.Stat(name); err == nil && missing == nil && os.SameFile(old, cases) {
				return usage("%s has the cases; give the experiment file another name", name)
			}
			limit, err := timeOf(within)
			if err != nil {
				return err
			}
			given, err := catalogue.ParseGiven(known)
			if err != nil {
				return fmt.Errorf("%w: %w", spec.ErrInvalid, err)
			}
			given.Label = label
			given.MakeInputs(inputs)
			started, err := catalogue.Starter(c.Context(), name, source, given, limit)
			var unclear *columns.UnclearLabel
			if errors.As(err, &unclear) {
				if given.Label, err = askLabel(c, unclear, name, source, err); err != nil {
					return err
				}
				started, err = catalogue.Starter(c.Context(), name, source, given, limit)
			}
			if err != nil && missing != nil && len(args) > 0 && source == args[0] {
				return fmt.Errorf("%w; the name of an experiment file ends in .yaml", err)
			}
			if err != nil {
				return err
			}
			if err := writeStarted(name, started.Text, sections, force); err != nil {
				return err
			}
			fmt.Fprintf(c.ErrOrStderr(), "predicts %s\n", terminal.OneLine(started.About))
			for _, note := range started.Notes {
				fmt.Fprintf(c.ErrOrStderr(), "note: %s\n", terminal.OneLine(note))
			}
			warnAll(c, started.Warnings)
			if started.LeftOut != "" {
				fmt.Fprintf(c.ErrOrStderr(), "left out for lack of time: %s\n", terminal.OneLine(started.LeftOut))
			}
			_, err = fmt.Fprintf(c.ErrOrStderr(), "wrote %[1]s; next: gpc-tune run %[1]s%[2]s\n", name,
				lasting(started))
			return err
		},
	}
	c.Flags().BoolVar(&force, "force", false, "overwrite the file if it exists")
	c.Flags().StringVar(&source, "data", "crabs", "a bundled data set or a file of training data")
	c.Flags().StringVar(&label, "label", "",
		"the column of the label: its name, or its number from 1 (default: as the file tells, or init asks)")
	c.Flags().StringArrayVar(&inputs, "input", nil, "a column that is an input, though it looks like a group or an "+
		"id; may be given several times")
	c.Flags().StringVar(&within, "time", "", "the time that the study may take on this machine: 2m, 30m, 4h, or "+
		"overnight, which is 8h (default: about 2m on any machine)")
	c.Flags().StringVar(&known, "given", "{}", "what the package gpc_tune for Python knows of the columns")
	c.Flag("given").Hidden = true
	c.Flags().StringVar(&sections, "sections", "", "sections that take the place of those of the file, as YAML")
	c.Flag("sections").Hidden = true
	return c
}

// experimentOf returns the name of the experiment file for data: for folder/patients.csv.gz it is
// patients.yaml, in the folder in which the command is given.
func experimentOf(data string) string {
	file, _ := tables.Located(data)
	base := filepath.Base(file)
	for slices.Contains(extensionsOfCases(), strings.ToLower(filepath.Ext(base))) {
		base = strings.TrimSuffix(base, filepath.Ext(base))
	}
	return base + ".yaml"
}

// askLabel asks which of the candidates is the label, if a person can answer. If not, it lists the
// command for each candidate, and returns the error.
func askLabel(c *cobra.Command, unclear *columns.UnclearLabel, name, source string, err error) (string, error) {
	w := c.ErrOrStderr()
	in, readable := c.InOrStdin().(*os.File)
	if out, ok := w.(*output); !ok || !out.terminal || !readable || !term.IsTerminal(int(in.Fd())) {
		fmt.Fprintln(w, "candidates:")
		for _, of := range unclear.Candidates {
			command := terminal.CommandLine("gpc-tune", "init", name, "--data", source, "--label", of.Column)
			fmt.Fprintf(w, "  %s # %s\n", command, terminal.OneLine(of.Why))
		}
		return "", err
	}
	fmt.Fprintf(w, "Which column is the label? %s.\n", unclear.Reason)
	for k, of := range unclear.Candidates {
		fmt.Fprintf(w, "  %d  %s  (%s)\n", k+1, terminal.OneLine(of.Column), terminal.OneLine(of.Why))
	}
	fmt.Fprint(w, "Its number or another column's name: ")
	answer, _ := bufio.NewReader(in).ReadString('\n')
	answer = strings.TrimSpace(answer)
	if k, notNumber := strconv.Atoi(answer); notNumber == nil && k >= 1 && k <= len(unclear.Candidates) {
		return unclear.Candidates[k-1].Column, nil
	}
	if answer == "" {
		return "", err
	}
	return answer, nil
}

// timeOf reads the time that a study may take; 0 for an empty text.
func timeOf(text string) (time.Duration, error) {
	const night = 8 * time.Hour
	switch limit, err := time.ParseDuration(text); {
	case text == "":
		return 0, nil
	case text == "overnight":
		return night, nil
	case err != nil || limit < time.Second:
		return 0, usage("--time %s is no time of a second or more; write 2m, 30m, 4h, or overnight", text)
	default:
		return limit, nil
	}
}

// lasting describes the expected time of a run.
func lasting(s catalogue.Started) string {
	if s.Seconds == 0 {
		return ""
	}
	return fmt.Sprintf(", which takes perhaps %v (gpc-tune plan measures it)", reports.Duration(s.Seconds))
}
