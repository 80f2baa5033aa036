package reports

import (
	_ "embed" // the script of the page
	"io"
)

//go:embed html/live.js
var liveScript string

// fileSet is a file of a report, or with Names one for every figure.
type fileSet struct {
	Pattern string
	Names   []string
}

// LivePolicy is the content security policy of Live.WriteHTML, which report.html keeps to as well: nothing is loaded but from
// where the page comes from, and no scripts run but those of the page.
var LivePolicy = policy(pageScript, liveScript) + "; connect-src 'self'"

// Live is how far a run is, for a page that is open while it goes on.
type Live struct {
	Version string    `json:"version"` // of what is on record, and of its report
	Title   string    `json:"title"`   // the experiment, or the folder as long as it has none
	Class   string    `json:"class"`   // calm, warn or bad
	Text    []string  `json:"text"`    // for people; empty if the run is finished
	Status  *Progress `json:"status"`  // null: nothing is on record yet
}

// NewLive makes the Live of a run with this progress, nil as long as there is none. Trouble is why there is nothing new, or
// nothing at all.
func NewLive(version, dir string, p *Progress, trouble string) Live {
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
		l.Text = append(p.sentences(), "if it was stopped: "+p.Next)
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
func (l Live) WriteJSON(w io.Writer) error { return writeJSON(w, l) }

// WriteHTML writes the page of report.html, headed by the Live, with a script that keeps it up to date from where it comes
// from: status.json, which is WriteJSON with the version as its entity tag, and the page itself. A report of nil is none yet.
func (l Live) WriteHTML(w io.Writer, r *Report) error {
	waiting := r == nil
	if waiting {
		r = &Report{Experiment: l.Title}
	}
	p := newPage(r, pageScript, liveScript)
	p.Policy, p.Live, p.Waiting = LivePolicy, &l, waiting
	if r.Missing > 0 && len(l.Text) > 0 {
		p.Alerts = p.Alerts[1:] // the Live says so
	}
	for _, f := range Formats {
		set := fileSet{Pattern: f.File}
		if f.Draw != nil && !waiting {
			for _, file := range f.Files(r) {
				set.Names = append(set.Names, file.Name)
			}
		}
		if f.File != "" && (f.Draw == nil || len(set.Names) > 0) {
			p.Files = append(p.Files, set)
		}
	}
	return pageTemplate.Execute(w, p)
}
