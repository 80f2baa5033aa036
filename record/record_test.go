package record_test

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/record"
)

// A line is a trial, a fit, or the withdrawal of an attempt. Its Failure is that of the trial or
// the fit.
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

// The name on the theta scale tells the transform of a hyperparameter; choices, whole numbers and
// steps are told by fields of their own.
func TestTransformsOfHyperparameters(t *testing.T) {
	for _, c := range []struct {
		h    record.Hyperparameter
		want param.Transform
	}{
		{record.Hyperparameter{Name: "1.a", Theta: "1.log_a"}, param.Log}, {record.Hyperparameter{Name: "a", Theta: "logit_a"}, param.Logit},
		{record.Hyperparameter{Name: "a", Theta: "a"}, param.Identity}, {record.Hyperparameter{Name: "a", Theta: "a", Whole: true}, param.Whole},
		{record.Hyperparameter{Name: "a", Theta: "a", Step: 2}, param.Stepped}, {record.Hyperparameter{Name: "a", Theta: "a", Choices: []string{"x"}}, param.Choice},
	} {
		if got := c.h.Spec().Map; got != c.want {
			t.Errorf("%+v: %v, want %v", c.h, got, c.want)
		}
	}
}

// Components are recognised by their first word, and written as YAML flow text.
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

// Numbers of JSON are decimals, null, or the infinities as texts; anything else is none.
func TestNumbersInJSON(t *testing.T) {
	for text, want := range map[string]float64{"0": 0, "9": 9, "-1.5e3": -1500, `"+Inf"`: math.Inf(1), `"-Inf"`: math.Inf(-1), "null": math.NaN()} {
		var n record.Number
		if err := n.UnmarshalJSON([]byte(text)); err != nil || float64(n) != want && !(n.None() && math.IsNaN(want)) {
			t.Errorf("%s is %v, %v", text, n, err)
		}
		again, err := json.Marshal(n)
		if first, _ := json.Marshal(record.Number(want)); err != nil || string(again) != string(first) || text[0] == '"' && string(again) != text {
			t.Errorf("%s becomes %s, %v", text, again, err)
		}
	}
	for _, text := range []string{`"Inf"`, `"NaN"`, `"1"`, "true", "false", `"x"`, " 1", "[1]", "{}", "NaN", "+1", "01", "1e999", ""} {
		var n record.Number
		want := fmt.Sprintf("record: %s is not a number", text)
		if text == "1e999" {
			want = `strconv.ParseFloat: parsing "1e999": value out of range`
		}
		if err := n.UnmarshalJSON([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%s is the number %v, %v", text, n, err)
		}
	}
	for _, text := range []string{`"+Inf"`, "2"} { // also where NaN is spelled
		var s record.Spelled
		if back, err := json.Marshal(&s); json.Unmarshal([]byte(text), &s) != nil || err != nil || string(back) != "0" {
			t.Errorf("%s is %v, %v", text, s, err)
		}
		if back, _ := json.Marshal(s); string(back) != text {
			t.Errorf("%s becomes %s", text, back)
		}
	}
	if x := record.Floats(record.Numbers([]float64{1, 2, 3})); !slices.Equal(x, []float64{1, 2, 3}) {
		t.Errorf("%v", x)
	}
}

// Messages name a configuration by the properties that distinguish it. Methods for tuning and its
// start are named if they differ from the method that predicts.
func TestNamesOfConfigurations(t *testing.T) {
	of := func(predicts, tunes, starts string) (c record.Configuration) {
		c.Dataset, c.Tune, c.Kernel, c.Likelihood = "iris", "bfgs", record.Plain("se"), record.Plain("probit")
		c.Inference, c.TuneInference = record.Plain(predicts), record.Plain(tunes)
		if starts != "" {
			c.StartInference = record.Plain(starts)
		}
		return c
	}
	for _, c := range []struct {
		c    record.Configuration
		want string
	}{
		{of("ep", "ep", ""), "iris, se, probit, ep"}, {of("ep", "laplace", ""), "iris, se, probit, ep, tuned with laplace"},
		{of("ep", "ep", "laplace"), "iris, se, probit, ep, started from laplace"},
		{of("ep", "vb", "laplace"), "iris, se, probit, ep, tuned with vb, started from laplace"},
		{record.Configuration{Dataset: "program", Tune: "random", Program: &record.Program{}}, "program, random"},
	} {
		if got := c.c.String(); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
	if got := (record.Build{Version: "v1", Go: "go1.26", Arch: "linux"}).String(); got != "v1 go1.26 linux" {
		t.Error(got)
	}
}

// A manifest read from JSON has texts only. Its table gives components their meaning again. A
// parser gives the meaning of texts that are not in the table, each once.
func TestLinkedManifests(t *testing.T) {
	long := func(text string) record.Component { return record.Plain("se").Within(text) }
	whole := func() *record.Manifest {
		approximations := []record.Approximated{{Inference: long("u")}, {Inference: long("v")}}
		c := record.Configuration{StartInference: long("f")}
		c.Kernel, c.Mean, c.Likelihood, c.Inference, c.TuneInference = long("a"), long("b"), long("c"), long("d"), long("e")
		other := record.Configuration{StartInference: long("f")}
		other.Kernel, other.Mean = long("g"), record.Plain("zero")
		return &record.Manifest{Average: long("average"), Configurations: []record.Configuration{c, other},
			Illustrations: []record.Illustration{{Kernel: long("p"), Mean: long("q"), Likelihood: long("r"), Approximations: approximations},
				{Kernel: record.Plain("se"), Likelihood: long("s")}}}
	}
	m := whole()
	m.Components = []record.Declared{{Text: "of an earlier list"}}
	m.List()
	if len(m.Components) != 14 || m.Components[0].Text != "{average: se}" {
		t.Errorf("%d are listed, the first %+v", len(m.Components), m.Components[0])
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	for _, listed := range []bool{true, false} {
		var back record.Manifest
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatal(err)
		}
		var parsed []string
		parse := func(text string) record.Component {
			parsed = append(parsed, text)
			if text[0] != '{' {
				return record.Plain(text)
			}
			return long(text[1:strings.IndexByte(text, ':')])
		}
		if back.Components = m.Components; !listed {
			back.Components = nil
		}
		back.Link(parse)
		if slices.Sort(parsed); listed && !slices.Equal(parsed, []string{"se", "zero"}) || !listed && (len(parsed) != 16 || len(slices.Compact(parsed)) != 16) {
			t.Errorf("listed %v, parsed %q", listed, parsed)
		}
		want := whole()
		if want.Components = back.Components; !reflect.DeepEqual(&back, want) {
			t.Errorf("listed %v: %+v, want %+v", listed, back, want)
		}
	}
	var back record.Manifest
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if back.Link(nil); back.Configurations[0].Kernel.Name() != "a" || back.Configurations[1].Mean.Name() != "zero" {
		t.Errorf("without a parser: %+v", back.Configurations)
	}
}
