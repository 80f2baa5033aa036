// Package run executes a plan in a run folder: it checks to which plan the folder belongs, runs the
// missing jobs, divides a run into blocks for many machines, and writes the results. It also reads
// the content of run folders for other packages.
package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/gpc-tune/gpc-tune/experiments/journal"
	"github.com/gpc-tune/gpc-tune/experiments/plan"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/internal/machine"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/picture"
	"github.com/gpc-tune/gpc-tune/search/schedule"
)

// Run runs the missing jobs of the plan in the run folder dir and writes the results there. If the
// folder has this run, finished, it only writes the report. An unfinished run needs Resume. A
// folder whose plan this one extends needs Extend, and its results are used again. The report
// covers what is done even if the run ended early with an error.
func Run(ctx context.Context, p *plan.Plan, dir string, o Options) (*reports.Report, schedule.Summary, error) {
	if dir == "" {
		return nil, schedule.Summary{},
			fmt.Errorf("%w: the name of the folder is empty; give one for the run", ErrFolder)
	}
	journal, err := Begin(p, dir, p.Search(), o)
	if err != nil {
		return nil, schedule.Summary{}, err
	}
	defer journal.Close()
	if lines := journal.Lines(); len(lines) > 0 && !o.Resume && !o.Extend {
		m := p.Manifest
		m.Dropped = journal.Control().Dropped
		so, err := reports.Build(m, lines)
		if err != nil {
			return nil, schedule.Summary{}, err
		}
		if so.Missing > 0 {
			return nil, schedule.Summary{}, fmt.Errorf("%s: %w", dir, ErrUnfinished)
		}
	}
	defer Govern(p, &o)()
	if o.Folder, err = filepath.Abs(dir); err != nil {
		return nil, schedule.Summary{}, err
	}
	summary, ended := schedule.Run(ctx, p.Search(), journal, o.Options)
	if err := journal.Close(); ended == nil {
		ended = err
	}
	m, lines := p.Manifest, journal.Lines()
	m.Dropped = journal.Control().Dropped
	if ended == nil { // another process may have extended the run: then it writes the results
		var begun record.Manifest
		if begun, ended = owned(p, dir); ended == nil {
			// As in a report from the folder alone.
			m.Source, m.Settings, m.Build, m.Illustrations = begun.Source, begun.Settings, begun.Build,
				begun.Illustrations
		}
	}
	report, err := reports.Build(m, lines)
	if err != nil {
		return nil, summary, errors.Join(ended, err)
	}
	if ended == nil {
		ended = drive(dir, report, func(a reports.Answer) (*record.Drivers, error) {
			if o.Drivers == nil {
				return nil, nil
			}
			return o.Drivers(ctx, lines, report, a)
		})
	}
	picture.Warn(report)
	if ended != nil {
		return report, summary, ended
	}
	if _, err = (&Folder{Dir: dir, Manifest: m, Lines: lines}).Write(report, p.Manifest.Formats); err != nil {
		err = fmt.Errorf("%w: %w", ErrUnreported, err)
	}
	return report, summary, err
}

// Begin opens the journal of the run folder, or with dir "" one in memory, after checking that the
// studies fit into the memory of the machine. If they do not, no folder is created.
func Begin(p *plan.Plan, dir string, studies []schedule.Study, o Options) (*journal.Journal, error) {
	if err := Admit(studies, o.MemoryLimit); err != nil {
		return nil, err
	}
	if dir == "" {
		return journal.Open("", journal.Options{})
	}
	if o.Warn == nil {
		o.Warn = func(string, ...any) {}
	}
	j, begun, err := open(p, dir, o)
	if err != nil {
		return nil, err
	}
	if folder, err := filepath.Abs(dir); err == nil && p.Spec.Program != nil {
		machine.EndOrphans(spec.FolderVariable + "=" + filepath.Join(folder, "trials"))
	}
	if begun.Build != p.Manifest.Build {
		o.Warn("%s was started by another build (%v; this is %v); its results may differ in the last digits from "+
			"those of one build", dir, begun.Build, p.Manifest.Build)
	}
	for _, note := range notes(j, p.Manifest) {
		o.Warn("%s", note)
	}
	if o.Retry {
		return j, retry(studies, j, o.Warn)
	}
	return j, nil
}

// retry makes the recorded failed jobs run again.
func retry(studies []schedule.Study, j *journal.Journal, warn func(format string, args ...any)) error {
	n, err := schedule.Retry(studies, j)
	if err == nil {
		warn("failed jobs that are run again: %d", n)
	}
	return err
}

// leeway is the minimum of memory that the garbage collector may leave uncollected: a percentage of
// a small heap would make it run continuously.
const leeway = 64 << 20

// Admit returns search.ErrMemory if a job needs more than limit bytes; 0: more than the free
// memory.
func Admit(studies []schedule.Study, limit int64) error {
	if limit == 0 {
		limit, _ = machine.Available()
	}
	return schedule.Check(studies, limit)
}

// Govern limits the jobs to the free memory, unless there is a limit, and lets idle workers help
// inside jobs. With Options.Process it also adjusts the garbage collector and the memory limit of
// the process to the needs of the jobs. undo restores all settings.
func Govern(p *plan.Plan, o *Options) (undo func()) {
	if o.MemoryLimit == 0 {
		o.MemoryLimit, _ = machine.Available()
	}
	o.Threads = linalg.SetThreads
	if !o.Process {
		return func() {}
	}
	collect, limit := func() {}, debug.SetMemoryLimit(-1)
	var largest int64
	for _, s := range p.Studies {
		largest = max(largest, s.Memory)
	}
	// counts as memory in use but takes none; make would clear reused memory and so take it
	var floor strings.Builder
	if _, chosen := os.LookupEnv("GOGC"); !chosen {
		if largest >= leeway {
			percent := debug.SetGCPercent(machine.Slack)
			collect = func() { debug.SetGCPercent(percent) }
		} else {
			floor.Grow(leeway)
		}
	}
	if o.MemoryLimit > 0 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		debug.SetMemoryLimit(min(limit, int64(m.Sys-m.HeapReleased)+o.MemoryLimit))
	}
	return func() {
		runtime.KeepAlive(&floor)
		debug.SetMemoryLimit(limit)
		collect()
	}
}
