package search

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gpc-tune/gpc-tune/experiments/record"
	"github.com/gpc-tune/gpc-tune/objective/param"
)

// Hyperband evaluates many drawn points at a small budget, such as a number of cases or of epochs,
// and again the best of them at Eta times the budget, until the best few have all of it (Li et al.
// 2018, JMLR 18(185), Algorithm 1). Brackets begin at different budgets, in case values at a small
// one say little. Trials below the whole budget are preliminary: none of them wins.
type Hyperband struct {
	Of       string `yaml:"budget"`                   // name of the hyperparameter that is the budget
	Eta      int    `yaml:"eta" within:"[2,100]"`     // one in so many goes on; 0 means 3
	Brackets int    `yaml:"brackets" within:"[1,10]"` // at most; 0 means 5
}

// rung is a batch of so many points at a budget, on the theta scale.
type rung struct {
	points int
	budget float64
}

// Check implements Strategy.
func (h Hyperband) Check(s Space) error {
	err := checkSearch(s, count{"eta", h.Eta, 2, 100}, count{"brackets", h.Brackets, 1, 10})
	if err != nil || len(s) == 0 {
		return err
	}
	i := s.index(h.Of)
	switch {
	case h.Of == "":
		return errors.New("hyperband needs budget: NAME, the hyperparameter that makes a trial longer and better")
	case i < 0:
		return fmt.Errorf("budget: there is no hyperparameter %q", h.Of)
	case s[i].Map == param.Choice || s[i].When != nil || !(s[i].Lo > 0):
		return fmt.Errorf("budget: %s must be a number above 0 that matters always", h.Of)
	}
	if n := h.Budget(s).Trials; n > maxTrials {
		return fmt.Errorf("hyperband would run %d trials, more than %d; take fewer brackets, or a smaller eta", n,
			maxTrials)
	}
	return nil
}

// brackets are the rungs of each bracket; none without a budget. The first has the smallest one.
func (h Hyperband) brackets(s Space) (all [][]rung) {
	i := s.index(h.Of)
	if i < 0 {
		return nil
	}
	eta, of := float64(cmp.Or(h.Eta, 3)), s[i]
	levels := int(math.Log(of.Hi/of.Lo)/math.Log(eta)+1e-9) + 1
	levels = min(levels, cmp.Or(h.Brackets, 5))
	for b := levels - 1; b >= 0; b-- {
		var bracket []rung
		n := math.Ceil(float64(levels) / float64(b+1) * math.Pow(eta, float64(b)))
		for i := range b + 1 {
			bracket = append(bracket, rung{int(n / math.Pow(eta, float64(i))),
				of.Map.Theta(max(of.Hi*math.Pow(eta, float64(i-b)), of.Lo))})
		}
		all = append(all, bracket)
	}
	return all
}

// Ask implements Strategy: one rung after another.
func (h Hyperband) Ask(s Space, done []record.Trial, seed uint64) (next []Proposal) {
	if len(s) == 0 {
		return askOnce(done)
	}
	budget := s.index(h.Of)
	drawn, whole := 0, s[budget].Map.Theta(s[budget].Hi)
	for _, bracket := range h.brackets(s) {
		var points [][]float64
		for i, r := range bracket {
			if i == 0 {
				for range r.points {
					points = append(points, s.drawn(seed, drawn))
					drawn++
				}
			} else {
				ended := done[:len(points)]
				done = done[len(points):]
				order := make([]int, len(points))
				for k := range order {
					order[k] = k
				}
				slices.SortStableFunc(order, func(a, b int) int {
					return cmp.Compare(ended[b].Value(), ended[a].Value())
				})
				best := make([][]float64, r.points)
				for k := range best {
					best[k] = points[order[k]]
				}
				points = best
			}
			if len(done) == 0 {
				for _, theta := range points {
					theta = slices.Clone(theta)
					theta[budget] = r.budget
					theta = s.settle(theta)
					next = append(next, Proposal{Points: [][]float64{theta}, Preliminary: theta[budget] < whole})
				}
				return next
			}
		}
		done = done[len(points):]
	}
	return nil
}

// drawn is the i-th of a sequence of random points that begins at the initial values.
func (s Space) drawn(seed uint64, i int) []float64 {
	if i == 0 {
		return s.start()
	}
	rng := rand.New(param.Source(seed, uint64(i)))
	u := make([]float64, len(s))
	for j := range u {
		u[j] = rng.Float64()
	}
	return s.place(u)
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
		}
	}
	return b
}

// Optimizer implements Strategy.
func (Hyperband) Optimizer() string { return "" }
