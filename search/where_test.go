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

// permitted is what the constraints of constrainedSpace say, written anew.
func permitted(theta []float64) bool {
	rate := math.Exp(theta[1])
	product := rate * theta[2]
	return product > 0.1 && product < 1 && (theta[0] == 0 || theta[3] >= 0.5) && (rate <= 0.1 || theta[4] < theta[3])
}

// constrainedValue has its maximum, 0, at kind b, rate 0.5, batch 1, drop 0.5, decay 0.4.
func constrainedValue(theta []float64) float64 {
	far := func(x, at float64) float64 { return (x - at) * (x - at) }
	value := -far(theta[1], math.Log(0.5)) - far(math.Log(theta[2]), 0) - far(theta[3], 0.5) - 1 + theta[0]
	if math.Exp(theta[1]) > 0.1 {
		return value - far(theta[4], 0.4)
	}
	return value - 1
}

// No strategy proposes a forbidden point, neither at its start nor once it has learned, and the
// methods that learn try no point twice and find the maximum, which is at the edge of the allowed
// points.
func TestNoStrategyProposesForbiddenPoints(t *testing.T) {
	axes := map[string]Axis{"rate": {Values: []float64{1e-4, 0.01, 0.05, 1}}, "batch": {Linear: &[2]float64{1, 64}, Points: 64}}
	for name, c := range map[string]struct {
		of   Strategy
		best float64 // at least
	}{
		"grid": {Grid{Axes: axes, Apart: true}, math.Inf(-1)}, "random": {Random{Design{Trials: 100}}, math.Inf(-1)},
		"sobol": {Sobol{Design{Trials: 100}}, math.Inf(-1)}, "latin_hypercube": {LatinHypercube{Design{Trials: 100}}, math.Inf(-1)},
		"bayes": {Bayes{Trials: exhaustive.Of(20, 60)}, -0.7}, "auto": {Auto{Trials: exhaustive.Of(30, 120)}, -0.5},
		"batches": {Bayes{Trials: 18, Batch: 6}, -2}, "cmaes": {CMAES{Trials: 300}, -1},
	} {
		space := Space(spaces.Constrained())
		if err := c.of.Check(space); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var done []record.Trial
		seen := map[string]bool{}
		for {
			next := c.of.Ask(space, done, 1)
			if len(next) == 0 {
				break
			}
			for _, p := range next {
				theta := p.Points[0]
				if !permitted(theta) || !slices.Equal(space.roundToGrid(slices.Clone(theta)), theta) {
					t.Fatalf("%s, trial %d: forbidden %v", name, len(done), theta)
				}
				_, learns := c.of.(Learner)
				if key := fmt.Sprint(theta); (learns || name == "grid") && seen[key] {
					t.Errorf("%s, trial %d: %v again", name, len(done), theta)
				} else {
					seen[key] = true
				}
				done = append(done, spaces.Evaluated(len(done), p.Points, constrainedValue))
			}
		}
		if n := c.of.Budget(space).Trials; len(done) > n || len(done) < n && !c.of.Budget(space).AtMost {
			t.Errorf("%s: %d trials, and a budget of %d", name, len(done), n)
		}
		if got := best(done); got < c.best {
			t.Errorf("%s ends at %.3f, below %v", name, got, c.best)
		}
	}
}

