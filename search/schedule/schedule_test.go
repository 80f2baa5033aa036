package schedule

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"testing/synctest"
	"time"

	_ "github.com/gpc-tune/gpc-tune/internal/testing/garbage"
	"github.com/gpc-tune/gpc-tune/search/searchtest/spaces"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/experiments/journal"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/search"
)

// climb is a strategy that depends on its history: it proposes batches of four around the best
// point so far.
type climb struct{ batches int }

func (climb) Check(search.Space) error { return nil }
func (climb) Optimizer() string        { return "" }
func (c climb) Budget(search.Space) search.Budget {
	return search.Budget{Trials: 4 * c.batches, AtMost: true}
}
func (c climb) Ask(s search.Space, done []record.Trial, seed uint64) []search.Proposal {
	if len(done) == 4*c.batches {
		return nil
	}
	centre, best := s.Start(), math.Inf(-1)
	for _, t := range done {
		if t.Value() > best {
			centre, best = t.Theta(), t.Value()
		}
	}
	var batch []search.Proposal
	for i := range 4 {
		r := rand.New(rand.NewPCG(seed, uint64(len(done)+i)))
		theta := make([]float64, len(s))
		for j := range theta {
			theta[j] = centre[j] + r.NormFloat64()
		}
		batch = append(batch, search.Proposal{Points: [][]float64{theta}})
	}
	return batch
}

// synthetic is a study of a smooth objective. Some of its trials fail or panic. wait is called in
// every job.
func synthetic(i int, wait func()) Study {
	strategies := []search.Strategy{climb{3}, search.BFGS{Ascent: search.Ascent{MultiStart: search.MultiStart{Restarts: 6}}}, nil, search.Grid{Axes: map[string]search.Axis{"length_scale": {Values: []float64{1, 2, 3}}, "amplitude": {Values: []float64{1, 2}}}}}
	return Study{
		Key: fmt.Sprintf("study %d", i), Configuration: i / 3, Index: i % 3, Space: spaces.SE(), Strategy: strategies[i%len(strategies)], Seed: uint64(i),
		Trial: func(ctx context.Context, index int, p search.Proposal) (record.Trial, error) {
			wait()
			switch (7*i + index) % 11 {
			case 3:
				panic(fmt.Sprintf("trial %d of study %d", index, i))
			case 4:
				return record.Trial{}, errors.New("cannot do this one: \xff")
			}
			return spaces.SomeFail(index, p.Points), ctx.Err()
		},
		Assess: func(ctx context.Context, chosen int, theta []float64, _ []record.Trial) (record.Fit, error) {
			wait()
			if i == 5 {
				panic(errors.New("no assessment"))
			}
			return record.Fit{Natural: record.Numbers(theta), LogEvidence: record.Number(chosen), TrainCounts: []int{1, 2}}, ctx.Err()
		},
	}
}

func sweep(n int, wait func()) []Study {
	studies := make([]Study, n)
	for i := range studies {
		studies[i] = synthetic(i, wait)
	}
	return studies
}

