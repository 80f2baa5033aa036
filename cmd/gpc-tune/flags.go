package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/gpc-tune/gpc-tune/experiments/plan"
	runs "github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/atomicfile"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/terminal"
	"github.com/gpc-tune/gpc-tune/reports/page"
	"github.com/gpc-tune/gpc-tune/reports/table"
	"github.com/gpc-tune/gpc-tune/search/schedule"
)

// This file has the flags and functions that several commands share.

// experiment is the input of a command: a file or a gallery entry, and its run folder.
type experiment struct {
	settings []string
	dir      string // set when the plan is made, for every command with flag -o
}

// settingsFlag adds the flag --set to c.
func (e *experiment) settingsFlag(c *cobra.Command) {
	c.Flags().StringArrayVar(&e.settings, "set", nil,
		"change a value of the file: `key=value`, as in model.likelihood=logit (repeatable)")
}

// flags adds the flags --set and --output to c.
func (e *experiment) flags(c *cobra.Command) {
	e.settingsFlag(c)
	c.Flags().StringVarP(&e.dir, "output", "o", "", "run folder (default runs/NAME)")
}

// fileOf returns the experiment file that the argument of a command means, with its settings. For
// the folder of a run it is the file of that run, and the command uses the folder.
func (e *experiment) fileOf(c *cobra.Command, name string) (file string, settings []string, err error) {
	m, ran := runIn(name)
	_, missing := os.Stat(m.Source)
	switch {
	case ran && (missing == nil || strings.HasPrefix(m.Source, spec.Bundled)):
		if e.dir == "" {
			e.dir = name
		}
		fmt.Fprintf(c.ErrOrStderr(), "%s is a run of %s\n", name, terminal.OneLine(m.Source))
		return m.Source, append(slices.Clone(m.Settings), e.settings...), nil
	case ran:
		return "", nil, usage("%s is the folder of a run, whose file %q is not here; name the file, as in %s", name,
			m.Source, command(c.Name(), "FILE.yaml", "-o", name))
	case isModel(name):
		return "", nil, usage("%s is a model file, and %s takes an experiment file; %s predicts with the model", name,
			c.Name(), command("predict", name, "DATA"))
	case isCases(name):
		return "", nil, usage("%s is a file of cases, and %s takes an experiment file; %s writes one", name, c.Name(),
			command("init", name))
	}
	for _, s := range e.settings {
		settings = append(settings, spec.Rebased(name, s))
	}
	return name, settings, nil
}

// plan reads the file or the gallery entry and makes its plan.
func (e *experiment) plan(c *cobra.Command, name string) (*plan.Plan, error) {
	file, settings, err := e.fileOf(c, name)
	if err != nil {
		return nil, err
	}
	plan, err := plan.Load(c.Context(), file, settings)
	if err == nil && e.dir == "" {
		e.dir = "runs/" + plan.Name()
	}
	return plan, err
}

// runFlags adds to c the flags of a command that runs jobs. check validates them after parsing and
// sets the options.
func runFlags(c *cobra.Command, o *runs.Options) (check func() error) {
	f := c.Flags()
	checkLimits := limitFlags(c, o, "number of jobs that run at the same time; idle cores help with large jobs")
	f.BoolVar(&o.Resume, "resume", false, "continue a run that was stopped")
	extendFlag(c, &o.Extend)
	retryFlag(c, &o.Retry)
	f.Bool("keep-going", true, "continue after failed jobs") // the default; the flag can be given explicitly
	failFast := f.Bool("fail-fast", false, "stop at the first failed job")
	f.IntVar(&o.MaxFailures, "max-failures", 0, "stop after this many failed jobs; 0 means never")
	c.MarkFlagsMutuallyExclusive("keep-going", "fail-fast", "max-failures")
	return func() error {
		if o.MaxFailures < 0 {
			return usage("--max-failures must not be negative; 0 means never")
		}
		if *failFast {
			o.MaxFailures = 1
		}
		o.Resume = o.Resume || o.Retry
		return checkLimits()
	}
}

// limitFlags adds to c the flags that limit concurrent jobs, time and memory.
func limitFlags(c *cobra.Command, o *runs.Options, jobs string) (check func() error) {
	c.Flags().IntVarP(&o.Workers, "jobs", "j", runtime.GOMAXPROCS(0), jobs)
	memory := memoryFlag(c)
	c.Flags().DurationVar(&o.Timeout, "timeout", 0, "stop after this time, as in 2h30m; --resume continues")
	trialTimeoutFlag(c, &o.TrialTimeout)
	return func() (err error) {
		if o.Workers < 1 {
			return usage("-j %d: at least one job must run at a time", o.Workers)
		}
		if o.Timeout < 0 || o.TrialTimeout < 0 {
			return usage("--timeout and --trial-timeout must not be negative; 0 means never")
		}
		o.MemoryLimit, err = memory()
		return err
	}
}

