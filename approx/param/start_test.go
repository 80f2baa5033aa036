package param

import (
	"math"
	"slices"
	"testing"
)

func specs() []Spec {
	return []Spec{
		Setting{}.Spec("amplitude", Log, 1),
		Setting{Bounds: &[2]float64{0.9, 1.2}}.Spec("length_scale", Log, 1),
		Setting{}.Spec("rate", Logit, 0.3),
		Setting{}.Spec("shift", Identity, -4),
	}
}

// A dot within brackets is part of a class's or an input's name, also at the end.
func TestThetaName(t *testing.T) {
	for name, want := range map[string]string{
		"amplitude": "log_amplitude", "1.se.length_scale[2]": "1.se.log_length_scale[2]", "se[a.b].rate": "se[a.b].log_rate",
		"1.se.length_scale[a.b]": "1.se.log_length_scale[a.b]", "se.length_scale[.]": "se.log_length_scale[.]",
	} {
		if got := (Spec{Name: name}).ThetaName(); got != want {
			t.Errorf("%s on the theta scale is %s, want %s", name, got, want)
		}
	}
}

func TestStartZeroIsInit(t *testing.T) {
	want := []float64{0, 0, Logit.Theta(0.3), -4}
	if got := Start(specs(), 7, 0); !slices.Equal(got, want) {
		t.Errorf("Start 0 = %v, want %v", got, want)
	}
}

func TestStartDependsOnSeedAndIndexOnly(t *testing.T) {
	a := Start(specs(), 7, 3)
	Start(specs(), 7, 9)
	if b := Start(specs(), 7, 3); !slices.Equal(a, b) {
		t.Errorf("the same draw gave %v and %v", a, b)
	}
	for _, other := range [][]float64{Start(specs(), 7, 4), Start(specs(), 8, 3), Start(specs(), 7, 0), Start(specs(), 7, 1)} {
		for j := range a {
			if a[j] == other[j] {
				t.Errorf("coordinate %d is %v for two different draws", j, a[j])
			}
		}
	}
}

// A uniform draw on an interval of width w has its mean at the centre, and the mean of n draws the standard error
// w/√(12 n).
func TestStartIsUniformOnTheBoxWithinBounds(t *testing.T) {
	const n = 4000
	box := [][2]float64{{-2, 2}, {math.Log(0.9), math.Log(1.2)}, {Logit.Theta(0.3) - 2, Logit.Theta(0.3) + 2}, {-6, -2}}
	sum, low, high := make([]float64, 4), []float64{9, 9, 9, 9}, []float64{-9, -9, -9, -9}
	for i := 1; i <= n; i++ {
		for j, v := range Start(specs(), 1, i) {
			sum[j], low[j], high[j] = sum[j]+v, min(low[j], v), max(high[j], v)
		}
	}
	for j, b := range box {
		w := b[1] - b[0]
		if low[j] < b[0] || high[j] > b[1] || low[j] > b[0]+0.01*w || high[j] < b[1]-0.01*w {
			t.Errorf("coordinate %d spans [%v, %v], want [%v, %v]", j, low[j], high[j], b[0], b[1])
		}
		if d := sum[j]/n - (b[0]+b[1])/2; math.Abs(d) > 5*w/math.Sqrt(12*n) {
			t.Errorf("coordinate %d: mean is off the centre by %v", j, d)
		}
	}
}

