package record_test

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/record"
	"github.com/gpc-tune/gpc-tune/internal/cause"
)

// A line is a trial, a fit, or the withdrawal of an attempt, and fails as what it is.
func TestLines(t *testing.T) {
	late, lost := cause.TimedOut.New("late"), cause.Failure.New("lost")
	for i, c := range []struct {
		line                record.Line
		withdrawn, timedOut bool
		failure             cause.Notice
	}{
		{line: record.Line{}}, {line: record.Line{Attempt: 1}, withdrawn: true},
		{line: record.Line{Trial: &record.Trial{}}}, {line: record.Line{Fit: &record.Fit{}}},
		{line: record.Line{Attempt: 1, Trial: &record.Trial{Failure: late}}, timedOut: true, failure: late},
		{line: record.Line{Attempt: 1, Fit: &record.Fit{Failure: lost}}, failure: lost},
		{line: record.Line{Attempt: 2, Fit: &record.Fit{Failure: late}}, timedOut: true, failure: late},
		{line: record.Line{Trial: &record.Trial{Failure: lost}, Fit: &record.Fit{Failure: late}}, failure: lost},
	} {
		if l := c.line; l.Withdrawn() != c.withdrawn || l.TimedOut() != c.timedOut || l.Failure() != c.failure {
			t.Errorf("%d: withdrawn %v, timed out %v, %v", i, l.Withdrawn(), l.TimedOut(), l.Failure())
		}
	}
	begun := record.Begun([][]float64{{1, 2}, {3, 4}})
	if !begun.UnderWay() || (record.Trial{Status: "evaluated"}).UnderWay() || len(begun.Asked) != 2 || !slices.Equal(begun.Theta(), []float64{1, 2}) {
		t.Errorf("%+v", begun)
	}
}

// A hyperparameter of an input is shown with the name of the input, others as they are.
func TestShownNames(t *testing.T) {
	for _, c := range []struct{ name, column, want string }{
		{"kernel.length_scale[2]", "age", "kernel.length_scale[age]"}, {"kernel.length_scale[2]", "", "kernel.length_scale[2]"},
		{"kernel.variance", "age", "kernel.variance"}, {"kernel.variance", "", "kernel.variance"},
	} {
		if got := (record.Hyperparameter{Name: c.name, Column: c.column}).Shown(); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// Components are told by their first word, and written as YAML flow text.
func TestComponents(t *testing.T) {
	two := record.Number(2)
	scaled := record.Node{Parts: []record.Part{{Key: "se", Node: record.Node{Parts: []record.Part{
		{Key: "length_scale", Node: record.Node{Word: "2", Number: &two}}, {Key: "ard", Node: record.Node{Word: "true"}}}}}}}
	list := record.Node{Parts: []record.Part{{Node: record.Node{Word: "se"}}, {Node: scaled}}}
	for want, n := range map[string]record.Node{"se": {Word: "se"}, "{se: {length_scale: 2, ard: true}}": scaled,
		"[se, {se: {length_scale: 2, ard: true}}]": list} {
		if n.String() != want {
			t.Errorf("%s, want %s", n, want)
		}
	}
	plain, options := record.Plain("se"), record.Component{Text: "x", Node: scaled}
	if plain.Name() != "se" || options.Name() != "se" || plain.IsZero() || !(record.Component{}).IsZero() || plain.String() != "se" {
		t.Errorf("%+v, %+v", plain, options)
	}
	if in := plain.Within("sum"); in.String() != "{sum: se}" || in.Name() != "sum" || in.Node.String() != in.Text {
		t.Errorf("%+v", in)
	}
	var back record.Component
	text, err := json.Marshal(plain)
	if err != nil || string(text) != `"se"` || json.Unmarshal(text, &back) != nil || back.Word != "se" || back.Text != "se" {
		t.Errorf("%s, %v, %+v", text, err, back)
	}
	if json.Unmarshal([]byte("3"), &back) == nil || !back.IsZero() {
		t.Errorf("3 is a component: %+v", back)
	}
	of := record.Illustration{Columns: []record.Column{{Name: "a", Values: []record.Number{1}}, {Name: "b", Values: []record.Number{2}}}}
	if !slices.Equal(of.Column("b"), []float64{2}) || of.Column("c") != nil {
		t.Errorf("%v", of.Column("b"))
	}
}

// Only finite numbers without a failure are usable.
func TestUsable(t *testing.T) {
	for v, want := range map[float64]bool{0: true, -1e300: true, math.Inf(1): false, math.Inf(-1): false, math.NaN(): false} {
		n := record.Number(v)
		if n.Finite() != want || n.None() != math.IsNaN(v) || (record.Point{Value: n}).Usable() != want ||
			(record.Point{Value: n, Failure: cause.Failure.New("lost")}).Usable() {
			t.Error(v)
		}
	}
	for v, want := range map[record.Spelled]string{record.Spelled(math.NaN()): `"NaN"`, record.Spelled(math.Inf(-1)): `"-Inf"`, 2.5: "2.5"} {
		text, err := json.Marshal(v)
		back := record.Spelled(7)
		if err != nil || string(text) != want || json.Unmarshal(text, &back) != nil || back != v && !math.IsNaN(float64(v)) || math.IsNaN(float64(v)) != math.IsNaN(float64(back)) {
			t.Errorf("%s, %v, back %v", text, err, back)
		}
	}
}
