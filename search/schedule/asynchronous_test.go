package schedule

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"testing/synctest"
	"time"

	"github.com/gpc-tune/gpc-tune/search/searchtest/spaces"

	"github.com/gpc-tune/gpc-tune/experiments/journal"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/search"
)

// slow is a strategy that thinks for a while before each trial.
type slow struct {
	listed
	thinks time.Duration
}

func (s slow) Ask(space search.Space, done []record.Trial, seed uint64) []search.Proposal {
	if len(done) > 0 {
		time.Sleep(s.thinks)
	}
	return s.listed.Ask(space, done, seed)
}

// line is the numbers from 0.
func line(n int) (values []float64) {
	for i := range n {
		values = append(values, float64(i))
	}
	return values
}

// busy runs studies on workers with a virtual clock and returns the fraction of the workers' time
// that trials of these durations take.
func busy(t *testing.T, workers int, studies []Study, duration func(*rand.Rand) time.Duration) (share float64) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var worked atomic.Int64
		for i := range studies {
			rng := rand.New(rand.NewPCG(1, uint64(i)))
			var mu sync.Mutex
			studies[i].Value = func(_ context.Context, theta []float64) (float64, error) {
				mu.Lock()
				d := duration(rng)
				mu.Unlock()
				time.Sleep(d)
				worked.Add(int64(d))
				return -theta[0] * theta[0], nil
			}
		}
		began := time.Now()
		mustRun(t, studies, mustOpen(t, ""), Options{Workers: workers})
		share = float64(worked.Load()) / float64(workers) / float64(time.Since(began))
	})
	return share
}

// Sixteen searches that think for a tenth of the time of a trial keep sixteen workers busy, because
// the workers do the thinking.
func TestStrategiesThinkOnWorkers(t *testing.T) {
	var studies []Study
	for i := range 16 {
		studies = append(studies, Study{Key: string(rune('a' + i)), Index: i, Space: search.Space{spaces.Spec("x", 0, 1)},
			Strategy: slow{listed{line(20), false}, 10 * time.Millisecond}})
	}
	got := busy(t, 16, studies, func(*rand.Rand) time.Duration { return 100 * time.Millisecond })
	if got < 0.9 {
		t.Errorf("the workers are busy for %.3f of the time", got)
	}
}

// Eight workers of an asynchronous search are busy although the times of the trials vary widely.
func TestAsynchronousSearchKeepsWorkersBusy(t *testing.T) {
	study := Study{Key: "one", Space: spaces.SE(), Strategy: search.CMAES{Trials: 400, Overlap: search.Overlap{Asynchronous: 8}}}
	got := busy(t, 8, []Study{study}, func(rng *rand.Rand) time.Duration {
		return time.Duration(100e6 * math.Exp(rng.NormFloat64()))
	})
	t.Logf("busy for %.3f of the time", got)
	if got < 0.85 {
		t.Errorf("the workers are busy for %.3f of the time", got)
	}
}

// scattered is a study whose trials take random times. Some of the trials fail.
func scattered(strategy search.Strategy, wait func()) Study {
	s := one(1, nil)
	s.Space, s.Strategy = spaces.Surfaces["bowl"].Space, strategy
	s.Trial = func(_ context.Context, index int, p search.Proposal) (record.Trial, error) {
		wait()
		if index%7 == 5 {
			return record.Trial{}, errors.New("not this one")
		}
		return spaces.Evaluated(index, p.Points, spaces.Surfaces["bowl"].At), nil
	}
	return s
}

// followed checks every trial on record: the strategy proposes its points after the trials that
// ended before it, in their recorded order.
func followed(t *testing.T, s Study, j *journal.Journal) {
	t.Helper()
	var trials []record.Trial
	for _, line := range j.Lines() {
		if line.Trial != nil {
			trials = append(trials, *line.Trial)
		}
	}
	byEnd := slices.Clone(trials)
	slices.SortFunc(byEnd, func(a, b record.Trial) int { return a.Ended - b.Ended })
	slices.SortFunc(trials, func(a, b record.Trial) int { return a.Index - b.Index })
	width := search.UnderWay(s.Strategy)
	for i, trial := range trials {
		if byEnd[i].Ended != i+1 || trial.Index != i {
			t.Fatalf("the %d-th trial to end has place %d; trial %d has index %d", i+1, byEnd[i].Ended, i, trial.Index)
		}
		ended := max(0, i-width+1)
		history := slices.Clone(byEnd[:ended])
		for _, other := range trials[:i] {
			if other.Ended > ended {
				history = append(history, record.Begun([][]float64{other.Theta()}))
			}
		}
		asked := s.Strategy.Ask(s.Space, history, s.Seed)
		if len(asked) != 1 || !slices.Equal(asked[0].Points[0], trial.Theta()) {
			t.Errorf("trial %d has theta %v; after the trials before it the strategy proposes %v", i, trial.Theta(), asked)
		}
	}
}