func mustRun(t testing.TB, studies []Study, j *journal.Journal, o Options) Summary {
	t.Helper()
	s, err := Run(context.Background(), studies, j, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// pause sleeps for a random time, up to limit.
func pause(limit time.Duration) func() {
	return func() { time.Sleep(time.Duration(rand.Int64N(int64(limit)))) }
}

// one is a study of n one-point trials that all succeed and call wait.
func one(n int, wait func()) Study {
	return Study{
		Key: "one", Space: spaces.SE(), Strategy: search.BFGS{Ascent: search.Ascent{MultiStart: search.MultiStart{Restarts: n}}},
		Trial: func(_ context.Context, index int, p search.Proposal) (record.Trial, error) {
			wait()
			return record.Trial{Points: []record.Point{{Theta: record.Numbers(p.Points[0]), Value: record.Number(-index)}}}, nil
		},
		Assess: func(context.Context, int, []float64, []record.Trial) (record.Fit, error) { return record.Fit{}, nil },
	}
}

// A strategy that converges before its budget is used has fewer jobs than were expected.
func TestTotalOfAStrategyThatConverges(t *testing.T) {
	s, n := one(1, nil), 0
	s.Strategy = search.NelderMead{Trials: 1000}
	s.Trial = func(_ context.Context, _ int, p search.Proposal) (record.Trial, error) {
		n++
		return record.Trial{Points: []record.Point{{Theta: record.Numbers(p.Points[0])}}}, nil
	}
	var first Event
	got := mustRun(t, []Study{s}, mustOpen(t, ""), Options{Workers: 1, Progress: func(e Event) {
		if e.Done == 0 {
			first = e
		}
	}})
	if first.Total != 1001 || n >= 1000 || got != (Summary{Done: n + 1, Total: n + 1}) {
		t.Errorf("%d trials, %+v, at first %+v", n, got, first.Summary)
	}
}

// TestWorkersDoNotMatter: the journal does not depend on the number of workers. There are 8
// studies, two each with 12, 6, 0 and 3 trials.
func TestWorkersDoNotMatter(t *testing.T) {
	var want string
	for _, workers := range []int{1, 8, 3, 0} {
		j := mustOpen(t, "")
		s := mustRun(t, sweep(8, pause(2*time.Millisecond)), j, Options{Workers: workers})
		lines := j.Lines()
		failed := 0
		for _, l := range lines {
			if l.Trial != nil && !l.Trial.Failure.IsZero() || l.Fit != nil && !l.Fit.Failure.IsZero() {
				failed++
			}
		}
		if s != (Summary{Done: 50, Failed: failed, Total: 50}) || len(lines) != 50 || failed < 5 {
			t.Errorf("%d workers: %+v, %d lines, %d failures", workers, s, len(lines), failed)
		}
		if want == "" {
			want = canonical(lines)
		}
		if got := canonical(lines); got != want {
			t.Errorf("%d workers: got %s, want %s", workers, got, want)
		}
	}
}

func TestRecordsAreStamped(t *testing.T) {
	j := mustOpen(t, "")
	mustRun(t, sweep(8, func() {}), j, Options{})
	seen := map[[3]int]int{}
	for _, l := range j.Lines() {
		if len(l.Key) != 32 || l.Seconds <= 0 {
			t.Errorf("key %q, %v s", l.Key, l.Seconds)
		}
		if l.Trial != nil {
			seen[[3]int{l.Trial.Configuration, l.Trial.Study, l.Trial.Index}]++
			continue
		}
		var trials []record.Trial
		for _, other := range j.Lines() {
			if o := other.Trial; o != nil && o.Configuration == l.Fit.Configuration && o.Study == l.Fit.Study {
				trials = append(trials, *o)
			}
		}
		chosen, best, err := search.Winner(trials)
		if len(trials) > 0 && err != nil {
			t.Fatal(err)
		}
		if l.Fit.Chosen != chosen || l.Fit.Failure.IsZero() && !slices.Equal(l.Fit.Natural, best.Theta) {
			t.Errorf("study %d of configuration %d: assessed at %d, %v; want %d, %v", l.Fit.Study, l.Fit.Configuration, l.Fit.Chosen, l.Fit.Natural, chosen, best.Theta)
		}
	}
	for i := range 8 {
		for index := range []int{12, 6, 0, 3}[i%4] {
			if seen[[3]int{i / 3, i % 3, index}] != 1 {
				t.Errorf("trial %d of study %d is recorded %d times", index, i, seen[[3]int{i / 3, i % 3, index}])
			}
		}
	}
}

// TestJobsStartInOrder: one worker starts jobs study by study, in order of their indices.
func TestJobsStartInOrder(t *testing.T) {
	var got []string
	studies := sweep(8, func() {})
	var want []string
	for i := range studies {
		s := &studies[i]
		trial, assess := s.Trial, s.Assess
		s.Trial = func(ctx context.Context, index int, p search.Proposal) (record.Trial, error) {
			got = append(got, fmt.Sprint(i, index))
			return trial(ctx, index, p)
		}
		s.Assess = func(ctx context.Context, chosen int, theta []float64, trials []record.Trial) (record.Fit, error) {
			got = append(got, fmt.Sprint(i, "fit"))
			return assess(ctx, chosen, theta, trials)
		}
		for index := range []int{12, 6, 0, 3}[i%4] {
			want = append(want, fmt.Sprint(i, index))
		}
		want = append(want, fmt.Sprint(i, "fit"))
	}
	mustRun(t, studies, mustOpen(t, ""), Options{Workers: 1})
	if !reflect.DeepEqual(got, want) {
		t.Errorf("started %v, want %v", got, want)
	}
}

// As jobs end, the remaining jobs share all workers. Of seven workers, five jobs get two threads
// each; four, three, two and one job get 7/jobs threads each, rounded up.
func TestThreadsGrowAsJobsEnd(t *testing.T) {
	const workers, jobs = 7, 5
	var got []int
	running, step := make(chan struct{}, jobs), make(chan struct{})
	s := one(jobs, func() { running <- struct{}{}; <-step })
	mustRun(t, []Study{s}, mustOpen(t, ""), Options{Workers: workers, Threads: func(n int) { got = append(got, n) },
		Progress: func(e Event) {
			if e.Done == 0 { // let the jobs end one by one, once all have begun
				go func() {
					for range jobs {
						<-running
					}
					for range jobs {
						step <- struct{}{}
					}
				}()
			}
		}})
	if want := []int{2, 3, 4, 7, 1, 7, 1}; !slices.Equal(got, want) { // the assessment also runs alone
		t.Errorf("told %v, want %v", got, want)
	}
}

// TestThreads: three trials and an assessment on two workers. The last trial and the assessment get
// both.
func TestThreads(t *testing.T) {
	var got []int
	mustRun(t, []Study{one(3, pause(time.Millisecond))}, mustOpen(t, ""), Options{Workers: 2, Threads: func(n int) { got = append(got, n) }})
	if want := []int{2, 1, 2, 1}; !slices.Equal(got, want) {
		t.Errorf("told %v, want %v", got, want)
	}
}

func TestResumeAfterEveryJob(t *testing.T) {
	want := mustOpen(t, "")
	all := mustRun(t, sweep(6, func() {}), want, Options{})
	j := mustOpen(t, "")
	for step := 0; ; step++ {
		drain := make(chan struct{})
		once := sync.OnceFunc(func() { close(drain) })
		s, err := Run(context.Background(), sweep(6, once), j, Options{Workers: 1, Drain: drain})
		if s.Skipped != step || s.Done != 1 {
			t.Fatalf("step %d: %+v", step, s)
		}
		if err == nil {
			break
		}
		if !errors.Is(err, ErrStopped) {
			t.Fatal(err)
		}
	}
	if canonical(j.Lines()) != canonical(want.Lines()) {
		t.Errorf("got %s, want %s", canonical(j.Lines()), canonical(want.Lines()))
	}
	if s := mustRun(t, sweep(6, func() { t.Error("a job on record runs again") }), j, Options{}); s != (Summary{Skipped: all.Done, Failed: all.Failed, Total: all.Total}) {
		t.Errorf("nothing was left to do: %+v, want %+v skipped", s, all)
	}
}

const childDir, childMode = "SEARCH_TEST_DIR", "SEARCH_TEST_MODE"

// TestMain lets the test binary act as another process.
func TestMain(m *testing.M) {
	dir := os.Getenv(childDir)
	switch os.Getenv(childMode) {
	case "run": // prints a line for every job, and continues at each byte of stdin or at its end
		j, err := journal.Open(dir, journal.Options{})
		if err == nil {
			_, err = Run(context.Background(), sweep(40, pause(4*time.Millisecond)), j, Options{Workers: 4, Progress: func(e Event) {
				fmt.Println(e.Done)
				os.Stdin.Read(make([]byte, 1))
			}})
		}
		childExit(err)
	case "full disk": // a segment may grow to 2000 bytes
		signal.Ignore(syscall.SIGXFSZ)
		limit := syscall.Rlimit{Cur: 2000, Max: 2000}
		j, err := journal.Open(dir, journal.Options{})
		if err == nil {
			err = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit)
		}
		if err == nil {
			_, err = Run(context.Background(), sweep(40, func() {}), j, Options{Workers: 4})
		}
		childExit(err)
	}
	os.Exit(m.Run())
}

func childExit(err error) {
	switch {
	case errors.Is(err, journal.ErrJournal):
		fmt.Println(err)
		os.Exit(3)
	case err != nil:
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(0)
}

func child(t *testing.T, mode, dir string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self)
	c.Env = append(os.Environ(), childMode+"="+mode, childDir+"="+dir)
	c.Stderr = os.Stderr
	return c
}

// TestKillAndResume kills a process at a random moment, ten times; the eleventh process finishes
// the work.
func TestKillAndResume(t *testing.T) {
	dir := t.TempDir()
	for range 10 {
		c := child(t, "run", dir)
		in, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		// However late the kill comes, at most 15 of the 250 jobs have been reported and four more
		// are running.
		if _, err := in.Write(make([]byte, 1+rand.IntN(15))); err != nil {
			t.Fatal(err)
		}
		bufio.NewReader(out).ReadString('\n')
		pause(12 * time.Millisecond)()
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := c.Wait(); err == nil {
			t.Error("the process had finished before it was killed")
		}
	}
	if out, err := child(t, "run", dir).Output(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want := mustOpen(t, "")
	s := mustRun(t, sweep(40, func() {}), want, Options{})
	got := mustOpen(t, dir)
	if canonical(got.Lines()) != canonical(want.Lines()) || len(got.Lines()) != s.Total {
		t.Errorf("got %s, want %s", canonical(got.Lines()), canonical(want.Lines()))
	}
	if n := len(segments(t, dir)); n < 3 {
		t.Errorf("%d segments: too few processes got to work for this test to mean anything", n)
	}
}

// TestManyProcesses: processes run the same studies in one folder at the same time, and some of
// them are killed. The others take over the jobs of the killed ones, and no job is run twice.
func TestManyProcesses(t *testing.T) {
	want := mustOpen(t, "")
	mustRun(t, sweep(40, func() {}), want, Options{})
	for _, processes := range []int{3, 6} {
		dir := t.TempDir()
		var children []*exec.Cmd
		for range processes {
			c := child(t, "run", dir)
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			children = append(children, c)
		}
		for _, c := range children[1:] {
			pause(80 * time.Millisecond)()
			c.Process.Kill()
			c.Wait()
		}
		if err := children[0].Wait(); err != nil {
			t.Fatal(err)
		}
		got := mustOpen(t, dir)
		if canonical(got.Lines()) != canonical(want.Lines()) {
			t.Errorf("got %s, want %s", canonical(got.Lines()), canonical(want.Lines()))
		}
		lines := 0
		for _, name := range segments(t, dir) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			lines += strings.Count(string(text), "\n")
		}
		if lines != len(want.Lines()) {
			t.Errorf("%d processes wrote %d lines for %d jobs", processes, lines, len(want.Lines()))
		}
		if left, _ := os.ReadDir(filepath.Join(dir, "journal", "leases")); len(left) > 5*(processes-1) { // of those killed
			t.Errorf("%v are left", left)
		}
	}
}

// TestFullDisk: a write that fails half-way stops the run with journal.ErrJournal; once there is
// room, the run continues.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	out, err := child(t, "full disk", dir).Output()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 || !strings.Contains(string(out), "journal: ") {
		t.Fatalf("%v: %s", err, out)
	}
	j := mustOpen(t, dir)
	if len(j.Damaged()) != 1 || len(j.Lines()) == 0 {
		t.Errorf("%d torn, %d lines", len(j.Damaged()), len(j.Lines()))
	}
	found := len(j.Lines())
	if s := mustRun(t, sweep(16, func() {}), j, Options{}); s.Skipped != found {
		t.Errorf("%+v, want %d skipped", s, found)
	}
	want := mustOpen(t, "")
	mustRun(t, sweep(16, func() {}), want, Options{})
	if got := mustOpen(t, dir); canonical(got.Lines()) != canonical(want.Lines()) {
		t.Errorf("got %s, want %s", canonical(got.Lines()), canonical(want.Lines()))
	}
}

