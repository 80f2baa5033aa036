package search

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gpc-tune/gpc-tune/search/searchtest/spaces"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
	"github.com/gpc-tune/gpc-tune/record"
)

// atParts runs a strategy on values that depend on the part of the budget; -Inf is a failure.
func atParts(strategy Strategy, s Space, f func(theta []float64, part float64) float64, seed uint64) (done []record.Trial,
	parts []float64) {
	for {
		next := strategy.Ask(s, done, seed)
		if len(next) == 0 {
			return done, parts
		}
		for _, p := range next {
			part := p.Share.Part
			if p.Share == (record.Share{}) {
				part = 1
			}
			t := record.Begun(p.Points)
			if t.Status = "evaluated"; !math.IsInf(f(p.Points[0], part), -1) {
				t.Asked = nil
				t.Points = []record.Point{{Theta: record.Numbers(p.Points[0]), Value: record.Number(f(p.Points[0], part))}}
			}
			t.Index, t.Preliminary, t.Share = len(done), p.Preliminary, p.Share
			done, parts = append(done, t), append(parts, part)
		}
	}
}

// ofCases is a search through parts of the cases.
func ofCases(trials, levels int) MultiFidelity {
	return MultiFidelity{Fidelity: Fidelity{Of: "cases"}, Trials: trials, Levels: levels}
}

// bumps is a function with its greatest value, 0, at 0.4; with fewer cases its top is elsewhere, and all is lower.
func bumps(theta []float64, part float64) float64 {
	total := math.Log(part)
	for j, u := range theta {
		d := u - 0.4 - 0.1*(1-part)*float64(j%2)
		total -= d*d + 0.02*(1-math.Cos(12*d))
	}
	return total
}

// Levels have increasing fractions of the budget, and each has half as many trials as the one
// before. A level begins with the best trial of the level before, and with the trial whose distance
// below the best is the median there.
func TestMultiFidelitysLevels(t *testing.T) {
	s := Space{spaces.Bounded("x", param.Identity, 0, -2, 2), spaces.Bounded("y", param.Identity, 0, -2, 2)}
	m := ofCases(10, 3)
	done, parts := atParts(m, s, bumps, 3)
	want := slices.Concat(slices.Repeat([]float64{1. / 9}, 10), slices.Repeat([]float64{1. / 3}, 5), []float64{1, 1})
	if b := m.Budget(s); len(parts) != 17 || b.Trials != 17 || math.Abs(b.Whole-(10./9+5./3+2)) > 1e-12 {
		t.Fatalf("%d trials, %+v", len(parts), b)
	}
	for i, part := range parts {
		if math.Abs(part-want[i]) > 1e-15 || done[i].Preliminary != (part < 1) {
			t.Errorf("trial %d has %v of the cases, preliminary %v", i, part, done[i].Preliminary)
		}
	}
	sorted := slices.Clone(done[:10])
	slices.SortFunc(sorted, func(a, b record.Trial) int { return -int(math.Copysign(1, a.Value()-b.Value())) })
	if !slices.Equal(done[10].Theta(), sorted[0].Theta()) || !slices.Equal(done[11].Theta(), sorted[5].Theta()) {
		t.Errorf("the second level begins at %v and %v, the first has %v", done[10].Theta(), done[11].Theta(), sorted)
	}
}

// The best of ten trials with all cases is closer to the maximum than the best of ten trials of
// Bayes: on average less than half as far below it.
func TestMultiFidelityFinds(t *testing.T) {
	seeds := exhaustive.Of(1, 4)
	var s Space
	for j := range 4 {
		s = append(s, spaces.Bounded(fmt.Sprint("x", j), param.Identity, 0, -2, 2))
	}
	levels, bayes := 0.0, 0.0
	for seed := range uint64(seeds) {
		done, _ := atParts(ofCases(40, 3), s, bumps, seed)
		i, best, err := Winner(done)
		if err != nil || i < 60 {
			t.Fatalf("trial %d wins, %v", i, err)
		}
		levels -= float64(best.Value) / float64(seeds)
		done, _ = atParts(Bayes{Trials: 10}, s, bumps, seed)
		_, best, _ = Winner(done)
		bayes -= float64(best.Value) / float64(seeds)
	}
	t.Logf("%v and %v below the top", levels, bayes)
	if !(levels < bayes/2) {
		t.Errorf("%v below the top, and with ten trials of bayes %v", levels, bayes)
	}
}

// The proposals do not change if the values of each level are multiplied by a number of the level.
func TestMultiFidelityIsBlindToUnits(t *testing.T) {
	s := Space{spaces.Bounded("x", param.Identity, 0, -2, 2), spaces.Bounded("y", param.Identity, 0, -2, 2)}
	plain, _ := atParts(ofCases(12, 3), s, bumps, 5)
	scaled, _ := atParts(ofCases(12, 3), s, func(theta []float64, part float64) float64 {
		return math.Ldexp(bumps(theta, part), int(math.Round(-20*math.Log(part))))
	}, 5)
	for i := range plain {
		if !slices.Equal(plain[i].Theta(), scaled[i].Theta()) {
			t.Fatalf("trial %d is at %v, and in other units at %v", i, plain[i].Theta(), scaled[i].Theta())
		}
	}
}

