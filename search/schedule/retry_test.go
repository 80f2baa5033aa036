package schedule

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/experiments/journal"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/search"
)

// failing is a study of n trials whose first, the best one, fails while *fails is true.
func failing(key string, place, n int, fails *bool) Study {
	s := named(key, place, n)
	trial := s.Trial
	s.Trial = func(ctx context.Context, index int, p search.Proposal) (record.Trial, error) {
		if index == 0 && *fails {
			return record.Trial{}, errors.New("not today")
		}
		return trial(ctx, index, p)
	}
	s.Assess = func(_ context.Context, chosen int, _ []float64, _ []record.Trial) (record.Fit, error) {
		return record.Fit{LogEvidence: record.Number(chosen)}, nil
	}
	return s
}

// TestRetryOfOneStudy: only the failed trial and the assessment of the named study run again; the
// result is then the same as without a failure. This also holds if another process, unaware of the
// retry, has recorded the old assessment once more.
func TestRetryOfOneStudy(t *testing.T) {
	for _, stray := range []bool{false, true} {
		fails, dir := true, t.TempDir()
		studies := []Study{failing("first", 0, 4, &fails), failing("second", 1, 3, &fails)}
		mustRun(t, studies, mustOpen(t, dir), Options{})
		all := mustOpen(t, dir).Lines()
		if len(all) != 9 {
			t.Fatalf("%d lines", len(all))
		}
		fails = false
		if failed, err := Retry(nil, mustOpen(t, dir)); failed != 0 || err != nil || len(mustOpen(t, dir).Lines()) != 9 {
			t.Errorf("of no studies %d failures are run again, %v", failed, err)
		}
		if failed, err := Retry(studies[:1], mustOpen(t, dir)); failed != 1 || err != nil {
			t.Fatalf("%d failures are run again, %v; want 1", failed, err)
		}
		left, err := Left(studies, mustOpen(t, dir))
		if err != nil || len(left) != 1 || left[0].Study != 0 || len(left[0].First) != 1 || left[0].First[0] != 0 || left[0].Later {
			t.Errorf("%+v is left, %v; want trial 0 of study 0", left, err)
		}
		if failed, err := Retry(studies[:1], mustOpen(t, dir)); failed != 0 || err != nil {
			t.Errorf("%d failures are run again twice, %v", failed, err)
		}
		if stray {
			j := mustOpen(t, dir)
			for _, line := range all {
				if line.Fit != nil && line.Fit.Configuration == 0 {
					if err := j.Append(line); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if s := mustRun(t, studies, mustOpen(t, dir), Options{Workers: 1}); s.Done != 2 {
			t.Errorf("%+v, want the trial and the assessment done", s)
		}
		// The failure of the second study stays.
		want, still := mustOpen(t, ""), true
		mustRun(t, []Study{studies[0], failing("second", 1, 3, &still)}, want, Options{})
		got := mustOpen(t, dir).Lines()
		for i := range got {
			got[i].Attempt = 0
		}
		if canonical(got) != canonical(want.Lines()) {
			t.Errorf("stray %v: got %s, want %s", stray, canonical(got), canonical(want.Lines()))
		}
	}
}

// TestLeftWritesNothing: Left writes nothing, not even the lines that it could copy from another
// plan's jobs.
func TestLeftWritesNothing(t *testing.T) {
	dir := t.TempDir()
	open := func(plan string) *journal.Journal {
		j, err := journal.Open(dir, journal.Options{Plan: plan})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { j.Close() })
		return j
	}
	mustRun(t, []Study{named("one", 0, 3)}, open("three"), Options{})
	content := func() (all string) {
		names, err := filepath.Glob(filepath.Join(dir, "*", "*"))
		if err != nil || len(names) == 0 {
			t.Fatal(names, err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			all += name + "\n" + string(text)
		}
		return all
	}
	before := content()
	left, err := Left([]Study{named("one", 0, 5)}, open("five"))
	if err != nil || len(left) != 1 || len(left[0].First) != 2 {
		t.Errorf("%+v is left, %v; want two trials", left, err)
	}
	if n, err := Recorded([]Study{named("one", 0, 5)}, open("five")); err != nil || n != 3 {
		t.Errorf("%d are on record, %v; want three trials", n, err)
	}
	if content() != before {
		t.Error("the folder has changed")
	}
}

// strategiesThatFail are ones of every kind, for retries of their failed trials.
var strategiesThatFail = map[string]search.Strategy{
	"auto": search.Auto{Trials: 10}, "bayes": search.Bayes{Trials: 10}, "batches": search.Bayes{Trials: 10, Batch: 3},
	"asynchronous bayes": search.Bayes{Trials: 10, Overlap: search.Overlap{Asynchronous: 3}}, "cmaes": search.CMAES{Trials: 18},
	"parallel bayes": search.Bayes{Trials: 10, Window: search.Window{Parallel: 3}}, "parallel auto": search.Auto{Trials: 10, Window: search.Window{Parallel: 4}},
	"parallel cmaes":     search.CMAES{Trials: 18, Window: search.Window{Parallel: 3}},
	"asynchronous cmaes": search.CMAES{Trials: 18, Overlap: search.Overlap{Asynchronous: 3}}, "nelder_mead": search.NelderMead{Trials: 14},
	"simplices": search.NelderMead{Restarts: 3, Trials: 18}, "hyperband": search.Hyperband{Fidelity: search.Fidelity{Of: "epochs"}},
	"multi_fidelity": search.MultiFidelity{Fidelity: search.Fidelity{Of: "epochs"}, Trials: 6}, "random": search.Random{Design: search.Design{Trials: 12}},
	"sobol": search.Sobol{Design: search.Design{Trials: 12}}, "latin_hypercube": search.LatinHypercube{Design: search.Design{Trials: 12}},
	"grid": search.Grid{Axes: map[string]search.Axis{"x": {Linear: &[2]float64{0, 1}, Points: 12}}, Apart: true},
}

// flaky is a search of the maximum 0 at x = 0.3, y = 0.6 whose calls with these numbers, from 0,
// fail. It counts the calls.
func flaky(strategy search.Strategy, calls *atomic.Int64, fails ...int64) Study {
	s := Study{Key: "flaky", Strategy: strategy, Seed: 5,
		Space: search.Space{param.Between("x", param.Identity, 0, 1), param.Between("y", param.Identity, 0, 1)}}
	if _, partial := strategy.(search.Partial); partial {
		s.Space = append(s.Space, param.Between("epochs", param.Whole, 1, 9))
	}
	s.Value = func(_ context.Context, theta []float64) (float64, error) {
		if n := calls.Add(1) - 1; slices.Contains(fails, n) {
			return 0, errors.New("out of memory")
		}
		return -(theta[0]-0.3)*(theta[0]-0.3) - (theta[1]-0.6)*(theta[1]-0.6), nil
	}
	return s
}

// bestOf is the largest value of the lines' trials.
func bestOf(lines []record.Line) float64 {
	largest := math.Inf(-1)
	for _, line := range lines {
		if line.Trial != nil {
			largest = max(largest, line.Trial.Value())
		}
	}
	return largest
}

// kept checks that trials that had not failed have the same lines as before, that no trial has
// failed now, and that the number of trials is the same.
func kept(t *testing.T, name string, before, after []record.Line) {
	t.Helper()
	trials := func(lines []record.Line) (all map[string]string, failed int) {
		all = map[string]string{}
		for _, line := range lines {
			if line.Trial != nil && !line.Failure().IsZero() {
				failed++
			}
			if line.Trial != nil {
				line.Attempt = 0
				all[line.Key] = canonical([]record.Line{line})
			}
		}
		return all, failed
	}
	was, _ := trials(before)
	is, failed := trials(after)
	if failed > 0 || len(is) != len(was) {
		t.Errorf("%s: %d trials, of which %d failed, and %d before", name, len(is), failed, len(was))
	}
	for key, line := range was {
		if is[key] != line && !strings.Contains(line, "out of memory") {
			t.Errorf("%s: a trial was\n%s\nand is\n%s", name, line, is[key])
		}
	}
	if bestOf(after) < bestOf(before) {
		t.Errorf("%s: the best value was %v and is %v", name, bestOf(before), bestOf(after))
	}
}

// A retry of a finished search runs the failed trials again and no other. All other trials stay on
// record, even if the strategy would have proposed others without the failures. Killed after any
// job, the retry ends with the same lines.
func TestRetryKeepsTrials(t *testing.T) {
	t.Parallel()
	for name, strategy := range strategiesThatFail {
		for i, fails := range [][]int64{{0}, {4, 5}, {3, 6, 8}} {
			if !exhaustive.Tries(2, i, len(name)) {
				continue
			}
			t.Run(fmt.Sprint(name, fails), func(t *testing.T) {
				dir := t.TempDir()
				var first, again atomic.Int64
				mustRun(t, []Study{flaky(strategy, &first, fails...)}, mustOpen(t, dir), Options{Workers: 1})
				before := mustOpen(t, dir).Lines()
				bad := 0 // a point that a strategy proposes twice has one result
				for _, line := range before {
					if !line.Failure().IsZero() {
						bad++
					}
				}
				study := flaky(strategy, &again)
				dry := mustOpen(t, dir)
				dry.Detach()
				if failed, err := Retry([]Study{study}, dry); err != nil || failed != bad {
					t.Fatalf("%d are to run again, %v", failed, err)
				}
				left, err := Left([]Study{study}, dry)
				if err != nil || len(left) != 1 || left[0].Later && len(left[0].First) == len(fails) {
					t.Errorf("%+v is left, %v", left, err)
				}
				if n, err := Recorded([]Study{study}, dry); n != len(before)-1-bad || err != nil {
					t.Errorf("%d of %d jobs are on record, %v", n, len(before), err)
				}
				j := mustOpen(t, dir)
				if failed, err := Retry([]Study{study}, j); err != nil || failed != bad {
					t.Fatalf("%d run again, %v", failed, err)
				}
				sum := mustRun(t, []Study{study}, j, Options{Workers: 2})
				if again.Load() != int64(len(fails)) || sum.Done != bad || sum.Failed != 0 || sum.Total != len(before)-1 {
					t.Errorf("%d evaluations, want %d; %+v", again.Load(), len(fails), sum)
				}
				kept(t, name, before, j.Lines())
				want := canonical(j.Lines())
				if mustClose(t, j); len(fails) < 3 {
					return
				}
				killed(t, dir, func(dir string, begun bool) {
					j := mustOpen(t, dir)
					if !begun {
						if _, err := Retry([]Study{study}, j); err != nil {
							t.Fatal(err)
						}
					}
					mustRun(t, []Study{study}, j, Options{Workers: 2})
					if got := canonical(j.Lines()); got != want {
						t.Errorf("killed, it ends with\n%s\nand not\n%s", got, want)
					}
				})
			})
		}
	}
}

func mustClose(t *testing.T, j *journal.Journal) {
	t.Helper()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

// killed calls do with copies of a folder in which the last segment, of a retry, ends after any of
// its lines. begun: all withdrawals are there.
func killed(t *testing.T, dir string, do func(dir string, begun bool)) {
	t.Helper()
	all := segments(t, dir)
	last := all[0]
	for _, name := range all[1:] {
		if text, err := os.ReadFile(name); err != nil {
			t.Fatal(err)
		} else if strings.Contains(string(text), `"retry"`) {
			last = name
		}
	}
	text, err := os.ReadFile(last)
	if err != nil {
		t.Fatal(err)
	}
	lines := slices.Collect(strings.Lines(string(text)))
	withdrawals := 0
	for _, line := range lines {
		if !strings.Contains(line, `"trial"`) && !strings.Contains(line, `"fit"`) {
			withdrawals++
		}
	}
	for n := range lines {
		copied := t.TempDir()
		if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		at := filepath.Join(copied, "journal", filepath.Base(last))
		if err := os.WriteFile(at, []byte(strings.Join(lines[:n], "")), 0o666); err != nil {
			t.Fatal(err)
		}
		do(copied, n >= withdrawals)
	}
}

// A stopped search whose failed trials run again keeps its proposals. If its strategy models the
// values, later proposals use the new results. No trial runs twice.
func TestRetryOfAnUnfinishedSearch(t *testing.T) {
	t.Parallel()
	for name, strategy := range strategiesThatFail {
		t.Run(name, func(t *testing.T) {
			const stopped = 7
			dir := t.TempDir()
			var calls atomic.Int64
			drain := make(chan struct{})
			stop := sync.OnceFunc(func() { close(drain) })
			first := flaky(strategy, &calls, 3, 5)
			_, err := Run(t.Context(), []Study{first}, mustOpen(t, dir), Options{Workers: 1, Drain: drain, Progress: func(e Event) {
				if e.Done >= stopped {
					stop()
				}
			}})
			if !errors.Is(err, ErrStopped) {
				t.Fatal(err)
			}
			before := mustOpen(t, dir).Lines()
			study := flaky(strategy, &calls)
			j := mustOpen(t, dir)
			if failed, err := Retry([]Study{study}, j); failed != 2 || err != nil {
				t.Fatal(failed, err)
			}
			mustRun(t, []Study{study}, j, Options{Workers: 1})
			after := j.Lines()
			if b := strategy.Budget(study.Space); !b.AtMost && len(after)-1 != b.Trials {
				t.Errorf("%d trials of %+v", len(after)-1, b)
			}
			have := map[string]bool{}
			points := map[string]bool{} // evaluated
			for _, line := range after {
				if have[line.Key] = true; line.Trial != nil {
					points[fmt.Sprint(line.Trial.Theta())] = true
				}
			}
			if n := int(calls.Load()); n != len(points)+2 {
				t.Errorf("%d evaluations of %d points, of which two ran again", n, len(points))
			}
			for _, line := range before {
				if !have[line.Key] {
					t.Errorf("trial %d is gone", line.Trial.Index)
				}
			}
			if name != "bayes" {
				return
			}
			// The trials in order, and which points follow from them.
			var trials, failed []record.Trial
			for _, line := range after[:len(after)-1] {
				trials, failed = append(trials, *line.Trial), append(failed, *line.Trial)
			}
			for _, line := range before {
				failed[line.Trial.Index] = *line.Trial
			}
			for i := range trials {
				known := trials
				if i < stopped { // the trial was on record before the retry
					known = failed
				}
				if i < 4 { // the first batch
					continue
				}
				want := strategy.Ask(study.Space, slices.Clone(known[:i]), study.Seed)[0].Points[0]
				if !slices.Equal(trials[i].Theta(), want) {
					t.Errorf("trial %d has %v, want %v", i, trials[i].Theta(), want)
				}
			}
		})
	}
}

// Processes share a folder, and some run failed trials again while others search. They run each
// trial once and each failed one twice, and agree.
func TestRetryWhenSharing(t *testing.T) {
	t.Parallel()
	for name, strategy := range strategiesThatFail {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			var calls, first atomic.Int64
			mustRun(t, []Study{flaky(strategy, &first, 5, 7)}, mustOpen(t, dir), Options{Workers: 1})
			before := mustOpen(t, dir).Lines()
			study := flaky(strategy, &calls)
			value := study.Value
			study.Value = func(ctx context.Context, theta []float64) (float64, error) {
				time.Sleep(20 * time.Millisecond)
				return value(ctx, theta)
			}
			var wait sync.WaitGroup
			for range 3 {
				wait.Go(func() {
					j := mustOpen(t, dir)
					if _, err := Retry([]Study{study}, j); err != nil {
						t.Error(err)
					}
					if _, err := Run(t.Context(), []Study{study}, j, Options{Workers: 2}); err != nil {
						t.Error(err)
					}
				})
			}
			wait.Wait()
			if calls.Load() != 2 {
				t.Errorf("%d evaluations, want 2", calls.Load())
			}
			kept(t, name, before, mustOpen(t, dir).Lines())
		})
	}
}

// When a search is extended, failures of the earlier plan can run again. Trials that took too long
// always do, and others with a retry. The later trials on record stay as they are.
func TestRetryOfAnEarlierPlan(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		late  bool // the failed trials took too long
		retry bool
		again int64
	}{{"failed", false, false, 0}, {"failed, retried", false, true, 1}, {"took too long", true, false, 1}, {"took too long, retried", true, true, 1}} {
		for name, strategies := range map[string][2]search.Strategy{"bayes": {search.Bayes{Trials: 8}, search.Bayes{Trials: 11}},
			"auto": {search.Auto{Trials: 8}, search.Auto{Trials: 11}}, "cmaes": {search.CMAES{Trials: 12}, search.CMAES{Trials: 18}},
			"asynchronous": {search.Bayes{Trials: 8, Overlap: search.Overlap{Asynchronous: 3}}, search.Bayes{Trials: 11, Overlap: search.Overlap{Asynchronous: 3}}},
			"parallel":     {search.Bayes{Trials: 8, Window: search.Window{Parallel: 3}}, search.Bayes{Trials: 11, Window: search.Window{Parallel: 3}}}} {
			t.Run(c.name+" "+name, func(t *testing.T) {
				dir := t.TempDir()
				open := func(plan string) *journal.Journal {
					j, err := journal.Open(dir, journal.Options{Plan: plan})
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { j.Close() })
					return j
				}
				var calls, later atomic.Int64
				first := flaky(strategies[0], &calls, 5)
				value := first.Value
				first.Value = func(ctx context.Context, theta []float64) (float64, error) {
					v, err := value(ctx, theta)
					if err != nil && c.late {
						err = cause.TimedOut.New("out of memory")
					}
					return v, err
				}
				mustRun(t, []Study{first}, open("old"), Options{Workers: 1})
				var before []record.Line
				for _, line := range open("old").Lines() {
					if line.Trial != nil {
						before = append(before, line)
					}
				}
				study := flaky(strategies[1], &later)
				n := strategies[1].Budget(study.Space).Trials
				j := open("new")
				if c.retry {
					if _, err := Retry([]Study{study}, j); err != nil {
						t.Fatal(err)
					}
				}
				sum := mustRun(t, []Study{study}, j, Options{Workers: 1})
				if more := int64(n - len(before)); later.Load() != c.again+more || sum.Total != n {
					t.Errorf("%d evaluations, want %d and %d; %+v", later.Load(), c.again, more, sum)
				}
				have := map[string]bool{}
				for _, line := range j.Lines() {
					have[line.Key] = true
				}
				for _, line := range before {
					if !have[line.Key] {
						t.Errorf("trial %d is gone", line.Trial.Index)
					}
				}
			})
		}
	}
}

