package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/gpc-tune/gpc-tune/experiments/catalogue"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/atomicfile"
	"github.com/gpc-tune/gpc-tune/internal/terminal"
	"github.com/gpc-tune/gpc-tune/reports"
)

func initCommand() *cobra.Command {
	var source, label string
	c := &cobra.Command{
		Use:   "init [FILE.yaml]",
		Short: "Write an experiment file for your data, to begin with",
		Long: "Write a commented experiment file that runs as it is; its name is experiment.yaml unless another is " +
			"given. An existing file is never overwritten.",
		Example: "  gpc-tune init\n  gpc-tune init patients.yaml --data patients.csv --label state",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			name := append(args, "experiment.yaml")[0]
			started, err := catalogue.Starter(c.Context(), name, source, label)
			if err != nil {
				return err
			}
			err = atomicfile.Create(name, func(w io.Writer) error {
				_, err := io.WriteString(w, started.Text)
				return err
			})
			switch {
			case errors.Is(err, fs.ErrExist):
				return usage("%s exists already; give another name", name)
			case err != nil:
				return fmt.Errorf("%w: %w", spec.ErrInvalid, err)
			}
			fmt.Fprintf(c.ErrOrStderr(), "predicts %s\n", terminal.OneLine(started.About))
			warnAll(c, started.Warnings)
			_, err = fmt.Fprintf(c.ErrOrStderr(), "wrote %[1]s; next: gpc-tune run %[1]s%[2]s\n", name,
				lasting(started))
			return err
		},
	}
	c.Flags().StringVar(&source, "data", "crabs", "a bundled data set or a file of training data")
	c.Flags().StringVar(&label, "label", "",
		"the column of the label: its name, or its number from 1 (default: the last column that can be a label)")
	return c
}

// lasting describes the expected time of a run.
func lasting(s catalogue.Started) string {
	if s.Seconds == 0 {
		return ""
	}
	return fmt.Sprintf(", which takes perhaps %v (gpc-tune plan measures it)", reports.Duration(s.Seconds))
}
