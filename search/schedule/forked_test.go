package schedule

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"time"

	"github.com/gpc-tune/gpc-tune/search/searchtest/spaces"

	"github.com/gpc-tune/gpc-tune/experiments/journal"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/search"
)

// agreed checks that the journal of a search has every trial once, none of them failed, and a fit.
func agreed(t *testing.T, name, dir string, trials int) {
	t.Helper()
	at, fits := map[int]int{}, 0
	for _, line := range openControlled(t, dir, []string{"hill"}).Lines() {
		if line.Fit != nil {
			fits++
		} else if at[line.Trial.Index]++; !line.Failure().IsZero() {
			t.Errorf("%s: trial %d failed: %v", name, line.Trial.Index, line.Failure())
		}
	}
	for index, n := range at {
		if n != 1 || index >= trials {
			t.Errorf("%s: %d lines of trial %d", name, n, index)
		}
	}
	if len(at) != trials || fits != 1 {
		t.Errorf("%s: %d trials and %d fits, want %d and 1", name, len(at), fits, trials)
	}
}

// Failed jobs run again while another process still goes on from the failures: both end with one
// search, in which nothing failed and no trial was lost.
func TestRetryBesideAnOlderProcess(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	for name, strategy := range map[string]search.Strategy{"batches": search.Bayes{Trials: 16, Batch: 2}, "nelder_mead": search.NelderMead{Trials: 30}, "auto": search.Auto{Trials: 16}} {
		for range exhaustive.Of(1, 3) {
			dir := t.TempDir()
			var healed atomic.Bool
			var failures, calls atomic.Int64
			study := func() Study {
				s := hill(strategy, func([]record.Number) { time.Sleep(3 * time.Millisecond) })
				value := s.Value
				s.Value = func(ctx context.Context, theta []float64) (float64, error) {
					v, err := value(ctx, theta)
					calls.Add(1)
					if theta[0] < 0.5 && !healed.Load() {
						failures.Add(1)
						err = errors.New("not yet")
					}
					return v, err
				}
				return s
			}
			var wait sync.WaitGroup
			wait.Go(func() {
				if _, err := Run(t.Context(), []Study{study()}, openControlled(t, dir, []string{"hill"}), Options{Workers: 1}); err != nil {
					t.Error(name, err)
				}
			})
			time.Sleep(time.Duration(10+random.IntN(60)) * time.Millisecond)
			healed.Store(true)
			for range 2 { // the second for failures that came after the first had looked
				j := openControlled(t, dir, []string{"hill"})
				if _, err := Retry([]Study{study()}, j); err != nil {
					t.Error(name, err)
				}
				if _, err := Run(t.Context(), []Study{study()}, j, Options{Workers: 1}); err != nil {
					t.Error(name, err)
				}
				wait.Wait()
			}
			// trials begun by the other process while the retry was written may not be proposed
			// again
			trials := strategy.Budget(spaces.SE()).Trials
			if agreed(t, name, dir, trials); calls.Load() > int64(trials)+failures.Load()+2 {
				t.Errorf("%s: %d evaluations, of which %d failed, for %d trials", name, calls.Load(), failures.Load(), trials)
			}
		}
	}
}

// A point is enqueued that another process is just trying: it gets the result of then, in one line.
func TestEnqueueWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	for name, strategy := range map[string]search.Strategy{"bayes": search.Bayes{Trials: 8}, "nelder_mead": search.NelderMead{Trials: 8}, "random": search.Random{Design: search.Design{Trials: 8}}} {
		dir := t.TempDir()
		var points [][]record.Number
		mustRun(t, []Study{hill(strategy, func(x []record.Number) { points = append(points, x) })}, mustOpen(t, ""), Options{Workers: 1})
		begun, goOn := make(chan int), make(chan int)
		var calls atomic.Int64
		process := func(workers int) {
			s := hill(strategy, func([]record.Number) {
				if calls.Add(1) == 1 {
					close(begun)
					<-goOn
				}
			})
			if _, err := Run(t.Context(), []Study{s}, openControlled(t, dir, []string{"hill"}), Options{Workers: workers}); err != nil {
				t.Error(name, err)
			}
		}
		var wait sync.WaitGroup
		wait.Go(func() { process(1) })
		<-begun
		enqueue(t, dir, journal.Command{Verb: "enqueue", Key: "hill", Point: map[string]record.Number{
			spaces.SE()[0].Name: points[0][0], spaces.SE()[1].Name: points[0][1]}})
		wait.Go(func() { process(4) })
		time.Sleep(2 * pollInterval)
		close(goOn)
		wait.Wait()
		agreed(t, name, dir, len(points)+1)
	}
}

