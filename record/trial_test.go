package record_test

import (
	"math"
	"slices"
	"testing"

	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/record"
)

// Strategies see a trial by its first point; its value is -Inf after any failure there.
func TestFirstPoint(t *testing.T) {
	theta, failure := []record.Number{1, 2}, cause.Failure.New("singular")
	at := func(value float64) []record.Point {
		return []record.Point{{Theta: theta, Value: record.Number(value)}, {Theta: []record.Number{3, 4}, Value: 9}}
	}
	failed := at(5)
	failed[0].Failure = failure
	for _, c := range []struct {
		trial record.Trial
		theta []float64
		value float64
	}{
		{record.Trial{Points: at(5)}, []float64{1, 2}, 5},
		{record.Trial{Points: at(math.NaN())}, []float64{1, 2}, math.Inf(-1)},
		{record.Trial{Points: at(math.Inf(1))}, []float64{1, 2}, math.Inf(-1)},
		{record.Trial{Points: at(5), Failure: failure}, []float64{1, 2}, math.Inf(-1)},
		{record.Trial{Points: failed}, []float64{1, 2}, math.Inf(-1)},
		{record.Trial{Asked: [][]record.Number{theta, {7, 8}}, Failure: failure}, []float64{1, 2}, math.Inf(-1)},
		{record.Trial{}, nil, math.Inf(-1)},
	} {
		if got := c.trial.Theta(); !slices.Equal(got, c.theta) || c.trial.Value() != c.value {
			t.Errorf("%+v is at %v with %v, want %v with %v", c.trial, got, c.trial.Value(), c.theta, c.value)
		}
	}
}
