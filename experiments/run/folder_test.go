package run

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/journal"
	"github.com/gpc-tune/gpc-tune/experiments/plan/plantest"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/search/schedule"
)

// The progress of a run says how to go on, and how to run failed jobs again, if there are any.
func TestProgressSaysHowToGoOn(t *testing.T) {
	p := plantest.Planned(t, crabs30+"model: {kernel: se, likelihood: probit, inference: laplace}\ntune: none\nevaluate: {kfold: {k: 2}}\n")
	fit := func(study int, failure string) record.Line {
		f := &record.Fit{Study: study, Chosen: -1, Natural: []record.Number{1, 1}, TrainCounts: []int{1, 1}}
		if failure != "" {
			f.Failure = cause.Failure.New("%s", failure)
		}
		return record.Line{Plan: p.Manifest.Key, Key: p.Manifest.Configurations[0].Studies[study].Key, Fit: f}
	}
	const ours, theirs = "gpc-tune run a.yaml -o D --resume --set seed=3", `experiments.Run(ctx, plan, "D", experiments.Options{Resume: true}) in example.com/own`
	const retry = `experiments.Run(ctx, plan, "D", experiments.Options{Resume: true, Retry: true}) in example.com/own`
	for _, c := range []struct {
		lines                []record.Line
		program, next, again string
	}{
		{nil, "", ours, ""}, {[]record.Line{fit(0, "")}, "", ours, ""}, {[]record.Line{fit(0, "lost")}, "", ours, ours + " --retry-failed"},
		{nil, "example.com/own", theirs, ""}, {[]record.Line{fit(0, "lost")}, "example.com/own", theirs, retry},
		{[]record.Line{fit(0, ""), fit(1, "lost"), fit(2, "lost")}, "", "gpc-tune report D", ours + " --retry-failed"},
		{[]record.Line{fit(0, ""), fit(1, "lost"), fit(2, "lost")}, "example.com/own", "gpc-tune report D", retry},
	} {
		m := p.Manifest
		m.Source, m.Settings, m.Build.Program = "a.yaml", []string{"seed=3"}, c.program
		got, err := (&Folder{Dir: "D", Manifest: m, Lines: c.lines}).Progress()
		if err != nil || got.Next != c.next || got.Retry != c.again {
			t.Errorf("%d lines: %+v, %v, want %q and %q", len(c.lines), got, err, c.next, c.again)
		}
	}
}

// A report deletes the figures that it had written and no longer draws. Figures that have changed
// since, or are no files any more, stay, and so do all other files.
func TestFiguresNoLongerDrawnAreDeleted(t *testing.T) {
	p := plantest.Planned(t, crabs30+"model: {kernel: se, likelihood: probit, inference: laplace}\ntune: none\nevaluate: {training: {}}\n")
	dir := t.TempDir()
	if _, _, err := Run(t.Context(), p, dir, quiet(t)); err != nil {
		t.Fatal(err)
	}
	folder, err := ReadFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	draw := func() (names []string) {
		t.Helper()
		report, err := folder.Report()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := folder.Write(report, []string{"svg"}); err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(dir, "figures", "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			names = append(names, filepath.Base(f))
		}
		return names
	}
	at := func(name string) string { return filepath.Join(dir, "figures", name) }
	all := slices.DeleteFunc(draw(), func(name string) bool { return name == ownName })
	if len(all) < 4 {
		t.Fatalf("drawn: %q", all)
	}
	if err := os.WriteFile(at("mine.svg"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	kept := strings.TrimSuffix(all[0], ".svg")
	for _, list := range []string{"", "null", "no list", "{}"} { // a list that says nothing
		if err := os.WriteFile(at(ownName), []byte(list), 0o666); err != nil {
			t.Fatal(err)
		}
		if again := draw(); !slices.Contains(again, ownName) || len(again) != len(all)+2 {
			t.Errorf("after %q there are %q", list, again)
		}
	}
	if err := os.WriteFile(at(all[1]), []byte("changed"), 0o666); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(at(all[2]))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "elsewhere"), text, 0o666)
	}
	if err == nil {
		err = os.Remove(at(all[2]))
	}
	if err == nil {
		err = os.Symlink(filepath.Join(dir, "elsewhere"), at(all[2]))
	}
	if err == nil {
		err = os.Remove(at(all[3]))
	}
	if err != nil {
		t.Fatal(err)
	}
	folder.Manifest.Figures = []string{kept}
	want := slices.Sorted(slices.Values([]string{all[0], all[1], all[2], "mine.svg", ownName}))
	if got := draw(); !slices.Equal(slices.Sorted(slices.Values(got)), want) {
		t.Errorf("%q, want %q", got, want)
	}
	if text, err := os.ReadFile(at(ownName)); err != nil || strings.Count(string(text), ".svg") != 1 || !strings.Contains(string(text), all[0]) {
		t.Errorf("%s, %v", text, err)
	}
}

// Someone who follows a run gets another content only when there is something new. A line that
// cannot be read is an error every time.
func TestFollowing(t *testing.T) {
	p, dir := plantest.Planned(t, small), t.TempDir()
	j, err := Begin(p, dir, p.Search(), quiet(t))
	if err != nil {
		t.Fatal(err)
	}
	f := Follower{Dir: dir}
	first, err := f.Read()
	if err != nil || len(first.Lines) > 0 {
		t.Fatalf("%+v, error %v", first, err)
	}
	if again, err := f.Read(); err != nil || again != first {
		t.Errorf("nothing is new: %+v, error %v", again, err)
	}
	if err := errors.Join(j.Append(failed(p)), j.Close()); err != nil {
		t.Fatal(err)
	}
	if next, err := f.Read(); err != nil || next == first || len(next.Lines) != 1 {
		t.Errorf("after a job: %+v, error %v", next, err)
	}
	unknown := journal.Seal([]byte(`{"of_a_later_version": 1}`))
	if err := os.WriteFile(filepath.Join(dir, "journal", "a.jsonl"), unknown, 0o666); err != nil {
		t.Fatal(err)
	}
	for k := range 2 {
		if got, err := f.Read(); !errors.Is(err, ErrFolder) || !strings.Contains(err.Error(), "a.jsonl:1") {
			t.Errorf("read %d: %+v, error %v", k, got, err)
		}
	}
}

// Studies are admitted that fit into the limit, or without one into the free memory.
func TestAdmission(t *testing.T) {
	of := func(bytes int64) []schedule.Study {
		return []schedule.Study{{Key: "a", Memory: 1}, {Key: "b", Index: 1, Memory: bytes}}
	}
	for _, c := range []struct {
		memory, limit int64
		fits          bool
	}{{100, 100, true}, {101, 100, false}, {1, 1, true}, {2, 1, false}, {1 << 20, 0, true}} {
		if err := Admit(of(c.memory), c.limit); (err == nil) != c.fits {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