func TestJournalFailureStopsTheRun(t *testing.T) {
	j := mustOpen(t, t.TempDir())
	if err := errors.Join(j.Begin(), j.Close()); err != nil {
		t.Fatal(err)
	}
	var ran atomic.Int64
	s, err := Run(context.Background(), []Study{one(1000, func() { ran.Add(1) })}, j, Options{Workers: 2})
	if !errors.Is(err, journal.ErrJournal) || s.Done != 0 || ran.Load() > 2 {
		t.Errorf("%v, %+v, %d jobs ran", err, s, ran.Load())
	}
}

func TestPanicInAJob(t *testing.T) {
	s := one(3, func() {})
	trial := s.Trial
	s.Trial = func(ctx context.Context, index int, p search.Proposal) (record.Trial, error) {
		if index == 1 {
			panic("singular")
		}
		return trial(ctx, index, p)
	}
	j := mustOpen(t, "")
	if got := mustRun(t, []Study{s}, j, Options{}); got != (Summary{Done: 4, Failed: 1, Total: 4}) {
		t.Errorf("%+v", got)
	}
	const want = "panic: singular, at github.com/gpc-tune/gpc-tune/search/schedule.TestPanicInAJob."
	if failed := j.Lines()[1].Trial; !strings.HasPrefix(failed.Failure.String(), want) {
		t.Errorf("failure %q, want %q…", failed.Failure, want)
	}
	j = mustOpen(t, "")
	mustRun(t, []Study{one(1, func() { panic("singular") })}, j, Options{})
	first, fit := j.Lines()[0].Trial, j.Lines()[1].Fit
	if fit.Failure.String() != "none of 1 trials has a usable point; the first: "+first.Failure.String() || fit.Chosen != -1 || !math.IsNaN(float64(fit.LogEvidence)) {
		t.Errorf("fit %+v", fit)
	}
}

