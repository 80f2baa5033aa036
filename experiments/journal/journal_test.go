package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/record"
)

// someLines returns n lines with values and characters that are hard to encode.
func someLines(n int) []record.Line {
	lines := make([]record.Line, n)
	for i := range lines {
		p := record.Point{Theta: record.Numbers([]float64{math.Copysign(0, -1), math.Pi * float64(i), 5e-324}), Natural: record.Numbers([]float64{math.Inf(1)}),
			Value: record.Number(math.NaN()), Gradient: record.Number(math.Inf(-1)), Scores: map[string]record.Number{"b": 1, "a": 0.1}, Failure: cause.Failure.New("a \"quoted\"\nline <&> é")}
		lines[i] = record.Line{Key: fmt.Sprintf("key-%03d", i), Trial: &record.Trial{Index: i, Points: []record.Point{p}}, Seconds: float64(i)}
	}
	lines[n-1].Trial, lines[n-1].Fit = nil, &record.Fit{Chosen: 1, Natural: record.Numbers([]float64{1}), TrainCounts: []int{3, 4}, Proba: [][]record.Number{{0.25, 0.75}}}
	return lines
}

// canonical encodes lines without their times. The result must not depend on the process, the order
// or the time of a run.
func canonical(lines []record.Line) string {
	var b bytes.Buffer
	for _, l := range lines {
		l.Seconds = 0
		b.Write(encodeLine(l))
	}
	return b.String()
}

