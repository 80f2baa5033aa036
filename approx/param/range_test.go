package param

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/internal/cause"
)

func to(v float64) *float64 { return &v }

// texts and numbers are values as a file gives them.
func texts(values ...string) (all []Literal) {
	for _, v := range values {
		all = append(all, Literal{v, strconv.Quote(v)})
	}
	return all
}

func numbers(values ...string) (all []Literal) {
	for _, v := range values {
		all = append(all, Literal{v, v})
	}
	return all
}

// A choice has the types that the file gives it, and other values are numbers.
func TestTypesOfValues(t *testing.T) {
	literals := []Literal{{"True", "true"}, {"0.10", "0.10"}, {"null", "null"}, {`say "hi"`, `"say \"hi\""`}}
	mixed, err := ChoiceRange{Values: literals}.Spec("x", nil)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := ChoiceRange{Values: texts("a", "32")}.Spec("x", nil)
	if err != nil || plain.Literals != nil {
		t.Error(plain, err)
	}
	for i, l := range literals {
		v, err := mixed.Value(l)
		if got := mixed.JSON(float64(i)); got != l.JSON || mixed.Text(float64(i)) != l.Text || v != float64(i) || err != nil {
			t.Errorf("%s is %s; %v, %v", l, got, v, err)
		}
	}
	if got := plain.JSON(1) + Between("n", Whole, 1, 64).JSON(32) + Between("n", Identity, 0, 1).JSON(0.25); got != `"32"320.25` {
		t.Error(got)
	}
	for l, want := range map[Literal]float64{{"true", "true"}: 0, {".1", "0.1"}: 1, {"null", `"null"`}: 2, {"false", "false"}: -1} {
		if v, err := mixed.Value(l); (err == nil) != (want >= 0) || err == nil && v != want {
			t.Errorf("%+v: %v, %v", l, v, err)
		}
	}
}

