package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/testing/needs"
	"github.com/gpc-tune/gpc-tune/record"
)

// ofPlan opens the journal of a plan.
func ofPlan(t *testing.T, dir string, o Options) *Journal {
	t.Helper()
	j, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

// trial is a finished job.
func trial(key string) record.Line {
	return record.Line{Key: key, Trial: &record.Trial{Points: []record.Point{}}}
}

// A journal reads the lines of other processes once, and continues the numbers of the lines.
func TestNewsOfOthers(t *testing.T) {
	dir := t.TempDir()
	j := ofPlan(t, dir, Options{})
	name := filepath.Join(dir, "journal", "other.jsonl")
	write := func(text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	look := func(what string, news bool, jobs int, damaged ...string) {
		t.Helper()
		got, err := j.Refresh()
		for k, text := range damaged {
			damaged[k] = name + text
		}
		if err != nil || got != news || len(j.Lines()) != jobs ||
			strings.Join(j.Damaged(), "\n") != strings.Join(damaged, "\n") {
			t.Errorf("%s: news %t, %d jobs, damaged %q, error %v", what, got, len(j.Lines()), j.Damaged(), err)
		}
	}
	one, two, three := string(encodeLine(trial("a"))), string(encodeLine(trial("b"))), string(encodeLine(trial("c")))
	look("nothing", false, 0)
	write(one)
	look("a line", true, 1)
	look("nothing more", false, 1)
	write(two[:20])
	look("a part of a line", false, 1, ":2: cut off, or being written")
	write(two[20:])
	look("its rest", true, 2)
	write("{}\n" + three)
	look("no line, and a line", true, 3, ":3: damaged: it has no checksum")
	look("nothing more", false, 3, ":3: damaged: it has no checksum")
}

// A reservation in a folder that was moved says so, and makes no folder in its place, so that the
// run can be moved back: the first reservation, a later one, and one after all have ended.
func TestClaimInAMovedFolder(t *testing.T) {
	for name, before := range map[string]func(j *Journal) error{
		"first": (*Journal).Begin,
		"later": func(j *Journal) error { _, err := j.Claim("earlier"); return err },
		"after the end of others": func(j *Journal) error {
			_, err := j.Claim("earlier")
			j.ReleaseAll()
			return err
		},
	} {
		dir := filepath.Join(t.TempDir(), "run")
		j := ofPlan(t, dir, Options{})
		if err := errors.Join(before(j), os.Rename(dir, dir+".moved")); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			ours, err := j.Claim("next")
			if ours || !errors.Is(err, ErrJournal) || !strings.Contains(err.Error(), "the run folder was moved or deleted during the run") {
				t.Errorf("%s: %v, %v", name, ours, err)
			}
		}
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: the folder is there again: %v", name, err)
		}
		j.ReleaseAll()
	}
}

// A run whose folder is moved or deleted stops, because its results would be lost.
func TestSegmentIsMissing(t *testing.T) {
	dir := t.TempDir()
	j := ofPlan(t, dir, Options{})
	mustAppend(t, j, trial("a"))
	if _, err := j.Refresh(); err != nil {
		t.Error(err)
	}
	name := segments(t, dir)[0]
	if err := os.Rename(name, name+".moved"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := j.Refresh(); !errors.Is(err, ErrJournal) || !strings.Contains(err.Error(), name+" is missing") {
			t.Error(err)
		}
	}
	if err := j.Append(trial("b")); !errors.Is(err, ErrJournal) {
		t.Errorf("a later job: %v", err)
	}
}

