package cv

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// McNemar compares the decisions of two classifiers on the same cases.
type McNemar struct {
	Cases      int      // number of cases, or of groups if the predictions have any
	OnlyFirst  int      // cases that only the first classifier decides correctly, or groups with more of them
	OnlySecond int      // cases that only the second decides correctly, or groups with more of them
	Difference Estimate // difference of the error rates, first minus second, with its 95 % interval
	P          float64  // two-sided p value of the hypothesis of equal error rates
}

// CompareDecisions is McNemar's test in its exact form (McNemar 1947, Psychometrika 12:153). There
// are m cases that exactly one classifier decides correctly. If the error rates are equal, each of
// these cases is decided correctly by the first classifier with probability ½. So P = min(1, 2 P(X
// ≤ k)) with X ~ Binomial(m, ½) and k the smaller of the two counts. The difference (c - b)/n, with
// c cases that only the second and b that only the first decides correctly, has the adjusted Wald
// interval
//
//	δ ± 1.96 √((p + q - δ²) / (n+2)),   p = (c+1)/(n+2), q = (b+1)/(n+2), δ = p - q
//
// (Bonett & Price 2012, J. Educ. Behav. Stat. 37:479). Cases of a group err together, so a group
// counts once, by the classifier that decides more of its cases correctly, and the interval is of
// the mean over groups. Both must have the same cases in the same order, each case once; otherwise
// it panics.
func CompareDecisions(first, second Predictions) McNemar {
	m, units := McNemar{Cases: len(first.Cases)}, first.Units()
	if !slices.Equal(first.Cases, second.Cases) || !slices.Equal(first.Labels, second.Labels) ||
		distinct(first.Cases) != m.Cases {
		panic(fmt.Sprintf("cv: %d and %d predictions are not paired, one for every case", m.Cases, len(second.Cases)))
	}
	excess, net := first.wrong(), map[int]float64{} // errors of the first less errors of the second, by unit
	for i, wrong := range second.wrong() {
		excess[i] -= wrong
		net[units[i]] += excess[i]
	}
	for _, d := range net {
		switch {
		case d < 0:
			m.OnlyFirst++
		case d > 0:
			m.OnlySecond++
		}
	}
	b, c, n := float64(m.OnlyFirst), float64(m.OnlySecond), float64(m.Cases)
	p, q := (c+1)/(n+2), (b+1)/(n+2)
	delta := p - q
	half := z95 * math.Sqrt((p+q-delta*delta)/(n+2))
	m.Difference = Estimate{(c - b) / n, max(delta-half, -1), min(delta+half, 1)}
	if first.Groups != nil {
		m.Cases, m.Difference = len(net), first.mean(excess)
	}
	m.P = min(1, 2*distuv.Binomial{N: b + c, P: 0.5}.CDF(min(b, c)))
	return m
}
