package schedule

import (
	"hash/fnv"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/gpc-tune/gpc-tune/record"
)

// Three owners take turns until nothing is left. They do what one process does, and each job runs
// once, by its owner, even if the next job of a study depends on the jobs of others. Before each
// turn, Left lists the jobs of the complete run that are not in the journal.
func TestOwners(t *testing.T) {
	for name, studies := range map[string][]Study{
		"batches": sweep(8, func() {}),
		"stages":  staged([4][3]float64{{4, 3, 1}, {1, 9, 9}, {5, 1, 9}, {3, 5, 7}}, func() {}, func(int, int) {}),
	} {
		t.Run(name, func(t *testing.T) {
			whole := mustOpen(t, "")
			mustRun(t, studies, whole, Options{})
			want := whole.Lines()
			dir := t.TempDir()
			owner := func(study, trial int) int {
				h := fnv.New32a()
				h.Write([]byte{byte(study), byte(trial)})
				return int(h.Sum32() % 3)
			}
			// place returns the study and the trial that Options.Ours gets for a line.
			place := func(line record.Line) (study, trial int) {
				at := place(line)
				study = slices.IndexFunc(studies, func(s Study) bool { return s.Configuration == at[0] && s.Index == at[1] })
				batch := 0
				if s := studies[study]; s.Strategy != nil {
					batch = len(s.Strategy.Ask(s.Space, nil, s.Seed))
				}
				if line.Fit != nil || at[3] >= batch {
					return study, Later
				}
				return study, at[3]
			}
			turns, worked, idle := 0, 0, 0
			for ; idle < 3; turns++ {
				mine := turns % 3
				own := func(study, trial int) bool { return owner(study, trial) == mine }
				left, err := Left(studies, mustOpen(t, dir))
				if err != nil {
					t.Fatal(err)
				}
				now := 0 // jobs of this owner that can run at once
				for _, m := range left {
					for _, trial := range m.First {
						if own(m.Study, trial) {
							now++
						}
					}
					if m.Later && own(m.Study, Later) {
						now++
					}
				}
				before := mustOpen(t, dir)
				seen := len(before.Lines())
				j := mustOpen(t, dir)
				s := mustRun(t, studies, j, Options{Ours: own, Workers: 2})
				if err := j.Close(); err != nil {
					t.Fatal(err)
				}
				lines := j.Lines()
				if s.Done != len(lines)-seen || s.Done < now {
					t.Fatalf("turn %d: %d jobs done, %d are new on record, %d could run at once", turns, s.Done, len(lines)-seen, now)
				}
				for _, line := range lines {
					if _, old := before.Done(line.Key); old {
						continue
					}
					if study, trial := place(line); !own(study, trial) {
						t.Fatalf("turn %d: owner %d ran trial %d of study %d", turns, mine, trial, study)
					}
				}
				if idle++; s.Done > 0 {
					idle = 0
					worked++
				}
				if (len(left) == 0) != (seen == len(want)) {
					t.Fatalf("turn %d: %d studies are left of which %d of %d jobs are done", turns, len(left), seen, len(want))
				}
			}
			got := mustOpen(t, dir)
			if canonical(got.Lines()) != canonical(want) {
				t.Error("the journal is not that of one process")
			}
			if segments, _ := filepath.Glob(filepath.Join(dir, "journal", "*.jsonl")); len(segments) != worked {
				t.Errorf("%d segments of %d turns that did something", len(segments), worked)
			}
		})
	}
}

// Owners that run at the same time read each other's results.
func TestOwnersAtTheSameTime(t *testing.T) {
	dir := t.TempDir()
	done := make([]int, 2)
	finished := make(chan error, 2)
	for mine := range 2 {
		j := mustOpen(t, dir)
		go func() {
			// The first owner has the trials, the second the assessments that follow them.
			var err error
			for deadline := time.Now().Add(2 * time.Minute); err == nil && done[mine] < []int{24, 8}[mine] && time.Now().Before(deadline); {
				var s Summary
				s, err = Run(t.Context(), sweepOf(8), j, Options{Ours: func(_, trial int) bool { return (trial == Later) == (mine == 1) }})
				done[mine] += s.Done
			}
			finished <- err
		}()
	}
	for range 2 {
		if err := <-finished; err != nil {
			t.Fatal(err)
		}
	}
	if done[0] != 24 || done[1] != 8 {
		t.Errorf("%d trials and %d assessments, want 24 and 8", done[0], done[1])
	}
}

// sweepOf is n studies of three trials each.
func sweepOf(n int) (studies []Study) {
	for i := range n {
		s := one(3, pause(2*time.Millisecond))
		s.Key, s.Configuration = string(rune('a'+i)), i
		studies = append(studies, s)
	}
	return studies
}
