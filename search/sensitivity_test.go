package search

import (
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/search/searchtest/spaces"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/record"
)

// described are the hyperparameters of a space as a manifest has them.
func described(s Space, by Strategy) (all []record.Hyperparameter) {
	for _, p := range s {
		h := record.Hyperparameter{Name: p.Name, Theta: p.ThetaName(), Fixed: p.Fixed, Choices: p.Choices, Whole: p.Map == param.Whole}
		if p.When != nil {
			h.When = &param.Condition{Name: p.When.Name, Values: p.When.Values}
		}
		all = append(all, h)
	}
	Record(all, by, s)
	return all
}

// evaluatedBy are the trials of a strategy on a function of theta.
func evaluatedBy(by Strategy, s Space, f func(theta []float64) (float64, error)) (all []*record.Trial) {
	var done []record.Trial
	for {
		next := by.Ask(s, done, 0)
		if len(next) == 0 {
			break
		}
		for _, p := range next {
			t := record.Trial{Index: len(done), Status: "evaluated"}
			for _, theta := range p.Points {
				v, err := f(theta)
				if err != nil {
					t.Failure, t.Asked = cause.Failed(err), append(t.Asked, record.Numbers(theta))
					continue
				}
				t.Points = append(t.Points, record.Point{Theta: record.Numbers(theta), Value: record.Number(v)})
			}
			done = append(done, t)
		}
	}
	for i := range done {
		all = append(all, &done[i])
	}
	return all
}

func unitCube(names ...string) (s Space) {
	for _, name := range names {
		s = append(s, param.Between(name, param.Identity, 0, 1))
	}
	return s
}

// Fractions of the variance of known functions, whose variances have a closed form. Ishigami's
// function with a = 7 and b = 0.1 has V1 = ½(1 + bπ⁴/5)², V2 = a²/8 and V13 = 8b²π⁸/225 (Ishigami &
// Homma 1990). In the bowl Var (x - 0.3)² = 17/900 and Var 0.001 y = 1e-6/12. The points of an
// adaptive search are not uniform, but the estimates are for uniform points. They are right within
// 4 of their standard errors, or within the tolerance.
func TestSensitivityOfKnownFunctions(t *testing.T) {
	angle := func(u float64) float64 { return math.Pi * (2*u - 1) }
	sin := func(u float64) float64 { return math.Sin(angle(u)) }
	v1, v2, v13 := math.Pow(1+math.Pow(math.Pi, 4)/50, 2)/2, 49./8, 0.08*math.Pow(math.Pi, 8)/225
	all := v1 + v2 + v13
	for _, c := range []struct {
		name         string
		by           Strategy
		of           func(x []float64) float64
		first, total []float64
		tolerance    float64
	}{
		{"Ishigami", Sobol{Design{Trials: 128}}, func(x []float64) float64 {
			return sin(x[0]) + 7*math.Pow(sin(x[1]), 2) + 0.1*math.Pow(angle(x[2]), 4)*sin(x[0])
		}, []float64{v1 / all, v2 / all, 0}, []float64{(v1 + v13) / all, v2 / all, v13 / all}, 0.02},
		{"bowl", CMAES{Trials: 40}, func(x []float64) float64 { return -math.Pow(x[0]-0.3, 2) - 0.001*x[1] },
			[]float64{1, 4.4e-6, 0}, []float64{1, 4.4e-6, 0}, 1e-4},
		{"a kink", Sobol{Design{Trials: 40}}, func(x []float64) float64 { return -math.Abs(x[0] - 0.3) },
			[]float64{1, 0, 0}, []float64{1, 0, 0}, 1e-3},
	} {
		s := unitCube("x", "y", "z")
		got, err := NewSensitivity(described(s, c.by), evaluatedBy(c.by, s, func(x []float64) (float64, error) { return c.of(x), nil }))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		sum := 0.0
		for j, i := range got.Indices {
			if math.Abs(i.First-c.first[j]) > max(4*i.FirstError, c.tolerance) || math.Abs(i.Total-c.total[j]) > max(4*i.TotalError, c.tolerance) || i.Name != s[j].Name {
				t.Errorf("%s: %+v, want %.6f and %.6f", c.name, i, c.first[j], c.total[j])
			}
			if !(i.First >= 0 && i.First <= i.Total) || !(i.FirstError >= 0 && i.TotalError >= 0) {
				t.Errorf("%s: %+v", c.name, i)
			}
			sum += i.First
		}
		if sum > 1 || !(got.R2 > 0.8 && got.R2 < 1) {
			t.Errorf("%s: the sum is %v, R² %v", c.name, sum, got.R2)
		}
	}
}

