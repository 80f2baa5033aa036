package search

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/gpc-tune/gpc-tune/search/searchtest/spaces"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/optimize"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/record"
)

// maximise runs a strategy on f to its end. A NaN is a failure.
func maximise(strategy Strategy, s Space, f func([]float64) float64, seed uint64) []record.Trial {
	var history []record.Trial
	for {
		batch := strategy.Ask(s, history, seed)
		if len(batch) == 0 {
			return history
		}
		for _, p := range batch {
			history = append(history, spaces.Evaluated(len(history), p.Points, f))
		}
	}
}

// adaptive are the strategies that learn from their history; short is the allowed distance of the
// result below the maximum. Strategies with a regression have one seed.
var adaptive = []struct {
	strategy Strategy
	seeds    uint64
	short    float64
}{
	{NelderMead{}, 3, 1e-6},
	{CMAES{Trials: 900}, 3, 1e-6},
	{Bayes{Trials: 60}, 1, 0.05},
	{Bayes{Trials: 60, Batch: 4}, 1, 0.2},
	{Auto{Trials: 100}, 1, 1e-6},
}

func TestAdaptiveStrategiesFindTheMaximum(t *testing.T) {
	for i, name := range slices.Sorted(maps.Keys(spaces.Surfaces)) {
		s := spaces.Surfaces[name]
		for k, a := range adaptive {
			if a.seeds == 1 && !exhaustive.Tries(3, i, k) {
				continue
			}
			for seed := range a.seeds {
				trials := maximise(a.strategy, s.Space, s.At, seed)
				_, best, err := Winner(trials)
				if err != nil {
					t.Fatal(err)
				}
				if short := s.Best - float64(best.Value); !(short <= a.short && short > -1e-12) {
					t.Errorf("%s, %T%+v, seed %d: %v below the maximum after %d trials", name, a.strategy, a.strategy, seed, short, len(trials))
				}
			}
		}
	}
}

// With n independent points in an area A and the maximum inside, no point is within r of the
// maximum with probability (1 - πr²/A)ⁿ, 3e-7 here. Sobol's sequence and the Latin hypercube leave
// no larger gaps.
func TestDesignsComeCloseToTheMaximum(t *testing.T) {
	const n, r = 400, 0.43
	s := spaces.Surfaces["bowl"]
	s.Space = Space{spaces.Bounded("x", param.Identity, 0, -2, 2), spaces.Bounded("y", param.Identity, 2, 0, 4)}
	for _, strategy := range []Strategy{Random{Design{n}}, Sobol{Design{n}}, LatinHypercube{Design{n}}} {
		_, best, err := Winner(maximise(strategy, s.Space, s.At, 1))
		if err != nil {
			t.Fatal(err)
		}
		if short := s.Best - float64(best.Value); short > 10*r*r {
			t.Errorf("%T ends %v below the maximum", strategy, short)
		}
	}
}

