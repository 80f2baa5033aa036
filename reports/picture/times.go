package picture

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture/shown"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

// Time is the kind of the picture of times, which the files of a run do not have.
const Time = "time"

// timePictures show how long the jobs of every configuration took, the longest first, if the report
// has times.
func timePictures(r shown.Report) []figure.Figure {
	if r.Times == nil || r.Times.Seconds == 0 {
		return nil
	}
	names := r.Labels
	type row struct {
		name    string
		seconds float64
	}
	var all []row
	for i, c := range r.Times.Configurations {
		jobs := 0
		for _, s := range c.Studies {
			jobs += len(s.Trials) + len(s.Fits)
		}
		if jobs > 0 {
			all = append(all, row{fmt.Sprintf("%s: %v in %s", names[i], reports.Duration(c.Seconds),
				table.Counted(jobs, "job", "jobs")), c.Seconds})
		}
	}
	slices.SortStableFunc(all, func(a, b row) int { return cmp.Compare(b.seconds, a.seconds) })
	notes := shown.Remarks(fmt.Sprintf("all jobs together %v", reports.Duration(r.Times.Seconds)),
		"wall times: they depend on the machine and on what else it did")
	if left := len(all) - mostRivals; left > 0 {
		notes = append(notes, table.Counted(left, "quicker configuration is", "quicker configurations are")+
			" not drawn")
		all = all[:mostRivals]
	}
	p := figure.Panel{X: figure.Axis{Label: "wall time of the jobs, one after another (s)"}}
	total := figure.Intervals{Horizontal: true}
	for k, of := range all {
		total.X, total.Lo, total.Hi = append(total.X, of.seconds), append(total.Lo, 0), append(total.Hi, of.seconds)
		total.Y, p.Y.Names = append(total.Y, float64(k)), append(p.Y.Names, of.name)
	}
	p.Layers = []figure.Layer{total}
	return []figure.Figure{{Name: Time, Title: "Time of every configuration", Notes: notes,
		Columns: 1, Panels: []figure.Panel{p}}}
}
