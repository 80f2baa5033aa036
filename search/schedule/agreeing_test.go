package schedule

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"time"

	"github.com/gpc-tune/gpc-tune/search/searchtest/spaces"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/experiments/journal"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/search"
)

// A line that belongs to no job of a finished study does not keep a process busy whose other studies
// wait for jobs of others.
func TestLinesThatFollowFromNothingBesideOtherBlocks(t *testing.T) {
	dir := t.TempDir()
	keys := []string{"hill", "other"}
	study := func() []Study {
		s := hill(search.Bayes{Trials: 6}, func([]record.Number) {})
		o := hill(search.Random{Design: search.Design{Trials: 4}}, func([]record.Number) {})
		o.Key, o.Configuration = "other", 1
		return []Study{s, o}
	}
	mustRun(t, study()[:1], openControlled(t, dir, keys), Options{Workers: 1})
	// a stray: a line that follows from nothing
	j := openControlled(t, dir, keys)
	line := j.Lines()[5]
	line.Key = "stray"
	if err := j.Append(line); err != nil {
		t.Fatal(err)
	}
	j.Close()
	events := atomic.Int64{}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	Run(ctx, study(), openControlled(t, dir, keys), Options{Workers: 1, Ours: func(study, _ int) bool { return study == 0 },
		Progress: func(Event) { events.Add(1) }})
	if events.Load() > 5 {
		t.Errorf("%d rounds in 2 s", events.Load())
	}
}

// An asynchronous search goes on where the point of a trial that is under way is enqueued, and ends
// before it.
func TestPointEndsBeforeItsTrial(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	goOn := make(chan int)
	var twice atomic.Int64
	s := Study{Key: "hill", Space: search.Space{spaces.Spec("x", param.Identity, 0)}, Strategy: overlapping{listed{[]float64{1, 2, 3, 4, 5, 6}, false}}}
	s.Value = func(_ context.Context, x []float64) (float64, error) {
		switch {
		case x[0] == 5:
			time.Sleep(100 * time.Millisecond) // its end makes the scheduler look again
		case x[0] == 6 && twice.Add(1) == 1:
			enqueue(t, dir, journal.Command{Verb: "enqueue", Key: "hill", Point: map[string]record.Number{"x": 6}})
			select {
			case <-goOn:
			case <-time.After(300 * time.Millisecond):
			}
			time.Sleep(50 * time.Millisecond)
		case x[0] == 6:
			close(goOn)
		}
		return x[0], nil
	}
	sum := mustRun(t, []Study{s}, openControlled(t, dir, []string{"hill"}), Options{Workers: 2, Timeout: 20 * time.Second})
	if lines := openControlled(t, dir, []string{"hill"}).Lines(); len(lines) != 8 {
		t.Errorf("the search is not finished: %+v, %d lines", sum, len(lines))
	}
}

// A trial that is under way since an earlier agenda when its search is dropped has its place in the
// order of the last one.
func TestOrderOfTrialsOfADroppedSearch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keys := []string{"hill", "other"}
	var n atomic.Int64
	goOn := make(chan int)
	h := hill(search.Bayes{Trials: 9, Overlap: search.Overlap{Asynchronous: 2}}, func(x []record.Number) {
		switch k := n.Add(1); k {
		case 2: // under way throughout
			<-goOn
		case 3:
			enqueue(t, dir, journal.Command{Verb: "drop", Key: "other"})
		case 6:
			enqueue(t, dir, journal.Command{Verb: "drop", Key: "hill"})
			time.AfterFunc(300*time.Millisecond, func() { close(goOn) })
		}
		time.Sleep(20 * time.Millisecond)
	})
	o := hill(search.Random{Design: search.Design{Trials: 1}}, func([]record.Number) {})
	o.Key, o.Configuration = "other", 1
	mustRun(t, []Study{h, o}, openControlled(t, dir, keys), Options{Workers: 2})
	seen := map[int]int{}
	before := map[string]int{}
	for _, line := range openControlled(t, dir, keys).Lines() {
		if line.Trial != nil && line.Trial.Configuration == 0 {
			before[line.Key] = line.Trial.Ended
			if seen[line.Trial.Ended]++; seen[line.Trial.Ended] > 1 {
				t.Errorf("two trials have place %d", line.Trial.Ended)
			}
		}
	}
	enqueue(t, dir, journal.Command{Verb: "resume", Key: "hill"})
	mustRun(t, []Study{h, o}, openControlled(t, dir, keys), Options{Workers: 2})
	lost := 0
	j := openControlled(t, dir, keys)
	for key := range before {
		if _, ok := j.Done(key); !ok {
			lost++
		}
	}
	if lost > 0 || n.Load() != 9 {
		t.Errorf("%d evaluations of 9; %d results were withdrawn", n.Load(), lost)
	}
}

