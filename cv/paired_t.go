package cv

import (
	"cmp"
	"fmt"
)

// PairedT is a race with paired t-tests over folds (the t-test variant of Birattari, Stützle,
// Paquete & Varrentrapp 2002, A racing algorithm for configuring metaheuristics, GECCO): who is
// behind the best by more than chance is cut. With d_1 … d_r the differences of the score in the r
// folds so far, the best's less the other's, s² their sample variance and F folds in all,
//
//	t = mean(d) / √(s² (1/r - 1/F))
//
// is held to Student's t with r-1 degrees of freedom, one-sided. What is asked is who wins these F
// folds, not who is better on other data: the folds so far are a sample of the F, drawn without
// replacement, so that the variance of their mean about that of all is S² (1/r - 1/F), whatever
// else the folds have in common (Cochran 1977, Sampling Techniques, 2.5).
//
// The level is Bonferroni's: alpha divided by the number of contestants less one and by the number
// of rounds. Each contestant can be cut by each other one in each round; so, as far as Student's t
// is right for means of few folds, who would win with all folds is cut with probability alpha at
// most. Nobody is cut for differences that are all equal, as shares of few cases may be.
//
// Rounds are one fold each from the third on, or tenths of the folds if there are more than ten.
type PairedT struct {
	Alpha float64 `yaml:"alpha" json:"alpha,omitempty" within:"(0,1)"` // of the whole race, 0 … 1; 0 means 0.05
}

const (
	fewestFolds = 3  // of a paired test
	mostRounds  = 10 // into which a paired race divides its folds
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
		d := make([]float64, now.Done)
		for f := range d {
			a, _ := now.Score.Func(now.Parts[best][f])
			b, _ := now.Score.Func(now.Parts[k][f])
			d[f] = a.Value - b.Value // NaN where the score is not defined in a fold
			if !now.Score.Greater {
				d[f] = -d[f]
			}
		}
		// NaN where there is no test: folds that all differ by the same say nothing of how they
		// vary.
		test := CorrectedT(d, -1/float64(now.Folds))
		if p := test.P / 2; test.T > 0 && p < level {
			cuts = append(cuts, Cut{Contestant: k, Folds: now.Done, Better: best, P: p,
				Reason: fmt.Sprintf("behind by %.3g %s, p = %.2g < %.2g", test.Value, now.Score.Unit, p, level)})
		}
	}
	return cuts
}
