package search

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/record"
	"github.com/gpc-tune/gpc-tune/internal/journal"
)

// failing is a study of n trials whose first, the best one, fails while *fails is true.
func failing(key string, place, n int, fails *bool) Study {
	s := named(key, place, n)
	trial := s.Trial
	s.Trial = func(ctx context.Context, index int, p Proposal) (record.Trial, error) {
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
