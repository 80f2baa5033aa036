// Package searchtest contains the checks that every search strategy must pass: proposals within the
// space, the same ones for the same seed and trials, and an end. A test of a strategy of your own
// is
//
//	func TestMine(t *testing.T) { searchtest.Check(t, Mine{Trials: 20}) }
//
// The checks use the interfaces of package search only.
package searchtest

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/search"
)

// Spaces are the spaces that every strategy must handle: no, one, and several free hyperparameters
// with every transform, starts at a bound, and a very narrow range. All but the first have a
// hyperparameter called length_scale, and every one has a prior.
func Spaces() map[string]search.Space {
	of := func(name string, m param.Transform, initial float64, bounds ...float64) param.Spec {
		suitable := [...]param.Prior{param.Log: param.HalfNormal{Scale: 1}, param.Logit: param.Beta{A: 1, B: 9},
			param.Identity: param.Normal{SD: 1}}
		s := param.Setting{Prior: suitable[m]}
		if bounds != nil {
			s.Bounds = &[2]float64{bounds[0], bounds[1]}
		}
		return s.Spec(name, m, initial)
	}
	epsilon, constant := "likelihood.epsilon", "mean.constant"
	return map[string]search.Space{
		"none":  {},
		"one":   {of("length_scale", param.Log, 1)},
		"two":   {of("amplitude", param.Log, 1), of("length_scale", param.Log, 2)},
		"mixed": {of("length_scale", param.Log, 3), of(epsilon, param.Logit, 0.01), of(constant, param.Identity, 0)},
		"five": {of("length_scale", param.Log, 1), of("amplitude", param.Log, 2), of("alpha", param.Log, 3),
			of("period", param.Log, 4), of(constant, param.Identity, 0)},
		"at bound": {of("length_scale", param.Log, 0.3, 0.3, 30), of("amplitude", param.Log, 7, 0.1, 7)},
		"narrow": {of("length_scale", param.Log, 1, 0.3, math.Nextafter(1, 2)),
			of(epsilon, param.Logit, 0.4, 0.39, 0.41)},
	}
}

// Check runs a strategy to its end on all Spaces that its own Check accepts, on an objective that
// sometimes fails. It tests that Ask depends on its arguments only, that it does not modify them,
// that proposals are inside the bounds, and that their number agrees with Budget. The strategy must
// accept all spaces except the one without free hyperparameters.
func Check(t *testing.T, strategy search.Strategy) {
	t.Helper()
	spaces := Spaces()
	for _, name := range slices.Sorted(maps.Keys(spaces)) {
		space := spaces[name]
		if err := strategy.Check(space); err != nil {
			if len(space) > 0 || len(err.Error()) < 20 {
				t.Errorf("it refuses the space %q: %v", name, err)
			}
			continue
		}
		t.Run(name, func(t *testing.T) { conform(t, strategy, space) })
	}
}

// most is the maximum number of batches.
const most = 1000

func conform(t *testing.T, strategy search.Strategy, space search.Space) {
	const seed = 17
	var history []record.Trial
	var asked []search.Proposal
	var batches []int // sizes of the batches
	for batch := 0; ; batch++ {
		if batch == most {
			t.Fatalf("has not finished after %d batches", most)
		}
		told := toldOf(strategy, history)
		before := fmt.Sprint(told)
		proposals := strategy.Ask(space, told, seed)
		if fmt.Sprint(told) != before {
			t.Fatal("Ask modifies the history")
		}
		if len(proposals) == 0 {
			break
		}
		if batch < 6 || batch%4 == 0 { // later proposals of a model take long
			if again := strategy.Ask(space, told, seed); !reflect.DeepEqual(again, proposals) {
				t.Fatal("the same question has two answers")
			}
		}
		for _, p := range proposals {
			history = append(history, evaluate(len(history), p))
		}
		asked, batches = append(asked, proposals...), append(batches, len(proposals))
	}
	if len(asked) == 0 {
		t.Fatal("asks for nothing")
	}
	checkBudget(t, strategy, space, batches)
	for i, proposal := range asked {
		if len(proposal.Points) == 0 || strategy.Optimizer() != "" && len(proposal.Points) != 1 {
			t.Fatalf("proposal %d has %d points", i, len(proposal.Points))
		}
		for _, theta := range proposal.Points {
			if err := outside(space, theta); err != nil {
				t.Errorf("proposal %d: %v", i, err)
			}
		}
	}
}

// checkBudget tests that the sizes of the batches agree with the budget.
func checkBudget(t *testing.T, strategy search.Strategy, space search.Space, batches []int) {
	n := 0
	for _, size := range batches {
		n += size
	}
	later := batches[1:]
	width := search.UnderWay(strategy)
	if width > 0 && slices.Max(batches) > 1 {
		t.Errorf("it proposes %d trials at once, although it is asynchronous", slices.Max(batches))
	}
	if b := strategy.Budget(space); b.Trials < n || b.Trials > n && !b.AtMost {
		t.Errorf("%d proposals of a budget of %+v", n, b)
	} else if width > 0 && b.Trials > 1 && b.AtOnce != width {
		t.Errorf("%d trials are under way of a budget of %+v", width, b)
	} else if width > 0 {
		// every batch has one trial
	} else if len(later) == 0 && b.AtOnce > 0 && b.Trials > batches[0] ||
		len(later) > 0 && slices.Max(later) != b.AtOnce {
		t.Errorf("batches of %d of a budget of %+v", batches, b)
	}
}

// toldOf is the history that a strategy is given. For an asynchronous strategy its last UnderWay -
// 1 trials have not ended.
func toldOf(strategy search.Strategy, history []record.Trial) []record.Trial {
	ended := max(0, len(history)-max(0, search.UnderWay(strategy)-1))
	told := slices.Clone(history[:ended])
	for _, t := range history[ended:] {
		told = append(told, record.Begun([][]float64{t.Theta()}))
	}
	return told
}

// outside returns an error if a point is not inside the bounds.
func outside(space search.Space, theta []float64) error {
	if len(theta) != len(space) {
		return fmt.Errorf("len(theta) = %d, want %d", len(theta), len(space))
	}
	for j, p := range space {
		lo, hi := p.ThetaBounds()
		if u := theta[j]; !(u >= lo && u <= hi) || math.IsInf(u, 0) {
			return fmt.Errorf("%s = %v is outside [%v, %v]", p.ThetaName(), u, lo, hi)
		}
	}
	return nil
}

// evaluate is a smooth objective that sometimes fails.
func evaluate(index int, p search.Proposal) (t record.Trial) {
	for _, theta := range p.Points {
		value := 0.0
		for j, u := range theta {
			value -= (u - 0.3*float64(j)) * (u - 0.3*float64(j))
		}
		if index%7 == 3 {
			value = math.NaN()
		}
		t.Points = append(t.Points, record.Point{Theta: record.Numbers(theta), Value: record.Number(value)})
	}
	return t
}
