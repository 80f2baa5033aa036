package cv

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// resamples is the number of bootstrap samples for a corrected score.
const resamples = 4000

// Corrected is the expected score of the best of the models on other cases. It is less good than
// the score by which the model was chosen. It is estimated by the bootstrap of held-out predictions
// (Tsamardinos, Greasidou & Borboudakis 2018, Machine Learning 107:1895, BBC-CV). In each of 4000
// samples, drawn with replacement within folds, the model with the best mean contribution in the
// sample is scored on the units that were not drawn; equally good ones are averaged. The value is
// the mean over samples, and Lo and Hi are their 2.5 and 97.5 % quantiles. ok is false if there was
// no choice, if there are fewer than two units, or if the score is not defined without some of the
// units.
func (c Contenders) Corrected(s Score) (Estimate, bool) {
	table, strata, ok := c.contributions(s)
	n, m := 0, 0
	if ok {
		n, m = table.Dims()
	}
	if n < 2 || m < 2 {
		return withoutInterval(math.NaN()), false
	}
	rng := rand.New(rand.NewPCG(c.Seed, forCorrected))
	var scores []float64
	columns := mat.DenseCopyOf(table.T())
	drawn(resamples, table, func(w []float64) {
		clear(w)
		for _, stratum := range strata {
			for range stratum {
				w[stratum[rng.IntN(len(stratum))]]++
			}
		}
	}, func(w, in []float64) {
		best := slices.Max(in)
		sum, count := 0.0, 0.0
		for k, v := range in {
			if v < best-1e-12*max(1, math.Abs(best)) {
				continue
			}
			for i, x := range columns.RawRowView(k) {
				if w[i] == 0 {
					sum += x
					count++
				}
			}
		}
		if count > 0 {
			scores = append(scores, sum/count)
		}
	})
	if len(scores) == 0 {
		return withoutInterval(math.NaN()), false
	}
	slices.Sort(scores)
	e := Estimate{stat.Mean(scores, nil), stat.Quantile(0.025, stat.LinInterp, scores, nil),
		stat.Quantile(0.975, stat.LinInterp, scores, nil)}
	if !s.Greater {
		e = Estimate{-e.Value, -e.Hi, -e.Lo}
	}
	return e, true
}

// fewUnits is the number of units from which on the mean of scores has no skewness that matters.
const fewUnits = 60

// AtLeast is a lower 95 % bound of the true score of the best model, minus the score of the base
// rate, which is 0. If less is better, all scores change their sign. The bound is the smaller of
// its score and Corrected, minus z r t standard errors over units, with r and t of Set. With fewer
// than 60 units of skewness γ < 0,
//
//	z = 1.645 - γ (2·1.645² + 1) / (6 √n),
//
// the 95 % quantile of the studentised mean (Hall 1992, The Bootstrap and Edgeworth Expansion,
// section 2.6): a few cases of large losses decide the mean, and may be missing from the sample.
// NaN: there are no bounds, or all units contribute the same.
func (c Contenders) AtLeast(s Score, best int) float64 {
	table, _, ok := c.contributions(s)
	if !ok || table.RawMatrix().Rows < 2 {
		return math.NaN()
	}
	n := table.RawMatrix().Rows
	column := mat.Col(nil, best, table)
	value := stat.Mean(column, nil)
	if e, ok := c.Corrected(s); ok {
		value = min(value, map[bool]float64{true: 1, false: -1}[s.Greater]*e.Value)
	}
	se := stat.StdDev(column, nil) / math.Sqrt(float64(n))
	if !(se > 0) {
		return math.NaN()
	}
	z := distuv.UnitNormal.Quantile(1 - level)
	if n < fewUnits {
		skewness := stat.Moment(3, column, nil) / math.Pow(stat.Moment(2, column, nil), 1.5)
		z += max(0, -skewness) * (2*z*z + 1) / (6 * math.Sqrt(float64(n)))
	}
	return value - z*math.Sqrt(1+c.Ratio)*wider(n)*se
}
