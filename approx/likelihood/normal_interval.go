package likelihood

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// interval describes x ~ N(0, 1) restricted to a ≤ x ≤ b. With P(m) the probability of the interval
// under N(m, 1), it is also log P at m = 0 with its derivatives.
type interval struct {
	logMass      float64    // log P
	d            [4]float64 // E[x], Var[x] - 1 and two further cumulants: (log P)′ … (log P)⁗
	lower, upper float64    // N(a)/P and N(b)/P: minus the derivative of log P by a, and that by b
	above, below float64    // E[x] - a and b - E[x]
}

// normalInterval computes interval from a to a + width, both finite, width > 0. All fields have a
// relative error of about 1e-14. For d it is relative to the largest product of lower derivatives
// of the same order. This holds far in the tails and for narrow intervals too, where differences of
// Φ would cancel. logMass is -Inf only where a²/2 overflows.
func normalInterval(a, width float64) interval {
	switch middle := a + width/2; {
	case middle < 0:
		i := normalInterval(-(a + width), width)
		i.d[0], i.d[2] = -i.d[0], -i.d[2]
		i.lower, i.upper, i.above, i.below = i.upper, i.lower, i.below, i.above
		return i
	case a < 0 && width >= 3:
		return intervalAround(max(a, -beyondNormal), min(a+width, beyondNormal))
	}
	return intervalBeside(a, width)
}

// beyondNormal is from where on N(x) is 0 in float64.
const beyondNormal = 40

// intervalAround is normalInterval with 0 inside and P > 0.49, where nothing cancels in
//
//	P′/P = (N(a) - N(b))/P,  P″/P = (a N(a) - b N(b))/P,  …
func intervalAround(a, b float64) interval {
	left, right := linalg.TruncatedNormal(a), linalg.TruncatedNormal(-b)
	outsideLeft, outsideRight := math.Exp(left.LogMass), math.Exp(right.LogMass)
	var mass, logMass float64
	if outside := outsideLeft + outsideRight; outside < 0.5 {
		mass, logMass = 1-outside, math.Log1p(-outside)
	} else {
		mass = (math.Erf(b/math.Sqrt2) - math.Erf(a/math.Sqrt2)) / 2
		logMass = math.Log(mass)
	}
	na, nb := left.Hazard*outsideLeft/mass, right.Hazard*outsideRight/mass
	d := cumulants(na-nb, a*na-b*nb, (a*a-1)*na-(b*b-1)*nb, a*(a*a-3)*na-b*(b*b-3)*nb)
	return interval{logMass, d, na, nb, d[0] - a, b - d[0]}
}

// intervalBeside is normalInterval for all other intervals. The density of t = x - a is
// proportional to exp(-at - t²/2). Averages over t are sums over the nodes of a Gauss-Legendre
// rule, which ends where the density has fallen to e^-45. The error of the rule for exp(-22.5(1 +
// z)), -1 ≤ z ≤ 1, is 5e-22.
func intervalBeside(a, width float64) interval {
	const fall = 45
	// The second number solves a t + t²/2 = 45.
	reach := min(width, fall/(math.Hypot(a, math.Sqrt(2*fall))/2+a/2))
	var weights, offsets [len(intervalNodes)]float64
	sum, above := 0.0, 0.0
	for k, node := range intervalNodes {
		t := reach * node
		w := intervalWeights[k] * math.Exp(-t*(a+t/2))
		weights[k], offsets[k] = w, t
		sum += w
		above += w * t
	}
	above /= sum
	var m2, m3, m4 float64
	for k, w := range weights {
		u := offsets[k] - above
		w *= u * u
		m2 += w
		m3 += w * u
		m4 += w * u * u
	}
	m2, m3, m4 = m2/sum, m3/sum, m4/sum
	overDensity := reach * sum // P/N(a)
	return interval{
		logMass: math.Log(overDensity) - a*(a/2) - math.Log(2*math.Pi)/2,
		d:       [4]float64{a + above, m2 - 1, m3, m4 - 3*m2*m2},
		lower:   1 / overDensity, upper: math.Exp(-width*(a+width/2)) / overDensity,
		above: above, below: width - above,
	}
}

// The Gauss-Legendre rule on [0, 1].
var intervalNodes, intervalWeights = func() (x, w [32]float64) {
	quad.Legendre{}.FixedLocations(x[:], w[:], 0, 1)
	return x, w
}()
