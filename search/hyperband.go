package search

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/record"
)

// Hyperband evaluates many points at a small budget, such as a number of cases or of epochs. It
// evaluates the best of them again at Eta times the budget, and so on, until a few have the whole
// budget (Li et al. 2018, JMLR 18(185), Algorithm 1). Brackets begin at different budgets, in case
// values at a small budget say little. Trials below the whole budget are preliminary and cannot
// win.
type Hyperband struct {
	Fidelity `yaml:",inline"`
	Brackets int `yaml:"brackets" within:"[1,10]"` // maximum; 0 means 5, or 3 for one of Shares
}

// rung is a batch of trials with the same fraction of the budget.
type rung struct {
	points int
	part   float64
}

// Check implements Strategy.
func (h Hyperband) Check(s Space) error {
	err := checkSearch(s, count{"eta", h.Eta, 2, 100}, count{"brackets", h.Brackets, 1, 10})
	if err != nil || len(s) == 0 {
		return err
	}
	if err := h.check(s, "hyperband"); err != nil {
		return err
	}
	if n := h.Budget(s).Trials; n > maxTrials {
		return fmt.Errorf("hyperband would run %d trials, more than %d; take fewer brackets, or a smaller eta",
			n, maxTrials)
	}
	return nil
}

// brackets are the rungs of each bracket; none without a budget. The first bracket begins at the
// smallest budget.
func (h Hyperband) brackets(s Space) (all [][]rung) {
	levels := cmp.Or(h.Brackets, 3)
	if i := s.Index(h.Of); i >= 0 {
		levels = min(int(math.Log(s[i].Hi/s[i].Lo)/math.Log(h.eta())+1e-9)+1, cmp.Or(h.Brackets, 5))
	} else if !h.Shares(s) {
		return nil
	}
	eta := h.eta()
	for b := levels - 1; b >= 0; b-- {
		var bracket []rung
		n := math.Ceil(float64(levels) / float64(b+1) * math.Pow(eta, float64(b)))
		for i := range b + 1 {
			bracket = append(bracket, rung{int(n / math.Pow(eta, float64(i))), math.Pow(eta, float64(i-b))})
		}
		all = append(all, bracket)
	}
	return all
}

// Ask implements Strategy: one rung after another.
func (h Hyperband) Ask(s Space, done []record.Trial, seed uint64) []Proposal {
	if len(s) == 0 {
		return askOnce(done)
	}
	drawn, left := 0, done
	for _, bracket := range h.brackets(s) {
		for i, r := range bracket {
			if len(left) == 0 {
				var points [][]float64
				for k := drawn; i == 0 && k < drawn+r.points; k++ {
					points = append(points, s.drawn(seed, k))
				}
				if i > 0 {
					points = survivors(done[len(done)-bracket[i-1].points:], r.points)
				}
				return h.propose(s, points, r.part)
			}
			left = left[r.points:]
		}
		drawn += bracket[0].points
	}
	return nil
}

// survivors are the points of the best of the trials.
func survivors(ended []record.Trial, points int) (all [][]float64) {
	order := slices.Clone(ended)
	slices.SortStableFunc(order, func(a, b record.Trial) int { return cmp.Compare(b.Value(), a.Value()) })
	for _, t := range order[:points] {
		all = append(all, t.Theta())
	}
	return all
}

// drawn is the i-th of a sequence of random allowed points that begins at the initial values.
func (s Space) drawn(seed uint64, i int) []float64 {
	if i == 0 {
		return s.Start()
	}
	rng := rand.New(param.Source(seed, uint64(i)))
	u := make([]float64, len(s))
	for k := 0; ; k++ {
		for j := range u {
			u[j] = rng.Float64()
		}
		if theta, forbidden := s.placed(u); !forbidden || k == mostDrawn {
			return theta
		}
	}
}

// Budget implements Strategy.
func (h Hyperband) Budget(s Space) Budget {
	if len(s) == 0 {
		return s.budget(Budget{})
	}
	b := Budget{}
	for k, bracket := range h.brackets(s) {
		for i, r := range bracket {
			b.Trials += r.points
			if k+i > 0 {
				b.AtOnce = max(b.AtOnce, r.points)
			}
			if h.Shares(s) {
				b.Whole += float64(r.points) * r.part
			}
		}
	}
	return b
}

// Optimizer implements Strategy.
func (Hyperband) Optimizer() string { return "" }
