package schedule

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gpc-tune/gpc-tune/search/searchtest/spaces"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/search"
)

// preliminary is a study of 3 preliminary trials. The second is the best. A trial fails if fail is
// true for its index. ran counts the trials that run.
func preliminary(fail func(index int) bool, ran map[bool]int) Study {
	s := one(3, nil)
	s.Preliminary, s.Starting, s.Tuning = true, "cheap", "dear"
	var mu sync.Mutex
	s.Trial = func(_ context.Context, index int, p search.Proposal) (record.Trial, error) {
		mu.Lock()
		defer mu.Unlock()
		ran[p.Preliminary]++
		if fail(index) {
			return record.Trial{}, errors.New("not this one")
		}
		end := slices.Clone(p.Points[0])
		value := -100.0
		if p.Preliminary {
			end[0]++ // end point
			value = -float64((index - 1) * (index - 1))
		}
		return record.Trial{Points: []record.Point{{Theta: record.Numbers(end), Value: record.Number(value)}}}, nil
	}
	return s
}

// After the preliminary trials one trial starts at the best of their ends, and is the winner
// although its value, of another objective, is less. If none has a value it starts at the initial
// values. A study whose objective is the cheaper one gives its trials.
func TestPreliminaryTrials(t *testing.T) {
	for _, c := range []struct {
		fail  func(int) bool
		start func(starts [][]float64) []float64
		sum   Summary
	}{
		{func(int) bool { return false }, func(starts [][]float64) []float64 { return []float64{starts[1][0] + 1, starts[1][1]} },
			Summary{Done: 5, Total: 5}},
		{func(i int) bool { return i == 1 }, func(starts [][]float64) []float64 { return []float64{starts[0][0] + 1, starts[0][1]} },
			Summary{Done: 5, Total: 5, Failed: 1}},
		{func(i int) bool { return i < 3 }, func([][]float64) []float64 { return search.Space(spaces.SE()).Start() },
			Summary{Done: 5, Total: 5, Failed: 3}},
	} {
		for _, workers := range []int{1, 4} {
			ran := map[bool]int{}
			s := preliminary(c.fail, ran)
			var chosen int
			s.Assess = func(_ context.Context, index int, _ []float64, _ []record.Trial) (record.Fit, error) {
				chosen = index
				return record.Fit{}, nil
			}
			dir := t.TempDir()
			j := mustOpen(t, dir)
			if sum := mustRun(t, []Study{s}, j, Options{Workers: workers}); sum != c.sum || ran[true] != 3 || ran[false] != 1 || chosen != 3 {
				t.Fatalf("%+v, %v ran, trial %d is chosen", sum, ran, chosen)
			}
			var starts [][]float64
			for _, p := range s.Strategy.Ask(s.Space, nil, s.Seed) {
				starts = append(starts, p.Points[0])
			}
			for _, line := range j.Lines() {
				if last := line.Trial; last != nil && last.Index == 3 && (last.Preliminary || !slices.Equal(last.Theta(), c.start(starts))) {
					t.Errorf("the last trial starts at %v, want %v", last.Theta(), c.start(starts))
				}
			}
			again := mustOpen(t, dir)
			if sum := mustRun(t, []Study{s}, again, Options{}); sum.Done > 0 || ran[true] != 3 || ran[false] != 1 {
				t.Errorf("run again it does %+v", sum)
			}
		}
	}
	for _, first := range []bool{true, false} { // whether the study of the cheaper objective comes first
		ran := map[bool]int{}
		dear, cheap := preliminary(func(int) bool { return false }, ran), preliminary(func(int) bool { return false }, ran)
		cheap.Key, cheap.Configuration, cheap.Preliminary, cheap.Starting, cheap.Tuning = "cheap one", 1, false, "", "cheap"
		studies := []Study{dear, cheap}
		if first {
			studies = []Study{cheap, dear}
		}
		mustRun(t, studies, mustOpen(t, ""), Options{Workers: 2})
		if ran[true]+ran[false] != 4 {
			t.Errorf("%v ran, want three of the cheaper objective and one", ran)
		}
	}
}

// Criteria that end a search are about one objective.
func TestPreliminaryTrialsWithoutStop(t *testing.T) {
	s := preliminary(func(int) bool { return false }, map[bool]int{})
	if err := Check([]Study{s}, 0); err != nil {
		t.Error(err)
	}
	s.Stop = Stop{Patience: 1}
	if err := Check([]Study{s}, 0); err == nil || !strings.Contains(err.Error(), "leave out one of the two") {
		t.Errorf("a preliminary search that can stop: %v", err)
	}
}
