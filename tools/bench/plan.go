//go:build linux

package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/gpc-tune/gpc-tune/experiments"
	"github.com/gpc-tune/gpc-tune/experiments/journal"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/search/schedule"
)

// runPlan runs an experiment in a folder of its own and returns its journal.
func (b *bench) runPlan(text string, workers int) []record.Line {
	ctx := context.Background()
	plan := got(experiments.Parse(ctx, "bench.yaml", []byte(text)))
	dir := filepath.Join(got(os.MkdirTemp(b.dir, "run")), "run")
	o := experiments.Options{Warn: func(string, ...any) {}, Options: schedule.Options{Workers: workers}}
	_, _, err := experiments.Run(ctx, plan, dir, o)
	must(err)
	return got(journal.Open(dir, journal.Options{Plan: plan.Manifest().Key})).Lines()
}
