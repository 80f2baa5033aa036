package cv

import (
	"fmt"
	"math"
)

// SuccessiveHalving repeatedly keeps the best 1/eta of the contestants, with eta times as many
// folds each time (Jamieson & Talwalkar 2016, Non-stochastic best arm identification and
// hyperparameter optimization, AISTATS). There are C contestants and F folds, and s is the smallest
// integer such that eta^s ≥ C. After ⌈F/eta^(s-j)⌉ folds, j = 0 … s-1, the ⌈C/eta^(j+1)⌉
// contestants with the best scores remain; steps after the same fold are merged. The last
// contestant runs the remaining folds alone. It is a heuristic: the best contestant may be
// eliminated.
type SuccessiveHalving struct {
	Eta int `yaml:"eta" json:"eta,omitempty" within:"[2,1000000]"` // 2 or more; 0 means 2
}

// Check implements Race.
func (r SuccessiveHalving) Check() error {
	if r.Eta != 0 && r.Eta < 2 {
		return fmt.Errorf("eta: %d must be 2 or more", r.Eta)
	}
	return nil
}

// Rounds implements Race.
func (r SuccessiveHalving) Rounds(contestants, folds int) []int {
	ends, _ := r.rungs(contestants, folds)
	return ends
}

// rungs returns the numbers of folds after which contestants are eliminated, and how many are kept.
func (r SuccessiveHalving) rungs(contestants, folds int) (ends, keep []int) {
	eta := float64(max(r.Eta, 2))
	s := 0
	for math.Pow(eta, float64(s)) < float64(contestants) {
		s++
	}
	for j := range s {
		end := int(math.Ceil(float64(folds) / math.Pow(eta, float64(s-j))))
		left := int(math.Ceil(float64(contestants) / math.Pow(eta, float64(j+1))))
		switch n := len(ends); {
		case end >= folds: // a single fold
		case n > 0 && ends[n-1] == end:
			keep[n-1] = left
		default:
			ends, keep = append(ends, end), append(keep, left)
		}
	}
	return ends, keep
}

// Cut implements Race.
func (r SuccessiveHalving) Cut(now Round) (cuts []Cut) {
	_, keep := r.rungs(now.Contestants, now.Folds)
	for rank, k := range now.In {
		if rank >= keep[now.Round] {
			cuts = append(cuts, Cut{Contestant: k, Folds: now.Done, Better: now.In[0], P: math.NaN(),
				Reason: fmt.Sprintf("rank %d of %d; the best %d stay", rank+1, len(now.In), keep[now.Round])})
		}
	}
	return cuts
}
