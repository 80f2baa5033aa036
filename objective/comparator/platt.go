package comparator

import (
	"math"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

func exp(v float64) float64 { return math.Exp(v) }

// sigmoid turns an output, N(m, v), into log p(y) = log Φ(y (αm + β)/√(1 + α²v)), GPML 6.5.1. For v
// = 0 it is Platt's method with the cumulative Gaussian.
type sigmoid struct{ alpha, beta float64 }

func (s sigmoid) logProb(y, m, v float64) float64 {
	return linalg.LogNormCDF(y * (s.alpha*m + s.beta) / math.Sqrt(1+s.alpha*s.alpha*v))
}

// platt fits the sigmoid to outputs of cases that were held out, by maximum likelihood. A variance
// of nil is 0. Instead of ±1 a case of n of its kind has the target (n + 1)/(n + 2) of Platt
// (1999), so that outputs that separate the classes have a maximum too. Fisher scoring with step
// halving; the scale of m does not matter.
func platt(y, m, v []float64) sigmoid {
	var positive, negative, sum, squares float64
	for i, t := range y {
		if t > 0 {
			positive++
		} else {
			negative++
		}
		sum += m[i]
		squares += m[i] * m[i]
	}
	n := float64(len(y))
	unit := math.Sqrt(squares / n) // of m
	if !(unit > 0) {
		unit = 1
	}
	high, low := (positive+1)/(positive+2), 1/(negative+2)
	// at is the log likelihood, its gradient and the Fisher information, over αunit and β.
	at := func(s sigmoid) (l, ga, gb, aa, ab, bb float64) {
		for i, target := range y {
			t := low
			if target > 0 {
				t = high
			}
			x, w := m[i]/unit, 0.0
			if v != nil {
				w = v[i] / (unit * unit)
			}
			root := math.Sqrt(1 + s.alpha*s.alpha*w)
			z := (s.alpha*x + s.beta) / root
			up, down := linalg.TruncatedNormal(z), linalg.TruncatedNormal(-z)
			l += t*up.LogMass + (1-t)*down.LogMass
			slope, weight := t*up.Hazard-(1-t)*down.Hazard, up.Hazard*down.Hazard
			da, db := (x-z*s.alpha*w/root)/root, 1/root
			ga, gb = ga+slope*da, gb+slope*db
			aa, ab, bb = aa+weight*da*da, ab+weight*da*db, bb+weight*db*db
		}
		return l, ga, gb, aa, ab, bb
	}
	s := sigmoid{alpha: 1}
	l, ga, gb, aa, ab, bb := at(s)
	for range 500 {
		ridge := 1e-12*(aa+bb) + math.SmallestNonzeroFloat64 // constant outputs tell nothing of α
		aa, bb = aa+ridge, bb+ridge
		det := aa*bb - ab*ab
		da, db := (bb*ga-ab*gb)/det, (aa*gb-ab*ga)/det
		gain := da*ga + db*gb
		if !(gain > 1e-20*n) {
			break
		}
		better := false
		for range 60 {
			next := sigmoid{s.alpha + da, s.beta + db}
			if nl, nga, ngb, naa, nab, nbb := at(next); nl > l || gain < 1e-9*n { // so near, l tells nothing
				s, l, ga, gb, aa, ab, bb, better = next, nl, nga, ngb, naa, nab, nbb, true
				break
			}
			da, db = da/2, db/2
		}
		if !better {
			break
		}
	}
	return sigmoid{s.alpha / unit, s.beta}
}
