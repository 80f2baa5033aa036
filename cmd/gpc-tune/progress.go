package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/gpc-tune/gpc-tune/internal/terminal"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/search/schedule"
)

// The intervals between progress lines, without a terminal and on one. Without a terminal the first
// line comes after firstInterval.
const quietInterval, shownInterval, firstInterval = 10 * time.Second, 100 * time.Millisecond, 2 * time.Second

// shortestBar is the least number of columns for a bar.
const shortestBar = 12

// progress shows the progress of a run with failures, the best value so far, and the time left: on
// a terminal in one line that is overwritten, otherwise as a line at intervals.
type progress struct {
	w         io.Writer
	width     func() int // the number of columns of the terminal, now; nil: w is no terminal
	last      time.Time  // time of the last line
	shown     int        // columns of the line on the terminal
	objective string     // objective of all configurations; empty: their values are not comparable
}

// of sets the objective, if all configurations have the same objective and data.
func (p *progress) of(all []record.Configuration) {
	for i, c := range all {
		if c.Objective != all[0].Objective || c.DataHash != all[0].DataHash {
			p.objective = ""
			return
		}
		if i == 0 {
			p.objective = reports.Configuration{Objective: c.Objective, Program: c.Program}.Maximised()
			if c.Program != nil && c.Program.Noise {
				p.objective = "measured " + p.objective
			}
		}
	}
}

func newProgress(w io.Writer) *progress {
	p := &progress{w: w, last: time.Now().Add(firstInterval - quietInterval)}
	if o, ok := w.(*output); ok && o.terminal {
		p.w, p.width, p.last = o.to, o.width, time.Time{} // the line is not escaped
	}
	return p
}

// event is called by the scheduler, one call at a time.
func (p *progress) event(e schedule.Event) {
	switch since := time.Since(p.last); {
	case p.width == nil && (since < quietInterval || e.Done == 0), since < shownInterval:
		return
	case p.width == nil:
		fmt.Fprintln(p.w, strings.Join(p.parts(e), ""))
	default:
		// An error of the terminal must not stop the run.
		p.show(fitting(p.parts(e), float64(e.Done+e.Skipped)/float64(max(1, e.Total)), p.width()-1))
	}
	p.last = time.Now()
}

// show overwrites the line of the terminal, without its last column: a terminal may continue a full
// line on the next one.
func (p *progress) show(line string) {
	n := terminal.Columns(line)
	rest := max(0, min(p.shown, p.width()-1)-n) // the terminal may have become narrower
	fmt.Fprintf(p.w, "\r%s%s\r%[1]s", line, strings.Repeat(" ", rest))
	p.shown = n
}

// parts are the parts of the line in the order in which they are shown: the jobs, the failures, the
// best value so far, the rate, and the time left. Unknown parts are empty.
func (p *progress) parts(e schedule.Event) []string {
	_, many := e.Unit()
	parts := []string{fmt.Sprintf("%d of %d %s", e.Done+e.Skipped, e.Total, many), fmt.Sprintf(", %d failed", e.Failed),
		"", "", ""}
	if e.Best != nil && p.objective != "" {
		parts[2] = fmt.Sprintf(", best %s %s (#%d)", p.objective, reports.Readable(e.Best.Value),
			e.Best.Configuration)
	}
	if e.Done > 0 && e.Rate > 0 {
		left := time.Duration(float64(e.Total-e.Done-e.Skipped) / e.Rate * float64(time.Second))
		parts[3], parts[4] = fmt.Sprintf(", %.2g %s/s", e.Rate, many), fmt.Sprintf(", %s left", left.Round(time.Second))
	}
	return parts
}

// fitting joins the parts that fit into a number of columns, the most useful ones first. It fills
// the rest with a bar that shows the fraction done.
func fitting(parts []string, done float64, columns int) string {
	if columns < len(parts[0]) {
		return parts[0][:max(0, columns)]
	}
	kept, left := make([]string, len(parts)), columns
	for _, i := range []int{0, 1, 4, 2, 3} {
		if n := terminal.Columns(parts[i]); n <= left {
			kept[i], left = parts[i], left-n
		}
	}
	line := strings.Join(kept, "")
	if left < shortestBar {
		return line
	}
	inner := left - len(" []")
	full := min(inner, int(done*float64(inner)))
	return fmt.Sprintf("%s [%s%s]", line, strings.Repeat("=", full), strings.Repeat(" ", inner-full))
}

// finish removes the line from the terminal.
func (p *progress) finish() {
	if p.width != nil && p.shown > 0 {
		p.show("")
	}
}