// A function of a choice k and of a where k is p, b where k is q: f = a + 3 for p, 2 b for q, with a
// and b uniform in [0, 1]. Over the whole space Var f = ½(1/12 + 4/12) + ¼(3.5 - 1)² and
// Var E[f|k] = ¼(3.5 - 1)²; a and b are all of the variance where they matter.
func TestSensitivityOfConditionalHyperparameters(t *testing.T) {
	s := append(Space{param.Among("k", "p", "q")}, unitCube("a", "b")...)
	s[1].When, s[2].When = &param.Condition{Name: "k", Values: []float64{0}}, &param.Condition{Name: "k", Values: []float64{1}}
	by := Sobol{Design{Trials: 40}}
	got, err := NewSensitivity(described(s, by), evaluatedBy(by, s, func(x []float64) (float64, error) {
		if x[0] == 0 {
			return x[1] + 3, nil
		}
		return 2 * x[2], nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	first := 2.5 * 2.5 / 4 / (5./24 + 2.5*2.5/4)
	// f at the same a and b: a + 3 or 2 b, whose variance over k has the mean ¼((3.5 - 1)² + 5/12)
	total := (2.5*2.5/4 + 5./48) / (5./24 + 2.5*2.5/4)
	for j, want := range [][2]float64{{first, total}, {1, 1}, {1, 1}} {
		if i := got.Indices[j]; math.Abs(i.First-want[0]) > 0.01 || math.Abs(i.Total-want[1]) > 0.01 {
			t.Errorf("%+v, want %v", i, want)
		}
	}
}

// A coordinate that a condition bounds is moved to the interval where the condition holds, evenly.
// Bounds that exclude each other leave the lower end.
func TestPlacesWhereConditionsHold(t *testing.T) {
	s := append(unitCube("x", "y"), param.Between("z", param.Log, 0.01, 1))
	quarter, half, most := 0.25, 0.5, 0.75
	within := &param.Condition{Name: "x", Bounds: param.Bounds{AtLeast: &quarter, Below: &most}}
	tenth := &param.Condition{Name: "z", Bounds: param.Bounds{AtLeast: new(0.1)}}
	s[1].When = within
	for _, c := range []struct {
		when     *param.Condition
		u, moved []float64
	}{
		{within, []float64{0, 0.3, 0.9}, []float64{0.25, 0.3, 0.9}}, {within, []float64{0.5, 0.3, 0.9}, []float64{0.5, 0.3, 0.9}},
		{within, []float64{0.1, 0.3, 0.9}, []float64{0.3, 0.3, 0.9}}, {tenth, []float64{0.1, 0.3, 0.4}, []float64{0.1, 0.3, 0.7}},
		{&param.Condition{Name: "y", Bounds: param.Bounds{AtMost: &half}}, []float64{0.1, 0.4, 0.9}, []float64{0.3, 0.2, 0.9}},
		{&param.Condition{Name: "x", Bounds: param.Bounds{AtLeast: &most}, And: &param.Condition{Name: "x", Bounds: param.Bounds{AtMost: &quarter}}},
			[]float64{0.6, 0.4, 0.9}, []float64{0.75, 0.4, 0.9}},
	} {
		u := append([]float64{}, c.u...)
		if s.enforce(u, c.when); !(floats.Distance(u, c.moved, math.Inf(1)) < 1e-9) {
			t.Errorf("%v is moved to %v, want %v", c.u, u, c.moved)
		}
	}
}

// What is not known is said in words.
func TestSensitivityInWords(t *testing.T) {
	s := unitCube("x", "y")
	plane := func(x []float64) (float64, error) { return x[0], nil }
	for _, c := range []struct {
		trials int
		of     func(x []float64) (float64, error)
		want   string
	}{
		{5, plane, "5 points have a value; a regression over 2 hyperparameters needs 6 or more"},
		{8, func([]float64) (float64, error) { return 0.1, nil }, "all 8 values are equal"},
		{8, func([]float64) (float64, error) { return 0, errors.New("no") }, "none of 8 points has a value"},
		{8, func(x []float64) (float64, error) { return math.Sin(1e6 * x[0]), nil }, "no better than their mean"},
	} {
		by := Random{Design{Trials: c.trials}}
		got, err := NewSensitivity(described(s, by), evaluatedBy(by, s, c.of))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v, %v, want %q", got, err, c.want)
		}
	}
	trials := evaluatedBy(Random{Design{Trials: 8}}, s, plane)
	if _, err := NewSensitivity([]record.Hyperparameter{{Name: "x"}, {Name: "y"}}, trials); err == nil || !strings.Contains(err.Error(), "no bounds") {
		t.Errorf("without bounds: %v", err)
	}
}

// The space on record places points as the space of the search does. The recorded space of a grid
// does so within the grid's axes. Fixed hyperparameters and hyperparameters without a grid axis are
// not in it.
func TestRecordedSpace(t *testing.T) {
	s := mixedSpace()
	s = append(s, param.Spec{Name: "wide", Map: param.Log, Init: 2, Lo: param.DefaultLo, Hi: param.DefaultHi})
	got, of := recordedSpace(described(s, Random{}))
	if len(of) != len(s) {
		t.Fatalf("%d of %d", len(of), len(s))
	}
	for j, p := range s {
		for _, u := range []float64{0.1, 0.5, 0.8} {
			theta := p.Place(u)
			if of[j] != j || math.Abs(got[j].Unit(theta)-p.Unit(theta)) > 1e-12 || math.Abs(got[j].Place(u)-theta) > 1e-12 {
				t.Errorf("%s: %v is placed at %v and %v, want %v and %v", p.Name, u, got[j].Place(u), got[j].Unit(theta), theta, p.Unit(theta))
			}
		}
	}
	if all := described(s, BFGS{}); all[0].Range != nil {
		t.Errorf("of a local optimiser: %+v", all)
	}
	plain := Space{spaces.Bounded("a", param.Log, 1, 1e-3, 1e3), spaces.Bounded("b", param.Log, 1, 1e-3, 1e3), spaces.Bounded("c", param.Identity, 1, 0, 9)}
	grid := Grid{Axes: map[string]Axis{"a": {Values: []float64{4, 1, 2}}, "c": {Linear: &[2]float64{2, 3}, Points: 5}}}
	got, of = recordedSpace(described(plain, grid))
	if len(got) != 2 || of[0] != 0 || of[1] != 2 || got[0].Unit(math.Log(2)) != 0.5 || got[1].Unit(2.25) != 0.25 {
		t.Errorf("of a grid: %+v at %v", got, of)
	}
}
