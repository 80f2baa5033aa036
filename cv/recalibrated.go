package cv

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

const (
	// A calibration is advised if its gain is above helpful bits per case and the t statistic of
	// the gain is above surely, the 95 % quantile of the normal distribution.
	helpful, surely = 0.01, 1.65
	// leastCalibrated is the number of cases that a calibration needs, of each class if that has
	// parameters of its own.
	leastCalibrated = 10
	// triedParts is the number of parts of a single test set on which a calibration is tried.
	triedParts = 5
)

// Recalibrated tries a calibration on the recorded predictions of a model: it is learnt from the
// predictions of all other folds, and corrects the predictions of a fold. A single test set is
// divided into five parts, which take the place of folds. gain is the t-test of the bits per case
// that it gains, over cases, or over groups. helps reports whether the calibration is worth
// advising. It is not if a fold has log odds far outside the range of the other folds, where the
// calibration extrapolates.
//
// A value of NaN means that the calibration was not tried. It is not tried for numeric targets or
// with fewer than 10 cases. If each class has parameters of its own, it is not tried without any
// wrong decision, with fewer than 10 cases of a class, or if all other folds lack a class.
func (c Contenders) Recalibrated(model int, by Calibration) (gain TTest, helps bool) {
	p, none := Pool(c.Parts[model]...), untested(math.NaN(), 0)
	if p.Numeric() {
		return none, false
	}
	_, classes := p.Proba.Dims()
	counts, wrong := make([]int, classes), false
	for i, label := range p.Labels {
		counts[label]++
		wrong = wrong || Decide(p.Proba.RawRowView(i)) != label
	}
	if slices.Min(counts) < leastCalibrated && !by.Shared || len(p.Labels) < leastCalibrated || !wrong && !by.Shared {
		return none, false
	}
	unit, fold, folds := c.units().of, c.triedIn(p), 0
	for _, k := range fold {
		folds = max(folds, k+1)
	}
	gained, covered := make([]float64, len(unit)), true
	for k := range folds {
		held := map[int]bool{}
		for i, u := range unit {
			held[u] = held[u] || fold[i] == k
		}
		var rest []int // also without the rows that other repeats have of the cases of this fold
		for i, u := range unit {
			if !held[u] {
				rest = append(rest, i)
			}
		}
		if len(rest) == 0 {
			return none, false
		}
		parameters, err := by.Calibrate(p.rows(rest))
		if err != nil {
			return none, false
		}
		for i, label := range p.Labels {
			if fold[i] == k {
				row := mat.Row(nil, i, p.Proba)
				before := max(floor, row[label])
				covered = covered && !by.Extrapolates(parameters, row)
				by.Adjust(parameters, row)
				gained[i] = math.Log2(max(floor, row[label]) / before)
			}
		}
	}
	gain = CaseT(gained, unit, p.Weight)
	return gain, covered && gain.T > surely && gain.Value > helpful
}

// triedIn is the fold of every row, or of a single test set the part: the cases of every class take
// turns.
func (c Contenders) triedIn(p Predictions) (fold []int) {
	if len(c.Parts[0]) > 1 {
		for k, part := range c.Parts[0] {
			for range part.Cases {
				fold = append(fold, k)
			}
		}
		return fold
	}
	turn := map[int]int{}
	for _, label := range p.Labels {
		fold = append(fold, turn[label]%triedParts)
		turn[label]++
	}
	return fold
}
