package table

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
)

// ProgressForms are the formats of a Progress.
var ProgressForms = Forms[*reports.Progress]{{Name: "text", Render: progressText},
	{Name: "json", Render: reports.WriteJSON[*reports.Progress]}}

// progressText writes a line on the whole run, a table of its configurations, the first failure of
// each, and the command to continue.
func progressText(out io.Writer, p *reports.Progress) error {
	w := bufio.NewWriter(out) // keeps the first error
	fmt.Fprintf(w, "%s: %s\n", p.Experiment, strings.Join(p.Sentences(), "\n"))
	if t := progressTable(p); len(t.Rows) > 0 {
		t.print(w, Screen{}, true)
		fmt.Fprintln(w)
	}
	one, many := p.Units()
	for i, c := range p.Configurations {
		if c.Failures > 0 {
			var what []string
			if c.Failed > 0 {
				what = append(what, Counted(c.Failed, one, many))
			}
			if points := c.Failures - c.Failed; points > 0 {
				what = append(what, Counted(points, "point", "points"))
			}
			fmt.Fprintf(w, "#%d FAILURES: %s, the first: %s\n", i, series(what), c.FirstFailure)
		}
	}
	if q := p.Queue; q != nil && q.Failure != "" {
		fmt.Fprintf(w, "%s does not say what is in its queue: %s\n", q.Engine, q.Failure)
	} else if q != nil {
		fmt.Fprintf(w, "%s: %s running, %d in the queue", q.Engine, Counted(q.Running, "block", "blocks"), q.Pending)
		if q.Suspended > 0 {
			fmt.Fprintf(w, ", %d suspended", q.Suspended)
		}
		fmt.Fprintln(w)
		const most = 8
		for _, m := range q.Messages[:min(len(q.Messages), most)] {
			fmt.Fprintf(w, "%s: %s\n", q.Engine, m)
		}
		if n := len(q.Messages); n > most {
			fmt.Fprintf(w, "%s: and %d more\n", q.Engine, n-most)
		}
	}
	if p.Retry != "" {
		fmt.Fprintf(w, "to run the failed %s again: %s\n", many, p.Retry)
	}
	fmt.Fprintf(w, "next: %s\n", p.Next)
	return w.Flush()
}

func progressTable(p *reports.Progress) Table {
	t := Table{Columns: []Column{numbers("#"), words("dataset"), words("kernel"), words("likelihood"),
		words("inference"),
		numbers("done"), numbers("known"), numbers("failed"), numbers("time"), numbers("left")}}
	var parts []record.Component
	for _, c := range p.Configurations {
		parts = append(parts, c.Kernel, c.Likelihood, c.Inference)
	}
	short := reports.ShortNames(parts)
	for i, c := range p.Configurations {
		left := "not known yet"
		if !math.IsNaN(float64(c.Left)) {
			left = reports.Duration(float64(c.Left)).String()
		}
		if c.Dropped {
			left = "dropped"
		}
		t.Add(i, c.Dataset, short[c.Kernel.Text], short[c.Likelihood.Text],
			short[c.Inference.Text],
			c.Done, c.Known, c.Failed, reports.Duration(c.Seconds).String(), left)
	}
	return t
}
