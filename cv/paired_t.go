package cv

import (
	"cmp"
	"fmt"
)

// PairedT is a race with paired t-tests over folds (the t-test variant of Birattari, Stützle,
// Paquete & Varrentrapp 2002, A racing algorithm for configuring metaheuristics, GECCO):
// contestants that are significantly worse than the best are eliminated. With d_1 … d_r the
// differences of the score in the r folds so far, of the best contestant minus another, s² their
// sample variance and F folds in all,
//
//	t = mean(d) / √(s² (1/r - 1/F))
//
// is compared with Student's t with r-1 degrees of freedom, one-sided. The test asks which
// contestant wins on these F folds, not which is better on other data. The r folds so far are a
// sample of the F, drawn without replacement. So the variance of their mean around the mean of all
// F is S² (1/r - 1/F), for any dependence between folds (Cochran 1977, Sampling Techniques, 2.5).
//
// The level has a Bonferroni correction: alpha divided by the number of contestants minus one and
// by the number of rounds, since each contestant can be eliminated by each other one in each round.
// So the winner over all folds is eliminated with probability at most alpha, as far as Student's t
// is valid for means of few folds. If all differences are equal, as may happen for rates of few
// cases, there is no elimination.
//
// A round ends after each fold from the third on; with more than ten folds, after each tenth of the
// folds.
type PairedT struct {
	// error probability of the whole race, 0 … 1; 0 means 0.05
	Alpha float64 `yaml:"alpha" json:"alpha,omitempty" within:"(0,1)"`
}

const (
	fewestFolds = 3  // smallest number of folds for a paired test
	mostRounds  = 10 // maximum number of rounds
)

// Check implements Race.
func (r PairedT) Check() error {
	if !(r.Alpha >= 0 && r.Alpha < 1) {
		return fmt.Errorf("alpha: %v must be between 0 and 1", r.Alpha)
	}
	return nil
}

// Rounds implements Race.
func (PairedT) Rounds(_, folds int) (ends []int) {
	parts := min(folds, mostRounds)
	for i := 1; i < parts; i++ {
		if end := (i*folds + parts - 1) / parts; end >= fewestFolds {
			ends = append(ends, end)
		}
	}
	return ends
}

// Cut implements Race.
func (r PairedT) Cut(now Round) (cuts []Cut) {
	level := cmp.Or(r.Alpha, 0.05) / float64((now.Contestants-1)*len(r.Rounds(now.Contestants, now.Folds)))
	best := now.In[0]
	for _, k := range now.In[1:] {
		better, worse := now.Parts[best][:now.Done], now.Parts[k][:now.Done]
		if !now.Score.Greater {
			better, worse = worse, better
		}
		// P is NaN if there is no test: equal differences give no estimate of the variance.
		test, folds := now.Score.OverFolds(better, worse, -1/float64(now.Folds))
		if p := test.P / 2; folds == now.Done && test.T > 0 && p < level {
			cuts = append(cuts, Cut{Contestant: k, Folds: now.Done, Better: best, P: p,
				Reason: fmt.Sprintf("behind by %.3g %s, p = %.2g < %.2g", test.Value, now.Score.Unit, p, level)})
		}
	}
	return cuts
}