// So has a point of the user.
func TestOrderOfAPointOfADroppedSearch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keys := []string{"hill", "other"}
	var n atomic.Int64
	goOn := make(chan int)
	h := hill(search.Bayes{Trials: 9, Overlap: search.Overlap{Asynchronous: 2}}, func(x []record.Number) {
		k := n.Add(1)
		if float64(x[0]) == float64(top.Point[spaces.SE()[0].Name]) {
			<-goOn
			return
		}
		switch k {
		case 3:
			enqueue(t, dir, journal.Command{Verb: "drop", Key: "other"})
		case 7:
			enqueue(t, dir, journal.Command{Verb: "drop", Key: "hill"})
			time.AfterFunc(300*time.Millisecond, func() { close(goOn) })
		}
		time.Sleep(20 * time.Millisecond)
	})
	enqueue(t, dir, top)
	o := hill(search.Random{Design: search.Design{Trials: 1}}, func([]record.Number) {})
	o.Key, o.Configuration = "other", 1
	mustRun(t, []Study{h, o}, openControlled(t, dir, keys), Options{Workers: 3})
	before := map[string]int{}
	for _, line := range openControlled(t, dir, keys).Lines() {
		if line.Trial != nil && line.Trial.Configuration == 0 {
			before[line.Key] = line.Trial.Ended
		}
	}
	enqueue(t, dir, journal.Command{Verb: "resume", Key: "hill"})
	mustRun(t, []Study{h, o}, openControlled(t, dir, keys), Options{Workers: 2})
	j := openControlled(t, dir, keys)
	lost := 0
	for key := range before {
		if _, ok := j.Done(key); !ok {
			lost++
		}
	}
	if lost > 0 || n.Load() != 10 {
		t.Errorf("%d evaluations of 10; %d results were withdrawn", n.Load(), lost)
	}
}

// A line that another process withdraws before this one has entered it is no error.
func TestWithdrawnBeforeItIsEntered(t *testing.T) {
	dir := t.TempDir()
	var n atomic.Int64
	h := hill(search.Random{Design: search.Design{Trials: 4}}, func([]record.Number) {})
	v := h.Value
	gate := make(chan int)
	h.Value = func(ctx context.Context, theta []float64) (float64, error) {
		k := n.Add(1)
		if k == 2 {
			<-gate
			return 0, errors.New("not yet")
		}
		return v(ctx, theta)
	}
	var once sync.Once
	_, err := Run(t.Context(), []Study{h}, openControlled(t, dir, []string{"hill"}), Options{Workers: 2, Progress: func(e Event) {
		if e.Done == 1 {
			once.Do(func() { // the display is slow
				close(gate)
				for range 200 {
					time.Sleep(10 * time.Millisecond)
					j := openControlled(t, dir, []string{"hill"})
					failed, err := Retry([]Study{h}, j)
					if err != nil {
						t.Error(err)
					}
					if failed > 0 {
						break
					}
				}
			})
		}
	}})
	if err != nil {
		t.Errorf("%v", err)
	}
}

// A process that runs a part of the jobs goes on after another one has tried a point.
func TestPointOfAnotherBlock(t *testing.T) {
	dir := t.TempDir()
	s := func() []Study { return []Study{hill(search.Bayes{Trials: 8, Batch: 2}, func([]record.Number) {})} }
	enqueue(t, dir, top)
	// P2 has the first batch, P1 all else
	p2 := func(_, trial int) bool { return trial != Later }
	p1 := func(_, trial int) bool { return trial == Later }
	j2 := openControlled(t, dir, []string{"hill"})
	a, err := newAgenda(s(), j2, p2)
	if err != nil {
		t.Fatal(err)
	}
	a.workers = true
	sc := scheduler{Options: Options{Ours: p2, Workers: 1}, studies: s(), journal: j2, agenda: a, ctx: t.Context(), live: map[string]job{}, overtook: map[string]bool{}, cancel: func() {}}
	a.runs = sc.runs
	if err := a.refresh(); err != nil { // P2 has just looked
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), s(), openControlled(t, dir, []string{"hill"}), Options{Workers: 1, Ours: p1}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := a.next(func(job) bool { return true }); err != nil { // as scheduler.next does after readCommands
		t.Fatal(err)
	}
	for range 20 {
		time.Sleep(pollInterval / 4)
		if next, _ := sc.next(); next != nil {
			return
		}
	}
	t.Error("it waits for ever")
}