// A search starts in the middle of a range, on its own scale, or where it is told to.
func TestRanges(t *testing.T) {
	flag := Among("flag", "off", "on")
	layers := Between("layers", Whole, 1, 4)
	for _, c := range []struct {
		of     Range
		before []Spec
		want   Spec   // name, bounds, start
		bad    string // what the error has
	}{
		{LogRange{ends(1e-2, 1)}, nil, Spec{Lo: 0.01, Hi: 1, Init: 0.1, Map: Log}, ""}, {LinearRange{Ends: ends(-1, 3)}, nil, Spec{Lo: -1, Hi: 3, Init: 1, Map: Identity}, ""},
		{WholeRange{Ends: ends(1, 4)}, nil, Spec{Lo: 1, Hi: 4, Init: 2, Map: Whole}, ""}, {WholeRange{Ends: ends(1, 4), Step: 1}, nil, Spec{Lo: 1, Hi: 4, Init: 2, Map: Whole}, ""}, {WholeRange{Ends: ends(1, 5)}, nil, Spec{Lo: 1, Hi: 5, Init: 3, Map: Whole}, ""},
		{LinearRange{Ends: Ends{From: to(0), To: to(1), Init: to(1)}}, nil, Spec{Lo: 0, Hi: 1, Init: 1, Map: Identity}, ""}, {LinearRange{Ends: Ends{From: to(0), To: to(1), Init: to(0)}}, nil, Spec{Lo: 0, Hi: 1, Map: Identity}, ""},
		{LinearRange{Ends: Ends{From: to(0), To: to(1), Init: to(1.1)}}, nil, Spec{}, "init = 1.1 must be from 0 to 1"},
		{LinearRange{Ends: Ends{From: to(0), To: to(1), Init: to(-0.1)}}, nil, Spec{}, "init = -0.1 must be from 0 to 1"},
		{LinearRange{Ends: ends(1, 1)}, nil, Spec{}, "must be finite, the smaller first"}, {LinearRange{Ends: ends(2, 1)}, nil, Spec{}, "the smaller first"},
		{LinearRange{Ends: ends(0, math.Inf(1))}, nil, Spec{}, "from = 0 and to = +Inf"}, {LogRange{ends(0, 1)}, nil, Spec{}, "to = 1 must be greater than 0, the smaller first"},
		{LogRange{ends(-1, 1)}, nil, Spec{}, "must be greater than 0, the smaller first"}, {LinearRange{Ends: Ends{From: to(0)}}, nil, Spec{}, "write from and to"},
		{LinearRange{Ends: Ends{To: to(0)}}, nil, Spec{}, "write from and to"}, {WholeRange{Ends: ends(0.5, 4)}, nil, Spec{}, "must be whole numbers"},
		{WholeRange{Ends: ends(1, 4.5)}, nil, Spec{}, "must be whole numbers"}, {WholeRange{Ends: Ends{From: to(1), To: to(4), Init: to(2.5)}}, nil, Spec{}, "init = 2.5 must be whole numbers"},
		{ChoiceRange{Values: texts("a", "b", "c")}, nil, Spec{Hi: 2, Map: Choice}, ""}, {ChoiceRange{Values: texts("a", "b", "c"), Init: texts("c")[0]}, nil, Spec{Hi: 2, Init: 2, Map: Choice}, ""},
		{ChoiceRange{Values: texts("a", "b"), Init: texts("d")[0]}, nil, Spec{}, `init: "d" is no value of x`}, {ChoiceRange{Values: texts("a")}, nil, Spec{Map: Choice}, ""},
		{ChoiceRange{Values: texts("a", "b", "a")}, nil, Spec{}, "each once"}, {ChoiceRange{}, nil, Spec{}, "a text or more"},
		{WholeRange{Ends: ends(16, 256), Step: 16}, nil, Spec{Lo: 16, Hi: 256, Init: 144, Map: Whole}, ""}, {WholeRange{Ends: ends(1, 1024), Log: true}, nil, Spec{Lo: 1, Hi: 1024, Init: 32, Map: Whole}, ""},
		{WholeRange{Ends: ends(8, 128), Step: 8, Log: true}, nil, Spec{Lo: 8, Hi: 128, Init: 32, Map: Whole}, ""},
		{WholeRange{Ends: ends(16, 250), Step: 16}, nil, Spec{}, "write for example to: 256"}, {WholeRange{Ends: ends(0, 9), Log: true}, nil, Spec{}, "from above half a step"},
		{WholeRange{Ends: ends(8, 64), Step: 16, Log: true}, nil, Spec{}, "to = 64 is no whole number of steps of 16 above"},
		{WholeRange{Ends: Ends{From: to(1), To: to(9), Init: to(2)}, Step: 2}, nil, Spec{}, "init: x = 2 must be a whole number of steps of 2 above 1"},
		{WholeRange{Ends: ends(1, 9), Step: -1}, nil, Spec{}, "step = -1 must be 1 or more"},
		{WholeRange{Ends: ends(0, 1e18)}, nil, Spec{}, "x: whole numbers beyond 2^53 = 9007199254740992 are not exact"},
		{WholeRange{Ends: ends(-1e17, 0)}, nil, Spec{}, "beyond 2^53"},
		{LinearRange{Ends: Ends{From: to(0), To: to(1), Conditional: Conditional{When: map[string]Holding{"flag": {Values: texts("on")}}}}}, []Spec{layers, flag},
			Spec{Lo: 0, Hi: 1, Init: 0.5, Map: Identity, When: &Condition{Name: "flag", Values: []float64{1}}}, ""},
		{ChoiceRange{Values: texts("a", "b"), Conditional: Conditional{When: map[string]Holding{"layers": {Values: numbers("4", "2")}}}}, []Spec{layers, flag},
			Spec{Hi: 1, Map: Choice, When: &Condition{Name: "layers", Values: []float64{4, 2}}}, ""},
		{LinearRange{Ends: Ends{From: to(0), To: to(1), Conditional: Conditional{When: map[string]Holding{"layers": {Values: numbers("5")}}}}}, []Spec{layers}, Spec{}, `when: "5" is no value of layers`},
		{LinearRange{Ends: Ends{From: to(0), To: to(1), Conditional: Conditional{When: map[string]Holding{"layers": {Values: numbers("0")}}}}}, []Spec{layers}, Spec{}, `"0" is no value`},
		{LinearRange{Ends: Ends{From: to(0), To: to(1), Conditional: Conditional{When: map[string]Holding{"layers": {Values: numbers("2.5")}}}}}, []Spec{layers}, Spec{}, `"2.5" is no value`},
		{LinearRange{Ends: Ends{From: to(0), To: to(1), Conditional: Conditional{When: map[string]Holding{"flag": {Values: texts("up")}}}}}, []Spec{flag}, Spec{}, `"up" is no value of flag`},
		{LinearRange{Ends: Ends{From: to(0), To: to(1), Conditional: Conditional{When: map[string]Holding{"other": {Values: texts("on")}}}}}, []Spec{flag}, Spec{}, `when names "other"`},
		{LinearRange{Ends: Ends{From: to(0), To: to(1), Conditional: Conditional{When: map[string]Holding{"r": {Values: texts("on")}}}}}, []Spec{Between("r", Log, 1, 2)}, Spec{}, `when: r takes any number in its range; write bounds such as {above: 3}`},
		{LinearRange{Ends: Ends{From: to(0), To: to(1), Conditional: Conditional{When: map[string]Holding{"flag": {Values: nil}}}}}, []Spec{flag}, Spec{}, "when: flag has no value"},
		{LinearRange{Ends: Ends{From: to(0), To: to(1), Conditional: Conditional{When: map[string]Holding{"none": {Values: nil}}}}},
			[]Spec{{Name: "none", Hi: 1, Map: Choice, Choices: []string{"a", "null"}, Literals: []string{"", "null"}}},
			Spec{Hi: 1, Init: 0.5, Map: Identity, When: &Condition{Name: "none", Values: []float64{1}}}, ""},
		{ChoiceRange{Values: []Literal{{"true", "true"}, {"true", `"true"`}}}, nil, Spec{}, "each once"}, {ChoiceRange{Values: []Literal{{"True", "true"}, {"true", "true"}}}, nil, Spec{}, "each once"},
		{ChoiceRange{Values: numbers("1", "1.0")}, nil, Spec{}, "each once"}, {ChoiceRange{Values: []Literal{{"null", "null"}, {"3", "3"}}, Init: Literal{"3.0", "3.0"}}, nil, Spec{Hi: 1, Init: 1, Map: Choice}, ""},
		{LinearRange{Ends: Ends{From: to(0), To: to(1), Conditional: Conditional{When: map[string]Holding{"r": {Bounds: Bounds{Above: to(2)}}}}}}, []Spec{Between("r", Log, 1, 2)}, Spec{}, "when: r never has such a value: it is from 1 to 2"},
		{LinearRange{Ends: Ends{From: to(0), To: to(1), Conditional: Conditional{When: map[string]Holding{"flag": {Bounds: Bounds{AtMost: to(1)}}}}}}, []Spec{flag}, Spec{}, "when: flag is a choice, and its values have no order"},
		{LinearRange{Ends: Ends{From: to(0), To: to(1), Conditional: Conditional{When: map[string]Holding{"layers": {Bounds: Bounds{AtLeast: to(5)}}}}}}, []Spec{layers}, Spec{}, "layers never has such a value: it is from 1 to 4"},
		{LinearRange{Ends: ends(0, 1), Step: 0.25}, nil, Spec{Hi: 1, Init: 0.5, Map: Stepped}, ""}, {LinearRange{Ends: ends(0.1, 0.7), Step: 0.1}, nil, Spec{Lo: 0.1, Hi: 0.7, Init: 0.4, Map: Stepped}, ""},
		{LinearRange{Ends: ends(0, 1), Step: 0.3}, nil, Spec{}, "to = 1 is no whole number of steps of 0.3 above from = 0; write for example to: 0.9"},
		{LinearRange{Ends: ends(0, 1), Step: 5}, nil, Spec{}, "write for example to: 5"},
		{LinearRange{Ends: Ends{From: to(0), To: to(1), Init: to(0.3)}, Step: 0.25}, nil, Spec{}, "init: x = 0.3 must be a whole number of steps of 0.25 above 0; the nearest is 0.25"},
	} {
		s, err := c.of.Spec("x", c.before)
		if c.bad != "" {
			if err == nil || !strings.Contains(err.Error(), c.bad) || !strings.HasPrefix(err.Error(), "x: ") {
				t.Errorf("%+v: %v, want %s", c.of, err, c.bad)
			}
			continue
		}
		when := c.want.When == nil && s.When == nil || c.want.When != nil && s.When != nil && s.When.Name == c.want.When.Name && slices.Equal(s.When.Values, c.want.When.Values)
		if err != nil || s.Name != "x" || !s.Given || s.Map != c.want.Map || s.Lo != c.want.Lo || s.Hi != c.want.Hi || math.Abs(s.Init-c.want.Init) > 1e-15 || !when {
			t.Errorf("%+v: %+v, %v", c.of, s, err)
		}
	}
}

