package search_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/experiments/journal"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/search"
	"github.com/gpc-tune/gpc-tune/search/schedule"
)

// The caller evaluates the points that the strategy proposes and reports the results, until the
// strategy proposes no more.
func ExampleStrategy() {
	space := search.Space{param.Setting{}.Spec("length_scale", param.Log, 1)}
	var s search.Strategy = search.NelderMead{Trials: 20}
	var done []record.Trial
	best := math.Inf(-1)
	for batch := s.Ask(space, done, 1); len(batch) > 0; batch = s.Ask(space, done, 1) {
		for _, p := range batch {
			theta := p.Points[0]
			value := -(theta[0] - 1) * (theta[0] - 1)
			at := record.Point{Theta: record.Numbers(theta), Value: record.Number(value)}
			done, best = append(done, record.Trial{Points: []record.Point{at}}), max(best, value)
		}
	}
	fmt.Printf("%d trials, best near 1: %t\n", len(done), best > -1e-3)
	// Output:
	// 20 trials, best near 1: true
}

// Run evaluates the points in parallel. It keeps the results in a folder, from which it continues.
func ExampleRun() {
	study := schedule.Study{
		Key:      "a hash of all that the values depend on",
		Space:    search.Space{param.Setting{}.Spec("length_scale", param.Log, 1)},
		Strategy: search.NelderMead{Trials: 20},
		Value: func(_ context.Context, theta []float64) (float64, error) {
			if theta[0] > 3 {
				return 0, errors.New("too long")
			}
			return -(theta[0] - 1) * (theta[0] - 1), nil
		},
	}
	done, err := journal.Open("", journal.Options{}) // in memory
	if err != nil {
		log.Fatal(err)
	}
	summary, err := schedule.Run(context.Background(), []schedule.Study{study}, done, schedule.Options{})
	if err != nil {
		log.Fatal(err)
	}
	var trials []record.Trial
	for _, line := range done.Lines() {
		if line.Trial != nil {
			trials = append(trials, *line.Trial)
		}
	}
	_, best, err := search.Winner(trials)
	fmt.Printf("%d trials, best near 1: %t, %v\n", summary.Done, math.Abs(float64(best.Theta[0])-1) < 0.05, err)
	study.Strategy = search.BFGS{}
	_, err = schedule.Run(context.Background(), []schedule.Study{study}, done, schedule.Options{})
	fmt.Println(err)
	// Output:
	// 20 trials, best near 1: true, <nil>
	// study 0 of configuration 0: its strategy climbs or samples from the points that it proposes, which needs Study.Trial; Study.Value is for a strategy like grid or bayes
}
