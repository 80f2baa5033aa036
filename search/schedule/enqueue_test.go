package schedule

import (
	"context"
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"time"

	"github.com/gpc-tune/gpc-tune/search/searchtest/spaces"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/experiments/journal"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/search"
)

// hill is a search of exp(-(u-1)²-(v+1)²), whose best point, near amplitude e and length scale 1/e,
// no strategy meets by chance. at is called with the points in natural units.
func hill(strategy search.Strategy, at func(x []record.Number)) Study {
	s := Study{Key: "hill", Space: spaces.SE(), Strategy: strategy}
	s.Value = func(_ context.Context, theta []float64) (float64, error) {
		at(s.natural(theta))
		return math.Exp(-(theta[0]-1)*(theta[0]-1) - (theta[1]+1)*(theta[1]+1)), nil
	}
	return s
}

// top is the command to try the best point of a hill.
var top = journal.Command{Verb: "enqueue", Key: "hill", Point: map[string]record.Number{
	spaces.SE()[0].Name: record.Number(math.E), spaces.SE()[1].Name: record.Number(1 / math.E)}}

func enqueue(t *testing.T, dir string, c journal.Command) {
	t.Helper()
	if err := journal.AppendCommand(dir, c); err != nil {
		t.Fatal(err)
	}
}

// A point that is enqueued while a search runs is evaluated next, and wins here. The trials of the
// strategy are the same as without this point, except if the strategy learns from it. A run that is
// killed after any of its jobs ends with the same lines.
func TestEnqueue(t *testing.T) {
	strategies := map[string]search.Strategy{
		"random": search.Random{Design: search.Design{Trials: 12}}, "bayes": search.Bayes{Trials: 12}, "cmaes": search.CMAES{Trials: 12},
		"asynchronous bayes": search.Bayes{Trials: 12, Overlap: search.Overlap{Asynchronous: 3}}, "batches": search.Bayes{Trials: 12, Batch: 3}, "auto": search.Auto{Trials: 12},
	}
	for i, name := range slices.Sorted(maps.Keys(strategies)) {
		strategy := strategies[name]
		t.Run(name, func(t *testing.T) {
			dir, tried := t.TempDir(), 0
			var mu sync.Mutex
			var order [][]record.Number
			s := hill(strategy, func(x []record.Number) {
				mu.Lock()
				defer mu.Unlock()
				if order = append(order, x); len(order) == 7 {
					enqueue(t, dir, top)
				}
			})
			j := openControlled(t, dir, []string{"hill"})
			sum := mustRun(t, []Study{s}, j, Options{Workers: 1})
			for i, x := range order {
				if math.Abs(float64(x[0])-math.E) < 1e-12 {
					tried = i + 1
				}
			}
			budget := s.Budget().Trials
			if tried != 8 || sum.Done != budget+1 || sum.Total != sum.Done {
				t.Errorf("the point is tried as number %d; %+v", tried, sum)
			}
			lines := j.Lines()
			fit := lines[len(lines)-1].Fit
			if fit.Chosen != budget || fit.Enqueued != 1 || math.Abs(float64(fit.Natural[0])-math.E) > 1e-12 {
				t.Errorf("trial %d is chosen, %+v", fit.Chosen, fit)
			}
			whole := mustOpen(t, "")
			mustRun(t, []Study{hill(strategy, func([]record.Number) {})}, whole, Options{Workers: 1})
			alike := 0
			for i, line := range whole.Lines()[:budget] {
				if slices.Equal(line.Trial.Theta(), lines[i].Trial.Theta()) {
					alike++
				}
			}
			if _, learns := strategy.(search.Learner); (alike == budget) == learns || alike < 7 {
				t.Errorf("%d of %d trials are those without the point", alike, budget)
			}
			want := canonical(lines)
			segments, _ := filepath.Glob(filepath.Join(dir, "journal", "*.jsonl"))
			text, err := os.ReadFile(segments[0])
			if err != nil || len(segments) != 1 {
				t.Fatal(segments, err)
			}
			all := slices.Collect(strings.Lines(string(text)))
			for n := 7; n < len(all); n++ { // the command is given after seven
				if !exhaustive.Tries(3, i, n) {
					continue
				}
				killed := t.TempDir()
				control, err := os.ReadFile(filepath.Join(dir, "control.jsonl"))
				os.MkdirAll(filepath.Join(killed, "journal"), 0o777)
				for file, text := range map[string]string{"control.jsonl": string(control), "journal/1.jsonl": strings.Join(all[:n], "")} {
					if err := os.WriteFile(filepath.Join(killed, file), []byte(text), 0o666); err != nil {
						t.Fatal(err)
					}
				}
				again := openControlled(t, killed, []string{"hill"})
				mustRun(t, []Study{hill(strategy, func([]record.Number) {})}, again, Options{Workers: 1})
				if got := canonical(again.Lines()); err != nil || got != want {
					t.Errorf("killed after %d of %d jobs, it ends with\n%s\nand not\n%s", n, len(all), got, want)
				}
			}
		})
	}
}