// TestWholeNumbers: every value of a whole number with a step, or searched in the logarithm, is the
// place of its own unit coordinate, and has its share of [0, 1]: 1/n, or the logarithm of
// (v + ½ step)/(v - ½ step) over the sum of these.
func TestWholeNumbers(t *testing.T) {
	for _, r := range []WholeRange{{Ends: ends(1, 7)}, {Ends: ends(16, 256), Step: 16}, {Ends: ends(-4, 8), Step: 3},
		{Ends: ends(1, 50), Log: true}, {Ends: ends(8, 128), Step: 8, Log: true}} {
		s, err := r.Spec("n", nil)
		if err != nil || s.Check() != nil {
			t.Fatal(err, s.Check())
		}
		step := max(1, float64(r.Step))
		var values []float64
		total := 0.
		part := func(v float64) float64 {
			if r.Log {
				return math.Log((v + step/2) / (v - step/2))
			}
			return 1
		}
		for v := *r.From; v <= *r.To; v += step {
			values = append(values, v)
			total += part(v)
			if got := s.Place(s.Unit(v)); got != v || s.Admits(v) != nil || s.Nearest(v+0.4*step) != v {
				t.Errorf("%+v: %v has the place %v, %v", r, v, got, s.Admits(v))
			}
			if step > 1 && s.Admits(v+1) == nil {
				t.Errorf("%+v admits %v", r, v+1)
			}
		}
		const n = 200_000
		met := map[float64]float64{}
		for i := range n {
			met[s.Place((float64(i)+0.5)/n)]++
		}
		if len(met) != len(values) || s.Count() != len(values) {
			t.Errorf("%+v: %d values, want %d", r, len(met), len(values))
		}
		for _, v := range values {
			if want := n * part(v) / total; math.Abs(met[v]-want) > 2 {
				t.Errorf("%+v: %v has %v of %d places, want %.1f", r, v, met[v], n, want)
			}
		}
	}
}

