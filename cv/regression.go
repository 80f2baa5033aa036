package cv

import (
	"fmt"
	"math"
)

// NewRegression checks the predictions that one regression made for numeric targets: the mean and
// the variance, noise included, of each. The baseline is the mean and the variance (divisor n) of
// the training targets. Wrong shapes panic; numbers that are not finite and variances
// that are not positive are errors.
func NewRegression(
	cases []int, targets, mean, variance []float64, trainMean, trainVariance float64,
) (Predictions, error) {
	m := len(cases)
	if len(targets) != m || len(mean) != m || len(variance) != m {
		panic(fmt.Sprintf("cv: %d cases, %d targets, %d means, %d variances",
			m, len(targets), len(mean), len(variance)))
	}
	p := Predictions{Cases: cases, Targets: targets, Mean: mean, Variance: variance, Base: make([]float64, m)}
	for i, y := range targets {
		if !finite(y, mean[i], variance[i]) || variance[i] <= 0 {
			return Predictions{}, fmt.Errorf("case %d has target %v, predicted mean %v and variance %v; "+
				"want finite numbers, the variance above 0", cases[i], y, mean[i], variance[i])
		}
		p.Base[i] = logNormal(y, trainMean, trainVariance)
	}
	return p, nil
}

func finite(values ...float64) bool {
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

// logNormal is log N(y; mean, variance).
func logNormal(y, mean, variance float64) float64 {
	return -(math.Log(2*math.Pi*variance) + (y-mean)*(y-mean)/variance) / 2
}

func rootMeanSquaredError(p Predictions) (Estimate, bool) {
	squares := make([]float64, len(p.Targets))
	for i, y := range p.Targets {
		squares[i] = (y - p.Mean[i]) * (y - p.Mean[i])
	}
	e := p.mean(squares)
	root := func(v float64) float64 { return math.Sqrt(max(v, 0)) }
	return Estimate{root(e.Value), root(e.Lo), root(e.Hi)}, true
}

// standardizedLogLoss is not defined if all training targets of a part are equal, because the
// baseline then has no density.
func standardizedLogLoss(p Predictions) (Estimate, bool) {
	return p.mean(standardizedLosses(p)), finite(p.Base...)
}

func standardizedLosses(p Predictions) []float64 {
	loss := make([]float64, len(p.Targets))
	for i, y := range p.Targets {
		loss[i] = p.Base[i] - logNormal(y, p.Mean[i], p.Variance[i])
	}
	return loss
}
