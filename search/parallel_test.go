package search_test

import (
	"encoding/json"

	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/experiments/journal"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
	_ "github.com/gpc-tune/gpc-tune/internal/testing/garbage"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/search"
	"github.com/gpc-tune/gpc-tune/search/schedule"
)

// A parallel search gives the same trials for any number of workers, in whatever order its trials
// end, and after a stop. No trial is proposed with the result of one of the Parallel - 1 before it.
func TestParallelSearchIsTheSameForAnyNumberOfWorkers(t *testing.T) {
	for _, strategy := range []search.Strategy{
		search.Auto{Trials: exhaustive.Of(16, 40), Window: search.Window{Parallel: 5}}, search.Bayes{Trials: 14, Window: search.Window{Parallel: 5}},
		search.CMAES{Trials: 24, Population: 6, Window: search.Window{Parallel: 5}}, search.Auto{Trials: 10, Window: search.Window{Parallel: 1}},
	} {
		var want string
		for run, workers := range []int{1, 3, 8, 2} {
			rng, mu := rand.New(rand.NewPCG(uint64(run), 1)), sync.Mutex{}
			var calls atomic.Int64
			ctx, stop := context.WithCancel(context.Background())
			defer stop()
			f := schedule.Function{Space: search.Space{param.Between("n", param.Whole, 1, 9), param.Between("x", param.Log, 1e-3, 1e3)}, Strategy: strategy, Seed: 3, Value: func(_ context.Context, x []float64) (float64, error) {
				mu.Lock()
				pause := time.Duration(rng.IntN(3)) * time.Millisecond
				mu.Unlock()
				if time.Sleep(pause); calls.Add(1) == 7 && run == 3 {
					stop()
				}
				return -math.Pow(x[0]-3, 2) - math.Pow(math.Log(x[1]), 2), nil
			}}
			studies := []schedule.Study{f.Study("k")}
			j := inMemory(t)
			if run == 3 {
				_, _ = schedule.Run(ctx, studies, j, schedule.Options{Workers: workers})
			}
			if _, err := schedule.Run(context.Background(), studies, j, schedule.Options{Workers: workers}); err != nil {
				t.Fatal(err)
			}
			lines := slices.Clone(j.Lines())
			for i := range lines {
				lines[i].Seconds = 0
			}
			slices.SortFunc(lines, func(a, b record.Line) int {
				of := func(l record.Line) int {
					if l.Trial == nil {
						return math.MaxInt
					}
					return l.Trial.Index
				}
				return of(a) - of(b)
			})
			text, err := json.Marshal(lines)
			if err != nil {
				t.Fatal(err)
			}
			if want == "" {
				want = string(text)
			}
			if string(text) != want {
				t.Errorf("%T: other trials with %d workers", strategy, workers)
			}
		}
	}
}

func inMemory(t *testing.T) *journal.Journal {
	t.Helper()
	j, err := journal.Open("", journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// spy records which results its strategy is asked with.
type spy struct {
	search.Bayes
	seen *[][2]int // results, and all trials before
}

func (s spy) Ask(space search.Space, done []record.Trial, seed uint64) []search.Proposal {
	results := 0
	for _, t := range done {
		if !t.UnderWay() {
			results++
		}
	}
	*s.seen = append(*s.seen, [2]int{results, len(done)})
	return s.Bayes.Ask(space, done, seed)
}

func TestParallelSearchKnowsAllButTheLast(t *testing.T) {
	seen := [][2]int{}
	f := schedule.Function{Space: search.Space{param.Between("x", param.Identity, -1, 1)}, Strategy: spy{search.Bayes{Trials: 9, Window: search.Window{Parallel: 4}}, &seen},
		Value: func(_ context.Context, x []float64) (float64, error) { return x[0], nil }}
	if _, err := schedule.Run(context.Background(), []schedule.Study{f.Study("k")}, inMemory(t), schedule.Options{Workers: 1}); err != nil {
		t.Fatal(err)
	}
	var want [][2]int
	for n := range 9 {
		want = append(want, [2]int{max(0, n-3), n})
	}
	if len(seen) < 9 || !slices.Equal(seen[:9], want) {
		t.Errorf("%v, want %v", seen, want)
	}
}

// Eight workers are busy for 85 % of the time or more, where the longest trial takes three times
// as long as the shortest. Time is simulated: a trial starts when a worker is free and the trials
// that its proposal depends on have ended.
func TestParallelSearchKeepsWorkersBusy(t *testing.T) {
	const workers, trials = 8, 100
	for name, length := range map[string]func(*rand.Rand) float64{
		"uniform":           func(r *rand.Rand) float64 { return 0.5 + r.Float64() },
		"lognormal, sd 0.5": func(r *rand.Rand) float64 { return math.Exp(0.5 * r.NormFloat64()) },
	} {
		share := 0.0
		for seed := range uint64(50) {
			rng := rand.New(rand.NewPCG(seed, 0))
			free, ended, sum := make([]float64, workers), []float64{0}, 0.0 // ended[i]: all of the first i trials
			for i := range trials {
				slices.Sort(free)
				begin := max(free[0], ended[max(0, i-2*workers+1)])
				long := length(rng)
				free[0], sum = begin+long, sum+long
				ended = append(ended, max(ended[i], free[0]))
			}
			share += sum / workers / slices.Max(free) / 50
		}
		if share < 0.85 {
			t.Errorf("%s: busy for %.3f of the time", name, share)
		}
	}
}

// A strategy that could overlap its trials waits unless it says how.
func TestWaits(t *testing.T) {
	for _, c := range []struct {
		of search.Strategy
		ok bool
	}{
		{search.Auto{}, true}, {search.Bayes{}, true}, {search.Bayes{Batch: 1}, true}, {search.Bayes{Batch: 4}, false}, {search.Auto{Overlap: search.Overlap{Asynchronous: 2}}, false},
		{search.Auto{Window: search.Window{Parallel: 8}}, false}, {search.Random{}, false}, {search.CMAES{}, false},
	} {
		if got := search.Waits(c.of); got != c.ok {
			t.Errorf("%+v: waits %v", c.of, got)
		}
	}
	for _, wrong := range []search.Auto{
		{Overlap: search.Overlap{Asynchronous: 2}, Window: search.Window{Parallel: 2}}, {Window: search.Window{Parallel: -1}}, {Window: search.Window{Parallel: 1001}},
	} {
		if wrong.Check(search.Space{param.Between("x", param.Identity, -1, 1)}) == nil {
			t.Errorf("%+v passes", wrong)
		}
	}
}
