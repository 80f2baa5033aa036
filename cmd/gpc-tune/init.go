package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/spf13/cobra"

	"github.com/gpc-tune/gpc-tune/experiments/catalogue"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/atomicfile"
	"github.com/gpc-tune/gpc-tune/internal/terminal"
	"github.com/gpc-tune/gpc-tune/reports"
)

func initCommand() *cobra.Command {
	var source, label, within string
	c := &cobra.Command{
		Use:   "init [FILE.yaml]",
		Short: "Write an experiment file for your data, to begin with",
		Long: "Write a commented experiment file that runs as it is; its name is experiment.yaml unless another is " +
			"given. An existing file is never overwritten.",
		Example: "  gpc-tune init\n  gpc-tune init patients.yaml --data patients.csv --label state\n" +
			"  gpc-tune init patients.yaml --data patients.csv --time 30m",
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			name := append(args, "experiment.yaml")[0]
			limit, err := timeOf(within)
			if err != nil {
				return err
			}
			started, err := catalogue.Starter(c.Context(), name, source, label, limit)
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
			if started.LeftOut != "" {
				fmt.Fprintf(c.ErrOrStderr(), "left out for lack of time: %s\n", terminal.OneLine(started.LeftOut))
			}
			_, err = fmt.Fprintf(c.ErrOrStderr(), "wrote %[1]s; next: gpc-tune run %[1]s%[2]s\n", name,
				lasting(started))
			return err
		},
	}
	c.Flags().StringVar(&source, "data", "crabs", "a bundled data set or a file of training data")
	c.Flags().StringVar(&label, "label", "",
		"the column of the label: its name, or its number from 1 (default: the last column that can be a label)")
	c.Flags().StringVar(&within, "time", "", "the time that the study may take on this machine: 2m, 30m, 4h, or "+
		"overnight, which is 8h (default: about 2m on any machine)")
	return c
}

// timeOf is the time that a study may take, 0 for an empty text.
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
