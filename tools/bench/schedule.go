//go:build linux

package main

import (
	"context"
	"os"
	"path/filepath"
	"runtime"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/experiments/journal"
	"github.com/gpc-tune/gpc-tune/search"
	"github.com/gpc-tune/gpc-tune/search/schedule"
)

// jobs is the number of scheduled jobs, which do nothing.
const jobs = 2000

// trivial is a study whose trials do nothing.
var trivial = schedule.Study{
	Key: "trivial",
	Space: search.Space{
		{Name: "amplitude", Map: param.Identity, Lo: 0, Hi: jobs},
		{Name: "x", Map: param.Identity, Lo: 0, Hi: jobs, Init: 1},
	},
	Strategy: search.Grid{Axes: map[string]search.Axis{
		"x":         {Linear: &[2]float64{1, jobs}, Points: jobs},
		"amplitude": {Values: []float64{1}},
	}},
	Value: func(context.Context, []float64) (float64, error) { return 1, nil },
}

// scheduled runs the trivial study with a journal in the folder, or in memory, and leaves no
// folder.
func scheduled(dir string) answer {
	if dir != "" {
		must(os.MkdirAll(dir, 0o777))
		defer os.RemoveAll(dir)
	}
	journal := got(journal.Open(dir, journal.Options{}))
	defer journal.Close()
	summary := got(schedule.Run(context.Background(), []schedule.Study{trivial}, journal, schedule.Options{Workers: 2}))
	return answer{Evaluations: summary.Done}
}

// schedule measures what the scheduler adds to its jobs, and how much two workers help.
func (b *bench) schedule() {
	all := race(3,
		contender{"journal in memory", here(func() answer { return scheduled("") })},
		contender{"journal on disk", here(func() answer { return scheduled(filepath.Join(b.dir, "journal")) })})
	for _, t := range all {
		for j := range t.turns {
			t.turns[j].CPU /= jobs
			t.turns[j].Wall /= jobs
		}
	}
	b.say("schedule", jobs)
	b.times(all)

	const text = `
version: 1
name: workers
seed: 1
data: {dataset: ionosphere, preprocess: standardize}
model: {kernel: se, likelihood: logit, inference: laplace}
tune: {method: grid, grid: {length_scale: {log: [0, 4], points: 24}, amplitude: {log: [0, 1.5], points: 16}}}
`
	sweep := func(workers int) func() answer {
		return here(func() answer {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(workers)) // one core is one for the garbage collector too
			return answer{Evaluations: len(b.runPlan(text, workers))}
		})
	}
	all = race(3, contender{"1 core", sweep(1)}, contender{"2 cores", sweep(2)})
	b.say("schedule, two workers", all[0].first().Evaluations,
		all[0].least(wallOf)/all[1].least(wallOf), all[1].least(cpuOf)/all[0].least(cpuOf))
	b.times(all)
	b.conclude("schedule", all[0].least(wallOf)/all[1].least(wallOf))
}
