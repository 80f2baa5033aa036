package search

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/record"
)

// The brackets for budgets from 1 to 8 and eta 2 are in the table of the R package mlr3hyperband
// (its page "Tuner Using the Hyperband Algorithm"). For budgets from 1 to 81 and eta 3, all five
// brackets are in Li et al. 2018, Table 1.
func TestHyperbandsBrackets(t *testing.T) {
	for _, c := range []struct {
		hi   float64
		h    Hyperband
		want string
	}{
		{8, Hyperband{Fidelity: Fidelity{Of: "n", Eta: 2}}, "[[8 1] [4 2] [2 4] [1 8]] [[6 2] [3 4] [1 8]] [[4 4] [2 8]] [[4 8]]"},
		{81, Hyperband{Fidelity: Fidelity{Of: "n"}}, "[[81 1] [27 3] [9 9] [3 27] [1 81]] [[34 3] [11 9] [3 27] [1 81]] [[15 9] [5 27] [1 81]] [[8 27] [2 81]] [[5 81]]"},
		{81, Hyperband{Fidelity: Fidelity{Of: "n"}, Brackets: 1}, "[[1 81]]"},
	} {
		s := Space{param.Between("x", param.Identity, 0, 1), param.Between("n", param.Log, 1, c.hi)}
		got := ""
		for _, bracket := range c.h.brackets(s) {
			var rungs [][2]int
			for _, r := range bracket {
				rungs = append(rungs, [2]int{r.points, int(math.Round(math.Exp(c.h.at(s, r.part))))})
			}
			got += " " + fmt.Sprint(rungs)
		}
		if got != " "+c.want {
			t.Errorf("%+v:%s\nwant %s", c.h, got, c.want)
		}
	}
}

// The winner has the whole budget, although the values of small budgets are greater, and is near
// the best point. The search costs as much as far fewer trials with the whole budget.
func TestHyperbandFinds(t *testing.T) {
	s := Study{Key: "n", Strategy: Hyperband{Fidelity: Fidelity{Of: "n", Eta: 2}}, Space: Space{param.Between("x", param.Identity, 0, 1),
		param.Between("n", param.Whole, 10, 80)}}
	cost := 0.0
	s.Value = func(_ context.Context, theta []float64) (float64, error) {
		cost += theta[1] / 80
		return -math.Abs(theta[0]-0.3) - theta[1], nil
	}
	j := mustOpen(t, "")
	sum := mustRun(t, []Study{s}, j, Options{Workers: 1})
	lines := j.Lines()
	fit := lines[len(lines)-1].Fit
	if x, n := float64(fit.Natural[0]), fit.Natural[1]; n != 80 || math.Abs(x-0.3) > 0.05 {
		t.Errorf("the best is x = %v at n = %v", x, n)
	}
	// four brackets, each of about four trials of the whole budget
	if sum.Done != s.Budget().Trials || cost > 17 {
		t.Errorf("%+v, at the cost of %v trials", sum, cost)
	}
	full := 0
	for _, line := range lines {
		if t := line.Trial; t != nil && !t.Preliminary {
			full++
		}
	}
	if full != 1+1+2+4 {
		t.Errorf("%d trials have the whole budget", full)
	}
	if _, _, err := Winner([]record.Trial{{Preliminary: true, Points: []record.Point{{Value: 1}}}}); err == nil {
		t.Error("a preliminary trial wins")
	}
}

func TestHyperbandRefuses(t *testing.T) {
	s := Space{param.Between("x", param.Identity, 0, 1), param.Among("kind", "a", "b")}
	for _, h := range []Hyperband{{}, {Fidelity: Fidelity{Of: "m"}}, {Fidelity: Fidelity{Of: "x"}}, {Fidelity: Fidelity{Of: "kind"}}} {
		if err := h.Check(s); err == nil {
			t.Errorf("%+v is accepted", h)
		}
	}
}