func TestStudyWithoutTrials(t *testing.T) {
	tuned := one(1, func() { t.Error("a trial runs") })
	tuned.Strategy = climb{0}
	untuned := one(1, func() { t.Error("a trial runs") })
	untuned.Key, untuned.Index, untuned.Strategy = "untuned", 1, nil
	j := mustOpen(t, "")
	if s := mustRun(t, []Study{tuned, untuned}, j, Options{}); s != (Summary{Done: 2, Failed: 1, Total: 2}) {
		t.Errorf("%+v", s)
	}
	if f := j.Lines()[0].Fit; f.Failure.String() != "none of 0 trials has a usable point" || f.Chosen != -1 {
		t.Errorf("a strategy that asks for nothing: %+v", f)
	}
	if f := j.Lines()[1].Fit; !f.Failure.IsZero() || f.Chosen != -1 {
		t.Errorf("no strategy: %+v", f)
	}
	if s := mustRun(t, nil, mustOpen(t, ""), Options{}); s != (Summary{}) {
		t.Errorf("no studies: %+v", s)
	}
}

func TestMaxFailures(t *testing.T) {
	s := one(100, func() {})
	s.Trial = func(context.Context, int, search.Proposal) (record.Trial, error) {
		return record.Trial{}, errors.New("no")
	}
	for _, limit := range []int{1, 7} {
		j := mustOpen(t, "")
		got, err := Run(context.Background(), []Study{s}, j, Options{Workers: 1, MaxFailures: limit})
		if !errors.Is(err, ErrFailures) || got != (Summary{Done: limit, Failed: limit, Total: 101}) {
			t.Errorf("limit %d: %v, %+v", limit, err, got)
		}
		got, err = Run(context.Background(), []Study{s}, j, Options{Workers: 1, MaxFailures: limit + 2})
		if !errors.Is(err, ErrFailures) || got != (Summary{Done: 2, Skipped: limit, Failed: limit + 2, Total: 101}) {
			t.Errorf("limit %d, then two more: %v, %+v", limit, err, got)
		}
	}
	j := mustOpen(t, "")
	if got := mustRun(t, []Study{s}, j, Options{}); got != (Summary{Done: 101, Failed: 101, Total: 101}) {
		t.Errorf("no limit: %+v", got)
	}
	if _, err := Run(context.Background(), []Study{s}, j, Options{MaxFailures: 1}); err != nil {
		t.Errorf("nothing was left to stop: %v", err)
	}
}

