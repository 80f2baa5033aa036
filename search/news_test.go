package search

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gpc-tune/gpc-tune/internal/record"
)

// whileFirst makes the first job that runs of a study also do something else, and take so long over it that the journal is
// read before the next.
func whileFirst(s Study, do func()) Study {
	once := sync.OnceFunc(func() { do(); time.Sleep(50 * time.Millisecond) })
	trial := s.Trial
	s.Trial = func(ctx context.Context, index int, p Proposal) (record.Trial, error) {
		once()
		return trial(ctx, index, p)
	}
	return s
}

func named(key string, place, trials int) Study {
	s := one(trials, func() {})
	s.Key, s.Configuration = key, place
	return s
}

// TestOrderBesideAnotherProcess: alone a process starts trials in order; as soon as another has written to the folder it does
// not, so that the two meet as late as they can. (That 59 shuffled trials are in order has a chance of 1 in 59!.)
func TestOrderBesideAnotherProcess(t *testing.T) {
	for name, beside := range map[string]bool{"alone": false, "beside another": true} {
		dir := t.TempDir()
		study := whileFirst(named("mine", 0, 60), func() {
			if beside {
				mustRun(t, []Study{named("another", 0, 1)}, mustOpen(t, dir), Options{})
			}
		})
		var started []int
		trial := study.Trial
		study.Trial = func(ctx context.Context, index int, p Proposal) (record.Trial, error) {
			started = append(started, index)
			return trial(ctx, index, p)
		}
		if s := mustRun(t, []Study{study}, mustOpen(t, dir), Options{Workers: 1}); s.Done != 61 {
			t.Errorf("%s: %+v, want 61 jobs done", name, s)
		}
		if slices.IsSorted(started) == beside {
			t.Errorf("%s, trials started in the order %v", name, started)
		}
	}
}

// TestOwnerHearsOfOthers: the trials of the second study are another owner's, who does them meanwhile; what follows them is
// done in the same run.
func TestOwnerHearsOfOthers(t *testing.T) {
	dir := t.TempDir()
	theirs := func(study, trial int) bool { return study == 1 && trial != Later }
	studies := []Study{named("first", 0, 3), named("second", 1, 4)}
	mine := slices.Clone(studies)
	mine[0] = whileFirst(studies[0], func() {
		mustRun(t, studies, mustOpen(t, dir), Options{Own: theirs})
	})
	s := mustRun(t, mine, mustOpen(t, dir), Options{Workers: 1, Own: func(study, trial int) bool { return !theirs(study, trial) }})
	if s.Done != 5 || s.Skipped != 4 {
		t.Errorf("%+v, want three trials and two assessments done, and four trials skipped", s)
	}
	if left, err := Left(studies, mustOpen(t, dir)); err != nil || len(left) != 0 {
		t.Errorf("%+v left, %v", left, err)
	}
}