func extendFlag(c *cobra.Command, extend *bool) {
	c.Flags().BoolVar(extend, "extend", false,
		"continue a run whose file now has more jobs; finished jobs are reused")
}

func retryFlag(c *cobra.Command, retry *bool) {
	c.Flags().BoolVar(retry, "retry-failed", false, "continue a run, and repeat its failed jobs")
}

func trialTimeoutFlag(c *cobra.Command, limit *time.Duration) {
	c.Flags().DurationVar(limit, "trial-timeout", 0, "stop any job that takes longer, and record it as failed")
}

// memoryFlag adds the flag --memory to c. read returns its value in bytes after parsing; 0: the
// free memory.
func memoryFlag(c *cobra.Command) (read func() (int64, error)) {
	text := c.Flags().String("memory", "", "memory that all running jobs may use together, as in 8GiB (default: "+
		"the free memory; no limit if that is unknown)")
	return func() (int64, error) {
		if *text == "" {
			return 0, nil
		}
		n, err := humanize.ParseBytes(*text)
		if err != nil || n == 0 || n > math.MaxInt64 {
			return 0, usage("--memory %q is not a size; write for example 8GiB", *text)
		}
		return int64(n), nil
	}
}

// formatFlag adds the flag --format to c; the first of the names is the default.
func formatFlag(c *cobra.Command, format *string, names []string) {
	c.Flags().StringVar(format, "format", names[0], "what to print: "+strings.Join(names, " | "))
}

// fileFlag adds to c the flag --output of a file. write writes to that file, or to standard output.
func fileFlag(c *cobra.Command) (write func(func(io.Writer) error) error) {
	file := c.Flags().StringP("output", "o", "", "file to write (default: standard output)")
	return func(content func(io.Writer) error) error {
		if *file == "" {
			return content(forPrograms(c))
		}
		return atomicfile.Write(*file, content)
	}
}

// formatNames are the formats of a report.
func formatNames() (names []string) {
	for _, f := range page.Formats {
		names = append(names, f.Name)
	}
	return names
}

// warner returns a function that writes warnings for the user of c.
func warner(c *cobra.Command) func(format string, args ...any) {
	return func(format string, args ...any) { fmt.Fprintf(c.ErrOrStderr(), "warning: "+format+"\n", args...) }
}

// notify writes the warnings of a plan for the user of c. Information is a note.
func notify(c *cobra.Command, notices []cause.Notice) {
	for _, n := range notices {
		word := "warning"
		if _, _, note := n.Kind.Explanation(); note {
			word = "note"
		}
		fmt.Fprintf(c.ErrOrStderr(), "%s: %v\n", word, n)
	}
}

func warnAll(c *cobra.Command, warnings []string) {
	for _, w := range warnings {
		warner(c)("%s", w)
	}
}

// begin shows the progress of jobs on a bar of c, and makes the first signal drain them, until done
// is called. The caller must finish the bar before writing anything else.
func begin(c *cobra.Command, signals *interrupts, o *runs.Options) (bar *progress, done func()) {
	bar = newProgress(c.ErrOrStderr())
	o.Progress, o.Warn, o.Process = bar.event, warner(c), true
	o.Drain, done = signals.drain()
	return bar, done
}

// failures reports failed jobs, if there are any.
func failures(c *cobra.Command, s schedule.Summary, reason string) error {
	if s.Failed == 0 {
		return nil
	}
	one, many := s.Unit()
	fmt.Fprintf(c.ErrOrStderr(), "gpc-tune: %d of %s failed; %s, and --retry-failed runs failed %s again\n",
		s.Failed, table.Counted(s.Total, one, many), reason, many)
	return exitCode(exitFailures)
}

// finished prints where the results of a run are, or how to continue one that was stopped, with the
// command again unless that is empty.
func finished(c *cobra.Command, dir, again string, s schedule.Summary, err error) error {
	switch {
	case err == nil:
		where := dir
		name := filepath.Join(dir, "report.html")
		if _, err := os.Stat(name); err == nil {
			where += "; page: " + name
		}
		fmt.Fprintf(c.ErrOrStderr(), "results: %s\n", where)
		return failures(c, s, "the report lists them")
	case code(err) != exitStopped || s.Total == 0:
		return err
	case again != "":
		again = "; go on with: " + again
	}
	_, many := s.Unit()
	return fmt.Errorf("%w\n%d of %d %s are done%s", err, s.Done+s.Skipped, s.Total, many, again)
}