// Every strategy in the table finds the maximum, 0, of the round-tipped cone 1 - √(1 + |θ - c|²)
// between -2 and 2, in one, two and five dimensions. Gradient methods reach it up to rounding,
// simplices and evolution up to their stopping rules. A design of n fixed points comes as close as
// it must: a grid within half the diagonal of a cell; n independent points miss a ball of volume v
// with probability (1 - v/4^d)^n, which is 1e-6 for the ball here.
func TestEveryStrategyFindsTheMaximum(t *testing.T) {
	const side = 4
	height := func(r float64) float64 { return 1 - math.Sqrt(1+r*r) }
	centre := []float64{0.3, 0.15, 0, -0.15, -0.3}
	away := func(theta []float64) float64 { return floats.Distance(theta, centre[:len(theta)], 2) }
	const n = 400
	missed := func(d int) float64 {
		ball := math.Pow(math.Pi, float64(d)/2) / math.Gamma(float64(d)/2+1) // of radius 1
		return -height(math.Pow(math.Pow(side, float64(d))*(1-math.Pow(1e-6, 1./n))/ball, 1/float64(d)))
	}
	within := func(short float64) func(int) float64 { return func(int) float64 { return short } }
	design := func(v *Design) { v.Trials = n }
	options := map[string]struct {
		set   func(v any, d int)
		short func(d int) float64 // allowed distance below the maximum
	}{
		"bfgs": {nil, within(1e-12)}, "lbfgs": {nil, within(1e-12)}, "cg": {nil, within(1e-12)}, "gradient_descent": {nil, within(1e-12)},
		"grid": {func(v any, d int) {
			axes := map[string]Axis{}
			for j := range d {
				axes[fmt.Sprint("x", j)] = Axis{Linear: &[2]float64{-2, 2}, Points: 5}
			}
			v.(*Grid).Axes = axes
		}, func(d int) float64 { return -height(math.Sqrt(float64(d)) / 2) }},
		"nelder_mead":     {func(v any, d int) { v.(*NelderMead).Trials = 300 * d }, within(1e-6)},
		"cmaes":           {func(v any, d int) { v.(*CMAES).Trials = 400 * d }, within(1e-8)},
		"bayes":           {func(v any, d int) { v.(*Bayes).Trials = 10 + 6*d }, within(0.01)},
		"auto":            {func(v any, d int) { v.(*Auto).Trials = 60 + 15*d }, within(1e-6)},
		"random":          {func(v any, _ int) { design(&v.(*Random).Design) }, missed},
		"sobol":           {func(v any, _ int) { design(&v.(*Sobol).Design) }, missed},
		"latin_hypercube": {func(v any, _ int) { design(&v.(*LatinHypercube).Design) }, missed},
	}
	for i, e := range Table {
		for k, d := range []int{1, 2, 5} {
			if !exhaustive.Tries(2, i, k) {
				continue
			}
			o, listed := options[e.Name]
			strategy, err := e.New(func(v any) error {
				if o.set != nil {
					o.set(v, d)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if _, samples := strategy.(Sampler); samples {
				continue // samplers find no maximum
			}
			if _, partial := strategy.(Partial); partial {
				continue // it needs a budget: TestHyperbandFinds, TestMultiFidelityFinds
			}
			if !listed {
				t.Fatalf("%s is not held to any maximum", e.Name)
			}
			var space Space
			for j := range d {
				space = append(space, spaces.Bounded(fmt.Sprint("x", j), param.Identity, -1, -2, 2))
			}
			f := func(theta []float64) float64 { return height(away(theta)) }
			if name := strategy.Optimizer(); name != "" {
				entry, err := objective.Optimizers.Lookup("local optimiser", name)
				if err != nil {
					t.Fatal(err)
				}
				optimizer, err := entry.New(nil)
				if err != nil {
					t.Fatal(err)
				}
				f = func(start []float64) float64 {
					top, err := optimize.Minimize(optimize.Problem{
						Func: func(u []float64) float64 { return -height(away(u)) },
						Grad: func(grad, u []float64) {
							floats.SubTo(grad, u, centre[:d])
							floats.Scale(1/math.Hypot(1, away(u)), grad)
						},
					}, start, nil, optimizer.Method(1e-9))
					if top == nil {
						t.Fatal(err)
					}
					return -top.F
				}
			}
			trials := maximise(strategy, space, f, 1)
			_, best, err := Winner(trials)
			if err != nil {
				t.Fatal(err)
			}
			if short := -float64(best.Value); !(short <= o.short(d) && short >= 0) {
				t.Errorf("%s, %d dimensions: %v below the maximum after %d trials, want at most %v", e.Name, d, short, len(trials), o.short(d))
			}
		}
	}
}

// Five hyperparameters; at the maximum two of them are at bounds.
func TestMoreHyperparameters(t *testing.T) {
	s := make(Space, 5)
	for j := range s {
		s[j] = spaces.Bounded("x", param.Identity, 0, -1, 1)
	}
	f := func(theta []float64) float64 {
		v := 0.0
		for j, u := range theta {
			d := u - 0.4*float64(j)
			v -= float64(1+9*j) * d * d
		}
		return v
	}
	want := -28*0.2*0.2 - 37*0.6*0.6
	for _, strategy := range []Strategy{NelderMead{Trials: 600}, CMAES{Trials: 1000}} {
		_, best, err := Winner(maximise(strategy, s, f, 1))
		if err != nil {
			t.Fatal(err)
		}
		if short := want - float64(best.Value); !(short <= 1e-4) {
			t.Errorf("%T ends %v below the maximum, at %v", strategy, short, best.Theta)
		}
	}
}

// A search in which every trial fails ends too, and proposes no NaN.
func TestNothingButFailures(t *testing.T) {
	s := spaces.Surfaces["bowl"]
	for _, a := range adaptive {
		for i, trial := range maximise(a.strategy, s.Space, func([]float64) float64 { return math.NaN() }, 3) {
			for _, u := range trial.Points[0].Theta {
				if math.IsNaN(float64(u)) {
					t.Fatalf("%T: trial %d is at %v", a.strategy, i, trial.Points[0].Theta)
				}
			}
		}
	}
}

// The trials of a longer search by auto begin with the trials of a shorter one, whether that ended
// in the first points, while Bayes and the quadratic took turns, or in a climb. A hyperparameter
// that does not matter stays.
func TestAutoIsExtended(t *testing.T) {
	space := Space{param.Among("kind", "a", "b"), spaces.Bounded("x", param.Identity, 1, -3, 3), spaces.Bounded("y", param.Identity, 1, -3, 3)}
	space[2].When = &param.Condition{Name: "kind", Values: []float64{1}}
	f := func(theta []float64) float64 { return -math.Pow(theta[1]-0.3*theta[0], 2) - 0.1*theta[0] }
	long := maximise(Auto{Trials: 60}, space, f, 2)
	for _, n := range []int{3, 24, 52} {
		short := maximise(Auto{Trials: n}, space, f, 2)
		same := func(a, b record.Trial) bool { return slices.Equal(a.Theta(), b.Theta()) }
		if !slices.EqualFunc(short, long[:n], same) {
			t.Errorf("%d trials are not the first of %d", len(short), len(long))
		}
	}
	for i, trial := range long {
		theta := trial.Theta()
		if theta[0] == 0 && theta[2] != 1 {
			t.Errorf("trial %d is at %v", i, theta)
		}
	}
}

// Bayes proposes the first trials of auto, later each third trial, and each second turn of a model
// whose last trial has not improved the best value.
func TestAutoTakesTurns(t *testing.T) {
	space := Space{spaces.Bounded("x", param.Identity, 1, -4, 5), spaces.Bounded("y", param.Identity, -3, -4, 5)}
	const n, seed, begun = 40, 3, 4
	trials := maximise(Auto{Trials: n}, space, func(theta []float64) (sum float64) {
		for _, v := range theta {
			sum -= v*v + 10 - 10*math.Cos(2*math.Pi*v)
		}
		return sum
	}, seed)
	idle, others := 0, 0
	for i := begun + 3; i < n; i++ {
		best := slices.MaxFunc(trials[:i-3], func(a, b record.Trial) int { return cmp.Compare(a.Value(), b.Value()) })
		gives := i%6 < 3 && i%3 > 0 && trials[i-3].Value() <= best.Value()
		if gives {
			idle++
		}
		own := (Bayes{Trials: n}).on(space).propose(space, trials[:i], seed, 1)[0].Points[0]
		switch same := slices.Equal(own, trials[i].Theta()); {
		case (gives || i%3 == 0) && !same:
			t.Errorf("trial %d is at %v, want Bayes' own %v", i, trials[i].Theta(), own)
		case !gives && i%3 > 0 && !same:
			others++
		}
	}
	if idle < 3 || others < 3 {
		t.Errorf("%d turns were left to Bayes, and %d trials are of other models", idle, others)
	}
}

// A climb without improvement ends. If the trials elsewhere and along the axes find nothing better,
// a new round follows, as if only the enqueued points had been evaluated.
func TestAutoBeginsAnew(t *testing.T) {
	s := spaces.Surfaces["bowl"]
	const rounds = anewTrials + 3*trialsWithoutGain + elsewhereTrials + 2*axisTrials
	trials := maximise(Auto{Trials: rounds + 4}, s.Space, func([]float64) float64 { return 1 }, 1)
	for i, trial := range trials[rounds:] {
		if want := Space(s.Space).place(Space(s.Space).next(i, nil, 1+6)); !slices.Equal(trial.Theta(), want) {
			t.Errorf("trial %d of the new round is at %v, want the Sobol point %v", i, trial.Theta(), want)
		}
	}
}

// Branin's function with a whole number has several maxima of similar values, and a climb may end in
// any of them. From there the trials elsewhere find the highest. The test finds it by trying every
// whole number with a fine grid of the other one.
func TestAutoFindsTheHighestOfSeveralMaxima(t *testing.T) {
	space := Space{param.Among("kind", "a", "b", "c"), spaces.Bounded("x1", param.Identity, 1, -5, 10), param.Between("x2", param.Whole, 0, 15)}
	value := func(theta []float64) float64 {
		valley := theta[2] - 5.1/(4*math.Pi*math.Pi)*theta[1]*theta[1] + 5/math.Pi*theta[1] - 6
		return -valley*valley - 10*(1-1/(8*math.Pi))*math.Cos(theta[1]) - 10 - 5*theta[0]*(2-theta[0])
	}
	highest := math.Inf(-1)
	for x2 := range 16 {
		for x1 := -5.0; x1 <= 10; x1 += 1e-3 {
			highest = max(highest, value([]float64{0, x1, float64(x2)}))
		}
	}
	for _, seed := range []uint64{1, 2} {
		trials := maximise(Auto{Trials: 100}, space, value, seed)
		best := slices.MaxFunc(trials, func(a, b record.Trial) int { return cmp.Compare(a.Value(), b.Value()) })
		if best.Value() < highest-1e-3 {
			t.Errorf("seed %d: %v at %v, the highest is %v", seed, best.Value(), best.Theta(), highest)
		}
	}
}

// Among finitely many points auto ends when it has met them.
func TestAutoMeetsEveryPoint(t *testing.T) {
	space := Space{param.Between("n", param.Whole, 1, 3), param.Among("kind", "a", "b")}
	trials := maximise(Auto{Trials: 100}, space, func(theta []float64) float64 { return theta[0] - theta[1] }, 1)
	if len(trials) != 6 {
		t.Errorf("%d trials of 6 points", len(trials))
	}
}

// The trials along an axis differ from the best point so far in its hyperparameter alone, one axis after the other.
func TestAlongAxes(t *testing.T) {
	space := Space{spaces.Bounded("x", param.Identity, 1, -10, 10), spaces.Bounded("y", param.Identity, -3, -10, 10)}
	hills := func(theta []float64) (sum float64) {
		for j, v := range theta {
			v -= float64(3*j + 2)
			sum += math.Cos(v) - v*v/20
		}
		return sum
	}
	for _, f := range []func([]float64) float64{hills, func([]float64) float64 { return 1 }} {
		past := []record.Trial{spaces.Evaluated(0, [][]float64{{-6, 9}}, f)}
		best, done := past[0], []record.Trial(nil)
		for {
			next, n := space.alongAxes(past, done, 1)
			if next == nil {
				if n != 2*axisTrials || n != len(done) {
					t.Errorf("%d trials are done, and it says %d", len(done), n)
				}
				break
			}
			for _, p := range next {
				j, theta := len(done)/axisTrials, p.Points[0]
				if theta[1-j] != best.Theta()[1-j] || theta[j] == best.Theta()[j] {
					t.Fatalf("trial %d is at %v, the best so far at %v", len(done), theta, best.Theta())
				}
				done = append(done, spaces.Evaluated(1+len(done), p.Points, f))
				if last := done[len(done)-1]; last.Value() > best.Value() {
					best = last
				}
			}
		}
		if value := best.Value(); f([]float64{0, 0}) != 1 && value < 1.9 {
			t.Errorf("the best value is %v, and the greatest is 2", value)
		}
	}
	if next, n := space.alongAxes(nil, nil, 1); next != nil || n != 0 {
		t.Errorf("without a best point: %v, %d", next, n)
	}
}

// Of a discrete hyperparameter an axis has the other values, once each; one that does not matter at the best point has
// no axis.
func TestAlongDiscreteAxes(t *testing.T) {
	space := Space{param.Between("n", param.Whole, 1, 3), param.Among("kind", "a", "b", "c"), spaces.Bounded("x", param.Identity, 0, -1, 1)}
	space[2].When = &param.Condition{Name: "kind", Values: []float64{1}}
	for kind, want := range map[float64]int{0: 2 + 2, 1: 2 + 2 + axisTrials} {
		f := func(theta []float64) float64 { return -math.Abs(theta[1]-kind) - math.Abs(theta[0]-2) }
		past := []record.Trial{spaces.Evaluated(0, [][]float64{{1, 0, 0}}, f)}
		var done []record.Trial
		seen := map[string]int{}
		for {
			next, n := space.alongAxes(past, done, 1)
			if next == nil {
				if _, best, err := Winner(done); err != nil || n != want || best.Value != 0 {
					t.Errorf("kind %v: %d trials, the best %+v, %v", kind, n, best, err)
				}
				break
			}
			for _, p := range next {
				if seen[fmt.Sprint(p.Points[0])]++; seen[fmt.Sprint(p.Points[0])] > 1 {
					t.Errorf("%v comes twice", p.Points[0])
				}
				done = append(done, spaces.Evaluated(1+len(done), p.Points, f))
			}
		}
	}
}

// A whole number without a reasonable bound has an axis like any other.
func TestAlongAWideAxis(t *testing.T) {
	space := Space{param.Between("n", param.Whole, 1, 1e300)}
	f := func(theta []float64) float64 { return -theta[0] }
	var done []record.Trial
	for past := []record.Trial{spaces.Evaluated(0, [][]float64{{2}}, f)}; ; {
		next, n := space.alongAxes(past, done, 1)
		if next == nil {
			if n != axisTrials {
				t.Errorf("%d trials", n)
			}
			return
		}
		for _, p := range next {
			done = append(done, spaces.Evaluated(1+len(done), p.Points, f))
		}
	}
}
