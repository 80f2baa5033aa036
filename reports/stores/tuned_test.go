package stores

import (
	"slices"
	"testing"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
)

// Of a point come the hyperparameters that are not fixed, have a value, and matter there.
func TestTunedHyperparameters(t *testing.T) {
	c := reports.Configuration{Record: record.Configuration{Hyperparameters: []record.Hyperparameter{{Name: "held", Fixed: true},
		{Name: "a"}, {Name: "without"}, {Name: "at 2", When: &param.Condition{Name: "a", Values: []float64{2}}},
		{Name: "at 3", When: &param.Condition{Name: "a", Values: []float64{3}}}}}}
	all, values := tuned(c, reports.Values{{Name: "held", Value: 1}, {Name: "a", Value: 2}, {Name: "at 2", Value: 5},
		{Name: "at 3", Value: 6}})
	var names []string
	for _, h := range all {
		names = append(names, h.Name)
	}
	if !slices.Equal(names, []string{"a", "at 2"}) || !slices.Equal(values, []float64{2, 5}) {
		t.Errorf("%q %v", names, values)
	}
}
