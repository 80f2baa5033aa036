package comparator

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// A classifier of two classes is applied to C > 2 by one machine for each class, fitted against all
// others. Its probabilities are divided by their sum.

// machines is the number of two-class problems for this number of classes.
func machines(classes int) int {
	if classes == 2 {
		return 1
	}
	return classes
}

// against returns the labels of machine m: +1 for cases of its class and -1 for the others. For two
// classes the one machine has class 1.
func against(index []int, classes, m int) []float64 {
	if classes == 2 {
		m = 1
	}
	y := make([]float64, len(index))
	for i, c := range index {
		y[i] = -1
		if c == m {
			y[i] = 1
		}
	}
	return y
}

// probabilities sets dst, m×C, to the class probabilities. Each machine gives the probability of
// its class, and for two classes of the other class too: its sigmoid of the output with
// mean[machine][i] and variance[machine][i] for the i-th case. Without variances they are 0.
func probabilities(dst *mat.Dense, sigmoids []sigmoid, mean, variance [][]float64) {
	cases, classes := dst.Dims()
	for i := range cases {
		logp := func(m int, y float64) float64 {
			v := 0.0
			if variance != nil {
				v = variance[m][i]
			}
			return sigmoids[m].logProb(y, mean[m][i], v)
		}
		row := dst.RawRowView(i)
		if classes == 2 {
			row[0], row[1] = logp(0, -1), logp(0, 1)
		} else {
			for c := range row {
				row[c] = logp(c, 1)
			}
		}
		total := floats.LogSumExp(row)
		for c, v := range row {
			row[c] = math.Exp(v - total)
		}
	}
}

// sigmoid turns an output, N(m, v), into log p(y) = log Φ(y (αm + β)/√(1 + α²v)), GPML 6.5.1. For
// v = 0 it is Platt's method with the cumulative Gaussian.
type sigmoid struct{ alpha, beta float64 }

func (s sigmoid) logProb(y, m, v float64) float64 {
	return linalg.LogNormCDF(y * (s.alpha*m + s.beta) / math.Sqrt(1+s.alpha*s.alpha*v))
}

// platt fits the sigmoid to outputs of cases that were held out (cv.FitSigmoid). If v is nil all
// variances are 0; if weight is nil all weights are 1.
func platt(y, m, v, weight []float64) sigmoid {
	is := make([]bool, len(y))
	for i, t := range y {
		is[i] = t > 0
	}
	alpha, beta := cv.FitSigmoid(normal, m, v, is, weight)
	return sigmoid{alpha, beta}
}

// normal is the link Φ.
func normal(z float64) (logF, slope float64) {
	t := linalg.TruncatedNormal(z)
	return t.LogMass, t.Hazard
}

// extrapolated returns a warning if most outputs of the fit at the training cases lie outside the
// range of the held-out outputs, by more than half its width. The sigmoid was fitted to the
// held-out outputs.
func extrapolated(name string, held, fit []float64) (warnings []approx.Warning) {
	lo, hi, far := slices.Min(held), slices.Max(held), 0
	for _, f := range fit {
		if margin := (hi - lo) / 2; f < lo-margin || f > hi+margin {
			far++
		}
	}
	if 2*far > len(fit) {
		warnings = append(warnings, cause.ExtrapolatedOutputs.New("%s: probabilities were fitted to outputs of "+
			"held-out cases from %.3g to %.3g, and of %d training cases %d have outputs far outside this range: "+
			"probabilities near these are extrapolated", name, lo, hi, len(fit), far))
	}
	return warnings
}
