package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"text/tabwriter"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/gpc-tune/gpc-tune/experiments/plan"
	runs "github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/terminal"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/table"
	"github.com/gpc-tune/gpc-tune/search/schedule"
)

func validateCommand() *cobra.Command {
	var e experiment
	var noData bool
	c := &cobra.Command{
		Use:   "validate FILE.yaml | gallery:NAME",
		Short: "Check an experiment file and its data; every mistake is reported with file, line and column",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			var checked fmt.Stringer
			if noData {
				file, settings, err := e.fileOf(c, args[0])
				if err != nil {
					return err
				}
				spec, err := spec.Load(file, settings)
				if err != nil {
					return err
				}
				checked = spec
			} else {
				plan, err := e.plan(c, args[0])
				if err != nil {
					return err
				}
				notify(c, plan.Manifest.Warnings)
				checked = plan.Spec
			}
			_, err := fmt.Fprintf(c.OutOrStdout(), "%s is valid (%s)\n", args[0], checked)
			return err
		},
	}
	e.settingsFlag(c)
	c.Flags().BoolVar(&noData, "no-data", false, "do not read the data, and check the file only")
	return c
}

func planCommand() *cobra.Command {
	var e experiment
	var memory func() (int64, error)
	var jobs int
	c := &cobra.Command{
		Use:   "plan FILE.yaml | gallery:NAME",
		Short: "Show what would run: configurations, jobs, memory, expected time, and what is already done",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if jobs < 1 {
				return usage("-j %d: at least one job must run at a time", jobs)
			}
			limit, err := memory()
			if err != nil {
				return err
			}
			plan, err := e.plan(c, args[0])
			if err != nil {
				return err
			}
			return printPlan(c, plan, e.dir, runs.Options{Options: schedule.Options{Workers: jobs, MemoryLimit: limit}})
		},
	}
	e.flags(c)
	c.Flags().IntVarP(&jobs, "jobs", "j", runtime.GOMAXPROCS(0), "number of jobs that a run would run at the same time")
	memory = memoryFlag(c)
	return c
}

// atMost qualifies upper bounds.
var atMost = map[bool]string{true: "at most "}

// printPlan prints the plan. Like a run, it fails if a job needs more memory than is available.
func printPlan(c *cobra.Command, p *plan.Plan, dir string, o runs.Options) error {
	state, err := stateOf(p, dir, o.Retry)
	if err != nil {
		return err
	}
	out := c.OutOrStdout()
	rates := plan.Measured(c.Context())
	overview := p.Overview(rates)
	if err := printOverview(out, overview); err != nil {
		return err
	}
	notify(c, p.Manifest.Warnings)
	for _, line := range p.Advice() {
		fmt.Fprintln(out, line)
	}
	if n := len(p.Manifest.Illustrations); n > 0 {
		fmt.Fprintf(out, "illustrations: %d, with the plan\n", n)
	}
	jobs, most := p.Jobs()
	contested := ""
	if n := p.Contested(); n > 0 {
		contested = fmt.Sprintf("%d of them only for configurations that are selected on the way, ", n)
	}
	shared := ""
	if n := p.Shared(); n > 0 {
		shared = fmt.Sprintf("%s%d of them reuse results of other jobs, ", atMost[most], n)
	}
	one, many := reports.Unit(p.Manifest)
	counted := table.Counted(jobs, one, many)
	_, err = fmt.Fprintf(out, "%s%s, %s%s%s\n", atMost[most], counted, contested, shared, state)
	if seconds, known := plan.Expected(overview, o.Workers); known {
		fmt.Fprintf(out, "%sabout %v for all of them with -j %d\n", atMost[most], reports.Duration(seconds), o.Workers)
	}
	if o.Retry {
		err = errors.Join(err, printRetry(out, dir))
	}
	return errors.Join(err, runs.Admit(p.Search(), o.MemoryLimit))
}

// mostRetried is the number of failed jobs that printRetry lists.
const mostRetried = 20