func mustOpen(t testing.TB, dir string) *Journal {
	t.Helper()
	j, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

func mustAppend(t testing.TB, j *Journal, lines ...record.Line) {
	t.Helper()
	for _, l := range lines {
		if err := j.Append(l); err != nil {
			t.Fatal(err)
		}
	}
}

// segments lists the files of a journal.
func segments(t testing.TB, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "journal", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestJournalRoundTrip(t *testing.T) {
	for _, dir := range []string{"", filepath.Join(t.TempDir(), "run")} {
		lines := someLines(5)
		j := mustOpen(t, dir)
		if len(j.Lines()) != 0 || dir != "" && segments(t, dir) != nil {
			t.Error("a new journal is not empty")
		}
		for _, i := range []int{3, 0, 4, 2, 1} {
			mustAppend(t, j, lines[i])
		}
		mustAppend(t, j, lines[2]) // a repeated line changes nothing
		if got := canonical(j.Lines()); got != canonical(lines) {
			t.Errorf("dir %q: got %s, want %s", dir, got, canonical(lines))
		}
		if dir == "" {
			continue
		}
		again := mustOpen(t, dir)
		if !reflect.DeepEqual(canonical(again.Lines()), canonical(lines)) || len(again.Damaged()) != 0 {
			t.Errorf("read back: %s", canonical(again.Lines()))
		}
		for _, l := range lines {
			if got, found := again.Done(l.Key); !found || got.Seconds != l.Seconds || canonical([]record.Line{got}) != canonical([]record.Line{l}) {
				t.Errorf("Done(%s) = %v, %t", l.Key, got, found)
			}
		}
		if _, found := again.Done("nothing"); found {
			t.Error("an unknown job is done")
		}
		text, err := os.ReadFile(segments(t, dir)[0])
		if err != nil || bytes.Count(text, []byte("\n")) != len(lines) {
			t.Errorf("the segment has %d lines, want %d (%v)", bytes.Count(text, []byte("\n")), len(lines), err)
		}
	}
}

// Lines in memory equal the lines that a reader of the file gets, even if a text is not valid
// UTF-8.
func TestJournalHoldsWhatItWrites(t *testing.T) {
	dir := t.TempDir()
	j := mustOpen(t, dir)
	mustAppend(t, j, record.Line{Key: "k", Trial: &record.Trial{Failure: cause.Failure.New("cannot read \xff")}})
	if live, read := canonical(j.Lines()), canonical(mustOpen(t, dir).Lines()); live != read {
		t.Errorf("in memory %q, on disk %q", live, read)
	}
}

// TestJournalTornAnywhere cuts the segment at every byte of its last line: the job is missing, and running it again
// in a new segment completes the journal.
func TestJournalTornAnywhere(t *testing.T) {
	lines := someLines(3)
	var whole []byte
	for _, l := range lines {
		whole = append(whole, encodeLine(l)...)
	}
	last := len(whole) - len(encodeLine(lines[2]))
	for cut := last; cut <= len(whole); cut++ {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "journal"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "journal", "crashed.jsonl"), whole[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		j := mustOpen(t, dir)
		_, found := j.Done(lines[2].Key)
		torn := cut > last && cut < len(whole)
		if found != (cut == len(whole)) || (len(j.Damaged()) == 1) != torn || len(j.Lines()) < 2 {
			t.Fatalf("cut at byte %d of %d: found %t, torn %d", cut-last, len(whole)-last, found, len(j.Damaged()))
		}
		if cut%16 == 0 || cut == len(whole)-1 { // each syncs the disk
			mustAppend(t, j, lines[2])
			if again := mustOpen(t, dir); canonical(again.Lines()) != canonical(lines) {
				t.Fatalf("cut at byte %d of %d: not mended by running the job again", cut-last, len(whole)-last)
			}
			if text, _ := os.ReadFile(filepath.Join(dir, "journal", "crashed.jsonl")); !bytes.Equal(text, whole[:cut]) {
				t.Fatal("an old segment was written to")
			}
		}
	}
}

// A line that was changed is dropped with a reason, and the lines around it are kept. A line with a valid checksum
// that cannot be read is an error: another version wrote it.
func TestJournalLostBlocks(t *testing.T) {
	lines := someLines(3)
	good, other := string(encodeLine(lines[0])), string(encodeLine(lines[1]))
	bad := strings.Repeat("\x00", 40)
	seal := func(text string) string { return string(Seal([]byte(text))) }
	none, wrong := "damaged: it has no checksum", "damaged: its checksum is not that of its bytes"
	for _, c := range []struct {
		text    string
		lines   int
		damaged []string
		want    string
	}{
		{"", 0, nil, ""},
		{good + bad, 1, []string{"seg:2: cut off, or being written"}, ""},
		{good + bad + "}\n", 1, []string{"seg:2: " + none}, ""}, // the last line, without its beginning
		{good + bad + "}\n" + other, 2, []string{"seg:2: " + none}, ""},
		{good + other[:len(other)/2] + good + other, 2, []string{"seg:2: " + wrong}, ""}, // torn in the middle
		{good + "\n" + other, 2, []string{"seg:2: " + none}, ""},
		{good[:len(good)-1] + other, 0, []string{"seg:1: " + wrong}, ""}, // two lines merged
		{good[:30] + "\n" + good[30:] + other, 1, []string{"seg:1: " + none, "seg:2: " + wrong}, ""},
		{bad + "\n" + good, 1, []string{"seg:1: " + none}, ""},
		{"\x7fELF\x02\x01\n\xff\xfe\n" + good + "\xde\xad", 1, []string{"seg:1: " + none, "seg:2: " + none, "seg:4: cut off, or being written"}, ""},
		{good + strings.Replace(other, `"sum"`, `"Sum"`, 1), 1, []string{"seg:2: " + none}, ""},
		{good + strings.Replace(other, `"key"`, `"Key"`, 1), 1, []string{"seg:2: " + wrong}, ""},
		{good + strings.Replace(other, `{`, `{"key":"twice",`, 1), 1, []string{"seg:2: " + wrong}, ""},
		{good + strings.Replace(other, "\n", "\r\n", 1), 1, []string{"seg:2: " + none}, ""},
		{good + `{"key":"k","trial":{"points":[]},"seconds":0}` + "\n" + other, 2, []string{"seg:2: " + none}, ""},
		{good + seal(`{"key":"k","seconds":0}`), 1, nil, "seg:2: not a line"},
		{good + seal(`{"key":"","trial":{"points":[]},"seconds":0}`), 1, nil, "seg:2: not a line"},
		{good + seal(`{"key":"k","trial":{"points":[]},"colour":1,"seconds":0}`), 1, nil, `seg:2: not a line of a journal: json: unknown field "colour"; another version of gpc-tune wrote it`},
	} {
		j := mustOpen(t, "")
		err := j.read(strings.NewReader(c.text), "seg")
		if len(j.Lines()) != c.lines || !slices.Equal(j.Damaged(), c.damaged) {
			t.Errorf("%q: %d lines, damaged %v; want %d, %v", c.text, len(j.Lines()), j.Damaged(), c.lines, c.damaged)
		}
		if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, ErrJournal) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
}

// Changing, removing or adding any single byte of a segment is reported as damage, and the lines that are kept are as
// written.
func TestJournalEveryByte(t *testing.T) {
	lines := someLines(3)
	var whole []byte
	written := map[string]string{}
	for _, l := range lines {
		whole = append(whole, encodeLine(l)...)
		written[l.Key] = canonical([]record.Line{l})
	}
	try := func(what string, at int, text []byte) {
		j := mustOpen(t, "")
		if err := j.read(bytes.NewReader(text), "seg"); err != nil {
			t.Fatalf("%s %d: %v", what, at, err)
		}
		if len(j.Damaged()) == 0 {
			t.Errorf("%s %d: nobody is told", what, at)
		}
		for _, l := range j.Lines() {
			if canonical([]record.Line{l}) != written[l.Key] {
				t.Errorf("%s %d: job %s is %s", what, at, l.Key, canonical([]record.Line{l}))
			}
		}
	}
	for at := range whole {
		for bit := range 8 {
			text := bytes.Clone(whole)
			text[at] ^= 1 << bit
			try("bit flipped at byte", at, text)
		}
		try("lost byte", at, slices.Delete(bytes.Clone(whole), at, at+1))
		for _, b := range []byte("\n \"0,x\x00") {
			try("byte added at", at, slices.Insert(bytes.Clone(whole), at, b))
		}
	}
}

// A line is damaged if it has no checksum, if the checksum belongs to other bytes, or if the check
// refuses the line.
func TestLinesWithoutChecksums(t *testing.T) {
	lines := someLines(3)
	bare, err := json.Marshal(lines[0])
	if err != nil {
		t.Fatal(err)
	}
	sealed := string(encodeLine(lines[1]))
	j, err := Open("", Options{Check: func(l record.Line) error {
		if l.Key == lines[2].Key {
			return errors.New("a label of 7")
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := j.read(strings.NewReader(string(bare)+"\n"+sealed+strings.Replace(sealed, "key-001", "key-101", 1)+strings.Replace(sealed, `"sum":`, `"sum": `, 1)+string(encodeLine(lines[2]))), "seg"); err != nil {
		t.Fatal(err)
	}
	want := []string{"seg:1: damaged: it has no checksum", "seg:3: damaged: its checksum is not that of its bytes", "seg:4: damaged: it has no checksum", "seg:5: damaged: a label of 7"}
	if got := j.Damaged(); !slices.Equal(got, want) || len(j.Lines()) != 1 {
		t.Errorf("damaged: %q, want %q; %d lines", got, want, len(j.Lines()))
	}
}

// A job that is withdrawn is run again; the highest attempt counts, in whatever order segments are read.
func TestJournalAttempts(t *testing.T) {
	line := func(attempt, value int) record.Line {
		return record.Line{Key: "k", Attempt: attempt, Trial: &record.Trial{Points: []record.Point{}, Evaluations: value}}
	}
	all := []record.Line{line(0, 1), {Key: "k", Attempt: 1}, line(1, 2), {Key: "k", Attempt: 2}, line(2, 3)}
	for n, want := range []int{1, 0, 2, 0, 3} {
		for _, backwards := range []bool{false, true} {
			some := slices.Clone(all[:n+1])
			if backwards {
				slices.Reverse(some)
			}
			j := mustOpen(t, "")
			for i, l := range some {
				if err := j.add(entry{l, "seg", i}); err != nil {
					t.Fatal(err)
				}
			}
			got, found := j.Done("k")
			if found != (want > 0) || found && got.Trial.Evaluations != want {
				t.Errorf("%d lines, backwards %t: found %t, %+v; want %d", n+1, backwards, found, got.Trial, want)
			}
		}
	}
	dir := t.TempDir()
	a, b := mustOpen(t, dir), mustOpen(t, dir)
	mustAppend(t, a, line(0, 1))
	if _, err := b.Refresh(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(a.Withdraw("k"), b.Withdraw("k")); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, a, line(0, 5))
	mustAppend(t, b, line(0, 5))
	if got, _ := mustOpen(t, dir).Done("k"); got.Attempt != 1 || got.Trial.Evaluations != 5 {
		t.Errorf("withdrawn by two processes: %+v", got)
	}
}

func TestJournalDuplicates(t *testing.T) {
	lines := someLines(3)
	dir := t.TempDir()
	a, b := mustOpen(t, dir), mustOpen(t, dir) // two processes
	mustAppend(t, a, lines[0], lines[1])
	later := lines[1]
	later.Seconds = 99
	mustAppend(t, b, later, lines[2])
	if got := mustOpen(t, dir); canonical(got.Lines()) != canonical(lines) {
		t.Errorf("the union is %s", canonical(got.Lines()))
	}
	other := lines[0]
	trial := *other.Trial
	trial.Evaluations++
	other.Trial = &trial
	if err := a.Append(other); !errors.Is(err, ErrJournal) {
		t.Errorf("a second result in one process: %v", err)
	}
	mustAppend(t, b, other)
	_, err := Open(dir, Options{})
	names := segments(t, dir)
	if len(names) != 2 || !errors.Is(err, ErrJournal) || !strings.Contains(err.Error(), names[0]+":1") || !strings.Contains(err.Error(), names[1]+":3") {
		t.Errorf("two results of one job in %v: %v", names, err)
	}
}

func TestJournalWriteFailureStays(t *testing.T) {
	lines := someLines(3)
	dir := t.TempDir()
	j := mustOpen(t, dir)
	mustAppend(t, j, lines[0])
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := j.Append(lines[1]); !errors.Is(err, ErrJournal) || !errors.Is(err, fs.ErrClosed) {
			t.Errorf("Append to a closed journal: %v", err)
		}
	}
	if _, found := j.Done(lines[1].Key); found {
		t.Error("a job that could not be written counts as done")
	}
	if err := os.WriteFile(filepath.Join(dir, "plain"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(filepath.Join(dir, "plain"), Options{}); !errors.Is(err, ErrJournal) {
		t.Errorf("a file for a folder: %v", err)
	}
	blocked := t.TempDir()
	k := mustOpen(t, blocked)
	if err := os.WriteFile(filepath.Join(blocked, "journal"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := k.Append(lines[0]); !errors.Is(err, ErrJournal) {
		t.Errorf("no folder for segments: %v", err)
	}
}

func TestManifest(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "run")
	if _, err := ReadManifest(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no manifest: %v", err)
	}
	m := record.Manifest{Experiment: "crabs", Seed: math.MaxUint64, Key: "k", Configurations: []record.Configuration{{Dataset: "crabs", Studies: []record.Study{{Key: "s"}}}}}
	if err := WriteManifest(dir, m, ""); err != nil {
		t.Fatal(err)
	}
	got, err := ReadManifest(dir)
	m.Schema = ManifestSchema
	if err != nil || !reflect.DeepEqual(got, m) {
		t.Errorf("read back %v, %v; want %v", got, err, m)
	}
	if err := WriteManifest(dir, m, ""); !errors.Is(err, fs.ErrExist) {
		t.Errorf("written twice: %v", err)
	}
	extended := m
	extended.Key = "more"
	if err := WriteManifest(dir, extended, "another"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("in place of another: %v", err)
	}
	if err := WriteManifest(dir, extended, "k"); err != nil {
		t.Error(err)
	}
	if got, err := ReadManifest(dir); err != nil || got.Key != "more" {
		t.Errorf("after an extension: %v, %v", got, err)
	}
	if err := os.Rename(filepath.Join(dir, "manifest-k.json"), filepath.Join(dir, "manifest.json")); err != nil {
		t.Error(err)
	}
	if got, err := ReadManifest(dir); err != nil || !reflect.DeepEqual(got, m) {
		t.Errorf("kept: %v, %v", got, err)
	}
	if names, _ := filepath.Glob(filepath.Join(dir, "*")); !slices.Equal(names, []string{filepath.Join(dir, "manifest.json")}) {
		t.Errorf("left behind: %v", names)
	}
	sealed, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	bare := string(sealed[:len(sealed)-sumLength]) + "}\n"
	older, newer := strings.Replace(bare, "manifest/5", "manifest/4", 1), strings.Replace(bare, "manifest/5", "manifest/6", 1)
	for _, c := range []struct {
		text    string
		damaged bool
	}{
		{``, true}, {`{`, true}, {`{}`, true}, {`{"schema":"gpc-tune/manifest/5"}`, true}, {bare, true},
		{older, false}, {string(Seal([]byte(older))), false}, {newer, false}, {string(Seal([]byte(newer))), false},
	} {
		if _, err := decodeManifest([]byte(c.text)); err == nil || errors.Is(err, ErrDamaged) != c.damaged {
			t.Errorf("%q is read as a manifest, or not told as it is: %v", c.text, err)
		}
	}
	for at := range sealed {
		for bit := range 8 {
			text := bytes.Clone(sealed)
			text[at] ^= 1 << bit
			if _, err := decodeManifest(text); !errors.Is(err, ErrDamaged) {
				t.Errorf("bit %d of byte %d: %v", bit, at, err)
			}
		}
		if _, err := decodeManifest(slices.Delete(bytes.Clone(sealed), at, at+1)); !errors.Is(err, ErrDamaged) {
			t.Errorf("without byte %d: %v", at, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "manifest.json"), sealed[1:], 0o644); err != nil {
		t.Fatal(err)
	}
	if err := WriteManifest(dir, m, Unreadable); err != nil {
		t.Error(err)
	}
	if kept, err := os.ReadFile(filepath.Join(dir, "manifest-damaged.json")); err != nil || !bytes.Equal(kept, sealed[1:]) {
		t.Errorf("the damaged one is not kept: %v", err)
	}
	if got, err := ReadManifest(dir); err != nil || !reflect.DeepEqual(got, m) {
		t.Errorf("in place of a damaged one: %+v, %v", got, err)
	}
}

// FuzzJournal reads arbitrary segments. Lines that are accepted are the same when written and read again, and a cut
// at any byte of the rewritten segment loses only the lines after it.
func FuzzJournal(f *testing.F) {
	var whole []byte
	for _, l := range someLines(3) {
		whole = append(whole, encodeLine(l)...)
	}
	f.Add(whole, 0)
	f.Add(whole[:len(whole)-5], 100)
	f.Add(bytes.Replace(whole, []byte("key-001"), []byte("key-000"), 1), 3)
	f.Add(append(Seal([]byte("{\"key\":\"k\",\"trial\":{\"points\":null},\"seconds\":1e5}")), 10), 7)
	f.Add([]byte("\n{}\n\x00"), 1)
	f.Fuzz(func(t *testing.T, segment []byte, cut int) {
		j, _ := Open("", Options{})
		if err := j.read(bytes.NewReader(segment), "fuzz"); err != nil {
			if !errors.Is(err, ErrJournal) {
				t.Errorf("not an ErrJournal: %v", err)
			}
			return
		}
		lines := j.Lines()
		var text []byte
		for _, l := range lines {
			text = append(text, encodeLine(l)...)
		}
		again, _ := Open("", Options{})
		if err := again.read(bytes.NewReader(text), "again"); err != nil || len(again.Damaged()) != 0 || canonical(again.Lines()) != canonical(lines) {
			t.Fatalf("rewritten: %v, %d torn; got %s, want %s", err, len(again.Damaged()), canonical(again.Lines()), canonical(lines))
		}
		if len(text) == 0 {
			return
		}
		cut = int(uint(cut) % uint(len(text)))
		crashed, _ := Open("", Options{})
		whole := bytes.Count(text[:cut], []byte("\n"))
		if err := crashed.read(bytes.NewReader(text[:cut]), "crashed"); err != nil || len(crashed.Lines()) != whole {
			t.Fatalf("cut at %d: %v, %d lines, want %d", cut, err, len(crashed.Lines()), whole)
		}
	})
}

// Components are texts in the file, and come back with their meanings.
func TestComponentsOfAManifest(t *testing.T) {
	half := record.Number(0.5)
	damped := record.Component{Text: "{ep: {damping: 0.5}}", Node: record.Node{Parts: []record.Part{{Key: "ep", Node: record.Node{Parts: []record.Part{
		{Key: "damping", Node: record.Node{Word: "0.5", Number: &half}}}}}}}}
	m := record.Manifest{Key: "k", Configurations: []record.Configuration{{Label: record.Label{Kernel: record.Plain("se"), Inference: damped}}}}
	dir := t.TempDir()
	if err := WriteManifest(dir, m, ""); err != nil {
		t.Fatal(err)
	}
	again, err := ReadManifest(dir)
	if err != nil || !reflect.DeepEqual(again.Configurations[0].Label, m.Configurations[0].Label) {
		t.Errorf("%+v, %v, want %+v", again.Configurations, err, m.Configurations)
	}
}
