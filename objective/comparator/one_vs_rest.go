package comparator

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// A classifier of two classes is applied to C > 2 by one machine for each class, fitted against all
// others. Its probabilities are divided by their sum.

// machines is the number of two-class problems that so many classes make.
func machines(classes int) int {
	if classes == 2 {
		return 1
	}
	return classes
}

// against codes machine m of so many classes: +1 for its class, which is class 1 of two, and -1 for
// the others.
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

// probabilities sets dst, m×C, from what every machine gives for its class, and of two classes for
// the other too: its sigmoid of an output, with mean[machine][i] and variance[machine][i] for the
// i-th case. No variances are zero.
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

// platt fits the sigmoid to outputs of cases that were held out, by maximum likelihood. A variance
// of nil is 0. Instead of ±1 a case of n of its kind has the target (n + 1)/(n + 2) of Platt
// (1999), so that outputs that separate the classes have a maximum too. A case counts as so many as
// its weight says; a weight of nil is 1. Fisher scoring with step halving; the scale of m does not
// matter.
func platt(y, m, v, weight []float64) sigmoid {
	if weight == nil {
		weight = slices.Repeat([]float64{1}, len(y))
	}
	var positive, negative, squares float64
	for i, t := range y {
		if t > 0 {
			positive += weight[i]
		} else {
			negative += weight[i]
		}
		squares += m[i] * m[i]
	}
	n := float64(len(y))
	unit := math.Sqrt(squares / n) // of m
	if !(unit > 0) {
		unit = 1
	}
	x, w, target := make([]float64, len(y)), make([]float64, len(y)), make([]float64, len(y))
	for i, t := range y {
		x[i], target[i] = m[i]/unit, 1/(negative+2)
		if v != nil {
			w[i] = v[i] / (unit * unit)
		}
		if t > 0 {
			target[i] = (positive + 1) / (positive + 2)
		}
	}
	s := scoreOf(sigmoid{alpha: 1}, x, w, target, weight)
	for range 500 {
		da, db, gain := s.step()
		if !(gain > 1e-20*n) {
			break
		}
		better := false
		for range 60 {
			next := scoreOf(sigmoid{s.at.alpha + da, s.at.beta + db}, x, w, target, weight)
			if better = next.l > s.l || gain < 1e-9*n; better { // so near, l tells nothing
				s = next
				break
			}
			da, db = da/2, db/2
		}
		if !better {
			break
		}
	}
	return sigmoid{s.at.alpha / unit, s.at.beta}
}

// score is the log likelihood of a sigmoid, its gradient and the Fisher information, over α and β.
type score struct {
	at                    sigmoid
	l, ga, gb, aa, ab, bb float64
}

// scoreOf has the outputs N(x, w) and the targets p(+1), each so many times.
func scoreOf(s sigmoid, x, w, target, times []float64) score {
	c := score{at: s}
	for i, t := range target {
		root := math.Sqrt(1 + s.alpha*s.alpha*w[i])
		z := (s.alpha*x[i] + s.beta) / root
		up, down := linalg.TruncatedNormal(z), linalg.TruncatedNormal(-z)
		c.l += times[i] * (t*up.LogMass + (1-t)*down.LogMass)
		slope, weight := times[i]*(t*up.Hazard-(1-t)*down.Hazard), times[i]*(up.Hazard*down.Hazard)
		da, db := (x[i]-z*s.alpha*w[i]/root)/root, 1/root
		c.ga, c.gb = c.ga+slope*da, c.gb+slope*db
		c.aa, c.ab, c.bb = c.aa+weight*da*da, c.ab+weight*da*db, c.bb+weight*db*db
	}
	return c
}

// step solves for the scoring step, and gives what it gains to first order. A ridge keeps it finite
// where constant outputs tell nothing of α.
func (c score) step() (da, db, gain float64) {
	ridge := 1e-12*(c.aa+c.bb) + math.SmallestNonzeroFloat64
	aa, bb := c.aa+ridge, c.bb+ridge
	det := aa*bb - c.ab*c.ab
	da, db = (bb*c.ga-c.ab*c.gb)/det, (aa*c.gb-c.ab*c.ga)/det
	return da, db, da*c.ga + db*c.gb
}
