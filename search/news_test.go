package search

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gpc-tune/gpc-tune/internal/record"
)

// whileFirst makes the first job that runs of a study also do something else, and then take so long.
func whileFirst(s Study, do func(), wait time.Duration) Study {
	once := sync.OnceFunc(func() { do(); time.Sleep(wait) })
	trial := s.Trial
	s.Trial = func(ctx context.Context, index int, p Proposal) (record.Trial, error) {
		once()
		return trial(ctx, index, p)
	}
	return s
}

// patiently tries with longer and longer waits: how often a journal is read depends on how long that takes, on a busy machine
// too.
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

// TestOrderBesideAnotherProcess: alone a process starts trials in order; as soon as another has written to the folder it does
// not, so that the two meet as late as they can. (That 59 shuffled trials are in order has a chance of 1 in 59!.)
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

// TestOwnerHearsOfOthers: the trials of the second study are another owner's, who does them meanwhile; what follows them is
// done in the same run.
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
