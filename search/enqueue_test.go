package search

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gpc-tune/gpc-tune/experiments/record"
	"github.com/gpc-tune/gpc-tune/internal/journal"
)

// hill is a search of exp(-(u-1)²-(v+1)²), whose best point, near amplitude e and length scale 1/e,
// no strategy meets by chance. at is called with the points in natural units.
func hill(strategy Strategy, at func(x []record.Number)) Study {
	s := Study{Key: "hill", Space: seSpace(), Strategy: strategy}
	s.Value = func(_ context.Context, theta []float64) (float64, error) {
		at(s.natural(theta))
		return math.Exp(-(theta[0]-1)*(theta[0]-1) - (theta[1]+1)*(theta[1]+1)), nil
	}
	return s
}

// top is the command to try the best point of a hill.
var top = journal.Command{Verb: "enqueue", Key: "hill", Point: map[string]record.Number{
	seSpace()[0].Name: record.Number(math.E), seSpace()[1].Name: record.Number(1 / math.E)}}

func enqueue(t *testing.T, dir string, c journal.Command) {
	t.Helper()
	if err := journal.Order(dir, c); err != nil {
		t.Fatal(err)
	}
}

// A point that is enqueued while a search runs is the next one that is tried. It wins, after the
// trials of the strategy, which are those without it unless the strategy learns from it. A run that
// is killed after any of its jobs ends with the same lines.
func TestEnqueue(t *testing.T) {
	for name, strategy := range map[string]Strategy{
		"random": Random{Design{Trials: 12}}, "bayes": Bayes{Trials: 12}, "cmaes": CMAES{Evaluations: 12},
		"asynchronous bayes": Bayes{Trials: 12, Overlap: Overlap{Asynchronous: 3}}, "batches": Bayes{Trials: 12, Batch: 3}, "auto": Auto{Trials: 12},
	} {
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
			if tried != 8 || sum.Done != budget+2 || sum.Total != sum.Done {
				t.Errorf("the point is tried as number %d; %+v", tried, sum)
			}
			lines := j.Lines()
			fit := lines[len(lines)-1].Fit
			if fit.Chosen != budget || fit.Own != 1 || math.Abs(float64(fit.Natural[0])-math.E) > 1e-12 {
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
			if _, learns := strategy.(Learner); (alike == budget) == learns || alike < 7 {
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
	s := hill(Bayes{Trials: 5}, func([]record.Number) {})
	outside := top
	outside.Point = map[string]record.Number{seSpace()[0].Name: 1e9}
	mustRun(t, []Study{s}, openControlled(t, dir, []string{"hill"}), Options{})
	enqueue(t, dir, outside)
	enqueue(t, dir, top)
	if left, err := Left([]Study{s}, openControlled(t, dir, []string{"hill"})); len(left) == 0 || err != nil {
		t.Errorf("%v are left, %v", left, err)
	}
	j := openControlled(t, dir, []string{"hill"})
	if sum := mustRun(t, []Study{s}, j, Options{}); sum != (Summary{Done: 3, Skipped: 5, Failed: 1, Total: 8}) {
		t.Errorf("%+v", sum)
	}
	lines := j.Lines()
	if n := len(lines); n != 8 || lines[7].Fit == nil || lines[7].Fit.Chosen != 6 {
		t.Fatalf("%d lines, %+v", n, lines[n-1].Fit)
	}
	if why := lines[5].Failure().String(); !strings.Contains(why, "outside its bounds") || lines[5].Trial.Own != 1 {
		t.Errorf("the point outside: %q, %+v", why, lines[5].Trial)
	}
	if sum := mustRun(t, []Study{s}, openControlled(t, dir, []string{"hill"}), Options{}); sum.Done > 0 {
		t.Errorf("run again it does %+v", sum)
	}
}

// Processes that share a folder agree on a search to which points are added while it runs.
func TestEnqueueWhenSharing(t *testing.T) {
	for range 6 {
		dir := t.TempDir()
		var mu sync.Mutex
		tried := 0
		var wait sync.WaitGroup
		for range 3 {
			s := hill(Bayes{Trials: 14, Batch: 2}, func(x []record.Number) {
				time.Sleep(2 * time.Millisecond)
				mu.Lock()
				defer mu.Unlock()
				if tried++; tried == 5 || tried == 9 {
					enqueue(t, dir, top)
				}
			})
			j := openControlled(t, dir, []string{"hill"})
			wait.Go(func() {
				if _, err := Run(t.Context(), []Study{s}, j, Options{Workers: 2}); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		at := map[int]bool{}
		lines := openControlled(t, dir, []string{"hill"}).Lines()
		for _, line := range lines {
			if trial := line.Trial; trial != nil {
				if at[trial.Index] {
					t.Errorf("two trials are number %d", trial.Index)
				}
				at[trial.Index] = true
			}
		}
		if len(at) != 16 || len(lines) != 17 || lines[16].Fit.Own != 2 {
			t.Errorf("%d trials and %d lines, want 16 and 17", len(at), len(lines))
		}
	}
}
