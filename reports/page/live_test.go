package page

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

// The page of a running experiment begins with its progress instead of what is missing; the rest
// equals report.html.
func TestLive(t *testing.T) {
	m, lines := reporttest.Run(t)
	r := reporttest.Build(t, m, lines)
	p, err := reports.BuildProgress(m, lines)
	if err != nil {
		t.Fatal(err)
	}
	p.Next = injected
	page := func(l Live, r *reports.Report) parsed {
		t.Helper()
		var out bytes.Buffer
		if err := l.WriteHTML(&out, r); err != nil {
			t.Fatal(err)
		}
		return parsePage(t, out.Bytes())
	}
	l := NewLive("7", "runs/toy", p, "")
	live, file := page(l, r), parsePage(t, Render(t, "html", r))
	var status bytes.Buffer
	if err := table.ProgressForms[0].Render(&status, p); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(status.String(), "toy: "+l.Text[0]+"\n"+l.Text[1]+"\n") || l.Text[2] != "if it was stopped: "+injected {
		t.Errorf("the page says %q, status %q", l.Text, status.String())
	}
	at := 0
	for _, text := range append(slices.Clone(l.Text), "Failures: 2 of 20 jobs") {
		if i := strings.Index(live.text, text); i < at {
			t.Errorf("%q is not where it should be", text)
		} else {
			at = i
		}
	}
	if want := append(slices.Clone(file.headings), "Files"); !slices.Equal(live.headings[:len(want)], want) || strings.Contains(live.text, "Incomplete") {
		t.Errorf("the headings are %q, those of report.html %q", live.headings, file.headings)
	}
	for _, f := range Formats {
		for _, file := range f.Files(r) {
			if slices.Contains(live.links, file.Name) != (file.Name != "") {
				t.Errorf("%s is linked to, or should be", file.Name)
			}
		}
	}
	if done := float64(p.Done) / float64(p.Known); l.Title != "toy" || l.Class != "calm" || l.Done() != done || done == 0 || done == 1 {
		t.Errorf("%+v", l)
	}

	l = NewLive("8", "runs/toy", p, "it is gone")
	if live = page(l, r); l.Class != "bad" || l.Text[0] != "it is gone" || !strings.Contains(live.text, "it is gone") || !slices.Contains(live.headings, "Results") {
		t.Errorf("in trouble: %+v", l)
	}
	l = NewLive("9", injected, nil, "there is nothing")
	if live = page(l, nil); l.Done() != 0 || !slices.Equal(live.headings, []string{injected}) || !strings.Contains(live.text, "there is nothing") || len(live.links) > 0 {
		t.Errorf("before the run: %+v, %q", l, live.text)
	}
	p.Finished = true
	if l = NewLive("10", "runs/toy", p, ""); len(l.Text) > 0 {
		t.Errorf("after the run: %+v", l)
	}
	if err := l.WriteHTML(failing{}, r); !errors.Is(err, errFailing) {
		t.Errorf("a write that fails: %v", err)
	}
}

var errFailing = errors.New("no room")

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errFailing }
