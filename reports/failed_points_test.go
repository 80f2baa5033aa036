package reports

import (
	"math"
	"testing"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/record"
)

// A trial that failed before its first result has its points in natural units. The fixed
// hyperparameter has its value. The one whose condition does not hold is left out.
func TestPointsOfFailedTrials(t *testing.T) {
	c := Configuration{Record: record.Configuration{Hyperparameters: []record.Hyperparameter{
		{Name: "rate", Theta: "log_rate", Init: 1}, {Name: "fixed", Theta: "fixed", Init: 7, Fixed: true},
		{Name: "kind", Theta: "kind", Choices: []string{"a", "b"}},
		{Name: "depth", Theta: "depth", Whole: true, When: &param.Condition{Name: "kind", Values: []float64{0}}}}}}
	trials := c.TrialsOf(Study{Study: record.Study{}, seconds: []float64{1}, Trials: []*record.Trial{{Status: "failed", Asked: [][]record.Number{
		{record.Number(math.Log(0.25)), 1, 3}, {record.Number(math.Log(4)), 0, 3}}}}})
	for k, want := range []string{"rate=0.25 fixed=7 kind=b", "rate=4 fixed=7 kind=a depth=3"} {
		p := trials[0].Points[k]
		if got := Assignments(p.Hyperparameters, Significant); got != want || !math.IsNaN(float64(p.Value)) {
			t.Errorf("point %d: %s, want %s", k, got, want)
		}
	}
}
