package schedule

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/search"
)

// Studies with the same Tuning run each trial once, except failed trials, which each study runs
// itself. Paths are kept only by studies that keep them, and such a study does not copy trials
// without a path. All trials count as done.
func TestSharedTrialsRunOnce(t *testing.T) {
	for _, first := range []bool{true, false} { // whether the first keeps paths, or the second
		for _, workers := range []int{1, 4} {
			var ran, assessed atomic.Int32
			studies := make([]Study, 2)
			for i := range studies {
				s := one(4, func() {})
				s.Key, s.Index, s.Tuning, s.Paths = s.Key+string(rune('a'+i)), i, "shared", (i == 0) == first
				s.Trial = func(_ context.Context, index int, p search.Proposal) (record.Trial, error) {
					ran.Add(1)
					if index == 2 {
						return record.Trial{}, errors.New("not this one")
					}
					trial := record.Trial{Points: []record.Point{{Theta: record.Numbers(p.Points[0]), Value: record.Number(-index)}}}
					if s.Paths {
						trial.Path = []record.Step{{Theta: record.Numbers(p.Points[0])}}
					}
					return trial, nil
				}
				s.Assess = func(context.Context, int, []float64, []record.Trial) (record.Fit, error) {
					assessed.Add(1)
					return record.Fit{}, nil
				}
				studies[i] = s
			}
			j := mustOpen(t, "")
			sum := mustRun(t, studies, j, Options{Workers: workers})
			want := int32(4 + 1) // and the failed one again
			if !first {
				want = 4 + 4
			}
			if sum != (Summary{Done: 10, Failed: 2, Total: 10}) || ran.Load() != want || assessed.Load() != 2 {
				t.Errorf("%+v, %d trials run, want %d, and %d assessments", sum, ran.Load(), want, assessed.Load())
			}
			for _, line := range j.Lines() {
				if trial := line.Trial; trial != nil && trial.Failure.IsZero() && (len(trial.Path) > 0) != studies[trial.Study].Paths {
					t.Errorf("study %d, trial %d: a path of %d steps", trial.Study, trial.Index, len(trial.Path))
				}
			}
			n, err := Recorded(studies, j)
			if n != 10 || err != nil {
				t.Errorf("%d on record, %v", n, err)
			}
		}
	}
}

// If the SameAs of a study is in the plan, each of the study's jobs runs after the corresponding
// job of that study.
func TestTwinsFollow(t *testing.T) {
	var order []string
	studies := make([]Study, 2)
	for i, name := range []string{"first", "twin"} {
		s := one(3, func() { order = append(order, name) })
		s.Key, s.Index = name, i
		s.Assess = func(context.Context, int, []float64, []record.Trial) (record.Fit, error) {
			order = append(order, name+" fit")
			return record.Fit{}, nil
		}
		studies[i] = s
	}
	studies[0], studies[1] = studies[1], studies[0] // the study with SameAs comes first in the list
	studies[0].SameAs = "first"
	mustRun(t, studies, mustOpen(t, ""), Options{Workers: 1})
	if got := len(order); got != 8 {
		t.Errorf("%q", order)
	}
	order = nil
	studies[0], studies[1] = studies[1], studies[0]
	mustRun(t, studies, mustOpen(t, ""), Options{Workers: 1})
	at := func(what string) (places []int) {
		for i, o := range order {
			if o == what {
				places = append(places, i)
			}
		}
		return places
	}
	for i, k := range at("first") {
		if twin := at("twin"); len(twin) != 3 || twin[i] < k {
			t.Errorf("%q", order)
		}
	}
	if len(order) != 8 || at("twin fit")[0] < at("first fit")[0] {
		t.Errorf("%q", order)
	}
	var ended [3]atomic.Bool
	for i, trial := range []func(index int){
		func(index int) { time.Sleep(time.Millisecond); ended[index].Store(true) },
		func(index int) {
			if !ended[index].Load() {
				t.Errorf("trial %d runs before that of its twin has ended", index)
			}
		},
	} {
		studies[i].Trial = func(ctx context.Context, index int, p search.Proposal) (record.Trial, error) {
			trial(index)
			return record.Trial{Points: []record.Point{{Theta: record.Numbers(p.Points[0])}}}, nil
		}
		studies[i].Assess = one(3, nil).Assess
	}
	mustRun(t, studies, mustOpen(t, ""), Options{Workers: 8})
}
