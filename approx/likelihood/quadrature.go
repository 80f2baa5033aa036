package likelihood

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/integrate/quad"
)

// WithoutClosedForm is a likelihood without closed forms for its Gaussian averages, so quadrature
// can replace Moments.
type WithoutClosedForm interface {
	MomentMatcher
	// Quadrature returns the likelihood with averages by Gauss-Hermite quadrature with this number
	// of nodes, at least 2.
	Quadrature(order int) MomentRule
}

// MomentRule is a likelihood whose averages are sums over nodes. Its Moments return the logarithm
// of the sum for Z, and the d[0] and d[1] that follow from the sums for the moments of the tilted
// density; d[2] and d[3] are 0. d[0] and d[1] are the derivatives of that logarithm only in the
// limit of many nodes.
type MomentRule interface {
	MomentMatcher
	// Slopes returns log Z, d[0] and d[1] of Moments, with their derivatives with respect to mean
	// and to variance, variance > 0.
	Slopes(y, mean, variance float64) (at, byMean, byVariance [3]float64)
}

// GaussHermite returns the nodes of Gauss-Hermite quadrature for N(0, 1) in ascending order, and
// the logarithms of their weights. order, the number of nodes, is 1 … 200.
func GaussHermite(order int) (nodes, logWeights []float64) {
	nodes, logWeights = make([]float64, order), make([]float64, order)
	quad.Hermite{}.FixedLocations(nodes, logWeights, math.Inf(-1), math.Inf(1))
	for k, w := range logWeights {
		nodes[k] *= math.Sqrt2
		logWeights[k] = math.Log(w) - math.Log(math.Pi)/2
	}
	return nodes, logWeights
}

// summed is a binary likelihood averaged by quadrature. With p_k = p(y|mean + s x_k), s =
// √variance, and E the average over the nodes x_k with weights w_k p_k/Z,
//
//	Z = Σ_k w_k p_k,   d[0] = E[x]/s,   d[1] = (Var[x] - 1)/variance
//
// so that Var[x] is the tilted variance over variance.
type summed struct {
	Differentiable
	nodes, logWeights []float64
}

func newSummed(of Differentiable, order int) summed {
	nodes, logWeights := GaussHermite(order)
	return summed{of, nodes, logWeights}
}

// Moments implements MomentMatcher by the sums. d[1] has an error of about 1e-16/variance.
func (q summed) Moments(y, mean, variance float64) (logZ float64, d [4]float64) {
	if variance == 0 {
		logZ, d[0], d[1], d[2] = q.Derivs(y, mean)
		return logZ, d
	}
	s := math.Sqrt(variance)
	logW := make([]float64, len(q.nodes))
	for k, x := range q.nodes {
		logW[k] = q.logWeights[k] + q.LogProb(1, y*mean+s*x)
	}
	logZ, m, v := q.moments(logW)
	return logZ, [4]float64{y * m / s, (v - 1) / variance}
}

// Slopes implements MomentRule. A change of log p_k by δ_k changes log Z by E[δ], E[x] by Cov[x, δ]
// and Var[x] by Cov[(x - E[x])², δ].
func (q summed) Slopes(y, mean, variance float64) (at, byMean, byVariance [3]float64) {
	s := math.Sqrt(variance)
	w, slopes := make([]float64, len(q.nodes)), make([]float64, len(q.nodes))
	for k, x := range q.nodes {
		logp, d1, _, _ := q.Derivs(1, y*mean+s*x)
		w[k], slopes[k] = q.logWeights[k]+logp, d1
	}
	logZ, m, v := q.moments(w)
	for k, x := range q.nodes {
		u, d := w[k]*slopes[k], x-m
		t := u * x / (2 * s)
		for i, f := range [3]float64{1, d / s, (d*d - v) / variance} {
			byMean[i] += u * f
			byVariance[i] += t * f
		}
	}
	byVariance[1] -= m / s / (2 * variance)
	byVariance[2] -= (v - 1) / variance / variance
	byMean[0], byMean[2], byVariance[1] = y*byMean[0], y*byMean[2], y*byVariance[1]
	return [3]float64{logZ, y * m / s, (v - 1) / variance}, byMean, byVariance
}

// moments converts logarithms of weights into weights with sum 1, and returns the logarithm of
// their sum with the mean and the variance of x under them.
func (q summed) moments(w []float64) (logZ, m, v float64) {
	largest, sum := slices.Max(w), 0.0
	for k := range w {
		w[k] = math.Exp(w[k] - largest)
		sum += w[k]
	}
	for k, x := range q.nodes {
		w[k] /= sum
		m += w[k] * x
	}
	for k, x := range q.nodes {
		v += w[k] * (x - m) * (x - m)
	}
	return largest + math.Log(sum), m, v
}
