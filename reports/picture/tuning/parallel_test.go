package tuning

import (
	"slices"
	"testing"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/picture/shown"
)

// Parallel coordinates need three hyperparameters that the search varied. The axes are these and the
// objective: none has a fixed or a constant hyperparameter.
func TestAxesOfParallelCoordinates(t *testing.T) {
	c := reports.Configuration{Objective: "log_evidence", Record: record.Configuration{Hyperparameters: []record.Hyperparameter{
		{Name: "a"}, {Name: "b"}, {Name: "constant"}, {Name: "held", Fixed: true}}}}
	for k := range leastVisits {
		v := record.Number(k + 1)
		c.Grid = append(c.Grid, reports.GridPoint{LogEvidence: &v, Point: reports.Values{{Name: "a", Value: v}, {Name: "b", Value: -v},
			{Name: "constant", Value: 3}, {Name: "held", Value: v}, {Name: "c", Value: v * v}}})
	}
	draw := func() (names []string) {
		for _, f := range Parallel(shown.New(&reports.Report{Configurations: []reports.Configuration{c}}, -1)) {
			names = append(names, f.Panels[0].X.Names...)
		}
		return names
	}
	if got := draw(); got != nil {
		t.Errorf("two hyperparameters: %q", got)
	}
	c.Record.Hyperparameters = append(c.Record.Hyperparameters, record.Hyperparameter{Name: "c"})
	if got, want := draw(), []string{"a: 1 to 20", "b: −20 to −1", "c: 1 to 400", "log evidence: 1 to 20"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