// A criterion that would have ended a search earlier, had a trial not failed, does not take back the
// trials that followed.
func TestRetryDoesNotEndASearchEarlier(t *testing.T) {
	t.Parallel()
	target := -1e-6
	for name, stop := range map[string]Stop{"patience": {Patience: 9}, "target": {Target: &target}, "time": {Time: "1s"}} {
		dir := t.TempDir()
		var calls atomic.Int64
		study := func(seconds float64, value float64) Study {
			s := flaky(search.Bayes{Trials: 14}, &calls)
			s.Stop = stop
			of := s.Value
			n := 0
			s.Value = func(ctx context.Context, theta []float64) (float64, error) {
				if n++; math.IsNaN(value) && n == 5 {
					return 0, errors.New("out of memory")
				} else if !math.IsNaN(value) {
					calls.Add(1)
					time.Sleep(time.Duration(seconds * float64(time.Second)))
					return value, nil
				}
				return of(ctx, theta)
			}
			return s
		}
		mustRun(t, []Study{study(0, math.NaN())}, mustOpen(t, dir), Options{Workers: 1})
		before := mustOpen(t, dir).Lines()
		calls.Store(0)
		again := study(map[bool]float64{true: 1.1}[name == "time"], 0)
		j := mustOpen(t, dir)
		if failed, err := Retry([]Study{again}, j); failed != 1 || err != nil {
			t.Fatal(failed, err)
		}
		mustRun(t, []Study{again}, j, Options{Workers: 1})
		if calls.Load() != 1 {
			t.Errorf("%s: %d evaluations, want 1", name, calls.Load())
		}
		kept(t, name, before, j.Lines())
	}
}

