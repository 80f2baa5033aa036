package search

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gpc-tune/gpc-tune/experiments/record"
)

// whileFirst makes the first job of a study that runs call do as well, and then wait.
func whileFirst(s Study, do func(), wait time.Duration) Study {
	once := sync.OnceFunc(func() { do(); time.Sleep(wait) })
	trial := s.Trial
	s.Trial = func(ctx context.Context, index int, p Proposal) (record.Trial, error) {
		once()
		return trial(ctx, index, p)
	}
	return s
}

// patiently repeats a test with longer and longer waits, because a journal is read less often on a
// slow or busy machine.
func patiently(heard func(wait time.Duration) bool) bool {
	for wait := 20 * time.Millisecond; wait < 10*time.Second; wait *= 4 {
		if heard(wait) {
			return true
		}
	}
	return false
}

func named(key string, place, trials int) Study {
	s := one(trials, func() {})
	s.Key, s.Configuration = key, place
	return s
}

// TestOrderBesideAnotherProcess: a process alone starts trials in order. As soon as another process
// has written to the folder it starts them in a shuffled order, so that the two collide as late as
// possible. (59 shuffled trials are in order with probability 1 in 59!.)
func TestOrderBesideAnotherProcess(t *testing.T) {
	inOrder := func(beside bool, wait time.Duration) bool {
		dir := t.TempDir()
		study := whileFirst(named("mine", 0, 60), func() {
			if beside {
				mustRun(t, []Study{named("another", 0, 1)}, mustOpen(t, dir), Options{})
			}
		}, wait)
		var started []int
		trial := study.Trial
		study.Trial = func(ctx context.Context, index int, p Proposal) (record.Trial, error) {
			started = append(started, index)
			return trial(ctx, index, p)
		}
		if s := mustRun(t, []Study{study}, mustOpen(t, dir), Options{Workers: 1}); s.Done != 61 {
			t.Errorf("%+v, want 61 jobs done", s)
		}
		return slices.IsSorted(started)
	}
	if !inOrder(false, 100*time.Millisecond) {
		t.Error("alone, trials do not start in order")
	}
	if !patiently(func(wait time.Duration) bool { return !inOrder(true, wait) }) {
		t.Error("beside another process, trials start in order")
	}
}

// TestOwnerHearsOfOthers: the trials of the second study belong to another owner, who runs them
// meanwhile; this owner then runs the jobs that depend on them in the same run.
func TestOwnerHearsOfOthers(t *testing.T) {
	theirs := func(study, trial int) bool { return study == 1 && trial != Later }
	studies := []Study{named("first", 0, 3), named("second", 1, 4)}
	if !patiently(func(wait time.Duration) bool {
		dir := t.TempDir()
		mine := slices.Clone(studies)
		mine[0] = whileFirst(studies[0], func() {
			mustRun(t, studies, mustOpen(t, dir), Options{Own: theirs})
		}, wait)
		s := mustRun(t, mine, mustOpen(t, dir), Options{Workers: 1, Own: func(study, trial int) bool { return !theirs(study, trial) }})
		left, err := Left(studies, mustOpen(t, dir))
		if err != nil {
			t.Fatal(err)
		}
		return s.Done == 5 && s.Skipped == 4 && len(left) == 0
	}) {
		t.Error("three trials and two assessments were not done in one run")
	}
}
