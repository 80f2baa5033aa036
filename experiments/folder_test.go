package experiments

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/plan/plantest"
	"github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/search/schedule"
)

// A report deletes from figures/ only files that the last report listed and that are unchanged
// since.
func TestReportDeletesOnlyWhatReportsWrote(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	if _, _, err := run.Run(t.Context(), plantest.Planned(t, "illustrate: [prior]\nmodel: {kernel: [se, matern12]}\nreport: {formats: [svg]}\n"), dir, run.Options{Warn: t.Logf, Options: schedule.Options{Workers: 1}}); err != nil {
		t.Fatal(err)
	}
	figures := filepath.Join(dir, "figures")
	names := func() (names []string) {
		entries, err := os.ReadDir(figures)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	own := names()
	list := map[string]string{}
	text, err := os.ReadFile(filepath.Join(figures, "written.json"))
	if err != nil || json.Unmarshal(text, &list) != nil || len(list) != len(own)-1 {
		t.Fatalf("%s lists %v of %v, %v", "written.json", list, own, err)
	}
	for name, hash := range list {
		text, err := os.ReadFile(filepath.Join(figures, name))
		if err != nil || fmt.Sprintf("%x", sha256.Sum256(text)) != hash {
			t.Errorf("%s: %v, or another hash", name, err)
		}
	}
	put := func(name, text string) {
		if err := os.WriteFile(filepath.Join(figures, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	hash := func(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }
	for _, name := range []string{"gone.svg", "changed.svg", "theirs.svg", "notes.txt", "gone.png", "../outside.svg"} {
		put(name, name)
		list[name] = hash(name)
	}
	delete(list, "theirs.svg")
	if err := os.Symlink("theirs.svg", filepath.Join(figures, "link.svg")); err != nil {
		t.Fatal(err)
	}
	put("changed.svg", "by the user")
	list["link.svg"], list["absent.svg"] = hash("theirs.svg"), hash("")
	if text, err = json.Marshal(list); err != nil {
		t.Fatal(err)
	}
	put("written.json", string(text))
	report := func(formats ...string) {
		folder, err := run.ReadFolder(dir)
		if err != nil {
			t.Fatal(err)
		}
		r, err := folder.Report()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := folder.Write(r, formats); err != nil {
			t.Fatal(err)
		}
	}
	report("svg")
	want := append(slices.Clone(own), "changed.svg", "theirs.svg", "notes.txt", "gone.png", "link.svg")
	if slices.Sort(want); !slices.Equal(names(), want) {
		t.Errorf("%v are left, want %v", names(), want)
	}
	if _, err := os.Stat(filepath.Join(dir, "outside.svg")); err != nil {
		t.Error(err)
	}
	if err := os.Remove(filepath.Join(figures, "written.json")); err != nil {
		t.Fatal(err)
	}
	report("svg") // as in a run from before the list existed
	if !slices.Equal(names(), want) {
		t.Errorf("without a list %v are left, want %v", names(), want)
	}
}