// These tests use the clock of synctest: no test really waits or depends on the machine's speed.

func TestTrialTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, obedient := range []bool{true, false} {
			s := one(3, func() {})
			trial := s.Trial
			s.Trial = func(ctx context.Context, index int, p search.Proposal) (record.Trial, error) {
				if index == 1 {
					if obedient {
						<-ctx.Done()
						return record.Trial{}, ctx.Err()
					}
					time.Sleep(time.Hour)
				}
				return trial(ctx, index, p)
			}
			j, _ := journal.Open("", journal.Options{})
			if got := mustRun(t, []Study{s}, j, Options{TrialTimeout: time.Minute}); got != (Summary{Done: 4, Failed: 1, Total: 4}) {
				t.Errorf("%+v", got)
			}
			if f := j.Lines()[1].Trial.Failure.String(); f != "timed out after 1m0s" {
				t.Errorf("failure %q", f)
			}
		}
	})
}

func TestTimeoutAndCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func() Study {
			s := one(10, func() {})
			trial := s.Trial
			s.Trial = func(ctx context.Context, index int, p search.Proposal) (record.Trial, error) {
				select {
				case <-time.After(time.Minute):
				case <-ctx.Done(): // and still it returns a result
				}
				return trial(ctx, index, p)
			}
			return s
		}
		j, _ := journal.Open("", journal.Options{})
		started := time.Now()
		// After 150 s two pairs of jobs have finished and the third is cancelled.
		got, err := Run(context.Background(), []Study{slow()}, j, Options{Workers: 2, Timeout: 150 * time.Second, TrialTimeout: time.Hour})
		if !errors.Is(err, ErrStopped) || !strings.Contains(err.Error(), "2m30s") || got != (Summary{Done: 4, Total: 11}) || time.Since(started) != 150*time.Second {
			t.Errorf("%v, %+v after %v", err, got, time.Since(started))
		}
		ctx, cancel := context.WithCancelCause(context.Background())
		time.AfterFunc(90*time.Second, func() { cancel(errors.New("interrupt")) })
		got, err = Run(ctx, []Study{slow()}, j, Options{Workers: 2})
		if !errors.Is(err, ErrStopped) || !strings.Contains(err.Error(), "interrupt") || got != (Summary{Done: 2, Skipped: 4, Total: 11}) {
			t.Errorf("%v, %+v", err, got)
		}
		drain := make(chan struct{})
		time.AfterFunc(30*time.Second, func() { close(drain) })
		started = time.Now()
		got, err = Run(context.Background(), []Study{slow()}, j, Options{Workers: 2, Drain: drain})
		if !errors.Is(err, ErrStopped) || got != (Summary{Done: 2, Skipped: 6, Total: 11}) || time.Since(started) != time.Minute {
			t.Errorf("%v, %+v after %v", err, got, time.Since(started))
		}
		got, err = Run(context.Background(), []Study{slow()}, j, Options{Workers: 2, Drain: drain})
		if !errors.Is(err, ErrStopped) || got != (Summary{Skipped: 8, Total: 11}) {
			t.Errorf("drained before it began: %v, %+v", err, got)
		}
		ended, stop := context.WithCancel(context.Background())
		stop()
		got, err = Run(ended, []Study{slow()}, j, Options{Workers: 2})
		if !errors.Is(err, ErrStopped) || !errors.Is(err, context.Canceled) || got != (Summary{Skipped: 8, Total: 11}) {
			t.Errorf("cancelled before it began: %v, %+v", err, got)
		}
		if got := mustRun(t, []Study{slow()}, j, Options{}); got != (Summary{Done: 3, Skipped: 8, Total: 11}) {
			t.Errorf("in the end: %+v", got)
		}
	})
}

func TestMemoryLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var inUse, peak, running, most atomic.Int64
		var studies []Study
		for i, size := range []int64{3, 5, 1, 0, 4, 10} {
			s := one(12, nil)
			s.Key, s.Configuration, s.Memory = strconv.Itoa(i), i, size
			trial := one(1, func() {
				raise(&peak, inUse.Add(size))
				raise(&most, running.Add(1))
				pause(time.Minute)()
				inUse.Add(-size)
				running.Add(-1)
			}).Trial
			s.Trial = trial
			studies = append(studies, s)
		}
		mustRun(t, studies, mustOpen(t, ""), Options{Workers: 6, MemoryLimit: 10})
		if peak.Load() != 10 || most.Load() != 6 {
			t.Errorf("%d bytes in use and %d jobs running at a time; want 10 and 6", peak.Load(), most.Load())
		}
	})
	big := one(1, func() { t.Error("a job runs") })
	big.Key, big.Memory, big.Configuration = "big", 12<<30, 4
	j := mustOpen(t, "")
	_, err := Run(context.Background(), []Study{big, one(1, nil)}, j, Options{MemoryLimit: 8 << 30})
	if !errors.Is(err, ErrMemory) || !strings.Contains(err.Error(), "one job of configuration 4 needs 12 GiB, the limit is 8.0 GiB (1 of 2 studies need more); use a subsample") || len(j.Lines()) > 0 {
		t.Error(err)
	}
}

func raise(to *atomic.Int64, v int64) {
	for old := to.Load(); v > old && !to.CompareAndSwap(old, v); old = to.Load() {
	}
}

func TestStudiesOfOneKey(t *testing.T) {
	s := one(1, func() { t.Error("a job runs") })
	if _, err := Run(context.Background(), []Study{s, s}, mustOpen(t, ""), Options{}); err == nil || !strings.Contains(err.Error(), "is the same as") {
		t.Error(err)
	}
}

func TestProgress(t *testing.T) {
	var events []Event
	studies := sweep(4, pause(time.Millisecond))
	j := mustOpen(t, "")
	last := mustRun(t, studies, j, Options{Workers: 4, Progress: func(e Event) { events = append(events, e) }})
	if len(events) != last.Done+1 || events[0].Summary != (Summary{Total: 12 + 6 + 0 + 3 + 4}) { // and four assessments
		t.Errorf("%d events of %d jobs", len(events), last.Done)
	}
	for i, e := range events {
		if e.Done != i || i > 0 && (e.Total < events[i-1].Total || e.Failed < events[i-1].Failed || e.Rate <= 0) {
			t.Errorf("event %d: %+v", i, e)
		}
	}
	if events[len(events)-1].Summary != last {
		t.Errorf("the last event is %+v, the summary %+v", events[len(events)-1], last)
	}
}

