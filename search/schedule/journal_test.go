package schedule

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/journal"
	"github.com/gpc-tune/gpc-tune/record"
)

// canonical formats journal lines without their times, so that equal results give equal text.
func canonical(lines []record.Line) string {
	var b strings.Builder
	for _, l := range lines {
		l.Seconds = 0
		text, err := json.Marshal(l)
		if err != nil {
			panic(err)
		}
		b.Write(append(text, '\n'))
	}
	return b.String()
}

func mustOpen(t testing.TB, dir string) *journal.Journal {
	t.Helper()
	j, err := journal.Open(dir, journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

// segments lists the files of a journal.
func segments(t testing.TB, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "journal", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// place returns where a line belongs: configuration, study, 0 for a trial or 1 for an assessment,
// index.
func place(line record.Line) [4]int {
	if t := line.Trial; t != nil {
		return [4]int{t.Configuration, t.Study, 0, t.Index}
	}
	return [4]int{line.Fit.Configuration, line.Fit.Study, 1, line.Fit.Chosen}
}