// An asynchronous search that is interrupted again and again, with any number of workers, follows
// from the order in which its trials ended, and nothing of it is computed twice.
func TestAsynchronousSearchFollowsItsRecord(t *testing.T) {
	for _, strategy := range []search.Strategy{search.CMAES{Trials: 60, Overlap: search.Overlap{Asynchronous: 5}}, search.Bayes{Trials: 12, Overlap: search.Overlap{Asynchronous: 3}}} {
		for _, workers := range []int{1, 2, 8} {
			j, ran := mustOpen(t, ""), atomic.Int32{}
			s := scattered(strategy, func() { ran.Add(1); pause(time.Millisecond)() })
			for {
				drain := make(chan struct{})
				stop, left := sync.OnceFunc(func() { close(drain) }), rand.IntN(8)+1
				_, err := Run(context.Background(), []Study{s}, j, Options{Workers: workers, Drain: drain, Progress: func(e Event) {
					if e.Done >= left {
						stop()
					}
				}})
				if err == nil {
					break
				} else if !errors.Is(err, ErrStopped) {
					t.Fatal(err)
				}
			}
			followed(t, s, j)
			if n := len(j.Lines()); int(ran.Load()) != n-1 || n-1 != strategy.Budget(s.Space).Trials {
				t.Errorf("%T, %d workers: %d trials ran, %d lines on record", strategy, workers, ran.Load(), n)
			}
			if n, err := Recorded([]Study{s}, j); n != len(j.Lines()) || err != nil {
				t.Errorf("%T: %d of %d jobs are found again, %v", strategy, n, len(j.Lines()), err)
			}
		}
	}
}

// With one worker an asynchronous search has one result.
func TestAsynchronousSearchOfOneWorker(t *testing.T) {
	var want string
	for range 3 {
		j := mustOpen(t, "")
		mustRun(t, []Study{scattered(search.Bayes{Trials: 20, Overlap: search.Overlap{Asynchronous: 4}}, pause(time.Millisecond))}, j, Options{Workers: 1})
		if got := canonical(j.Lines()); want == "" {
			want = got
		} else if got != want {
			t.Fatal("two runs differ")
		}
	}
}

// Asynchronous searches find a maximum. One worker makes the order of ending the same every time.
func TestAsynchronousSearchesFindTheMaximum(t *testing.T) {
	ridge := spaces.Surfaces["oblique ridge"]
	for _, c := range []struct {
		strategy search.Strategy
		within   float64
	}{{search.CMAES{Trials: 600, Overlap: search.Overlap{Asynchronous: 8}}, 1e-4}, {search.Bayes{Trials: 60, Overlap: search.Overlap{Asynchronous: 4}}, 0.2}} {
		s := one(1, nil)
		s.Space, s.Strategy, s.Seed = ridge.Space, c.strategy, 3
		s.Value = func(_ context.Context, theta []float64) (float64, error) {
			return ridge.At(theta), nil
		}
		j := mustOpen(t, "")
		mustRun(t, []Study{s}, j, Options{Workers: 1})
		best := math.Inf(-1)
		for _, line := range j.Lines() {
			if line.Trial != nil {
				best = max(best, line.Trial.Value())
			}
		}
		if best < ridge.Best-c.within {
			t.Errorf("%T ends %v below the maximum", c.strategy, ridge.Best-best)
		}
	}
}

// overlapping proposes its values with three trials under way.
type overlapping struct{ listed }

func (overlapping) UnderWay() int { return 3 }

// A point that an asynchronous search proposes again is answered with its result, also while it is
// under way.
func TestAsynchronousSearchComputesNoPointTwice(t *testing.T) {
	ran := atomic.Int32{}
	s := identity(listed{[]float64{3, 3, 1, 3, 200, 1, 200}, false}, &ran)
	s.Strategy = overlapping{s.Strategy.(listed)}
	j := mustOpen(t, "")
	sum := mustRun(t, []Study{s}, j, Options{Workers: 1})
	if ran.Load() != 3 || sum != (Summary{Done: 8, Failed: 2, Total: 8}) {
		t.Errorf("%d points were computed, want 3; %+v", ran.Load(), sum)
	}
}

// Memory is 8. A job that needs 7 waits for the first job. The small jobs behind it go on one at a
// time, because 7 + 1 fit into memory.
func TestSmallJobsGoOnBesideALargeOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var large, end time.Duration
		study := func(key string, place, jobs int, memory int64, takes time.Duration, at *time.Duration) Study {
			s := Study{Key: key, Configuration: place, Space: search.Space{spaces.Spec("x", 0, 1)}, Strategy: listed{line(jobs), true}, Memory: memory}
			s.Value = func(context.Context, []float64) (float64, error) {
				if *at == 0 || at == &end {
					*at = time.Since(began)
				}
				time.Sleep(takes)
				return 0, nil
			}
			return s
		}
		var first time.Duration
		studies := []Study{study("first", 0, 1, 2, 3*time.Second, &first), study("large", 1, 1, 7, time.Second, &large),
			study("small", 2, 4, 1, time.Second, &end)}
		mustRun(t, studies, mustOpen(t, ""), Options{Workers: 8, MemoryLimit: 8})
		// The large job starts when the first has ended; the small ones start after 0, 1, 2 and 3 seconds.
		if large != 3*time.Second || end != 3*time.Second {
			t.Errorf("the large job started after %v, the last small one after %v", large, end)
		}
	})
}

// Asynchronous searches of several studies that have the same trials compute each point once, as
// long as they go together, and all of them end.
func TestAsynchronousSearchesShareTrials(t *testing.T) {
	for _, workers := range []int{1, 4} {
		var studies []Study
		for i := range 3 {
			s := scattered(search.CMAES{Trials: 48, Overlap: search.Overlap{Asynchronous: 4}}, pause(time.Millisecond))
			s.Key, s.Index, s.Tuning = s.Key+string(rune('a'+i)), i, "shared"
			studies = append(studies, s)
		}
		j := mustOpen(t, "")
		sum := mustRun(t, studies, j, Options{Workers: workers})
		if want := 3 * (studies[0].Strategy.Budget(studies[0].Space).Trials + 1); sum.Done != want || sum.Total != want {
			t.Errorf("%d workers: %+v, want %d jobs", workers, sum, want)
		}
		if n, err := Recorded(studies, j); n != sum.Total || err != nil {
			t.Errorf("%d of %d are found again, %v", n, sum.Total, err)
		}
	}
}