// The panic of a strategy, which may be of another program, is the error of the run, which leaves no
// jobs running after it has returned.
func TestPanicInAStrategy(t *testing.T) {
	before := runtime.NumGoroutine()
	s := one(1, func() {})
	s.Strategy = faulty{}
	_, err := Run(context.Background(), append(sweep(3, pause(time.Millisecond)), s), mustOpen(t, ""), Options{Workers: 4})
	if err == nil || !strings.Contains(err.Error(), "method schedule.faulty: panic: ") {
		t.Errorf("the panic is gone: %v", err)
	}
	for range 60_000 { // goroutines that have returned are counted until the Go scheduler removes them
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}

type faulty struct{ climb }

func (faulty) Budget(search.Space) search.Budget { return search.Budget{Trials: 100, AtMost: true} }
func (faulty) Ask(_ search.Space, done []record.Trial, _ uint64) []search.Proposal {
	if len(done) > 0 {
		panic("wrong")
	}
	return []search.Proposal{{Points: [][]float64{{0, 0}}}}
}

// TestManyTrials runs thousands of jobs proposed in one batch, at most eight at a time. The number of
// goroutines does not grow with the number of jobs, and the memory per job is little more than its
// record.
func TestManyTrials(t *testing.T) {
	// A goroutine that has ended is counted until the Go scheduler gives it a last turn, which can
	// take many jobs on a busy machine. A thousand of them still separate a bounded number from one
	// that grows; the count of running jobs is exact.
	limit := runtime.NumGoroutine() + 1000
	var most, running, atOnce atomic.Int64
	jobs := exhaustive.Of(4000, 30_000)
	s := one(jobs, func() {
		raise(&atOnce, running.Add(1))
		raise(&most, int64(runtime.NumGoroutine()))
		running.Add(-1)
	})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	j := mustOpen(t, t.TempDir())
	if got := mustRun(t, []Study{s}, j, Options{Workers: 8}); got != (Summary{Done: jobs + 1, Total: jobs + 1}) {
		t.Errorf("%+v", got)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	bytes := int64(after.HeapAlloc-before.HeapAlloc) / int64(jobs)
	t.Logf("%d bytes a trial", bytes)
	if bytes > 2000 {
		t.Errorf("a trial leaves %d bytes in memory", bytes)
	}
	runtime.KeepAlive(j)
	if atOnce.Load() > 8 {
		t.Errorf("%d jobs at once, want at most 8", atOnce.Load())
	}
	if int(most.Load()) > limit {
		t.Errorf("%d goroutines, want at most %d", most.Load(), limit)
	}
}

// BenchmarkJob measures the time that the scheduler adds to one job: in memory, and with its line
// synced to disk.
func BenchmarkJob(b *testing.B) {
	for name, dir := range map[string]string{"memory": "", "disk": b.TempDir()} {
		b.Run(name, func(b *testing.B) {
			j := mustOpen(b, dir)
			s := one(b.N, func() {})
			s.Key = fmt.Sprint(b.N)
			b.ReportAllocs()
			b.ResetTimer()
			if _, err := Run(context.Background(), []Study{s}, j, Options{}); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// BenchmarkStudies measures the overhead per job for many small studies.
func BenchmarkStudies(b *testing.B) {
	studies := make([]Study, max(b.N/11, 1))
	for i := range studies {
		studies[i] = one(10, func() {})
		studies[i].Key, studies[i].Configuration = strconv.Itoa(i), i
	}
	j := mustOpen(b, "")
	b.ResetTimer()
	if _, err := Run(context.Background(), studies, j, Options{}); err != nil {
		b.Fatal(err)
	}
}

// Jobs that another plan finished in the folder are copied to their place in this plan, and only
// new jobs run. Timeouts are not copied.
func TestAnotherPlansJobs(t *testing.T) {
	dir := t.TempDir()
	open := func(plan string) *journal.Journal {
		j, err := journal.Open(dir, journal.Options{Plan: plan})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { j.Close() })
		return j
	}
	five := one(5, func() {})
	mustRun(t, []Study{five}, open("five"), Options{})

	var ran atomic.Int64
	eight := one(8, func() { ran.Add(1) })
	eight.Configuration, eight.Index = 3, 2
	if n, err := Recorded([]Study{eight}, open("eight")); n != 5 || err != nil {
		t.Errorf("%d jobs are known, %v; want the 5 trials", n, err)
	}
	j := open("eight")
	if got := mustRun(t, []Study{eight}, j, Options{Workers: 1}); got != (Summary{Done: 3, Skipped: 6, Total: 9}) || ran.Load() != 3 {
		t.Errorf("%+v, %d trials ran", got, ran.Load())
	}
	want := mustOpen(t, "")
	mustRun(t, []Study{eight}, want, Options{})
	lines := want.Lines()
	for i := range lines {
		lines[i].Plan = "eight"
	}
	for _, j := range []*journal.Journal{j, open("eight")} {
		if canonical(j.Lines()) != canonical(lines) {
			t.Errorf("got %s, want %s", canonical(j.Lines()), canonical(lines))
		}
	}
	if was := open("five").Lines(); len(was) != 6 || was[0].Trial.Configuration != 0 {
		t.Errorf("the first plan's lines are now %v", was)
	}

	// A grid with its rows in another order.
	grid := func(values ...float64) Study {
		s := one(0, nil)
		s.Key, s.Strategy = "grid", search.Grid{Axes: map[string]search.Axis{"length_scale": {Values: values}, "amplitude": {Values: []float64{1}}}}
		s.Trial = func(_ context.Context, _ int, p search.Proposal) (record.Trial, error) {
			return record.Trial{Points: []record.Point{{Theta: record.Numbers(p.Points[0]), Value: record.Number(p.Points[0][1])}}}, nil
		}
		return s
	}
	mustRun(t, []Study{grid(1, 2)}, open("coarse"), Options{})
	fine := open("fine")
	if got := mustRun(t, []Study{grid(2, 3, 1)}, fine, Options{}); got != (Summary{Done: 2, Skipped: 2, Total: 4}) {
		t.Errorf("a row and a winner are new: %+v", got)
	}
	for i, want := range []float64{2, 3, 1} {
		if trial := fine.Lines()[i].Trial; trial.Index != i || float64(trial.Points[0].Theta[1]) != math.Log(want) {
			t.Errorf("row %d: %+v, want that of %v", i, trial, want)
		}
	}
	if got := mustRun(t, []Study{grid(1, 2, 1)}, open("twice"), Options{}); got != (Summary{Done: 1, Skipped: 3, Total: 4}) {
		t.Errorf("a point that is there twice is two trials of one result: %+v", got)
	}

	// A job that timed out runs again, and its timeout gives way to a finished result.
	synctest.Test(t, func(t *testing.T) {
		slow := one(2, func() { time.Sleep(time.Hour) })
		slow.Key = "slow"
		j := open("impatient")
		if got := mustRun(t, []Study{slow}, j, Options{TrialTimeout: time.Minute}); got != (Summary{Done: 3, Failed: 3, Total: 3}) {
			t.Errorf("%+v", got)
		}
		if got := mustRun(t, []Study{slow}, open("patient"), Options{}); got != (Summary{Done: 3, Total: 3}) {
			t.Errorf("%+v", got)
		}
		late, result := j.Lines()[0], open("patient").Lines()[0]
		for _, order := range [][]record.Line{{late, result, late}, {result, late}} {
			k := mustOpen(t, "")
			for _, line := range order {
				if err := k.Append(line); err != nil {
					t.Error(err)
				}
			}
			if got, _ := k.Done(result.Key); got.TimedOut() || late.Key != result.Key {
				t.Errorf("%v is kept of %v", got, order)
			}
		}
	})
}

// Two processes that begin at different times share the jobs of a folder: each job runs once, and
// both end when all are done.
func TestJobsOfAnotherProcess(t *testing.T) {
	dir := t.TempDir()
	var other sync.WaitGroup
	var theirs Summary
	begin := sync.OnceFunc(func() {
		other.Go(func() { theirs = mustRun(t, sweep(20, pause(time.Millisecond)), mustOpen(t, dir), Options{Workers: 3}) })
	})
	wait := pause(time.Millisecond)
	j := mustOpen(t, dir)
	ours := mustRun(t, sweep(20, func() { begin(); wait() }), j, Options{Workers: 2})
	other.Wait()
	if ours.Done+theirs.Done != ours.Total || ours.Done+ours.Skipped != ours.Total || theirs.Done+theirs.Skipped != ours.Total {
		t.Errorf("%+v and %+v, want every job to run once", ours, theirs)
	}
	want := mustOpen(t, "")
	mustRun(t, sweep(20, func() {}), want, Options{})
	if canonical(j.Lines()) != canonical(want.Lines()) {
		t.Errorf("got %s, want %s", canonical(j.Lines()), canonical(want.Lines()))
	}
}

// Folders are resumed by the keys of jobs. These keys were computed by hand, as SHA-256 of the
// documented text and the bits of the points.
func TestJobKeys(t *testing.T) {
	for want, got := range map[string]string{
		"005b7477a4920a2f86958fff22ef2e3b": jobKey("s", "trial", 0, [][]float64{{1, -2.5}}),
		"5fad7bd3db213cf9f3f0e3531bd375f6": jobKey("s", "fit ", 0, [][]float64{nil}),
		"d021cda3fc7d91b48ce8c9ee3728db8f": jobKey("s", "chain", 3, [][]float64{{0.1}, {0.2}}),
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// A search of a function counts its trials, and the best value of one that is minimised is the least.
func TestProgressOfAFunction(t *testing.T) {
	f := Function{Space: search.Space{param.Between("x", param.Identity, 0, 1)}, Strategy: search.Sobol{Design: search.Design{Trials: 8}}, Minimize: true,
		Value: func(_ context.Context, x []float64) (float64, error) {
			if x[0] > 0.625 { // each of eight equal parts of [0, 1] has one point
				return 0, errors.New("no")
			}
			return x[0] - 2, nil
		}}
	var last Event
	sum, err := Run(t.Context(), []Study{f.Study("s")}, mustOpen(t, t.TempDir()), Options{Workers: 1, Progress: func(e Event) { last = e }})
	if err != nil || sum != (Summary{Trials: true, Done: 8, Failed: 3, Total: 8}) {
		t.Errorf("%+v, %v", sum, err)
	}
	if one, many := sum.Unit(); one != "trial" || many != "trials" {
		t.Errorf("%s, %s", one, many)
	}
	if b := last.Best; b == nil || !(b.Value >= -2 && b.Value < -1.8) {
		t.Errorf("best %+v", b)
	}
	f.Value = func(context.Context, []float64) (float64, error) { return 0, errors.New("no") }
	dir := t.TempDir()
	for _, want := range []Summary{{Trials: true, Done: 8, Failed: 8, Total: 8}, {Trials: true, Skipped: 8, Failed: 8, Total: 8}} {
		if sum, err = Run(t.Context(), []Study{f.Study("s")}, mustOpen(t, dir), Options{}); err != nil || sum != want {
			t.Errorf("%+v, %v, want %+v", sum, err, want)
		}
	}
}