// printRetry lists the failed jobs of a run folder, with their reasons.
func printRetry(out io.Writer, dir string) error {
	folder, err := runs.ReadFolder(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var failed []string
	for _, line := range folder.Lines {
		fits := line.Fit != nil && folder.Manifest.Configurations[line.Fit.Configuration].Program == nil
		if why := line.Failure(); !why.IsZero() && (line.Trial != nil || fits) {
			failed = append(failed, fmt.Sprintf("%s: %s", nameOf(folder.Manifest, line), why))
		}
	}
	one, many := reports.Unit(folder.Manifest)
	fmt.Fprintf(out, "--retry-failed runs %s again:\n", table.Counted(len(failed), "failed "+one, "failed "+many))
	for i, text := range failed {
		if i == mostRetried {
			fmt.Fprintf(out, "  and %d more\n", len(failed)-i)
			break
		}
		fmt.Fprintf(out, "  %s\n", terminal.OneLine(text))
	}
	return nil
}

// nameOf names a job of a run, as reports do.
func nameOf(m record.Manifest, line record.Line) string {
	name := func(configuration, study int) string {
		s := m.Configurations[configuration].Studies[study]
		return fmt.Sprintf("#%d %s", configuration, reports.Folded(s.Evaluation, s.Repeat, s.Fold))
	}
	if t := line.Trial; t != nil {
		return fmt.Sprintf("%s trial %d", name(t.Configuration, t.Study), t.Index)
	}
	return name(line.Fit.Configuration, line.Fit.Study) + " fit"
}

// stateOf describes how many jobs are done in a run folder.
func stateOf(plan *plan.Plan, dir string, retry bool) (string, error) {
	count := runs.Done
	if retry {
		count = runs.DoneForRetry
	}
	done, extends, err := count(plan, dir)
	state := fmt.Sprintf("%d of them done in %s", done, dir)
	switch {
	case err != nil:
		return "", err
	case extends:
		command := plan.Manifest.Command()
		return fmt.Sprintf("%s; this plan extends that %s: gpc-tune %s --extend reuses them", state, command,
			command), nil
	case done == 0 || retry:
		return state, nil
	}
	folder, err := runs.ReadFolder(dir)
	if err != nil {
		return "", err
	}
	progress, err := folder.Progress()
	if err == nil && progress.Finished {
		state += ", which is finished"
	}
	return state, err
}

// printOverview prints the configurations of a plan, with their expected times if these were
// measured.
func printOverview(out io.Writer, overview []plan.Overview) error {
	if len(overview) == 0 {
		return nil
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if overview[0].Program != nil {
		fmt.Fprintln(w, "program\thyperparameters\ttune\ttrials")
		for _, r := range overview {
			fmt.Fprintf(w, "%s\t%d\t%s\t%s%d\n", terminal.OneLine(r.Dataset), r.Free, r.Tune, atMost[r.AtMost], r.Jobs)
		}
		return w.Flush()
	}
	fmt.Fprintln(w, "dataset\tkernel\tlikelihood\tinference\tcases\tinputs\tfree\ttrainings\tjobs\tmemory of one job\t"+
		"time of one evaluation\tevaluations of a job\ttime of a job\tof all")
	var parts []record.Component
	for _, r := range overview {
		parts = append(parts, r.Kernel, r.Likelihood)
	}
	short := reports.ShortNames(parts)
	for _, r := range overview {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%d\t%d\t%d\t%s%d\t%s", terminal.OneLine(r.Dataset),
			short[r.Kernel.Text], short[r.Likelihood.Text], r.Methods(), r.Cases, r.Inputs, r.Free, len(r.Studies),
			atMost[r.AtMost], r.Jobs, humanize.IBytes(uint64(r.Memory)))
		if r.All > 0 {
			fmt.Fprintf(w, "\t%v\t%.0f\t%v\t%s%v", reports.Duration(r.Evaluation), r.Evaluations,
				reports.Duration(r.Longest), atMost[r.AtMost], reports.Duration(r.All))
		} else {
			fmt.Fprint(w, "\t?\t?\t?\t?")
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}