// If a line is damaged after the end, its job runs again. Trials that follow from the new order
// replace the old ones.
func TestDamageOfFinishedSearches(t *testing.T) {
	strategies := map[string]search.Strategy{"asynchronous bayes": search.Bayes{Trials: 12, Overlap: search.Overlap{Asynchronous: 3}},
		"asynchronous cmaes": search.CMAES{Trials: 12, Overlap: search.Overlap{Asynchronous: 3}}, "own": search.Bayes{Trials: 12, Batch: 3}}
	for i, name := range slices.Sorted(maps.Keys(strategies)) {
		strategy := strategies[name]
		for damaged := range 6 {
			if !exhaustive.Tries(3, i, damaged) {
				continue
			}
			dir, calls := t.TempDir(), 0
			trials := 12
			s := hill(strategy, func([]record.Number) {
				if calls++; calls == 3 && name == "own" {
					enqueue(t, dir, top)
					trials++
				}
			})
			mustRun(t, []Study{s}, openControlled(t, dir, []string{"hill"}), Options{Workers: 1})
			segment := segments(t, dir)[0]
			text, err := os.ReadFile(segment)
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(string(text), "\n")
			lines[damaged] = strings.Replace(lines[damaged], `"value":`, `"value":1`, 1)
			if err := os.WriteFile(segment, []byte(strings.Join(lines, "\n")), 0o666); err != nil {
				t.Fatal(err)
			}
			mustRun(t, []Study{hill(strategy, func([]record.Number) {})}, openControlled(t, dir, []string{"hill"}), Options{Workers: 1})
			agreed(t, name, dir, trials)
		}
	}
}

// A configuration is paused while another process tries a point of it: the others go on.
func TestPauseWhileOthersTryAPoint(t *testing.T) {
	dir := t.TempDir()
	begun, goOn := make(chan int), make(chan int)
	keys := []string{"hill", "other"}
	var others atomic.Int64
	process := func(held bool) error {
		s := hill(search.Bayes{Trials: 6, Overlap: search.Overlap{Asynchronous: 2}}, func(x []record.Number) {
			if float64(x[0]) == float64(top.Point[spaces.SE()[0].Name]) {
				close(begun)
				<-goOn
			}
		})
		other := hill(search.Bayes{Trials: 6, Overlap: search.Overlap{Asynchronous: 2}}, func([]record.Number) {
			others.Add(1)
			time.Sleep(30 * time.Millisecond)
		})
		other.Key, other.Configuration = "other", 1
		_, err := Run(t.Context(), []Study{s, other}, openControlled(t, dir, keys), Options{Workers: 1, Timeout: 20 * time.Second})
		return err
	}
	enqueue(t, dir, top)
	var wait sync.WaitGroup
	wait.Go(func() { process(true) })
	<-begun
	wait.Go(func() {
		if err := process(false); !errors.Is(err, ErrStopped) || !strings.Contains(err.Error(), "paused") {
			t.Error(err)
		}
	})
	enqueue(t, dir, journal.Command{Verb: "pause", Key: "hill"})
	time.Sleep(pollInterval)
	close(goOn)
	wait.Wait()
	if others.Load() != 6 {
		t.Errorf("%d evaluations of the other configuration, want 6", others.Load())
	}
}

// The trials of an asynchronous search that are under way when it is dropped are on record.
func TestDropKeepsTrialsUnderWay(t *testing.T) {
	dir := t.TempDir()
	var calls atomic.Int64
	study := func(dropAt int64) Study {
		return hill(search.Bayes{Trials: 8, Overlap: search.Overlap{Asynchronous: 4}}, func([]record.Number) {
			if n := calls.Add(1); n == dropAt {
				enqueue(t, dir, journal.Command{Verb: "drop", Key: "hill"})
			}
			time.Sleep(40 * time.Millisecond)
		})
	}
	mustRun(t, []Study{study(4)}, openControlled(t, dir, []string{"hill"}), Options{Workers: 4})
	enqueue(t, dir, journal.Command{Verb: "resume", Key: "hill"})
	mustRun(t, []Study{study(0)}, openControlled(t, dir, []string{"hill"}), Options{Workers: 4})
	if calls.Load() != 8 {
		t.Errorf("%d evaluations, want 8", calls.Load())
	}
	agreed(t, "dropped", dir, 8)
}