// A point of the user that failed runs again, and the search keeps its trials.
func TestRetryOfAnEnqueuedPoint(t *testing.T) {
	t.Parallel()
	for name, strategy := range strategiesThatFail {
		dir := t.TempDir()
		keys := []string{"flaky"}
		var calls, again atomic.Int64
		enqueue(t, dir, journal.Command{Verb: "enqueue", Key: "flaky", Point: map[string]record.Number{"x": 0.3, "y": 0.6}})
		mustRun(t, []Study{flaky(strategy, &calls, 0, 6)}, openControlled(t, dir, keys), Options{Workers: 1})
		before := openControlled(t, dir, keys).Lines()
		study := flaky(strategy, &again)
		j := openControlled(t, dir, keys)
		if failed, err := Retry([]Study{study}, j); failed != 2 || err != nil {
			t.Fatalf("%s: %d, %v", name, failed, err)
		}
		mustRun(t, []Study{study}, j, Options{Workers: 1})
		if again.Load() != 2 {
			t.Errorf("%s: %d evaluations, want 2", name, again.Load())
		}
		kept(t, name, before, j.Lines())
		if fit := j.Lines()[len(j.Lines())-1].Fit; math.Abs(float64(fit.Natural[0])-0.3) > 1e-9 {
			t.Errorf("%s: the best is at %v", name, fit.Natural)
		}
		if sum := mustRun(t, []Study{study}, openControlled(t, dir, keys), Options{}); sum.Done > 0 {
			t.Errorf("%s: run once more it does %+v", name, sum)
		}
	}
}
