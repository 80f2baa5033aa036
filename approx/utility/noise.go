package utility

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// Noise is the distribution of the noises g_c.
type Noise struct {
	Mean, Variance float64
	// tabulate fills v for the noise plus an independent normal variate of this variance.
	tabulate func(v *logTable, variance float64)
}

// Gumbel is a standard Gumbel variate, of distribution function exp(-e^-x). With it the utility f_c
// + g_c of class c is the largest with the probability exp f_c/Σ_d exp f_d (McFadden 1974).
var Gumbel = Noise{gumbelMean, gumbelVariance, gumbelSum}

// The mean and the variance of Gumbel.
const (
	gumbelMean     = 0.57721566490153286061
	gumbelVariance = math.Pi * math.Pi / 6
)

// Normal is a standard normal variate. Standardised, its sum with a normal variate is another.
var Normal = Noise{0, 1, func(v *logTable, _ float64) { *v = normalTable }}

// normalTable is the table of a standard normal variate.
var normalTable = func() (table logTable) {
	for i := range int(tableSize) {
		t := linalg.TruncatedNormal(tableFrom + float64(i)*tableStep)
		table[0][i], table[1][i] = -t.LogMass, t.Hazard
		table[2][i] = -t.Mean // derivative of log h
	}
	return table
}()

// The tables of F are for normal variates of standard deviations s = ½ sinh q, with q a multiple of
// a step, from 0 to where the sum is normal up to 1e-8. Between them log(-log F), log h and its
// derivative, which are even functions of s, are interpolated over q by polynomials of degree 7.
const (
	gumbelTableStep = 0.07
	gumbelTableSize = 110
)

var gumbelTables = func() (tables [gumbelTableSize]func() *logTable) {
	for k := range tables {
		s := math.Sinh(gumbelTableStep*float64(k)) / 2
		tables[k] = sync.OnceValue(func() *logTable { return newGumbel(s) })
	}
	return tables
}()

// gumbelSum fills v for a Gumbel variate plus a normal one with this variance.
func gumbelSum(v *logTable, variance float64) {
	x := min(math.Asinh(2*math.Sqrt(variance))/gumbelTableStep, gumbelTableSize-1)
	first := min(int(x)-3, gumbelTableSize-8)
	*v = logTable{}
	for k := range 8 {
		weight := 1.0
		for j := range 8 {
			if j != k {
				weight *= (x - float64(first+j)) / float64(k-j)
			}
		}
		if weight != 0 {
			table := gumbelTables[max(first+k, -first-k)]()
			for q := range v {
				floats.AddScaled(v[q][:], weight, table[q][:])
			}
		}
	}
	linalg.Exp(v[0][:], v[0][:])
	linalg.Exp(v[1][:], v[1][:])
}

// newGumbel integrates, for a normal variate with standard deviation s, over that if it is
// narrow and else over the Gumbel variate, by the trapezoidal rule, with errors below 1e-10 of any
// value.
func newGumbel(s float64) *logTable {
	sd := math.Sqrt(s*s + gumbelVariance)
	table := new(logTable)
	const gumbelFrom, gumbelStep, normalFrom, normalStep, normalNodes = -4.0, 0.4, -14.0, 0.25, 216
	var gumbel, negLog, exponents []float64
	for w := gumbelFrom; w < 60; w += gumbelStep {
		gumbel = append(gumbel, gumbelStep*math.Exp(-w-math.Exp(-w)))
	}
	for i := range int(tableSize) {
		x := (tableFrom+float64(i)*tableStep)*sd + gumbelMean
		var below, above, density, slope, top float64 // F, 1 - F, F', F'' over exp(top)
		if s < 1.2 {
			negLog, exponents, top = negLog[:0], exponents[:0], math.Inf(-1)
			for k := range normalNodes {
				z := normalFrom + normalStep*float64(k)
				a := math.Exp(-x - s*z) // -log of the Gumbel variate's distribution function
				e := -z*z/2 - a
				negLog, exponents, top = append(negLog, a), append(exponents, e), max(top, e)
			}
			for k, a := range negLog {
				z := normalFrom + normalStep*float64(k)
				normal := normalStep * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
				v := normalStep * math.Exp(exponents[k]-top) / math.Sqrt(2*math.Pi)
				below += v
				density += v * a
				slope += v * (a - 1) * a
				above -= normal * math.Expm1(-a)
			}
		} else {
			for k, v := range gumbel {
				y := (x - gumbelFrom - gumbelStep*float64(k)) / s
				n := v * math.Exp(-y*y/2) / (s * math.Sqrt(2*math.Pi))
				tail := math.Erfc(math.Abs(y)/math.Sqrt2) / 2
				if y > 0 {
					below, above = below+v*(1-tail), above+v*tail
				} else {
					below, above = below+v*tail, above+v*(1-tail)
				}
				density += n
				slope -= n * y / s
			}
		}
		logF, h := top+math.Log(below), density/below
		if above < 0.5 {
			logF = math.Log1p(-above)
		}
		table[0][i], table[1][i], table[2][i] = math.Log(-logF), math.Log(h*sd), (slope/density-h)*sd
	}
	return table
}
