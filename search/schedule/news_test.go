package schedule

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/search"
)

// whileFirst makes the first job of a study that runs call do as well, and then wait.
func whileFirst(s Study, do func(), wait time.Duration) Study {
	once := sync.OnceFunc(func() { do(); time.Sleep(wait) })
	trial := s.Trial
	s.Trial = func(ctx context.Context, index int, p search.Proposal) (record.Trial, error) {
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

// TestOwnerHearsOfOthers: the trials of the second study belong to another owner, who runs them
// meanwhile; this owner then runs the jobs that depend on them in the same run.
func TestOwnerHearsOfOthers(t *testing.T) {
	theirs := func(study, trial int) bool { return study == 1 && trial != Later }
	studies := []Study{named("first", 0, 3), named("second", 1, 4)}
	if !patiently(func(wait time.Duration) bool {
		dir := t.TempDir()
		mine := slices.Clone(studies)
		mine[0] = whileFirst(studies[0], func() {
			mustRun(t, studies, mustOpen(t, dir), Options{Ours: theirs})
		}, wait)
		s := mustRun(t, mine, mustOpen(t, dir), Options{Workers: 1, Ours: func(study, trial int) bool { return !theirs(study, trial) }})
		left, err := Left(studies, mustOpen(t, dir))
		if err != nil {
			t.Fatal(err)
		}
		return s.Done == 5 && s.Skipped == 4 && len(left) == 0
	}) {
		t.Error("three trials and two assessments were not done in one run")
	}
}
