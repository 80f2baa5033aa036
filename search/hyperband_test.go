package search

import (
	"fmt"
	"math"
	"testing"

	"github.com/gpc-tune/gpc-tune/approx/param"
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

func TestHyperbandRefuses(t *testing.T) {
	s := Space{param.Between("x", param.Identity, 0, 1), param.Among("kind", "a", "b")}
	for _, h := range []Hyperband{{}, {Fidelity: Fidelity{Of: "m"}}, {Fidelity: Fidelity{Of: "x"}}, {Fidelity: Fidelity{Of: "kind"}}} {
		if err := h.Check(s); err == nil {
			t.Errorf("%+v is accepted", h)
		}
	}
}