// A copy of a result of this run counts as done.
func TestCountsOfCopies(t *testing.T) {
	dir := t.TempDir()
	var points [][]record.Number
	st := search.Random{Design: search.Design{Trials: 3}}
	mustRun(t, []Study{hill(st, func(x []record.Number) { points = append(points, x) })}, mustOpen(t, ""), Options{Workers: 1})
	n := 0
	s := hill(st, func(x []record.Number) {
		if n++; n == 2 {
			enqueue(t, dir, journal.Command{Verb: "enqueue", Key: "hill", Point: map[string]record.Number{
				spaces.SE()[0].Name: points[0][0], spaces.SE()[1].Name: points[0][1]}})
		}
	})
	sum := mustRun(t, []Study{s}, openControlled(t, dir, []string{"hill"}), Options{Workers: 1, Progress: func(e Event) {
		if e.Done+e.Skipped > e.Total || e.Done < 0 || e.Skipped < 0 {
			t.Errorf("%+v", e)
		}
	}})
	if sum != (Summary{Trials: true, Done: 4, Total: 4}) {
		t.Errorf("%+v in a new folder, want 4 done, 0 skipped", sum)
	}
}

// A configuration that waits for a trial of a paused one goes on after another process has tried a
// point of that.
func TestPausedPointThatOthersTried(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keys := []string{"hill", "other"}
	mk := func() []Study {
		s := hill(search.Bayes{Trials: 4}, func([]record.Number) {})
		o := hill(search.Bayes{Trials: 4}, func([]record.Number) {})
		o.Key, o.Configuration = "other", 1
		s.Tuning, o.Tuning = "same", "same"
		return []Study{s, o}
	}
	enqueue(t, dir, top) // for hill
	enqueue(t, dir, journal.Command{Verb: "pause", Key: "hill"})
	j := openControlled(t, dir, keys)
	// another process tries the point meanwhile, as it began before the pause
	st := mk()
	a, err := newAgenda(st, j, nil)
	if err != nil {
		t.Fatal(err)
	}
	own := a.studies[0].pending[0]
	line, _ := own.do(t.Context(), 0)
	time.AfterFunc(300*time.Millisecond, func() {
		other := openControlled(t, dir, keys)
		if err := other.Append(line); err != nil {
			t.Error(err)
		}
	})
	st = mk()
	inner := st[0].Value
	var n atomic.Int64
	for i := range st {
		st[i].Value = func(ctx context.Context, theta []float64) (float64, error) {
			n.Add(1)
			time.Sleep(200 * time.Millisecond)
			return inner(ctx, theta)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
	defer cancel()
	sum, err := Run(ctx, st, openControlled(t, dir, keys), Options{Workers: 1})
	if err == nil || !strings.Contains(err.Error(), "paused") {
		t.Errorf("it waits for ever: %+v %v", sum, err)
	}
}

// A point that is under way is not evaluated a second time.
func TestPointUnderWayIsTriedOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var six atomic.Int64
	s := Study{Key: "hill", Space: search.Space{spaces.Spec("x", param.Identity, 0)}, Strategy: listed{[]float64{1, 6}, true}}
	s.Value = func(_ context.Context, x []float64) (float64, error) {
		switch {
		case x[0] == 1:
			time.Sleep(100 * time.Millisecond)
		case x[0] == 6 && six.Add(1) == 1:
			enqueue(t, dir, journal.Command{Verb: "enqueue", Key: "hill", Point: map[string]record.Number{"x": 6}})
			time.Sleep(600 * time.Millisecond)
		}
		return x[0], nil
	}
	mustRun(t, []Study{s}, openControlled(t, dir, []string{"hill"}), Options{Workers: 2})
	if six.Load() != 1 {
		t.Errorf("the point was evaluated %d times", six.Load())
	}
}