// The simplex search takes numbers only, and strategies with a budget evaluate allowed points at
// each of it.
func TestForbiddenPointsOfNumbersAndBudgets(t *testing.T) {
	disc := &param.Constraint{Text: "x^2 + y^2 < 1", Names: []string{"x", "y"}, Holds: func(v []float64) bool { return math.Hypot(v[0], v[1]) < 1 }}
	x, y := spaces.Bounded("x", param.Identity, 0, -2, 2), spaces.Bounded("y", param.Identity, 0, -2, 2)
	y.Where = []*param.Constraint{disc}
	for _, c := range []struct {
		of    Strategy
		space Space
	}{
		{NelderMead{Restarts: 3, Trials: 90}, Space{x, y}}, {CMAES{Trials: 200}, Space{x, y}}, {Auto{Trials: 40}, Space{x, y}},
		{Hyperband{Fidelity: Fidelity{Of: "epochs"}}, Space{x, y, spaces.Whole("epochs", 1, 27)}},
		{MultiFidelity{Fidelity: Fidelity{Of: "epochs"}, Trials: 12}, Space{x, spaces.Whole("epochs", 1, 27), y}},
	} {
		if err := c.of.Check(c.space); err != nil {
			t.Error(err)
			continue
		}
		of, at := c.space.Index("x"), c.space.Index("y")
		// the maximum on the disc is -(√2·2 - 1)² = -3.34, at x = y = 0.71
		done := searched(c.of, c.space, func(theta []float64) float64 {
			if math.Hypot(theta[of], theta[at]) >= 1 {
				t.Errorf("%T: forbidden %v", c.of, theta)
			}
			return -math.Pow(theta[of]-2, 2) - math.Pow(theta[at]-2, 2)
		}, 3)
		got, want := best(done), -2*math.Pow(2-math.Sqrt(0.5), 2)
		if _, partial := c.of.(Partial); !partial && got < want-0.3 {
			t.Errorf("%T: %v, and the best is %v", c.of, got, want)
		}
	}
	epochs := spaces.Whole("epochs", 1, 27)
	epochs.Where = []*param.Constraint{{Text: "x * epochs < 3", Names: []string{"x", "epochs"}, Holds: func([]float64) bool { return true }}}
	for _, of := range []Strategy{Hyperband{Fidelity: Fidelity{Of: "epochs"}}, MultiFidelity{Fidelity: Fidelity{Of: "epochs"}}} {
		if err := of.Check(Space{x, epochs}); err == nil || !strings.Contains(err.Error(), `"x * epochs < 3" names the budget epochs`) {
			t.Errorf("%T: %v", of, err)
		}
	}
}

// Random points of a constrained space are those of the whole space that are allowed.
func TestAllowedPointsAreDrawnLikeOthers(t *testing.T) {
	space, free := Space(spaces.Constrained()), Space(spaces.Constrained())
	for j := range free {
		free[j].Where = nil
	}
	var want [][]float64
	for _, p := range (Random{Design{Trials: 20_000}}).Ask(free, nil, 5) {
		if permitted(p.Points[0]) && len(want) < 50 {
			want = append(want, p.Points[0])
		}
	}
	var got [][]float64
	for _, p := range (Random{Design{Trials: 50}}).Ask(space, nil, 5) {
		got = append(got, p.Points[0])
	}
	if len(want) != 50 || !slices.EqualFunc(got, want, slices.Equal[[]float64]) {
		t.Errorf("%v\n%v", got, want)
	}
}

// The fraction of allowed points is found, and a forbidden start moves to an allowed point that has
// the values that are held.
func TestAllowed(t *testing.T) {
	half := func(x []float64) bool { return x[0]+x[1] < 1 }
	space := Space{spaces.Bounded("x", param.Identity, 0.9, 0, 1), spaces.Bounded("y", param.Identity, 0.5, 0, 1)}
	space[1].Where = []*param.Constraint{{Text: "x + y < 1", Names: []string{"x", "y"}, Holds: half}}
	if err := space.Check(); err == nil || !strings.Contains(err.Error(), `where: "x + y < 1" does not hold at the initial values`) {
		t.Error(err)
	}
	fraction, start := space.Allowed(nil)
	if math.Abs(fraction-0.5) > 0.02 || !half(start) || math.Abs(start[0]-0.7) > 0.05 || math.Abs(start[1]-0.3) > 0.05 {
		t.Errorf("%v of the points, from %v", fraction, start)
	}
	if _, start = space.Allowed([]string{"x"}); math.Abs(start[0]-0.9) > 1e-12 || !half(start) {
		t.Errorf("from %v", start)
	}
	if _, start = space.Allowed([]string{"x", "y"}); start != nil {
		t.Errorf("from %v", start)
	}
}