// A point that is enqueued after the end is tried when the run is resumed, and the fit is made
// again if it wins. One outside the bounds fails, with the reason, and the search goes on.
func TestEnqueueLate(t *testing.T) {
	dir := t.TempDir()
	s := hill(search.Bayes{Trials: 5}, func([]record.Number) {})
	outside := top
	outside.Point = map[string]record.Number{spaces.SE()[0].Name: 1e9}
	mustRun(t, []Study{s}, openControlled(t, dir, []string{"hill"}), Options{})
	enqueue(t, dir, outside)
	enqueue(t, dir, top)
	if left, err := Left([]Study{s}, openControlled(t, dir, []string{"hill"})); len(left) == 0 || err != nil {
		t.Errorf("%v are left, %v", left, err)
	}
	j := openControlled(t, dir, []string{"hill"})
	if sum := mustRun(t, []Study{s}, j, Options{}); sum != (Summary{Trials: true, Done: 2, Skipped: 5, Failed: 1, Total: 7}) {
		t.Errorf("%+v", sum)
	}
	lines := j.Lines()
	if n := len(lines); n != 8 || lines[7].Fit == nil || lines[7].Fit.Chosen != 6 {
		t.Fatalf("%d lines, %+v", n, lines[n-1].Fit)
	}
	if why := lines[5].Failure().String(); !strings.Contains(why, "outside its bounds") || lines[5].Trial.Enqueued != 1 {
		t.Errorf("the point outside: %q, %+v", why, lines[5].Trial)
	}
	if sum := mustRun(t, []Study{s}, openControlled(t, dir, []string{"hill"}), Options{}); sum.Done > 0 {
		t.Errorf("run again it does %+v", sum)
	}
}

// Processes that share a folder agree on a search to which points are added while it runs, whenever
// that is, and do nothing twice.
func TestEnqueueWhenSharing(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for name, strategy := range map[string]search.Strategy{
		"auto": search.Auto{Trials: 14}, "bayes": search.Bayes{Trials: 14}, "batches": search.Bayes{Trials: 14, Batch: 4},
	} {
		for range exhaustive.Of(2, 6) {
			dir := t.TempDir()
			var tried atomic.Int64
			process := func() {
				s := hill(strategy, func([]record.Number) {
					tried.Add(1)
					time.Sleep(5 * time.Millisecond)
				})
				if _, err := Run(t.Context(), []Study{s}, openControlled(t, dir, []string{"hill"}), Options{Workers: 2}); err != nil {
					t.Error(name, err)
				}
			}
			var wait sync.WaitGroup
			for range 3 {
				wait.Go(process)
			}
			for range 2 {
				time.Sleep(time.Duration(random.IntN(40)) * time.Millisecond)
				enqueue(t, dir, top)
			}
			wait.Wait()
			process()           // if a point came at the end
			at := map[int]int{} // number of the enqueued point of every trial
			lines := openControlled(t, dir, []string{"hill"}).Lines()
			for _, line := range lines {
				if line.Trial != nil {
					at[line.Trial.Index] = line.Trial.Enqueued
				}
			}
			// The point was given twice. The second time it needs no evaluation, and no fit if one is done.
			fit := lines[len(lines)-1].Fit
			if len(at) != 16 || len(lines) != 17 || tried.Load() != 15 || fit.Enqueued < 1 || at[fit.Chosen] != 1 {
				t.Errorf("%s: %d trials and %d lines after %d evaluations, want 16, 17 and 15; the fit %d of %d points chooses trial %d",
					name, len(at), len(lines), tried.Load(), at[fit.Chosen], fit.Enqueued, fit.Chosen)
			}
		}
	}
}

