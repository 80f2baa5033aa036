package search

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/search/searchtest/spaces"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
	"github.com/gpc-tune/gpc-tune/record"
)

// mixedSpace has a choice, a number that matters for one of its values, and a whole number.
func mixedSpace() Space {
	slope := spaces.Bounded("slope", param.Identity, 0, -1, 1)
	slope.When = &param.Condition{Name: "shape", Values: []float64{2}}
	return Space{spaces.Choice("shape", "a", "b", "c"), slope, spaces.Whole("degree", 1, 9), spaces.Bounded("x", param.Log, 1, 1e-3, 1e3)}
}

// mixedValue has its maximum 0 at shape c, slope 0.4, degree 7, x = 5. Shape a has at most -0.5.
func mixedValue(theta []float64) float64 {
	far := func(x, at, unit float64) float64 { return (x - at) * (x - at) / (unit * unit) }
	value := -far(theta[2], 7, 4) - far(theta[3], math.Log(5), 3)
	switch theta[0] {
	case 0:
		return value - 0.5
	case 1:
		return value - 1
	}
	return value - far(theta[1], 0.4, 0.5)
}

// searched runs a strategy to its end and returns the trials.
func searched(s Strategy, space Space, value func([]float64) float64, seed uint64) (done []record.Trial) {
	for {
		asked := s.Ask(space, done, seed)
		if len(asked) == 0 {
			return done
		}
		for _, p := range asked {
			theta := p.Points[0]
			done = append(done, record.Trial{
				Points: []record.Point{{Theta: record.Numbers(theta), Value: record.Number(value(theta))}}})
		}
	}
}

func best(done []record.Trial) float64 {
	value := math.Inf(-1)
	for _, t := range done {
		value = max(value, t.Value())
	}
	return value
}

func TestMixedSpaces(t *testing.T) {
	seeds := exhaustive.Of(1, 3)
	var lead float64
	for seed := range uint64(seeds) {
		done := searched(Bayes{Trials: 60}, mixedSpace(), mixedValue, seed)
		if got := best(done); got < -0.02 {
			t.Errorf("seed %d: bayes ends %.3f below the maximum", seed, -got)
		}
		lead += best(done) - best(searched(Random{Design{Trials: 60}}, mixedSpace(), mixedValue, seed))
		seen := map[string]bool{}
		for i, trial := range done {
			theta := trial.Theta()
			if theta[2] != math.Round(theta[2]) || theta[0] != 2 && theta[1] != 0 {
				t.Errorf("seed %d, trial %d: shape %v, slope %v, degree %v", seed, i, theta[0], theta[1], theta[2])
			}
			key := fmt.Sprint(theta)
			if seen[key] {
				t.Errorf("seed %d: %v twice", seed, theta)
			}
			seen[key] = true
		}
	}
	if lead <= 0 {
		t.Errorf("bayes is %v below random", -lead/float64(seeds))
	}
}

// All values of a discrete hyperparameter have equal parts of the unit interval, and Unit is the
// inverse of Place.
func TestDiscreteValuesHaveEqualShares(t *testing.T) {
	p := spaces.Whole("k", 3, 7)
	count := map[float64]int{}
	for i := range 1000 {
		theta := p.Place((float64(i) + 0.5) / 1000)
		if count[theta]++; p.Place(p.Unit(theta)) != theta {
			t.Errorf("%v comes back as %v", theta, p.Place(p.Unit(theta)))
		}
	}
	for v := 3.0; v <= 7; v++ {
		if count[v] != 200 {
			t.Errorf("%v has %d of 1000", v, count[v])
		}
	}
	if got := p.Place(1); got != 7 {
		t.Errorf("Place(1) = %v", got)
	}
}

// A finite space is searched whole, each point once.
func TestBayesMeetsEveryPointOnce(t *testing.T) {
	space := Space{spaces.Choice("a", "u", "v", "w"), spaces.Whole("b", 0, 4)}
	done := searched(Bayes{Trials: 100}, space, func(theta []float64) float64 { return theta[0] * theta[1] }, 3)
	if len(done) != 15 || best(done) != 8 {
		t.Errorf("%d trials of 15 points, the best %v", len(done), best(done))
	}
}

// CMA-ES finds a whole number far from its start together with a real number.
func TestCMAESKeepsAMargin(t *testing.T) {
	space := Space{spaces.Whole("k", 0, 40), spaces.Bounded("x", param.Identity, 1, -2, 2), spaces.Choice("on", "no", "yes")}
	value := func(theta []float64) float64 {
		return -math.Abs(theta[0]-29)/3 - 100*(theta[1]-0.3)*(theta[1]-0.3) - (1 - theta[2])
	}
	for seed := range uint64(20) {
		if got := best(searched(CMAES{Trials: 400}, space, value, seed)); got < -1e-3 {
			t.Errorf("seed %d ends %v below the maximum", seed, -got)
		}
	}
}

// A grid holds a hyperparameter at its start where it does not matter.
func TestGridOfAMixedSpace(t *testing.T) {
	space := mixedSpace()[:2]
	grid := Grid{Axes: map[string]Axis{"shape": {Values: []float64{1, 2}}, "slope": {Values: []float64{-0.5}}}}
	done := searched(grid, space, func(theta []float64) float64 { return theta[1] }, 0)
	if len(done) != 2 || done[0].Theta()[1] != 0 || done[1].Theta()[1] != -0.5 {
		t.Errorf("trials %+v", done)
	}
}

// A search of whole numbers alone ends, however many evaluations it has.
func TestCMAESOfWholeNumbersEnds(t *testing.T) {
	space := Space{spaces.Whole("k", 0, 9), spaces.Whole("l", 0, 9)}
	value := func(theta []float64) float64 { return -math.Abs(theta[0]-7) - math.Abs(theta[1]-2) }
	if done := searched(CMAES{Trials: 20000}, space, value, 1); best(done) != 0 || len(done) > 10000 {
		t.Errorf("%d trials, the best %v", len(done), best(done))
	}
}

func TestMixedSpacesAreChecked(t *testing.T) {
	late := mixedSpace()
	slices.Reverse(late)
	wrong := mixedSpace()
	wrong[1].When.Values = []float64{3}
	half := Space{spaces.Whole("k", 0, 4)}
	half[0].Init = 1.5
	short := Space{spaces.Choice("shape", "a", "b")}
	short[0].Hi = 2
	for _, c := range []struct {
		strategy Strategy
		space    Space
		want     string
	}{
		{Bayes{}, late, "slope is conditional on shape"},
		{Random{}, wrong, "the value 3 of shape"},
		{Sobol{}, half, "must be whole numbers"},
		{Sobol{}, short, "one less than its 2 choices"},
		{Grid{Axes: map[string]Axis{"k": {Values: []float64{0, 1.5}}}}, Space{spaces.Whole("k", 0, 4)}, "k = 1.5 must be a whole number"},
		{Grid{Axes: map[string]Axis{"x": {Values: []float64{1}}}}, late, "slope is conditional on shape"},
		{BFGS{}, mixedSpace(), "1 starts do not try every choice, and a climb stays with its own; write restarts: 25, or more"},
		{NelderMead{}, mixedSpace(), "shape, degree: the values are discrete"},
		{CMAES{}, mixedSpace(), "the 3 choices have no order"},
	} {
		if err := c.strategy.Check(c.space); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%T: %v, want %q", c.strategy, err, c.want)
		}
	}
	if err := (LatinHypercube{}).Check(mixedSpace()); err != nil {
		t.Error(err)
	}
}
