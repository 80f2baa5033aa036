package search

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/search/searchtest/spaces"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/record"
)

// everySpace has spaces that every strategy must handle. All but the first have a hyperparameter
// length_scale.
var everySpace = map[string]Space{
	"none":     {},
	"one":      {spaces.Spec("length_scale", param.Log, 1)},
	"se":       spaces.SE(),
	"mixed":    {spaces.Spec("length_scale", param.Log, 3), spaces.Spec("likelihood.epsilon", param.Logit, 0.01), spaces.Spec("mean.constant", param.Identity, 0)},
	"five":     {spaces.Spec("length_scale", param.Log, 1), spaces.Spec("amplitude", param.Log, 2), spaces.Spec("alpha", param.Log, 3), spaces.Spec("period", param.Log, 4), spaces.Spec("mean.constant", param.Identity, 0)},
	"at bound": {spaces.Bounded("length_scale", param.Log, 0.3, 0.3, 30), spaces.Bounded("amplitude", param.Log, 7, 0.1, 7)},
	"narrow":   {spaces.Bounded("length_scale", param.Log, 1, 0.3, math.Nextafter(1, 2)), spaces.Bounded("likelihood.epsilon", param.Logit, 0.4, 0.39, 0.41)},
}

// withPriors gives every hyperparameter a prior, which MCMC needs.
func withPriors(s Space) Space {
	s = slices.Clone(s)
	for i := range s {
		s[i].Prior = [...]param.Prior{param.Log: param.HalfNormal{Scale: 1}, param.Logit: param.Beta{A: 1, B: 9}, param.Identity: param.Normal{SD: 1}}[s[i].Map]
	}
	return s
}