// A process that has proposed the next trial without a point, while another one tries that point,
// proposes it again before it takes over the search.
func TestEnqueueAheadOfOthers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var tried atomic.Int64
	reached, begun, ahead, beside := make(chan int), make(chan int), make(chan int), make(chan int)
	process := func(at func(x []record.Number)) {
		s := hill(search.Bayes{Trials: 14}, func(x []record.Number) {
			tried.Add(1)
			at(x)
		})
		if _, err := Run(t.Context(), []Study{s}, openControlled(t, dir, []string{"hill"}), Options{Workers: 1}); err != nil {
			t.Error(err)
		}
	}
	var wait sync.WaitGroup
	wait.Go(func() {
		process(func([]record.Number) {
			if tried.Load() == 8 {
				close(reached)
				<-ahead
			}
		})
	})
	<-reached
	enqueue(t, dir, top)
	wait.Go(func() {
		process(func(x []record.Number) {
			if math.Abs(float64(x[0])-math.E) < 1e-12 {
				close(begun)
				<-beside
			}
		})
	})
	<-begun
	close(ahead)
	time.Sleep(4 * pollInterval) // the first process proposes its next trial
	close(beside)
	wait.Wait()
	if lines := openControlled(t, dir, []string{"hill"}).Lines(); len(lines) != 16 || tried.Load() != 15 {
		t.Errorf("%d lines after %d evaluations, want 16 and 15", len(lines), tried.Load())
	}
}

// The last batch of a strategy is cut at its budget, so that the index of a later enqueued point is
// free.
func TestBudgetIsKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := Study{Key: "hill", Space: search.Space{param.Between("a", param.Identity, 0, 1)}}
	s.Strategy = search.Auto{Trials: 63} // a new beginning after 62, with a batch of 3
	s.Value = func(_ context.Context, x []float64) (float64, error) { return -(x[0] - 0.3) * (x[0] - 0.3), nil }
	mustRun(t, []Study{s}, openControlled(t, dir, []string{"hill"}), Options{})
	enqueue(t, dir, journal.Command{Verb: "enqueue", Key: "hill", Point: map[string]record.Number{"a": 0.7}})
	j := openControlled(t, dir, []string{"hill"})
	if sum := mustRun(t, []Study{s}, j, Options{}); sum.Total != 64 {
		t.Errorf("%+v, want 63 trials and one of the user", sum)
	}
	if lines := openControlled(t, dir, []string{"hill"}).Lines(); len(lines) != 65 {
		t.Errorf("%d lines", len(lines))
	}
}

// A point that was tried before has the result of then, and so has a trial of a point that the user
// tried before it. Killed after any job, the search ends with the same lines.
func TestPointsThatWereTried(t *testing.T) {
	strategies := map[string]search.Strategy{"auto": search.Auto{Trials: 12}, "batches": search.Bayes{Trials: 12, Batch: 3}, "random": search.Random{Design: search.Design{Trials: 12}},
		"asynchronous bayes": search.Bayes{Trials: 12, Overlap: search.Overlap{Asynchronous: 3}}}
	for i, name := range slices.Sorted(maps.Keys(strategies)) {
		strategy := strategies[name]
		var points [][]record.Number
		mustRun(t, []Study{hill(strategy, func(x []record.Number) { points = append(points, x) })}, mustOpen(t, ""), Options{Workers: 1})
		first := journal.Command{Verb: "enqueue", Key: "hill", Point: map[string]record.Number{
			spaces.SE()[0].Name: points[0][0], spaces.SE()[1].Name: points[0][1]}}
		for _, at := range []int{0, 7} { // number of trials before the point is enqueued
			dir, tried := t.TempDir(), 0
			s := hill(strategy, func([]record.Number) {
				if tried++; tried == at {
					enqueue(t, dir, first)
				}
			})
			if at == 0 {
				enqueue(t, dir, first)
			}
			j := openControlled(t, dir, []string{"hill"})
			if sum := mustRun(t, []Study{s}, j, Options{Workers: 1}); tried != 12 || sum.Total != 13 {
				t.Errorf("%s: %d evaluations, %+v", name, tried, sum)
			}
			want := canonical(j.Lines())
			segments, _ := filepath.Glob(filepath.Join(dir, "journal", "*.jsonl"))
			text, err := os.ReadFile(segments[0])
			if err != nil {
				t.Fatal(err)
			}
			all := slices.Collect(strings.Lines(string(text)))
			for n := at; n < len(all); n++ {
				if !exhaustive.Tries(4, i, n, at) {
					continue
				}
				for _, segment := range segments {
					os.Remove(segment)
				}
				if err := os.WriteFile(segments[0], []byte(strings.Join(all[:n], "")), 0o666); err != nil {
					t.Fatal(err)
				}
				again := openControlled(t, dir, []string{"hill"})
				mustRun(t, []Study{hill(strategy, func([]record.Number) {})}, again, Options{Workers: 1})
				if got := canonical(again.Lines()); got != want {
					t.Errorf("%s: killed after %d of %d jobs, it ends with\n%s\nand not\n%s", name, n, len(all), got, want)
				}
				segments, _ = filepath.Glob(filepath.Join(dir, "journal", "*.jsonl"))
			}
		}
	}
}

