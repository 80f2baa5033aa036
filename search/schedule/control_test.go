package schedule

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gpc-tune/gpc-tune/experiments/journal"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/search"
)

// controlled are three configurations of four studies each; at is called when a job begins.
func controlled(at func(configuration, study int)) (studies []Study, keys []string) {
	for c := range 3 {
		for i := range 4 {
			s := one(2, nil)
			s.Key, s.Configuration, s.Index = fmt.Sprint("study ", i, " of ", c), c, i
			trial := func(index int, p search.Proposal) record.Trial {
				return record.Trial{Points: []record.Point{{Theta: record.Numbers(p.Points[0]), Value: record.Number(-index)}}}
			}
			s.Trial = func(_ context.Context, index int, p search.Proposal) (record.Trial, error) {
				at(c, i)
				return trial(index, p), nil
			}
			studies = append(studies, s)
		}
		keys = append(keys, studies[4*c].Key)
	}
	return studies, keys
}

func openControlled(t *testing.T, dir string, keys []string) *journal.Journal {
	t.Helper()
	j, err := journal.Open(dir, journal.Options{Configurations: keys})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

func order(t *testing.T, dir, verb, key string) {
	t.Helper()
	if err := journal.AppendCommand(dir, journal.Command{Verb: verb, Key: key}); err != nil {
		t.Fatal(err)
	}
}

// ran lists the configurations of the lines on record.
func ran(j *journal.Journal) (lines [3]int) {
	for _, line := range j.Lines() {
		of, _ := originOf(line)
		lines[of.configuration]++
	}
	return lines
}

// A configuration that is dropped while the run goes on starts no further job, and the others are
// finished, for any number of workers. After resume the run has all that it would have had.
func TestDrop(t *testing.T) {
	for _, workers := range []int{1, 3} {
		dir := t.TempDir()
		var studies []Study
		var keys []string
		drop := sync.OnceFunc(func() { order(t, dir, "drop", keys[1]) })
		var mu sync.Mutex
		after := 0
		var dropped time.Time
		studies, keys = controlled(func(c, i int) {
			mu.Lock()
			defer mu.Unlock()
			if c == 1 && i == 1 {
				drop()
				dropped = time.Now()
			}
			if c == 1 && i > 1 && !dropped.IsZero() {
				after++
			}
			time.Sleep(2 * time.Millisecond)
		})
		j := openControlled(t, dir, keys)
		s := mustRun(t, studies, j, Options{Workers: workers})
		if n := ran(j); n[0] != 12 || n[2] != 12 || n[1] >= 12 || after > workers {
			t.Errorf("%d workers: %v jobs are on record, %d began after the command", workers, n, after)
		}
		if s.Total != 24 || s.Done+s.Skipped != 24 {
			t.Errorf("%d workers: %+v", workers, s)
		}
		if left, err := Left(studies, openControlled(t, dir, keys)); err != nil || len(left) > 0 {
			t.Errorf("%v are left, %v", left, err)
		}
		order(t, dir, "resume", keys[1])
		j = openControlled(t, dir, keys)
		mustRun(t, studies, j, Options{Workers: workers})
		whole := mustOpen(t, "")
		mustRun(t, studies, whole, Options{})
		if canonical(j.Lines()) != canonical(whole.Lines()) {
			t.Error("other lines than without commands")
		}
	}
}

// The run stops when only paused configurations are left. A resumed configuration goes on.
func TestPause(t *testing.T) {
	dir := t.TempDir()
	studies, keys := controlled(func(int, int) {})
	order(t, dir, "pause", keys[0])
	order(t, dir, "pause", keys[2])
	j := openControlled(t, dir, keys)
	_, err := Run(t.Context(), studies, j, Options{Workers: 2})
	if !errors.Is(err, ErrStopped) || !strings.Contains(err.Error(), "0, 2") || ran(j) != [3]int{0, 12, 0} {
		t.Errorf("%v, %v jobs are on record", err, ran(j))
	}
	order(t, dir, "resume", keys[0])
	order(t, dir, "resume", keys[2])
	j = openControlled(t, dir, keys)
	if mustRun(t, studies, j, Options{Workers: 2}); ran(j) != [3]int{12, 12, 12} {
		t.Errorf("%v jobs are on record", ran(j))
	}
}

// A configuration that waits for trials of a paused one gets them.
func TestPausedTrialsThatOthersNeed(t *testing.T) {
	dir := t.TempDir()
	studies, keys := controlled(func(int, int) {})
	studies[0].Tuning, studies[4].Tuning = "shared", "shared"
	order(t, dir, "pause", keys[0])
	j := openControlled(t, dir, keys)
	if _, err := Run(t.Context(), studies, j, Options{Workers: 2}); !errors.Is(err, ErrStopped) || ran(j) != [3]int{2, 12, 12} {
		t.Errorf("%v, %v jobs are on record", err, ran(j))
	}
}

// Jobs of a configuration that a user puts first start before the jobs of others, also in the
// middle of a run. Of two such configurations the last one put first starts first.
func TestFirst(t *testing.T) {
	dir := t.TempDir()
	var got []int
	var studies []Study
	var keys []string
	studies, keys = controlled(func(c, i int) {
		if c == 0 && i == 1 && !slices.Contains(got, 2) {
			order(t, dir, "first", keys[1])
			order(t, dir, "first", keys[2])
		}
		if len(got) == 0 || got[len(got)-1] != c {
			got = append(got, c)
		}
	})
	mustRun(t, studies, openControlled(t, dir, keys), Options{Workers: 1})
	if want := []int{0, 2, 1, 0}; !slices.Equal(got, want) {
		t.Errorf("the configurations ran in the order %v, want %v", got, want)
	}
}

// A dropped configuration counts as failed where a stage decides.
func TestDropAtAStage(t *testing.T) {
	values := [4][3]float64{{4, 3, 1}, {1, 9, 9}, {5, 1, 9}, {3, 5, 7}}
	var keys []string
	for c := range 4 {
		keys = append(keys, fmt.Sprintf("0 of %d", c))
	}
	dir := t.TempDir()
	order(t, dir, "drop", keys[3])
	var failed []int
	studies := staged(values, func() {}, func(int, int) {})
	for i := range studies {
		if s := studies[i].Stage; s != nil {
			s.Open = func(fits []*record.Fit) []int {
				for c, f := range fits {
					if len(fits) == 4 && !f.Failure.IsZero() {
						failed = append(failed, c)
					}
				}
				return nil
			}
		}
	}
	mustRun(t, studies, openControlled(t, dir, keys), Options{})
	if !slices.Equal(failed, []int{3}) {
		t.Errorf("the stage saw failures of %v", failed)
	}
}

// A command that was cut off has no effect, and does not damage the next one.
func TestCommandCutOff(t *testing.T) {
	dir := t.TempDir()
	_, keys := controlled(nil)
	order(t, dir, "drop", keys[0])
	name := filepath.Join(dir, "control.jsonl")
	text, err := os.ReadFile(name)
	if err == nil {
		err = os.Truncate(name, int64(len(text)-5))
	}
	if err != nil {
		t.Fatal(err)
	}
	order(t, dir, "drop", keys[1])
	j := openControlled(t, dir, keys)
	if c := j.Control(); !slices.Equal(c.Dropped, []int{1}) || len(j.Damaged()) != 1 {
		t.Errorf("%+v, %v", c, j.Damaged())
	}
}