func TestMCMCCheck(t *testing.T) {
	for want, c := range map[string]struct {
		m MCMC
		s Space
	}{
		"amplitude has no prior, and a flat one over log_amplitude is improper": {MCMC{}, spaces.SE()},
		"length_scale has no prior": {MCMC{}, spaces.SE()},
		"nothing to sample: every hyperparameter is fixed; use method: none":                {MCMC{}, nil},
		"samples = 3 must be at least 4":                                                    {MCMC{Samples: 3}, withPriors(spaces.SE())},
		"burn = -1 must be at least 1":                                                      {MCMC{Burn: -1, Thin: -2}, withPriors(spaces.SE())},
		"thin = -2 must be at least 1":                                                      {MCMC{Burn: -1, Thin: -2}, withPriors(spaces.SE())},
		"restarts = -1 must be at least 1":                                                  {MCMC{MultiStart: MultiStart{Restarts: -1}}, withPriors(spaces.SE())},
		"length_scale starts at 1, outside its bounds [2, 10]; give it an init inside them": {MCMC{}, withPriors(Space{spaces.Bounded("length_scale", param.Log, 1, 2, 10)})},
	} {
		if err := c.m.Check(c.s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if n := len(MCMC{}.Ask(withPriors(spaces.SE()), nil, 1)); n != 4 {
		t.Errorf("%d chains, want 4", n)
	}
}

func TestMoreRestartsExtendTheList(t *testing.T) {
	few, many := BFGS{Ascent{MultiStart: MultiStart{Restarts: 3}}}.Ask(spaces.SE(), nil, 5), BFGS{Ascent{MultiStart: MultiStart{Restarts: 9}}}.Ask(spaces.SE(), nil, 5)
	if len(few) != 3 || len(many) != 9 || !reflect.DeepEqual(few, many[:3]) {
		t.Errorf("3 restarts start at %v, 9 at %v", few, many)
	}
	if other := (BFGS{Ascent{MultiStart: MultiStart{Restarts: 3}}}).Ask(spaces.SE(), nil, 6); reflect.DeepEqual(other[1:], few[1:]) {
		t.Error("the seed changes nothing")
	}
	if want := []float64{0, math.Log(2)}; !reflect.DeepEqual(few[0].Points[0], want) {
		t.Errorf("the first start is %v, want %v", few[0].Points[0], want)
	}
}

// The mean of n uniform draws from the box lies within 5 standard errors, 4/sqrt(12 n), of its
// centre. The extremes lie within 2 % of its ends with probability 1 - 2*0.99^2000.
func TestRestartsFillTheSearchBox(t *testing.T) {
	const n = 2000
	for j, p := range spaces.SE() {
		sum, lo, hi := 0.0, math.Inf(1), math.Inf(-1)
		for _, proposal := range (BFGS{Ascent{MultiStart: MultiStart{Restarts: n + 1}}}).Ask(spaces.SE(), nil, 1)[1:] {
			d := proposal.Points[0][j] - p.Map.Theta(p.Init)
			sum, lo, hi = sum+d, min(lo, d), max(hi, d)
		}
		if mean := sum / n; math.Abs(mean) > 5*2*param.SearchBox/math.Sqrt(12*n) {
			t.Errorf("%s: mean offset %v", p.Name, mean)
		}
		if lo < -param.SearchBox || lo > -0.96*param.SearchBox || hi > param.SearchBox || hi < 0.96*param.SearchBox {
			t.Errorf("%s: offsets from %v to %v, want ±%v", p.Name, lo, hi, param.SearchBox)
		}
	}
}

func TestNoFreeHyperparameterIsOneStart(t *testing.T) {
	got := BFGS{Ascent{MultiStart: MultiStart{Restarts: 5}}}.Ask(nil, nil, 1)
	if len(got) != 1 || len(got[0].Points) != 1 || len(got[0].Points[0]) != 0 {
		t.Errorf("got %v, want one empty point", got)
	}
}

// A row varies the amplitude although it comes first in the space; theta is exactly the logarithm
// of the axis values.
func TestGridRows(t *testing.T) {
	g := Grid{Axes: map[string]Axis{
		"length_scale": {Log: &[2]float64{1.6, 5.6}, Points: 17},
		"amplitude":    {Log: &[2]float64{0.1, 5.6}, Points: 23},
	}}
	rows := g.Ask(spaces.SE(), nil, 0)
	if len(rows) != 17 {
		t.Fatalf("%d rows, want 17", len(rows))
	}
	for i, row := range rows {
		if len(row.Points) != 23 {
			t.Fatalf("row %d has %d points, want 23", i, len(row.Points))
		}
		for k, theta := range row.Points {
			amplitude, lengthScale := 0.1+5.5*float64(k)/22, 1.6+4*float64(i)/16
			if math.Abs(theta[0]-amplitude) > 1e-15*8 || math.Abs(theta[1]-lengthScale) > 1e-15*8 {
				t.Errorf("row %d, point %d: %v, want %v, %v", i, k, theta, amplitude, lengthScale)
			}
		}
		if row.Points[0][0] != 0.1 || row.Points[22][0] != 5.6 {
			t.Errorf("row %d runs from %v to %v", i, row.Points[0][0], row.Points[22][0])
		}
	}
	if rows[0].Points[0][1] != 1.6 || rows[16].Points[0][1] != 5.6 {
		t.Error("the ends of the length scale are not exact")
	}
}

// With Apart, a grid proposes the points of its rows in the same order, each in its own proposal.
func TestGridApart(t *testing.T) {
	g := Grid{Axes: map[string]Axis{"length_scale": {Values: []float64{1, 2, 4}}, "amplitude": {Values: []float64{1, 3}}}}
	var want [][]float64
	for _, row := range g.Ask(spaces.SE(), nil, 0) {
		want = append(want, row.Points...)
	}
	g.Apart = true
	got := g.Ask(spaces.SE(), nil, 0)
	if len(got) != 6 || len(want) != 6 || g.Budget(spaces.SE()).Trials != 6 {
		t.Fatalf("%d proposals of a budget of %d for %d points, want 6", len(got), g.Budget(spaces.SE()).Trials, len(want))
	}
	for i, p := range got {
		if len(p.Points) != 1 || !slices.Equal(p.Points[0], want[i]) {
			t.Errorf("proposal %d: %v, want [%v]", i, p.Points, want[i])
		}
	}
}

func TestGridForms(t *testing.T) {
	space := Space{spaces.Spec("1.se.amplitude", param.Log, 3), spaces.Spec("1.se.length_scale", param.Log, 2), spaces.Spec("likelihood.epsilon", param.Logit, 0.1), spaces.Spec("class[a.b].bias", param.Identity, 7)}
	g := Grid{Axes: map[string]Axis{
		"bias":               {Linear: &[2]float64{-1, 1}, Points: 3},
		"1.se.length_scale":  {Values: []float64{5, 4}},
		"likelihood.epsilon": {Log: &[2]float64{-2, -2}, Points: 1},
	}}
	if err := g.Check(space); err != nil {
		t.Fatal(err)
	}
	epsilon := -math.Log(math.Exp(2) - 1) // logit(e^-2) = -ln(e^2 - 1)
	var want [][]float64
	for _, l := range []float64{5, 4} {
		for _, b := range []float64{-1, 0, 1} { // without an amplitude, a row varies the last axis
			want = append(want, []float64{math.Log(3), math.Log(l), epsilon, b})
		}
	}
	var got [][]float64
	for _, p := range g.Ask(space, nil, 0) {
		if len(p.Points) != 3 {
			t.Errorf("a row of %d points, want 3", len(p.Points))
		}
		got = append(got, p.Points...)
	}
	if len(got) != len(want) {
		t.Fatalf("%d points, want %d", len(got), len(want))
	}
	for i := range want {
		for j := range want[i] {
			if math.Abs(got[i][j]-want[i][j]) > 1e-14 {
				t.Errorf("point %d: %v, want %v", i, got[i], want[i])
			}
		}
	}
}

func TestGridCheck(t *testing.T) {
	space := Space{spaces.Spec("1.se.amplitude", param.Log, 1), spaces.Spec("1.se.length_scale", param.Log, 1), spaces.Spec("2.linear.amplitude", param.Log, 1),
		spaces.Bounded("likelihood.epsilon", param.Logit, 0.1, 0.01, 0.2), spaces.Spec("3.se.length_scale[1]", param.Log, 1)}
	ends := func(lo, hi float64) *[2]float64 { return &[2]float64{lo, hi} }
	nan := math.NaN()
	for _, c := range []struct {
		axes map[string]Axis
		want string // "" for none
	}{
		{map[string]Axis{"length_scale": {Log: ends(-1, 1), Points: 3}}, ""},
		{map[string]Axis{"length_scale[1]": {Log: ends(-10, 15), Points: 2}}, ""}, // the default bounds
		{map[string]Axis{"epsilon": {Values: []float64{0.01, 0.2}}}, ""},
		{nil, "no axes"},
		{map[string]Axis{"length_scal": {Log: ends(-1, 1), Points: 3}}, `did you mean "length_scale"? (have 1.se.amplitude, length_scale, 2.linear.amplitude, epsilon, length_scale[1])`},
		{map[string]Axis{"amplitude": {Log: ends(-1, 1), Points: 3}}, "ambiguous; write one of 1.se.amplitude, 2.linear.amplitude"},
		{map[string]Axis{"length_scale": {Values: []float64{1}}, "1.se.length_scale": {Values: []float64{1}}}, "both name 1.se.length_scale"},
		{map[string]Axis{"length_scale": {}}, "write one of"},
		{map[string]Axis{"length_scale": {Points: 3}}, "write one of"},
		{map[string]Axis{"length_scale": {Log: ends(-1, 1), Linear: ends(1, 2), Points: 3}}, "write one of"},
		{map[string]Axis{"length_scale": {Linear: ends(1, 2), Values: []float64{1}, Points: 3}}, "write one of"},
		{map[string]Axis{"length_scale": {Values: []float64{}}}, "at least one number"},
		{map[string]Axis{"length_scale": {Values: []float64{1, 2}, Points: 2}}, "without points"},
		{map[string]Axis{"length_scale": {Log: ends(-1, 1)}}, "points = 0"},
		{map[string]Axis{"length_scale": {Log: ends(-1, 1), Points: -1}}, "points = -1"},
		{map[string]Axis{"length_scale": {Log: ends(-1, 1), Points: 1 << 60}}, "must be from 1 to"},
		{map[string]Axis{"length_scale": {Log: ends(1, -1), Points: 3}}, "smaller end first"},
		{map[string]Axis{"length_scale": {Log: ends(nan, 1), Points: 3}}, "smaller end first"},
		{map[string]Axis{"length_scale": {Log: ends(-1, 1), Points: 1}}, "cannot have points: 1"},
		{map[string]Axis{"length_scale": {Log: ends(1, 1), Points: 2}}, "cannot have points: 2"},
		{map[string]Axis{"length_scale": {Linear: ends(0, 1), Points: 2}}, "outside its bounds"},
		{map[string]Axis{"length_scale": {Linear: ends(-math.MaxFloat64, math.MaxFloat64), Points: 3}}, "outside its bounds"},
		{map[string]Axis{"length_scale": {Log: ends(0, math.Inf(1)), Points: 3}}, "outside its bounds"},
		{map[string]Axis{"length_scale": {Values: []float64{nan}}}, "outside its bounds"},
		{map[string]Axis{"epsilon": {Values: []float64{0.21}}}, "likelihood.epsilon = 0.21 is outside its bounds [0.01, 0.2]"},
		{map[string]Axis{"epsilon": {Values: []float64{1}}}, "outside its bounds"},
		{map[string]Axis{"length_scale": {Log: ends(-1, 1), Points: 10_000}, "length_scale[1]": {Log: ends(-1, 1), Points: 10_000}}, "the grid has 1e+08 points"},
		{map[string]Axis{"zzz": {}, "length_scale": {}}, "\n"}, // all errors at once
	} {
		err := Grid{Axes: c.axes}.Check(space)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("Check of %v: %v, want %q", c.axes, err, c.want)
		}
	}
}

func TestCheckStart(t *testing.T) {
	outside := spaces.Bounded("length_scale", param.Log, 1, 2, 10)
	if err := (BFGS{}).Check(Space{outside}); err == nil || !strings.Contains(err.Error(), "length_scale starts at 1, outside its bounds [2, 10]") {
		t.Error(err)
	}
	if err := (BFGS{Ascent{MultiStart: MultiStart{Restarts: -1}}}).Check(spaces.SE()); err == nil {
		t.Error("restarts = -1 passes")
	}
	other := spaces.Spec("amplitude", param.Log, 1)
	if err := (Grid{Axes: map[string]Axis{"amplitude": {Values: []float64{1}}}}).Check(Space{outside, other}); err == nil {
		t.Error("a start outside its bounds passes although the grid leaves it there")
	}
	if err := (Grid{Axes: map[string]Axis{"length_scale": {Values: []float64{3}}}}).Check(Space{outside, other}); err != nil {
		t.Error(err)
	}
}

// What cannot be searched is refused with the reason; a discrete hyperparameter may have one value.
func TestSpaceCheck(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	between := func(m param.Transform, lo, hi float64) Space {
		return Space{{Name: "x", Map: m, Init: lo, Lo: lo, Hi: hi}}
	}
	fixed, outside := between(param.Identity, 0, 1), between(param.Identity, 0, 1)
	fixed[0].Fixed, outside[0].Init = true, nan
	for _, c := range []struct {
		s    Space
		want string // "" for none
	}{
		{between(param.Identity, -1, 1), ""}, {between(param.Log, 1, 9), ""}, {between(param.Whole, 3, 3), ""},
		{Space{param.Among("x", "a")}, ""}, {nil, ""},
		{between(param.Identity, 1, 1), "x has the bounds [1, 1], which must be two numbers finite, the smaller first"},
		{between(param.Identity, 1, 0), "the smaller first"}, {between(param.Whole, 3, 2), "the smaller first"},
		{between(param.Identity, nan, 1), "[NaN, 1]"}, {between(param.Identity, 0, nan), "[0, NaN]"},
		{between(param.Identity, 0, inf), "[0, +Inf]"}, {between(param.Whole, 0, inf), "[0, +Inf]"},
		{between(param.Log, 0, 1), "which must be two numbers greater than 0"}, {between(param.Log, -1, 1), "greater than 0"},
		{between(param.Logit, 0.5, 1), "between 0 and 1"}, {between(param.Whole, 0, 1.5), "whole numbers"},
		{between(param.Choice, 0, 0), "0 choices"}, {between(param.Stepped+1, 0, 1), "x has the transform 6, which does not exist"},
		{between(-1, 0, 1), "the transform -1"}, {Space{param.Among("x", "a", "b", "a")}, "twice"},
		{fixed, "x is fixed, and so nothing to search for"}, {outside, "x starts at NaN, outside its bounds [0, 1]"},
		{append(between(param.Log, 1, 2), between(param.Identity, 1, 2)...), `two hyperparameters are named "x"`},
		{Space{{Map: param.Log, Init: 1, Lo: 1, Hi: 2}}, "hyperparameter 1 of 1 has no name"},
	} {
		for _, err := range []error{c.s.Check(), Random{}.Check(c.s)} {
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v: %v, want %q", c.s, err, c.want)
			}
		}
	}
}

