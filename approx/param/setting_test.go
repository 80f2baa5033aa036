package param

import (
	"math"
	"strings"
	"testing"
)

func number(v float64) *float64 { return &v }

// TestSettingCheck: valid and invalid settings of a hyperparameter, on both sides of every limit.
func TestSettingCheck(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	bounds := &[2]float64{0.5, 2}
	for _, c := range []struct {
		s    Setting
		m    Transform
		want string // part of the message; "": the setting is valid
	}{
		{Setting{}, Log, ""},
		{Setting{Init: number(1e-300)}, Log, ""},
		{Setting{Init: number(0)}, Log, "v = 0 must be greater than 0"},
		{Setting{Fixed: number(-1)}, Log, "v = -1 must be greater than 0"},
		{Setting{Bare: number(nan)}, Log, "v = NaN must be greater than 0"},
		{Setting{Bare: number(inf)}, Log, "v = +Inf must be greater than 0"},
		{Setting{Fixed: number(0)}, Logit, "v = 0 must be between 0 and 1"},
		{Setting{Init: number(1)}, Logit, "v = 1 must be between 0 and 1"},
		{Setting{Init: number(0.999)}, Logit, ""},
		{Setting{Init: number(-7)}, Identity, ""},
		{Setting{Init: number(-inf)}, Identity, "v = -Inf must be finite"},
		{Setting{Init: number(inf)}, Identity, "v = +Inf must be finite"},
		{Setting{Init: number(1), Fixed: number(1)}, Log, "both init and fixed"},

		{Setting{Bounds: bounds}, Log, ""},
		{Setting{Bounds: &[2]float64{0, 2}}, Log, "must be two numbers greater than 0, the smaller first"},
		{Setting{Bounds: &[2]float64{0.5, inf}}, Log, "must be two numbers greater than 0, the smaller first"},
		{Setting{Bounds: &[2]float64{0.5, 1}}, Logit, "must be two numbers between 0 and 1, the smaller first"},
		{Setting{Bounds: &[2]float64{2, 2}}, Log, "bounds of v, [2, 2], must be"},
		{Setting{Bounds: &[2]float64{3, 2}}, Log, "bounds of v, [3, 2], must be"},
		{Setting{Bounds: &[2]float64{-3, 2}}, Identity, ""},
		{Setting{Bounds: &[2]float64{nan, 2}}, Identity, "bounds of v, [NaN, 2], must be"},
	} {
		err := c.s.Check("v", c.m)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s under transform %d: %v, want %q", say(c.s), c.m, err, c.want)
		}
	}
	// In whichever form a value is given, it must be within the bounds.
	for name, say := range map[string]func(s *Setting, v *float64){
		"bare":  func(s *Setting, v *float64) { s.Bare = v },
		"init":  func(s *Setting, v *float64) { s.Init = v },
		"fixed": func(s *Setting, v *float64) { s.Fixed = v },
	} {
		for v, good := range map[float64]bool{0.5: true, 1: true, 2: true, 0.4999: false, 2.0001: false} {
			s := Setting{Bounds: bounds}
			say(&s, &v)
			if err := s.Check("v", Log); (err == nil) != good || err != nil && !strings.Contains(err.Error(), "outside its bounds [0.5, 2]") {
				t.Errorf("%s %v: %v", name, v, err)
			}
		}
	}
}

// TestWordIsReadBack: only a bare number is written as a word, with all its digits.
func TestWordIsReadBack(t *testing.T) {
	for _, v := range []float64{0.1, -3, 1e-300, 1. / 3} {
		var back Setting
		if err := back.UnmarshalText([]byte(Setting{Bare: &v}.Word())); err != nil || *back.Bare != v {
			t.Errorf("%v is written as %q, error %v", v, Setting{Bare: &v}.Word(), err)
		}
	}
	if word := (Setting{Init: number(2)}).Word(); word != "" {
		t.Errorf("{init: 2} is written as %q", word)
	}
}

func say(s Setting) string {
	var parts []string
	for name, v := range map[string]*float64{"bare": s.Bare, "init": s.Init, "fixed": s.Fixed} {
		if v != nil {
			parts = append(parts, name)
		}
	}
	return strings.Join(parts, " and ")
}

// TestSpecHolds: a kernel's hyperparameter is held only by {fixed: v}; a likelihood's or a mean's is held unless it
// is freed by {init: v} or a prior. A value in the file is the start, and then nothing comes from the data.
func TestSpecHolds(t *testing.T) {
	prior, nan := Normal{Mean: 0, SD: 1}, math.NaN()
	for _, c := range []struct {
		s          Setting
		held, init bool // held: by HeldSpec; init: a value was written
		kernel     bool // held by Spec
	}{
		{s: Setting{}, held: true},
		{s: Setting{Bare: number(3)}, held: true, init: true},
		{s: Setting{Fixed: number(3)}, held: true, kernel: true, init: true},
		{s: Setting{Init: number(3)}, init: true},
		{s: Setting{Prior: prior}},
		{s: Setting{Bare: number(3), Prior: prior}, init: true},
	} {
		for which, got := range map[string]struct {
			spec Spec
			held bool
		}{"Spec": {c.s.Spec("v", Identity, nan), c.kernel}, "HeldSpec": {c.s.HeldSpec("v", Identity, nan), c.held}} {
			p := got.spec
			if p.Fixed != got.held || p.FromData == c.init || c.init && p.Init != 3 || !c.init && !math.IsNaN(p.Init) {
				t.Errorf("%s of {%s, prior %v}: held %v, from the data %v, init %v", which, say(c.s), c.s.Prior, p.Fixed, p.FromData, p.Init)
			}
		}
	}
}

// TestDefaultBounds: e^-10 … e^15 on the log scale, the same above and below on the identity, and 15 on the logit scale.
func TestDefaultBounds(t *testing.T) {
	for m, want := range map[Transform][2]float64{
		Log: {math.Exp(-10), math.Exp(15)}, Identity: {-math.Exp(15), math.Exp(15)},
		Logit: {1 / (1 + math.Exp(15)), 1 / (1 + math.Exp(-15))},
	} {
		p := Setting{}.Spec("v", m, 0.5)
		if math.Abs(p.Lo-want[0]) > 1e-12*math.Abs(want[0]) || math.Abs(p.Hi-want[1]) > 1e-12*math.Abs(want[1]) || p.Given {
			t.Errorf("transform %d: [%v, %v], given %v, want %v", m, p.Lo, p.Hi, p.Given, want)
		}
		if given := (Setting{Bounds: &[2]float64{0.2, 0.7}}).Spec("v", m, 0.5); given.Lo != 0.2 || given.Hi != 0.7 || !given.Given {
			t.Errorf("transform %d: [%v, %v], given %v, of bounds of the user", m, given.Lo, given.Hi, given.Given)
		}
	}
}

// A condition on a whole number with a wide range names a value of it, or is refused at once.
func TestConditionOnAWideRange(t *testing.T) {
	from, to := 1.0, 1e15
	n, err := WholeRange{Ends: Ends{From: &from, To: &to}}.Spec("n", nil)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{"7": true, "1000000000000": true, "0": false, "2.5": false, "many": false, "nan": false} {
		r := ChoiceRange{Values: texts("a", "b"), Conditional: Conditional{When: map[string]Holding{"n": {Values: texts(text)}}}}
		if s, err := r.Spec("kind", []Spec{n}); (err == nil) != want {
			t.Errorf("%s: %+v, %v", text, s.When, err)
		}
	}
}
