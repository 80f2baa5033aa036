package objective

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
)

// Marginal summarises the samples of several chains for one coordinate of theta, and the agreement
// of the chains.
type Marginal struct {
	Mean, SD float64
	// RHat is the split potential scale reduction, Gelman et al., Bayesian Data Analysis (3rd ed.),
	// (11.4): about the ratio of the standard deviation over all halves of chains to the one within
	// halves. It tends to 1.
	RHat float64
	// ESS is the effective sample size, (11.8) there: the standard error of Mean is about SD/√ESS.
	ESS float64
}

// Marginals summarises chains[c][s], the s-th sample of theta of chain c. All chains have the same
// number of samples, at least 4. A coordinate whose samples are all equal has an RHat and an ESS of
// NaN.
func Marginals(chains [][][]float64) []Marginal {
	if len(chains) == 0 || len(chains[0]) < 4 {
		panic("objective: Marginals needs chains of at least 4 samples")
	}
	samples := len(chains[0])
	out := make([]Marginal, len(chains[0][0]))
	for i := range out {
		var halves [][]float64 // the middle one of an odd number of samples is left out
		var all []float64
		for _, chain := range chains {
			if len(chain) != samples {
				panic(fmt.Sprintf("objective: chains of %d and %d samples", samples, len(chain)))
			}
			x := make([]float64, samples)
			for s, theta := range chain {
				x[s] = theta[i]
			}
			halves = append(halves, x[:samples/2], x[samples-samples/2:])
			all = append(all, x...)
		}
		mean, variance := moments(all)
		out[i] = Marginal{Mean: mean, SD: math.Sqrt(variance)}
		out[i].RHat, out[i].ESS = mixing(halves)
	}
	return out
}

// moments returns the mean and the variance, with the divisor n-1.
func moments(x []float64) (mean, variance float64) {
	mean = floats.Sum(x) / float64(len(x))
	for _, v := range x {
		variance += (v - mean) * (v - mean) / float64(len(x)-1)
	}
	return mean, variance
}

// mixing is R̂ and the effective sample size of m sequences of length n. W is the mean of their
// variances, B/n the variance of their means, and var⁺ = (1 - 1/n) W + B/n; R̂ = √(var⁺/W). The
// autocorrelations are ρ_t = 1 - V_t/(2 var⁺), with V_t the mean square difference at lag t (11.7).
// They are summed in pairs up to the first pair that is not positive. A pair larger than the one
// before counts as that one (Geyer 1992). Anticorrelated samples count for at most log10(mn) each
// (Vehtari et al. 2021, 3.2).
func mixing(sequences [][]float64) (rHat, ess float64) {
	m, n := float64(len(sequences)), len(sequences[0])
	means, within := make([]float64, len(sequences)), 0.0
	for j, x := range sequences {
		mean, variance := moments(x)
		means[j] = mean
		within += variance / m
	}
	_, between := moments(means)
	total := (1-1/float64(n))*within + between
	rho := func(t int) float64 {
		v := 0.0
		for _, x := range sequences {
			for i := t; i < n; i++ {
				v += (x[i] - x[i-t]) * (x[i] - x[i-t])
			}
		}
		return 1 - v/(m*float64(n-t))/(2*total)
	}
	size, tau, last := m*float64(n), -1.0, math.Inf(1)
	for t := 0; t+1 < n; t += 2 {
		pair := min(rho(t)+rho(t+1), last)
		if pair <= 0 {
			break
		}
		tau, last = tau+2*pair, pair
	}
	return math.Sqrt(total / within), size / max(tau, 1/math.Log10(size))
}