func TestEdges(t *testing.T) {
	s := Space{spaces.Spec("a", param.Log, 1), spaces.Bounded("b", param.Identity, 0, -1, 3), spaces.Spec("c", param.Log, param.DefaultHi)}
	for _, c := range []struct {
		theta []float64
		want  []string
	}{
		{[]float64{0, 0, 14}, nil},
		{[]float64{2, -1, 14}, []string{"b ended at its lower bound -1"}},
		{[]float64{-2, math.Nextafter(3, 0), 15}, []string{"b ended at its upper bound 3", "c ended at its upper bound 3.26902e+06"}},
		{[]float64{-10, 2.99, 13}, []string{"a ended at its lower bound 4.53999e-05"}},
	} {
		got := s.Edges(c.theta)
		if len(got) != len(c.want) {
			t.Errorf("%v: %v, want %v", c.theta, got, c.want)
			continue
		}
		for i, w := range c.want {
			if !strings.HasPrefix(got[i].Text, w) {
				t.Errorf("%v: %q, want %q", c.theta, got[i], w)
			}
		}
	}
}

func TestWinner(t *testing.T) {
	points := func(values ...float64) (out []record.Point) {
		for i, v := range values {
			out = append(out, record.Point{Theta: record.Numbers([]float64{float64(i)}), Value: record.Number(v)})
		}
		return out
	}
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		trials []record.Trial
		index  int
		theta  float64
	}{
		{[]record.Trial{{Index: 0, Points: points(-3)}, {Index: 1, Points: points(-2)}}, 1, 0},
		{[]record.Trial{{Index: 0, Points: points(-3, -1, -2)}, {Index: 1, Points: points(-2)}}, 0, 1},
		{[]record.Trial{{Index: 0, Points: points(-3, -2, -2)}, {Index: 1, Points: points(-2)}}, 0, 1},
		{[]record.Trial{{Index: 1, Points: points(-2)}, {Index: 0, Points: points(-3, -2)}}, 0, 1},
		{[]record.Trial{{Index: 0, Points: points(nan, inf, -inf, -9)}}, 0, 3},
		{[]record.Trial{{Index: 0, Points: points(5), Failure: cause.Failure.New("x")}, {Index: 1, Points: points(-2)}}, 1, 0},
		{[]record.Trial{{Index: 0, Points: []record.Point{{Value: 5, Failure: cause.Failure.New("x")}}}, {Index: 1, Points: points(-2)}}, 1, 0},
	} {
		index, best, err := Winner(c.trials)
		if err != nil || index != c.index || float64(best.Theta[0]) != c.theta {
			t.Errorf("Winner(%v) = %d, %v, %v; want trial %d, point %v", c.trials, index, best, err, c.index, c.theta)
		}
	}
	for _, c := range []struct {
		trials []record.Trial
		want   string
	}{
		{nil, "none of 0 trials has a usable point"},
		{[]record.Trial{{}, {Failure: cause.Failure.New("singular")}, {Failure: cause.Failure.New("other")}}, "none of 3 trials has a usable point; the first: singular"},
		{[]record.Trial{{Points: []record.Point{{Value: record.Number(nan), Failure: cause.Failure.New("diverged")}}}}, "none of 1 trials has a usable point; the first: diverged"},
	} {
		if index, _, err := Winner(c.trials); index != -1 || err == nil || err.Error() != c.want {
			t.Errorf("Winner(%v) = %d, %v; want %q", c.trials, index, err, c.want)
		}
	}
}

// A strategy from the table proposes as its zero value does.
func TestDefaultsAreThoseOfZero(t *testing.T) {
	for _, e := range Table {
		if e.Name == "grid" { // has no defaults
			continue
		}
		own, err := e.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		zero := reflect.Zero(reflect.TypeOf(own)).Interface().(Strategy)
		for name, s := range everySpace {
			if got, want := own.Budget(s), zero.Budget(s); got != want {
				t.Errorf("%s in space %s: budget %+v, of zero %+v", e.Name, name, got, want)
			}
			if own.Check(s) == nil && !reflect.DeepEqual(own.Ask(s, nil, 1), zero.Ask(s, nil, 1)) {
				t.Errorf("%s in space %s asks for other points than zero does", e.Name, name)
			}
		}
	}
}
