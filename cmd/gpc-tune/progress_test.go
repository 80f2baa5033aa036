package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/search/schedule"
)

// screenOf is the screen of a terminal with this number of columns, after a text with carriage
// returns. It fails if the text reaches the last column.
func screenOf(t *testing.T, text string, columns int) string {
	t.Helper()
	row := []rune(strings.Repeat(" ", columns))
	at := 0
	for _, r := range text {
		switch {
		case r == '\r':
			at = 0
		case at == columns-1:
			t.Fatalf("a line of more than %d columns: %q", columns-1, text)
		default:
			row[at] = r
			at++
		}
	}
	return strings.TrimRight(string(row), " ")
}

// At any width no line reaches the last column, the parts shown are complete, and the least
// important parts are left out first. A terminal that is resized is asked again.
func TestProgressFitsTheTerminal(t *testing.T) {
	event := schedule.Event{Summary: schedule.Summary{Done: 120, Skipped: 3, Failed: 2, Total: 444}, Rate: 3.21, Best: &schedule.Best{Value: -101.25, Configuration: 7}}
	best := ", best negative cv_log_loss " + reports.Readable(-101.25) + " (#7)"
	var written bytes.Buffer
	columns := 0
	p := &progress{w: &written, width: func() int { return columns }, objective: "negative cv_log_loss"}
	show := func() string {
		t.Helper()
		before := written.Len()
		p.last = time.Time{}
		p.event(event)
		return screenOf(t, written.String()[before:], columns)
	}
	for width, want := range map[int]string{
		40:  "123 of 444 jobs, 2 failed, 1m40s left",
		80:  "123 of 444 jobs, 2 failed" + best + ", 1m40s left",
		89:  "123 of 444 jobs, 2 failed" + best + ", 3.2 jobs/s, 1m40s left",
		120: "123 of 444 jobs, 2 failed" + best + ", 3.2 jobs/s, 1m40s left [",
		20:  "123 of 444 jobs",
		10:  "123 of 44",
		1:   "",
	} {
		columns = width
		got := show()
		if line, bar, _ := strings.Cut(got, " ["); line != strings.TrimSuffix(want, " [") || strings.HasSuffix(want, "[") != (bar != "") {
			t.Errorf("%d columns show %q, want %q", width, got, want)
		}
		if done := strings.Count(got, "="); width == 120 && (utf8.RuneCountInString(got) != 119 || done != 123*(119-len(want)-1)/444) {
			t.Errorf("a bar of %d: %q", done, got)
		}
	}
	event.Best, event.Done, event.Rate = nil, 0, 0
	for _, columns = range []int{120, 80, 40, 30, 3, 2, 1, 0, 200} { // resized
		if got := show(); !strings.HasPrefix(got, strings.TrimSpace("3 of 444 jobs"[:max(0, min(13, columns-1))])) || len(got) > max(0, columns-1) {
			t.Errorf("%d columns show %q", columns, got)
		}
	}
	before := written.Len()
	p.finish()
	if got := screenOf(t, strings.Repeat("x", columns-1)+written.String()[before:], columns); got != "" {
		t.Errorf("at the end there is %q", got)
	}
	written.Reset()
	quiet := &progress{w: &written}
	event.Done = 1
	quiet.event(event)
	quiet.finish()
	if got := written.String(); got != "4 of 444 jobs, 2 failed\n" {
		t.Errorf("without a terminal: %q", got)
	}
	written.Reset()
	for _, since := range []time.Duration{firstInterval / 2, firstInterval} { // since the beginning
		quiet = newProgress(&written)
		quiet.last = quiet.last.Add(-since)
		quiet.event(event)
		if some := written.Len() > 0; some != (since == firstInterval) {
			t.Errorf("after %v there is %q", since, written.String())
		}
	}
}