// A point that is withdrawn before it is tried is not tried, and the search is that without it. One
// that has failed stays known to the strategy, so that the trials that followed stay, but is no
// failure any more, and does not run again. Other points keep their numbers.
func TestWithdrawnPoints(t *testing.T) {
	second := journal.Command{Verb: "enqueue", Key: "hill", Point: map[string]record.Number{spaces.SE()[0].Name: 2, spaces.SE()[1].Name: 2}}
	withdraw := func(number int) journal.Command { return journal.Command{Verb: "dequeue", Key: "hill", Number: number} }
	for name, strategy := range map[string]search.Strategy{"random": search.Random{Design: search.Design{Trials: 8}}, "bayes": search.Bayes{Trials: 8}, "asynchronous bayes": search.Bayes{Trials: 8, Overlap: search.Overlap{Asynchronous: 3}}, "parallel bayes": search.Bayes{Trials: 8, Window: search.Window{Parallel: 3}}} {
		points := func(fails bool, tried *[][]record.Number) Study {
			s := hill(strategy, func(x []record.Number) { *tried = append(*tried, x) })
			value := s.Value
			s.Value = func(ctx context.Context, theta []float64) (float64, error) {
				v, err := value(ctx, theta)
				if fails && math.Abs(theta[0]-1) < 1e-12 {
					err = errors.New("out of luck")
				}
				return v, err
			}
			return s
		}
		var alone, tried, again [][]record.Number
		whole := mustOpen(t, "")
		mustRun(t, []Study{points(false, &alone)}, whole, Options{Workers: 1})
		dir := t.TempDir()
		for _, c := range []journal.Command{top, withdraw(1), withdraw(7)} {
			enqueue(t, dir, c)
		}
		j := openControlled(t, dir, []string{"hill"})
		if sum := mustRun(t, []Study{points(false, &tried)}, j, Options{Workers: 1}); len(tried) != 8 || sum.Total != 8 {
			t.Errorf("%s: %d evaluations, %+v", name, len(tried), sum)
		}
		for i, line := range whole.Lines()[:8] {
			if got := j.Lines()[i].Trial.Theta(); !slices.Equal(got, line.Trial.Theta()) {
				t.Errorf("%s: trial %d has %v, and without the point %v", name, i, got, line.Trial.Theta())
			}
		}
		dir, tried = t.TempDir(), nil
		enqueue(t, dir, top)
		enqueue(t, dir, second)
		if sum := mustRun(t, []Study{points(true, &tried)}, openControlled(t, dir, []string{"hill"}), Options{Workers: 1}); sum.Failed != 1 || sum.Total != 10 {
			t.Errorf("%s: %+v", name, sum)
		}
		before := openControlled(t, dir, []string{"hill"}).Lines()
		enqueue(t, dir, withdraw(1))
		j = openControlled(t, dir, []string{"hill"})
		if failed, err := Retry([]Study{points(false, &again)}, j); failed != 0 || err != nil {
			t.Errorf("%s: %d run again, %v", name, failed, err)
		}
		if sum := mustRun(t, []Study{points(false, &again)}, j, Options{Workers: 1}); sum.Failed != 0 || len(again) != 0 {
			t.Errorf("%s: %+v, and %d evaluations", name, sum, len(again))
		}
		want := slices.DeleteFunc(before, func(line record.Line) bool { return !line.Failure().IsZero() })
		if got := j.Lines(); canonical(got) != canonical(want) {
			t.Errorf("%s: %s, want %s", name, canonical(got), canonical(want))
		}
	}
}
