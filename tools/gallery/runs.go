package main

import (
	"context"
	"errors"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"runtime"

	"github.com/gpc-tune/gpc-tune/experiments/plan"
	"github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/tools/gallery/ledger"
)

// absent is an error: a data file that may not be distributed is not on this machine.
type absent string

func (a absent) Error() string { return string(a) + " is not here" }

// planned returns the plan of an experiment; missing data are an absent error.
func planned(ctx context.Context, name, digits string) (*plan.Plan, error) {
	spec, err := spec.Load("gallery:"+name, nil)
	if err != nil {
		return nil, err
	}
	spec.Dir = digits
	for _, d := range spec.Data {
		if _, err := os.Stat(filepath.Join(digits, d.Train)); d.Train != "" && errors.Is(err, fs.ErrNotExist) {
			return nil, absent(d.Train)
		}
	}
	return plan.New(ctx, spec)
}

// result runs an experiment.
func result(ctx context.Context, name, digits, dir string) (*ledger.Run, error) {
	plan, err := planned(ctx, name, digits)
	if err != nil {
		return nil, err
	}
	options := run.Options{Resume: true, Process: true, Warn: log.Printf}
	options.Workers = runtime.GOMAXPROCS(0)
	report, _, err := run.Run(ctx, plan, dir, options)
	if err != nil {
		return nil, err
	}
	folder, err := run.ReadFolder(dir)
	if err != nil {
		return nil, err
	}
	return timed(folder, report)
}

// kept reads the run of an experiment from dir; nil: there is none, it is not finished, it belongs
// to another version of the file, or the data are absent.
func kept(ctx context.Context, name, digits, dir string) (*ledger.Run, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, nil
	}
	plan, err := planned(ctx, name, digits)
	if errors.As(err, new(absent)) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	folder, err := run.ReadFolder(dir)
	if err != nil {
		return nil, err
	}
	report, err := folder.Report()
	if err != nil || report.Missing > 0 || folder.Manifest.Key != plan.Manifest.Key {
		return nil, err
	}
	return timed(folder, report)
}

// timed is a run with its processor and wall-clock time.
func timed(folder *run.Folder, report *reports.Report) (*ledger.Run, error) {
	times, err := reports.BuildTimings(folder.Manifest, folder.Lines)
	return &ledger.Run{Folder: folder, Report: report, Times: times}, err
}
