package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/search"
)

// quietInterval is the interval between progress lines without a terminal.
const quietInterval = 10 * time.Second

// progress shows the progress of a run: on a terminal a bar with failures, the best value so far,
// and the time left; otherwise a line at intervals.
type progress struct {
	w         io.Writer
	bar       *progressbar.ProgressBar // nil if w is not a terminal
	last      time.Time                // of the last line
	objective string                   // of all configurations; empty: their values are not comparable
}

// of takes the name of the objective from the configurations, if all have the same objective and
// data.
func (p *progress) of(all []reports.ConfigurationRecord) {
	for i, c := range all {
		if c.Objective != all[0].Objective || c.DataHash != all[0].DataHash {
			p.objective = ""
			return
		}
		if i == 0 {
			p.objective = reports.Configuration{Objective: c.Objective}.Maximised()
		}
	}
}

func newProgress(w io.Writer) *progress {
	p := &progress{w: w, last: time.Now()}
	if o, ok := w.(*output); ok && o.terminal {
		p.bar = progressbar.NewOptions(1, // until the first event
			progressbar.OptionSetWriter(o.to), // without escaping
			progressbar.OptionSetDescription("jobs"),
			progressbar.OptionShowCount(),
			progressbar.OptionSetPredictTime(false), // described adds a labelled time left instead
			progressbar.OptionFullWidth(),
			progressbar.OptionThrottle(100*time.Millisecond),
			progressbar.OptionClearOnFinish(),
			progressbar.OptionUseANSICodes(os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"),
		)
	}
	return p
}

// event is called by the scheduler, one call at a time.
func (p *progress) event(e search.Event) {
	if p.bar != nil {
		p.bar.ChangeMax(e.Total)
		p.bar.Describe(p.described(e))
		_ = p.bar.Set(e.Done + e.Skipped) // an error of the terminal must not stop the run
		return
	}
	if time.Since(p.last) < quietInterval || e.Done == 0 {
		return
	}
	p.last = time.Now()
	fmt.Fprintf(p.w, "%d of %d %s\n", e.Done+e.Skipped, e.Total, p.described(e))
}

// described describes the progress: failures, the best value so far, rate and time left.
func (p *progress) described(e search.Event) string {
	text := fmt.Sprintf("jobs, %d failed", e.Failed)
	if e.Best != nil && p.objective != "" {
		text += fmt.Sprintf(", best %s so far %s (#%d)", p.objective, reports.Readable(e.Best.Value),
			e.Best.Configuration)
	}
	if e.Done > 0 && e.Rate > 0 {
		left := time.Duration(float64(e.Total-e.Done-e.Skipped) / e.Rate * float64(time.Second))
		text += fmt.Sprintf(", %.2g jobs/s, %s left", e.Rate, left.Round(time.Second))
	}
	return text
}

func (p *progress) finish() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
