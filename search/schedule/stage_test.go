package schedule

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"time"

	"github.com/gpc-tune/gpc-tune/search/searchtest/spaces"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/search"
)

// staged is a race of four configurations over three rounds, each followed by a stage that cuts the
// worst remaining configuration. A final study of the remaining configuration follows.
// Configuration c has log evidence values[c][round]. ran is called for each assessment.
func staged(values [4][3]float64, wait func(), ran func(configuration, study int)) []Study {
	var studies []Study
	at := func(configuration, round int) int { return 4*configuration + round }
	for c := range 4 {
		for round := range 4 {
			studies = append(studies, Study{
				Key: fmt.Sprintf("%d of %d", round, c), Configuration: c, Index: round, Space: spaces.SE(), Strategy: search.BFGS{Ascent: search.Ascent{MultiStart: search.MultiStart{Restarts: 2}}},
				Trial: func(_ context.Context, index int, p search.Proposal) (record.Trial, error) {
					wait()
					return record.Trial{Points: []record.Point{{Theta: record.Numbers(p.Points[0]), Value: record.Number(-index)}}}, nil
				},
				Assess: func(context.Context, int, []float64, []record.Trial) (record.Fit, error) {
					wait()
					ran(c, round)
					f := record.Fit{}
					if round < 3 {
						f.LogEvidence = record.Number(values[c][round])
					}
					return f, nil
				},
			})
		}
	}
	for round := 1; round < 4; round++ {
		stage := &Stage{Open: func(fits []*record.Fit) (left []int) {
			left = []int{0, 1, 2, 3}
			for r := range round {
				worst := slices.MinFunc(left, func(a, b int) int { return int(fits[r*4+a].LogEvidence - fits[r*4+b].LogEvidence) })
				left = slices.DeleteFunc(left, func(c int) bool { return c == worst })
			}
			for i, f := range fits {
				if r, c := i/4, i%4; r < round-1 && slices.Contains(left, c) && f == nil {
					panic("who is left has no fit")
				}
			}
			return left
		}}
		for r := range round {
			for c := range 4 {
				stage.After = append(stage.After, at(c, r))
			}
		}
		for c := range 4 {
			studies[at(c, round)].Stage = stage
		}
	}
	return studies
}

// Configurations that are cut do not run, no study runs before its stage opens, and neither the
// number of workers nor interruptions change which studies run.
func TestStages(t *testing.T) {
	values := [4][3]float64{{4, 3, 1}, {1, 9, 9}, {5, 1, 9}, {3, 5, 7}} // 1 is cut first, then 2, then 0
	want := []string{"00", "01", "02", "10", "20", "21", "30", "31", "32", "33"}
	var lines string
	for _, workers := range []int{1, 2, 8} {
		var mu sync.Mutex
		var ran []string
		finished := map[int]int{}
		before := []int{0, 4, 3, 2} // the number of assessments in the round before
		studies := staged(values, pause(time.Millisecond), func(c, study int) {
			mu.Lock()
			defer mu.Unlock()
			ran = append(ran, fmt.Sprintf("%d%d", c, study))
			if study > 0 && finished[study-1] != before[study] {
				t.Errorf("study %d of configuration %d began when %d of the round before had ended", study, c, finished[study-1])
			}
			finished[study]++
		})
		j := mustOpen(t, "")
		s := mustRun(t, studies, j, Options{Workers: workers})
		if slices.Sort(ran); !slices.Equal(ran, want) || s != (Summary{Done: 30, Total: 30}) {
			t.Errorf("%d workers ran %v, %+v", workers, ran, s)
		}
		if lines == "" {
			lines = canonical(j.Lines())
		}
		if got := canonical(j.Lines()); got != lines {
			t.Errorf("%d workers: other lines", workers)
		}
	}
	j := mustOpen(t, "")
	runs := 0
	for ; ; runs++ {
		drain := make(chan struct{})
		n := 0
		var mu sync.Mutex
		_, err := Run(t.Context(), staged(values, func() {
			mu.Lock()
			defer mu.Unlock()
			if n++; n == 4 {
				close(drain)
			}
		}, func(int, int) {}), j, Options{Workers: 2, Drain: drain})
		if err == nil {
			break
		}
	}
	if got := canonical(j.Lines()); got != lines || runs < 4 {
		t.Errorf("other lines after %d interruptions", runs)
	}
}

func TestStagesThatWaitForEachOther(t *testing.T) {
	studies := []Study{one(1, func() {}), one(1, func() {})}
	studies[1].Key = "two"
	for i := range studies {
		studies[i].Stage = &Stage{After: []int{1 - i}}
	}
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	mustRun(t, studies, mustOpen(t, ""), Options{})
}