// The budget may be a hyperparameter of a program. No point is tried twice at a level, and trials that fail do not end
// the search.
func TestMultiFidelityOfPrograms(t *testing.T) {
	s := Space{param.Between("x", param.Identity, 0, 1), param.Between("n", param.Whole, 10, 90), spaces.Choice("kind", "a", "b")}
	m := MultiFidelity{Fidelity: Fidelity{Of: "n"}, Trials: 24, Levels: 3}
	if err := m.Check(s); err != nil {
		t.Fatal(err)
	}
	for _, fails := range []bool{false, true} {
		done, _ := atParts(m, s, func(theta []float64, _ float64) float64 {
			if fails {
				return math.Inf(-1)
			}
			return theta[1] - math.Abs(theta[0]-0.3) - theta[2]
		}, 1)
		if len(done) != 24+12+6 {
			t.Fatalf("%d trials", len(done))
		}
		seen := map[string]bool{}
		for i, trial := range done {
			want := []float64{10, 30, 90}[map[bool]int{true: 1}[i >= 24]+map[bool]int{true: 1}[i >= 36]]
			if theta := trial.Theta(); theta[1] != want || seen[fmt.Sprint(theta)] || trial.Preliminary != (want < 90) {
				t.Errorf("trial %d is at %v, preliminary %v", i, theta, trial.Preliminary)
			} else {
				seen[fmt.Sprint(theta)] = true
			}
		}
		i, best, err := Winner(done)
		if fails != (err != nil) || !fails && (i < 36 || best.Theta[1] != 90 || math.Abs(float64(best.Theta[0])-0.3) > 0.02 || best.Theta[2] != 0) {
			t.Errorf("trial %d wins: %+v, %v", i, best, err)
		}
	}
	for _, wrong := range []Fidelity{{}, {Of: "m"}, {Of: "kind"}} {
		if (MultiFidelity{Fidelity: wrong}).Check(s) == nil {
			t.Errorf("%+v is accepted", wrong)
		}
	}
}

// A level that has evaluated all points is followed by the next level, so that the whole budget is
// reached. Levels whose budgets the bounds make equal are one level. If the first two trials of a
// level have failed, its other trials give the unit.
func TestMultiFidelityReachesTheWholeBudget(t *testing.T) {
	value := func(theta []float64, part float64) float64 { return part - theta[0] }
	done, parts := atParts(ofCases(40, 3), Space{spaces.Choice("kind", "a", "b")}, value, 1)
	third, ninth := 1./3, 1./9
	if !slices.EqualFunc(parts, []float64{ninth, ninth, third, third, 1, 1}, func(a, b float64) bool { return math.Abs(a-b) < 1e-15 }) {
		t.Errorf("parts %v", parts)
	}
	if i, best, err := Winner(done); err != nil || i < 4 || best.Theta[0] != 0 {
		t.Errorf("trial %d wins: %+v, %v", i, best, err)
	}
	narrow := Space{param.Between("n", param.Whole, 3, 4), spaces.Choice("kind", "a", "b", "c")}
	done, _ = atParts(MultiFidelity{Fidelity: Fidelity{Of: "n"}, Trials: 8, Levels: 3}, narrow, func(theta []float64, _ float64) float64 { return theta[1] }, 1)
	var budgets []float64
	for _, trial := range done {
		budgets = append(budgets, trial.Theta()[0])
	}
	if !slices.Equal(budgets, []float64{3, 3, 3, 4, 4, 4}) {
		t.Errorf("budgets %v", budgets)
	}
	s := Space{spaces.Bounded("x", param.Identity, 0, -2, 2), spaces.Bounded("y", param.Identity, 0, -2, 2)}
	second := 0
	done, _ = atParts(ofCases(12, 2), s, func(theta []float64, part float64) float64 {
		if part == 1 {
			if second++; second <= 4 { // each value is asked for twice
				return math.Inf(-1)
			}
		}
		return bumps(theta, part)
	}, 2)
	if i, _, err := Winner(done); err != nil || len(done) != 18 || i < 14 {
		t.Errorf("%d trials, trial %d wins: %v", len(done), i, err)
	}
	if _, values, unit := ofCases(12, 2).learn(s, 1, done[12:], nil, nil); !(unit > 0 && unit < math.Inf(1)) || slices.ContainsFunc(values, math.IsNaN) || len(values) != 6 {
		t.Errorf("squashed values %v, with the unit %v", values, unit)
	}
	for i, trial := range done {
		if theta := trial.Theta(); math.IsNaN(theta[0]) || i > 13 && slices.Equal(theta, done[i-1].Theta()) {
			t.Errorf("trial %d is at %v", i, theta)
		}
	}
}
