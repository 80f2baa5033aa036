package page

import (
	"io"

	"github.com/gpc-tune/gpc-tune/reports"
)

// fileSet is a file of a report, or with Names one for every figure.
type fileSet struct {
	Pattern string
	Names   []string
}

// Live is the progress of a run, for a page that is open while the run goes on.
type Live struct {
	Version string            `json:"version"` // version of the record and of its report
	Title   string            `json:"title"`   // the experiment, or the folder as long as it has none
	Class   string            `json:"class"`   // calm, warn or bad
	Text    []string          `json:"text"`    // for people; empty if the run is finished
	Status  *reports.Progress `json:"status"`  // null: nothing is on record yet
}

// NewLive makes the Live of a run with this progress, nil as long as there is none. trouble is the
// reason why there is nothing new, or no report at all; empty: there is none.
func NewLive(version, dir string, p *reports.Progress, trouble string) Live {
	l := Live{Version: version, Title: dir, Class: "calm", Text: []string{}, Status: p}
	if p != nil {
		l.Title = p.Experiment
	}
	switch {
	case trouble != "" && p != nil:
		l.Class, l.Text = "bad", []string{trouble, "This page shows what was there before, and waits."}
	case trouble != "":
		l.Class, l.Text = "warn", []string{trouble, "This page waits for the run."}
	case !p.Finished:
		l.Text = append(p.Sentences(), "if it was stopped: "+p.Next)
	}
	return l
}

// Done is the part of the known jobs that are done.
func (l Live) Done() float64 {
	if l.Status == nil || l.Status.Known == 0 {
		return 0
	}
	return float64(l.Status.Done) / float64(l.Status.Known)
}

// WriteJSON writes the Live for the script of the page, and other programs.
func (l Live) WriteJSON(w io.Writer) error { return reports.WriteJSON(w, l) }
