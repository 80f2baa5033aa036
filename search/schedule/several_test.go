package schedule

import (
	"math"
	"testing"

	"github.com/gpc-tune/gpc-tune/record"
)

// valued is a trial with a maximised value and named values.
func valued(value float64, values map[string]record.Number) record.Trial {
	return record.Trial{Points: []record.Point{{Theta: []record.Number{0}, Value: record.Number(value), Values: values}}}
}

// The strategy is told that trials outside the bounds are worse than all others, the worse the farther, and that one without
// the value is the worst. Trials within the bounds keep their values.
func TestRequire(t *testing.T) {
	most := 1.0
	bounds := []Require{{Name: "memory", AtMost: &most}}
	memory := func(v float64) map[string]record.Number { return map[string]record.Number{"memory": record.Number(v)} }
	done := []record.Trial{valued(5, memory(3)), valued(9, memory(2)), valued(-1, memory(1)), valued(1, memory(0)), valued(7, nil),
		{Failure: record.Line{}.Failure()}}
	told := told(done, nil, bounds, 0)
	// within: -1 and 1, a span of 2; violations 2 of 2 and 1 of 2, and 2 for the trial without a value
	for i, want := range []float64{-1 - 2*1, -1 - 2*0.5, -1, 1, -1 - 2*2, math.Inf(-1)} {
		if got := told[i].Value(); got != want {
			t.Errorf("trial %d: %v, want %v", i, got, want)
		}
	}
	if done[0].Value() != 5 {
		t.Error("the trial on record has changed")
	}
}

// Of objectives (0, 1), (1, 0) and (1, 1), scaled to [0, 1], the last is dominated: it is the worst for all weights. The value
// of the first is -(w₂ + 0.05 w₂), of the second -(w₁ + 0.05 w₁), so both together are -1.05. Weights depend on the number of
// trials and the seed.
func TestScalars(t *testing.T) {
	tell := func(done []record.Trial) []record.Trial { return told(done, []string{"a", "b"}, nil, 3) }
	at := func(a, b float64) record.Trial {
		return valued(-a, map[string]record.Number{"a": record.Number(10 * a), "b": record.Number(b - 7)})
	}
	done := []record.Trial{at(0, 1), at(1, 0), at(1, 1)}
	told := tell(done)
	if a, b, c := told[0].Value(), told[1].Value(), told[2].Value(); math.Abs(a+b+1.05) > 1e-12 || !(c < min(a, b)) || !(max(a, b) < 0) {
		t.Errorf("%v %v %v", a, b, c)
	}
	if again := tell(done); again[0].Value() != told[0].Value() {
		t.Error("the same trials have other values")
	}
	if more := tell(append(done, at(1, 1))); more[0].Value() == told[0].Value() {
		t.Error("the weights are the same for the next proposal")
	}
}