// The step of a whole number is a whole number of at least 1; 0 stands for 1.
func TestStepsOfWholeNumbers(t *testing.T) {
	for step, valid := range map[float64]bool{0: true, 1: true, 3: true, 0.5: false, 1.5: false, -1: false, -3: false} {
		s := Spec{Name: "n", Map: Whole, Init: 4, Lo: 1, Hi: 7, Step: step}
		if err := s.Check(); (err == nil) != valid {
			t.Errorf("a step of %v: %v", step, err)
		}
	}
}

// A whole number without a step, or without bounds, admits what double precision has.
func TestLargeWholeNumbersAreAdmitted(t *testing.T) {
	for _, s := range []Spec{Between("n", Whole, 3, 1e19), {Name: "n", Map: Whole, Lo: math.Inf(-1), Hi: math.Inf(1)}} {
		for _, v := range []float64{3, 7, 1<<53 + 2, 1<<54 + 4, 9007199254740994, 1e18 + 128} {
			if err := s.Admits(v); err != nil || s.Nearest(v) != v {
				t.Errorf("%v: nearest %v, %v", v, s.Nearest(v), err)
			}
		}
	}
}

// The example of each kind of range is the one that its description shows.
func TestExamplesOfRanges(t *testing.T) {
	shown := func(name string, e Ends) string {
		return fmt.Sprintf("%s: {from: %v, to: %v}; ", name, *e.From, *e.To)
	}
	for _, name := range Ranges.Names() {
		e, err := Ranges.Lookup("range", name)
		if err != nil {
			t.Fatal(err)
		}
		want := ""
		switch r := Ranges.Default(name).(type) {
		case LogRange:
			want = shown(name, r.Ends)
		case LinearRange:
			want = shown(name, r.Ends)
		case WholeRange:
			want = shown(name, r.Ends)
		case ChoiceRange:
			want = fmt.Sprintf("%s: {values: [%s]}; ", name, strings.Trim(strings.ReplaceAll(fmt.Sprint(r.Values), " ", ", "), "[]"))
		}
		if want == "" || !strings.HasPrefix(e.Doc, want) {
			t.Errorf("%s, want %s", e.Doc, want)
		}
	}
}