// Place reaches both bounds, has the start where the warp says, and is inverted by Unit.
func TestPlace(t *testing.T) {
	for _, c := range []struct {
		s            Spec
		lo, hi       float64
		u, placed    float64 // a value in between, by hand
		differential float64 // dθ/du there
	}{
		{Setting{}.Spec("a", Log, 1), -10, 15, math.Asinh(10) / (math.Asinh(10) + math.Asinh(15)), 0, math.Asinh(10) + math.Asinh(15)},
		{Setting{Bounds: &[2]float64{0, 10}}.Spec("a", Identity, 1), 0, 10, 0.3, 3, 10},
		{Setting{}.Spec("a", Log, DefaultHi), -10, 15, 1, 15, math.Asinh(25)},
		{Setting{}.Spec("a", Log, 2*DefaultHi), -10, 15, 1, 15, math.Asinh(25)},
		{Setting{}.Spec("a", Logit, 0.5), -15, 15, 0.5, 0, 2 * math.Asinh(15)},
	} {
		if lo, hi := c.s.Place(0), c.s.Place(1); math.Abs(lo-c.lo) > 1e-9 || math.Abs(hi-c.hi) > 1e-9 {
			t.Errorf("%+v is placed in [%v, %v], want [%v, %v]", c.s, lo, hi, c.lo, c.hi)
		}
		if got := c.s.Place(c.u); math.Abs(got-c.placed) > 1e-9 {
			t.Errorf("%+v: %v is placed at %v, want %v", c.s, c.u, got, c.placed)
		}
		if h := 1e-6; c.u < 1 {
			if d := (c.s.Place(c.u+h) - c.s.Place(c.u-h)) / (2 * h); math.Abs(d-c.differential) > 1e-6*c.differential {
				t.Errorf("%+v: slope %v, want %v", c.s, d, c.differential)
			}
		}
		for u := 0.; u <= 1; u += 1. / 64 {
			if got := c.s.Unit(c.s.Place(u)); math.Abs(got-u) > 1e-12 {
				t.Errorf("%+v: %v comes back as %v", c.s, u, got)
			}
		}
	}
}

// Of discrete hyperparameters each combination that matters is met, first with the others at their initial values; what
// does not matter is at its initial value always.
func TestStartsOfChoices(t *testing.T) {
	one := []float64{1}
	all := []Spec{
		Among("a", "x", "y"),
		{Name: "b", Map: Choice, Init: 1, Hi: 2, Given: true, Choices: []string{"p", "q", "r"}, When: &Condition{Name: "a", Values: one}},
		{Name: "c", Map: Identity, Lo: -9, Hi: 9, Init: 4, When: &Condition{Name: "b", Values: one}},
		Between("d", Identity, -9, 9),
	}
	first := map[[2]float64]bool{}
	for i := range 24 {
		theta := Start(all, 5, i)
		at := [2]float64{theta[0], theta[1]}
		if i == 0 && at != [2]float64{0, 1} {
			t.Errorf("start 0 is %v", theta)
		}
		if theta[0] == 0 && theta[1] != 1 || (theta[0] == 0 || theta[1] != 1) && theta[2] != 4 {
			t.Errorf("%d: %v moves what does not matter", i, theta)
		}
		if !first[at] != (theta[3] == 0 && theta[2] == 4) && theta[0] == 1 {
			t.Errorf("%d: %v, met before: %v", i, theta, first[at])
		}
		first[at] = true
	}
	if len(first) != 4 {
		t.Errorf("combinations %v, want 4", first)
	}
	for n, want := range map[int]string{5: "5 starts do not try every choice, and a climb stays with its own; write restarts: 6, or more", 6: ""} {
		if err := CheckStarts(all, n); (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%d starts: %v", n, err)
		}
	}
	if err := CheckStarts(all[3:], 1); err != nil {
		t.Error(err)
	}
}

// The values of a whole number take turns from its start on, and each has had its turn after as
// many starts.
func TestTurnsOfWholeNumbers(t *testing.T) {
	specs := []Spec{Between("layers", Whole, 4, 6), Between("rate", Identity, 0, 1)}
	for i, want := range []float64{5, 6, 4, 5, 6, 4} {
		if got := Start(specs, 7, i)[0]; got != want {
			t.Errorf("start %d has %v, want %v", i, got, want)
		}
	}
	for _, c := range []struct{ hi, want float64 }{{6, 3}, {10_003, 10_000}, {10_004, 0}} {
		specs[0].Hi = c.hi
		if got := Turns(specs); got != int(c.want) {
			t.Errorf("from 4 to %v: %d turns, want %v", c.hi, got, c.want)
		}
	}
}

// Between 0 and 1, what is far out on the theta scale is next to an end, and a number.
func TestFarOut(t *testing.T) {
	for theta, want := range map[float64]float64{800: 1, -800: 0, 0: 0.5, -40: math.Exp(-40), math.Log(3): 0.75} {
		if got := Logit.Natural(theta); !(math.Abs(got-want) <= 1e-15*want) {
			t.Errorf("%v: %v, want %v", theta, got, want)
		}
	}
}