// Segments are named after the machine and the process, and numbered from 0.
func TestNamesOfSegments(t *testing.T) {
	dir := t.TempDir()
	for range 2 {
		if err := ofPlan(t, dir, Options{}).Begin(); err != nil {
			t.Fatal(err)
		}
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for n, name := range segments(t, dir) {
		if want := fmt.Sprintf("%s-%d-%d.jsonl", host, os.Getpid(), n); filepath.Base(name) != want {
			t.Errorf("%s, want %s", name, want)
		}
	}
}

// A line is of the plan and the build of its process, unless it has a build of its own; where there
// is none, that with which the run began counts. The caller's lines stay as they are.
func TestBuildsOfLines(t *testing.T) {
	dir := t.TempDir()
	j := ofPlan(t, dir, Options{Plan: "p", Build: "this"})
	own := trial("b")
	own.Build = "own"
	lines := []record.Line{trial("a"), own}
	if err := j.Append(lines...); err != nil {
		t.Fatal(err)
	}
	if lines[0].Build != "" || lines[0].Plan != "" {
		t.Errorf("the caller has %+v", lines[0])
	}
	mustAppend(t, ofPlan(t, dir, Options{Plan: "p"}), trial("c"))
	j = ofPlan(t, dir, Options{Plan: "p", StartedBy: "first"})
	for key, want := range map[string]string{"a": "this", "b": "own", "c": "first"} {
		if got, found := j.Done(key); !found || got.Build != want || got.Plan != "p" {
			t.Errorf("%s: %t, %+v, want the build %q", key, found, got, want)
		}
	}
	// Of two builds with the same result the first in the alphabet counts, in whatever order they
	// are read.
	for _, builds := range [][]string{{"x", "y"}, {"y", "x"}} {
		j := ofPlan(t, "", Options{})
		for _, b := range builds {
			line := trial("k")
			line.Build = b
			if err := j.add(entry{line, "seg", 1}); err != nil {
				t.Fatal(err)
			}
		}
		if got, _ := j.Done("k"); got.Build != "x" {
			t.Errorf("%v: %q", builds, got.Build)
		}
	}
}

// Jobs that another plan has finished are kept separately until this plan has finished them.
// Timeouts, failures to be tried again, and withdrawn jobs are not used.
func TestJobsOfOtherPlans(t *testing.T) {
	of := func(plan, key string, kind cause.Kind) record.Line {
		line := trial(key)
		line.Plan = plan
		if kind != "" {
			line.Trial.Failure = kind.New("why")
		}
		return line
	}
	fill := func(lines ...record.Line) *Journal {
		t.Helper()
		j := ofPlan(t, "", Options{Plan: "new"})
		for i, line := range lines {
			if err := j.add(entry{line, "seg", i + 1}); err != nil {
				t.Fatal(err)
			}
		}
		return j
	}
	good, failed, slow := of("old", "good", ""), of("old", "failed", cause.Failure), of("old", "slow", cause.TimedOut)
	j := fill(good, failed, slow)
	earlier := func(when string, want map[string]bool, again ...string) {
		t.Helper()
		for key, is := range want {
			line, repeat, found := j.Earlier(key)
			if found != is || is && (line.Key != key || line.Plan != "old" || repeat != slices.Contains(again, key)) {
				t.Errorf("%s: %s is found: %t, %+v, to run again: %t", when, key, found, line, repeat)
			}
			if _, done := j.Done(key); done {
				t.Errorf("%s: %s is done", when, key)
			}
		}
	}
	earlier("at first", map[string]bool{"good": true, "failed": true, "slow": true, "none": false}, "slow")
	if j.Others() != 3 || len(j.Lines()) != 0 {
		t.Errorf("%d jobs of others; %v", j.Others(), j.Lines())
	}
	j.RetryEarlier()
	earlier("to try again", map[string]bool{"good": true, "failed": true, "slow": true}, "failed", "slow")
	if err := j.Withdraw("good"); err != nil {
		t.Fatal(err)
	}
	earlier("withdrawn", map[string]bool{"good": false})
	// The first of two others' stays, and this plan's replaces both, in whatever order they are
	// read.
	mine, third := of("new", "good", ""), of("third", "good", "")
	if j := fill(good, third); j.Others() != 1 {
		t.Errorf("%d jobs", j.Others())
	} else if line, _, _ := j.Earlier("good"); line.Plan != "old" {
		t.Errorf("of two others' jobs that of %s", line.Plan)
	}
	for _, lines := range [][]record.Line{{good, mine}, {mine, good}, {mine, good, third}} {
		j := fill(lines...)
		if line, found := j.Done("good"); !found || line.Plan != "new" || j.Others() != 0 {
			t.Errorf("%+v, %t; %d jobs of others", line, found, j.Others())
		}
	}
}

// A report can use a line that the check accepts, and any without a check.
func TestUsable(t *testing.T) {
	j := ofPlan(t, "", Options{})
	checked := ofPlan(t, "", Options{Check: func(l record.Line) error {
		if l.Key == "bad" {
			return errors.New("bad")
		}
		return nil
	}})
	if !j.Usable(trial("bad")) || checked.Usable(trial("bad")) || !checked.Usable(trial("good")) {
		t.Error(j.Usable(trial("bad")), checked.Usable(trial("bad")), checked.Usable(trial("good")))
	}
}

// Of two fits of a study only the one that knows more enqueued points is listed. Fits of other
// studies are listed too.
func TestFitsOfAStudy(t *testing.T) {
	j := ofPlan(t, "", Options{})
	fit := func(key string, study, own int) record.Line {
		return record.Line{Key: key, Fit: &record.Fit{Study: study, Enqueued: own, Natural: []record.Number{1}}}
	}
	mustAppend(t, j, fit("a", 0, 1), fit("b", 0, 2), fit("c", 0, 0), fit("d", 1, 0), trial("e"))
	var keys []string
	for _, l := range j.Lines() {
		keys = append(keys, l.Key)
	}
	if got := strings.Join(keys, " "); got != "e b d" {
		t.Errorf("%s, want e b d", got)
	}
}

// The error about two results names the line of each.
func TestPlacesOfTwoResults(t *testing.T) {
	j := ofPlan(t, t.TempDir(), Options{})
	if err := j.Append(trial("a"), trial("b")); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, j, trial("c"))
	for n, key := range []string{"a", "b", "c"} {
		other := trial(key)
		other.Trial.Evaluations = 7
		want := fmt.Sprintf("two different results, at this process:%d and this process:4, ", n+1)
		if err := j.Append(other); !errors.Is(err, ErrJournal) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// After Detach lines are in memory alone, and a journal that has written nothing is closed without
// an error.
func TestDetach(t *testing.T) {
	dir := t.TempDir()
	j := ofPlan(t, dir, Options{})
	j.Detach()
	mustAppend(t, j, trial("a"))
	if _, done := j.Done("a"); !done || segments(t, dir) != nil {
		t.Errorf("done %t, on disk %q", done, segments(t, dir))
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}

// A second of computing time is synced to the disk, and less waits. What cannot be synced, as the
// null device, is an error then, or at the end.
func TestSyncedTime(t *testing.T) {
	needs.That(t, runtime.GOOS == "linux", "a device that cannot be synced: run it on Linux")
	started := func(name string) *Journal {
		t.Helper()
		j := ofPlan(t, t.TempDir(), Options{})
		before := trial("before")
		before.Seconds = 5
		mustAppend(t, j, before) // synced: it is no risk any more
		if err := j.file.Close(); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		j.file = f
		return j
	}
	for _, c := range []struct {
		seconds []float64
		synced  bool // the last Append syncs the file
	}{{[]float64{0.5}, false}, {[]float64{0.5, 0.25}, false}, {[]float64{0.5, 0.5}, true}, {[]float64{0.5, 0.25, 0.5},
		true}, {[]float64{3}, true}} {
		j := started(os.DevNull)
		for i, s := range c.seconds {
			line := trial(fmt.Sprint(i))
			line.Seconds = s
			last := i == len(c.seconds)-1
			if err := j.Append(line); (err != nil) != (last && c.synced) || err != nil && !errors.Is(err, ErrJournal) {
				t.Errorf("%v s, line %d: %v", c.seconds, i, err)
			}
		}
		if err := j.Close(); !errors.Is(err, ErrJournal) {
			t.Errorf("%v s, closed: %v", c.seconds, err)
		}
	}
	long := trial("long")
	long.Seconds = 3
	for _, line := range []record.Line{trial("short"), long} {
		if err := started("/dev/full").Append(line); !errors.Is(err, ErrJournal) ||
			!strings.Contains(err.Error(), "no space left") {
			t.Errorf("%s on a full disk: %v", line.Key, err)
		}
	}
	dir := t.TempDir()
	if err := os.Symlink(os.DevNull, filepath.Join(dir, controlName)); err != nil {
		t.Fatal(err)
	}
	if err := AppendCommand(dir, Command{Verb: "drop", Key: "a"}); err == nil {
		t.Error("a command that was not synced counts")
	}
}

// A claim reads the results that others have finished until then.
func TestClaimKnowsWhatOthersHaveDone(t *testing.T) {
	j, _ := claimed(t)
	other := ofPlan(t, j.dir, Options{})
	mustAppend(t, other, trial("theirs"))
	if _, done := j.Done("theirs"); done {
		t.Fatal("it is known before")
	}
	if ours, err := j.Claim("mine"); !ours || err != nil {
		t.Fatal(ours, err)
	}
	if _, done := j.Done("theirs"); done {
		t.Error("a claim that stands already reads the journal")
	}
	if ours, err := j.Claim("next"); !ours || err != nil {
		t.Fatal(ours, err)
	}
	if _, done := j.Done("theirs"); !done {
		t.Error("a job of others is not known after a claim")
	}
	j.ReleaseAll()
}

// A command after a line that was cut off does not become a part of that line. A point to try is
// read as it was given.
func TestCommandAfterOneThatWasCutOff(t *testing.T) {
	for _, cut := range []string{"", "{", `{"verb":"drop","ke`} {
		dir := t.TempDir()
		name := filepath.Join(dir, controlName)
		if err := os.WriteFile(name, []byte(cut), 0o666); err != nil {
			t.Fatal(err)
		}
		for _, x := range []record.Number{0.5, 2} {
			if err := AppendCommand(dir, Command{Verb: "enqueue", Key: "b",
				Point: map[string]record.Number{"x": x}}); err != nil {
				t.Fatal(err)
			}
		}
		j := ofPlan(t, dir, Options{Configurations: []string{"a", "b"}})
		own := j.Control().Enqueued
		if len(own) != 2 || own[0].Configuration != 1 || own[0].Point["x"] != 0.5 || own[1].Point["x"] != 2 {
			t.Errorf("after %q: %+v", cut, own)
		}
		if damaged := strings.Join(j.Damaged(), "\n"); (cut != "") != strings.HasPrefix(damaged, name+":1: ") ||
			len(j.Damaged()) > 1 {
			t.Errorf("after %q: %s", cut, damaged)
		}
		if text, err := os.ReadFile(name); err != nil || strings.Count(string(text), "\n") != 2+min(1, len(cut)) {
			t.Errorf("after %q: %q, %v", cut, text, err)
		}
	}
}

// A manifest that cannot be read is named, and one that has more than is known is none.
func TestManifestIsNamed(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, manifestName)
	text := `{"schema":"` + ManifestSchema + `","colour":1}`
	for of, want := range map[string]string{"{": "", string(Seal([]byte(text))): `unknown field "colour"`} {
		if err := os.WriteFile(name, []byte(of), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := ReadManifest(dir)
		if !errors.Is(err, ErrDamaged) || errors.Is(err, fs.ErrNotExist) ||
			!strings.HasPrefix(err.Error(), name+": ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", of, err)
		}
	}
}

// A journal counts how often a line that was there has gone, or was replaced: it was withdrawn, took
// too long and has a result, or took a shorter time elsewhere.
func TestRevised(t *testing.T) {
	dir := t.TempDir()
	timedOut, slow := trial("late"), trial("twice")
	timedOut.Trial = &record.Trial{Points: []record.Point{}, Failure: cause.TimedOut.New("timed out")}
	slow.Seconds = 3
	writer, reader := ofPlan(t, dir, Options{}), ofPlan(t, dir, Options{})
	mustAppend(t, writer, trial("gone"), timedOut, slow)
	other := ofPlan(t, dir, Options{}) // knows what was there
	want := 0
	revised := func(what string, by int) {
		t.Helper()
		if _, err := reader.Refresh(); err != nil {
			t.Fatal(err)
		}
		if want += by; reader.Revised() != want {
			t.Errorf("%s: revised %d times, want %d", what, reader.Revised(), want)
		}
	}
	revised("at first", 0)
	if err := writer.Withdraw("gone"); err != nil {
		t.Fatal(err)
	}
	revised("withdrawn", 1)
	mustAppend(t, writer, trial("gone"))
	revised("there again", 0)
	mustAppend(t, other, trial("late"))
	revised("a result for a timeout", 1)
	if line, _ := reader.Done("late"); line.TimedOut() {
		t.Error("the timeout counts")
	}
	mustAppend(t, other, timedOut)
	revised("a timeout for a result", 0)
	slow.Seconds = 2
	mustAppend(t, other, slow) // it knows the job, and writes nothing
	revised("known", 0)
	if line, _ := other.Done("twice"); line.Seconds != 3 {
		t.Errorf("a line that is not written counts: %v s", line.Seconds)
	}
}

// A failed trial that runs again knows how many trials had been proposed, whichever process says it
// last and in whatever order the segments are read. Withdrawing it twice withdraws one attempt.
func TestRetryOfATrial(t *testing.T) {
	failed := record.Line{Key: "trial", Trial: &record.Trial{Index: 3, Points: []record.Point{}, Status: "failed", Ended: 4, After: 2,
		Failure: cause.Failure.New("why")}}
	dir := t.TempDir()
	open := func() *Journal { return ofPlan(t, dir, Options{}) }
	first := open()
	if err := first.Append(failed); err != nil {
		t.Fatal(err)
	}
	second := open()
	if _, found := second.Retried("trial"); found {
		t.Error("it is to run again before it was withdrawn")
	}
	for of, known := range map[*Journal]int{first: 7, second: 9} {
		if err := of.Retry(known, failed); err != nil {
			t.Fatal(err)
		}
	}
	revised := first.Revised()
	if _, err := first.Refresh(); err != nil {
		t.Fatal(err)
	}
	if first.Revised() == revised {
		t.Error("a larger number of proposals is no revision")
	}
	good := failed
	good.Trial = &record.Trial{Index: 3, Points: []record.Point{}, Status: "evaluated", Ended: 4, After: 2}
	if err := first.Append(good); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		j := open()
		r, found := j.Retried("trial")
		line, done := j.Done("trial")
		if want := (record.Retry{Known: 9, Ended: 4, After: 2}); !found || r != want || !done || line.Attempt != 1 || !line.Failure().IsZero() {
			t.Errorf("%+v, %+v", r, line)
		}
		files, err := filepath.Glob(filepath.Join(dir, "journal", "*.jsonl"))
		if err != nil || len(files) != 2 {
			t.Fatal(files, err)
		}
		swap(t, files[0], files[1])
	}
}

// swap exchanges two files.
func swap(t *testing.T, one, other string) {
	t.Helper()
	for _, names := range [][2]string{{one, one + ".moved"}, {other, one}, {one + ".moved", other}} {
		if err := os.Rename(names[0], names[1]); err != nil {
			t.Fatal(err)
		}
	}
}
