package cv

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// PairedT is a blocked race (Moore & Lee 1994, Efficient algorithms for minimizing cross validation error, ICML): who is
// behind the best on the cases so far by more than chance is cut. With d the differences of the score over the m predictions
// so far, the best's less the other's, and v the estimated variance of their mean, for which predictions of one case count as
// one,
//
//	t = mean(d) / √(v (1 - m/n))
//
// is held to Student's t with one degree less than there are cases, one-sided. The folds so far are a random part, drawn without
// replacement, of the n predictions that decide in the end, which is why the variance of what is still open shrinks with
// 1 - m/n. The level is Bonferroni's: alpha divided by the number of contestants less one and by the number of rounds. Each
// contestant can be cut by each other one in each round; so, where Student's t holds, the one who would win with all folds is cut with
// probability alpha at most. It does not hold well for few cases with rare large losses.
//
// Of F folds there are F-1 rounds, one fold each, or 9 of equal size if there are more than ten.
type PairedT struct {
	Alpha float64 `yaml:"alpha" json:"alpha,omitempty"` // of the whole race, 0 … 1; 0 means 0.05
}

// mostRounds is the number of parts into which a paired race divides its folds.
const mostRounds = 10

// Check implements Race.
func (r PairedT) Check(s Score) error {
	if !(r.Alpha >= 0 && r.Alpha < 1) {
		return fmt.Errorf("alpha: %v must be between 0 and 1", r.Alpha)
	}
	if s.Each == nil {
		return fmt.Errorf("paired_t compares case by case, and %s is no mean over cases; race by one of %s, or by successive_halving", s.Name, averaged())
	}
	return nil
}

// Rounds implements Race.
func (PairedT) Rounds(_, folds int) (ends []int) {
	parts := min(folds, mostRounds)
	for i := 1; i < parts; i++ {
		ends = append(ends, (i*folds+parts-1)/parts)
	}
	return ends
}

// Cut implements Race.
func (r PairedT) Cut(now Round) (cuts []Cut) {
	alpha := r.Alpha
	if alpha == 0 {
		alpha = 0.05
	}
	level := alpha / float64((now.Contestants-1)*len(r.Rounds(now.Contestants, now.Folds)))
	best := now.In[0]
	first := now.Predictions[best]
	degrees, open := distinct(first.Cases)-1, 1-float64(len(first.Cases))/float64(now.Cases)
	if degrees < 1 {
		return nil
	}
	student := distuv.StudentsT{Sigma: 1, Nu: float64(degrees)}
	leading := now.Score.Each(first)
	for _, k := range now.In[1:] {
		d := now.Score.Each(now.Predictions[k])
		floats.SubTo(d, leading, d)
		if !now.Score.Greater {
			floats.Scale(-1, d)
		}
		mean := stat.Mean(d, nil)
		t := mean / math.Sqrt(meanVariance(d, mean, first.Cases)*open)
		p := student.CDF(-t)
		if p < level { // not if it is NaN, where no case differs
			cuts = append(cuts, Cut{Contestant: k, Folds: now.Done, Better: best, P: p,
				Reason: fmt.Sprintf("behind by %.3g %s, p = %.2g < %.2g", mean, now.Score.Unit, p, level)})
		}
	}
	return cuts
}