// The text of a value is the shortest that says it.
func TestTextsOfValues(t *testing.T) {
	choice := Among("c", "red", "green")
	for v, want := range map[float64]string{1: "1", -3: "-3", 0: "0", 0.25: "0.25", 1e15: "1000000000000000", 1e-7: "1e-07", 0.1: "0.1"} {
		if got := (Spec{}).Text(v); got != want {
			t.Errorf("%v: %s", v, got)
		}
	}
	if got := choice.Text(1); got != "green" {
		t.Error(got)
	}
	// In a command, a text that looks like a number, true or null needs quotes; the number itself has none.
	words := Spec{Map: Choice, Choices: []string{"red", "1", "true", "16"}, Literals: []string{`"red"`, `"1"`, `"true"`, "16"}}
	for v, want := range []string{"red", `"1"`, `"true"`, "16"} {
		if got := words.Quoted(float64(v)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if got := (Spec{}).Quoted(0.5); got != "0.5" {
		t.Error(got)
	}
	layers := Between("layers", Whole, 1, 4)
	for v, ok := range map[float64]bool{1: true, 4: true, 2: true, 0: false, 5: false, 2.5: false, math.NaN(): false} {
		if err := layers.Admits(v); (err == nil) != ok {
			t.Errorf("%v: %v", v, err)
		}
	}
	if err := (Spec{Name: "l", Lo: 1, Hi: 2}).Admits(1.5); err != nil {
		t.Error(err)
	}
}

// A hyperparameter matters if its condition holds and the hyperparameter in the condition matters
// too.
func TestConditionsInForce(t *testing.T) {
	specs := []Spec{Among("a", "x", "y", "z"), Between("b", Whole, 1, 3), {Name: "c"}, {Name: "d"}}
	specs[1].When = &Condition{Name: "a", Values: []float64{1, 2}}
	specs[2].When = &Condition{Name: "b", Values: []float64{3}}
	for _, c := range []struct {
		a, b float64
		want []bool
	}{{0, 3, []bool{true, false, false, true}}, {1, 3, []bool{true, true, true, true}}, {2, 2, []bool{true, true, false, true}}} {
		if got := InForce(specs, []float64{c.a, c.b, 0, 0}); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v", c, got)
		}
	}
	s := specs[1].Within("1.")
	if s.Name != "1.b" || s.When.Name != "1.a" || specs[1].When.Name != "a" || specs[1].Name != "b" {
		t.Errorf("%+v, %+v", s, specs[1])
	}
	if s = specs[3].Within("2."); s.Name != "2.d" || s.When != nil {
		t.Errorf("%+v", s)
	}
}

// The first step of a search is a quarter of given bounds, a whole step at least, or half of the
// box around the start.
func TestScales(t *testing.T) {
	for _, c := range []struct {
		s    Spec
		want float64
	}{
		{Between("x", Identity, 0, 8), 2}, {Between("x", Log, 1, math.Exp(2)), 0.5}, {Between("x", Whole, 1, 3), 1}, {Between("x", Whole, 0, 20), 5},
		{Between("x", Identity, 4, 12), 2}, {Between("x", Whole, 4, 12), 2},
		{Spec{Map: Log, Init: 1, Lo: DefaultLo, Hi: DefaultHi}, 1}, {Among("x", "a", "b"), 1},
	} {
		if got := c.s.Scale(); math.Abs(got-c.want) > 1e-15 {
			t.Errorf("%+v: %v, want %v", c.s, got, c.want)
		}
	}
}

// A bound at which a search ended has a cause, if it means something.
func TestEndsOfSearches(t *testing.T) {
	for _, c := range []struct {
		s     Spec
		upper bool
		want  cause.Kind
		text  string
	}{
		{Spec{Name: "l", Lo: 1, Hi: 9, Column: 2}, true, cause.NoInfluence, "l ended at its upper bound 9, where its input has no influence"},
		{Spec{Name: "l", Lo: 1, Hi: 9, Column: 2}, false, cause.AtBound, "l ended at its lower bound 1"},
		{Spec{Name: "a", Lo: DefaultLo, Hi: 9, Term: true}, false, cause.SwitchedOff, "where its part of the kernel adds nothing"},
		{Spec{Name: "a", Lo: 2 * DefaultLo, Hi: 9, Term: true}, false, cause.AtBound, "a ended at its lower bound 9.07999e-05"},
		{Spec{Name: "a", Lo: DefaultLo, Hi: 9, Term: true}, true, cause.AtBound, "a ended at its upper bound 9"},
		{Spec{Name: "a", Lo: DefaultLo, Hi: 9}, false, cause.AtBound, "a ended at its lower bound 4.53999e-05"},
	} {
		if n := c.s.Ended(c.upper); n.Kind != c.want || !strings.Contains(n.Text, c.text) {
			t.Errorf("%+v, upper %v: %v, %s", c.s, c.upper, n.Kind, n.Text)
		}
	}
}

// Place and Unit are inverse to each other, and reach the bounds; discrete values have equal parts.
func TestPlacesOfSearches(t *testing.T) {
	for _, s := range []Spec{Between("x", Identity, -1, 3), Between("x", Log, 0.01, 10), {Map: Log, Init: 2, Lo: DefaultLo, Hi: DefaultHi}} {
		lo, hi := s.ThetaBounds()
		if a, b := s.Place(0), s.Place(1); math.Abs(a-lo) > 1e-12 || math.Abs(b-hi) > 1e-12 {
			t.Errorf("%+v: from %v to %v", s, a, b)
		}
		for u := 0.05; u < 1; u += 0.1 {
			if got := s.Unit(s.Place(u)); math.Abs(got-u) > 1e-12 {
				t.Errorf("%+v: %v comes back as %v", s, u, got)
			}
		}
	}
	// Half-way between bounds that are equally far from it is the start.
	if got := (Spec{Map: Identity, Init: 3, Lo: -2, Hi: 8}).Place(0.5); math.Abs(got-3) > 1e-12 {
		t.Errorf("half-way is %v, want 3", got)
	}
	whole, counts := Between("x", Whole, 2, 4), map[float64]int{}
	for k := range 300 {
		counts[whole.Place((float64(k)+0.5)/300)]++
	}
	if counts[2] != 100 || counts[3] != 100 || counts[4] != 100 || whole.Place(1) != 4 || math.Abs(whole.Unit(3)-0.5) > 1e-15 {
		t.Errorf("%v, %v, %v", counts, whole.Place(1), whole.Unit(3))
	}
}

// Every value of a range in steps is the decimal number that a file would write, and has the same
// share of [0, 1]; the ends are among the values.
func TestNumbersInSteps(t *testing.T) {
	for _, c := range []struct {
		from, to, step string
		values         []string
	}{
		{"0", "1", "0.25", []string{"0", "0.25", "0.5", "0.75", "1"}},
		{"0.1", "0.7", "0.1", []string{"0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7"}},
		{"-0.3", "0.3", "0.15", []string{"-0.3", "-0.15", "0", "0.15", "0.3"}},
		{"0.001", "0.0031", "0.0007", []string{"0.001", "0.0017", "0.0024", "0.0031"}},
		{"10", "40", "15", []string{"10", "25", "40"}},
	} {
		number := func(text string) float64 {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		s, err := LinearRange{Ends: ends(number(c.from), number(c.to)), Step: number(c.step)}.Spec("x", nil)
		if err != nil || s.Check() != nil || s.Count() != len(c.values) {
			t.Fatal(c, err, s.Check(), s.Count())
		}
		counts := map[float64]int{}
		const n = 4200 // a multiple of each number of values
		for i := range n {
			counts[s.Place((float64(i)+0.5)/n)]++
		}
		for _, text := range c.values {
			v := number(text)
			if counts[v] != n/len(c.values) || s.Place(s.Unit(v)) != v || s.Text(v) != text || s.Admits(v) != nil {
				t.Errorf("%+v: %s has %d of %d points, %v, %q, %v", c, text, counts[v], n, s.Place(s.Unit(v)), s.Text(v), s.Admits(v))
			}
			if s.Admits(v+number(c.step)/3) == nil {
				t.Errorf("%+v: a third of a step above %s is admitted", c, text)
			}
		}
	}
}

// A condition holds if all its parts do, of hyperparameters that matter; a bound is met up to
// rounding.
func TestConditions(t *testing.T) {
	three, four := 3.0, 4.0
	kind := Among("kind", "a", "b")
	rate := Between("rate", Log, 1, 10)
	rate.When = &Condition{Name: "kind", Values: []float64{1}}
	for _, c := range []struct {
		bounds Bounds
		kind   float64
		rate   float64
		holds  bool
	}{
		{Bounds{Above: &three}, 1, 3.1, true}, {Bounds{Above: &three}, 1, 3, false}, {Bounds{Above: &three}, 0, 3.1, false},
		{Bounds{AtLeast: &three}, 1, 3, true}, {Bounds{AtLeast: &three}, 1, 2.9, false},
		{Bounds{Below: &four}, 1, 3.9, true}, {Bounds{Below: &four}, 1, 4, false},
		{Bounds{AtMost: &four}, 1, 4, true}, {Bounds{AtMost: &four}, 1, 4.1, false},
		{Bounds{Above: &three, AtMost: &four}, 1, 3.5, true}, {Bounds{Above: &three, AtMost: &four}, 1, 5, false},
	} {
		deep := Between("deep", Identity, 0, 1)
		deep.When = &Condition{Name: "rate", Bounds: c.bounds}
		deeper := Between("deeper", Identity, 0, 1)
		deeper.When = &Condition{Name: "deep", Bounds: Bounds{AtLeast: to(0.5)}, And: &Condition{Name: "kind", Values: []float64{1}}}
		specs := []Spec{kind, rate, deep, deeper}
		in := InForce(specs, []float64{c.kind, math.Log(c.rate), 0.5, 0})
		if in[2] != c.holds || in[3] != c.holds {
			t.Errorf("%+v: %v", c, in)
		}
		if in := InForce(specs, []float64{c.kind, math.Log(c.rate), 0.4, 0}); in[3] {
			t.Errorf("%+v: deeper matters without deep", c)
		}
	}
}
