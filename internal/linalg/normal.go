package linalg

import "math"

const (
	logSqrt2Pi = 0.918938533204672741780329736405617640 // ½ log 2π
	sqrt2Low   = -9.667293313452913e-17                 // √2 less its float64
)

// LogNormCDF returns log Φ(z) for the standard normal distribution function Φ, with an error below
// 2e-15 |log Φ(z)| + 2e-18, so that Φ(z) is right to its last places. Only for |log Φ(z)| < 1e-3 is
// TruncatedNormal more accurate. For |z| ≤ 9, LogNormCDF takes a fraction of its time: there it
// sums the Taylor series about the nearest of logNormNodes.
func LogNormCDF(z float64) float64 {
	switch {
	case z > logNormReach:
		return 0
	case !(z >= -logNormReach):
		return TruncatedNormal(z).LogMass
	}
	k := int((z+logNormReach)/logNormSpacing + 0.5)
	u := z - (float64(k)*logNormSpacing - logNormReach)
	c, v := &logNormNodes[k], u*u
	odd := c[1] + v*(c[3]+v*(c[5]+v*(c[7]+v*c[9])))
	even := c[2] + v*(c[4]+v*(c[6]+v*c[8]))
	return c[0] + (u*odd + v*even)
}

const logNormSpacing, logNormReach = 0.125, 9

// logNormNodes are the Taylor coefficients of log Φ about the multiples of logNormSpacing. Its
// nearest singularities are the zeros of Φ, 2.8 from the real axis, so that half a spacing away
// each term is at most 1/45 of the one before.
var logNormNodes = func() (nodes [2*logNormReach/logNormSpacing + 1][10]float64) {
	for k := range nodes {
		z := float64(k)*logNormSpacing - logNormReach
		t := truncated(z)
		nodes[k][0] = t.LogMass
		for n, v := range hazardSeries(t, z, len(nodes[k])-1) {
			nodes[k][n+1] = v / float64(n+1)
		}
	}
	return nodes
}()

// hazardNodes are the first Taylor coefficients of r = N/Φ about the multiples of logNormSpacing.
var hazardNodes = func() (nodes [2*hazardReach/logNormSpacing + 1][12]float64) {
	for k := range nodes {
		z := float64(k)*logNormSpacing - hazardReach
		copy(nodes[k][:], hazardSeries(truncated(z), z, len(nodes[k])))
	}
	return nodes
}()

// hazardReach bounds |z| for the series of r.
const hazardReach = 2

// hazardSeries are the first Taylor coefficients of r = N/Φ about z, from r' = -r(z + r).
func hazardSeries(at Truncated, z float64, count int) []float64 {
	r := make([]float64, count)
	r[0], r[1] = at.Hazard, -at.Hazard*at.Mean
	for n := 1; n+1 < count; n++ {
		sum := z*r[n] + r[n-1]
		for j := range n + 1 {
			sum += r[j] * r[n-j]
		}
		r[n+1] = -sum / float64(n+1)
	}
	return r
}

// Truncated describes x ~ N(z, 1) restricted to x > 0. It is also log Φ at z with its derivatives:
//
//	log Φ = LogMass,  (log Φ)′ = Hazard,  (log Φ)″ = Variance - 1 = -Hazard·Mean,
//	(log Φ)‴ = Third
type Truncated struct {
	LogMass  float64 // log Φ(z)
	Hazard   float64 // r = N(z)/Φ(z), the inverse Mills ratio
	Mean     float64 // z + r, > 0
	Variance float64 // 1 - r(z + r), in (0, 1]
	Third    float64 // third central moment, r((z + r)² - Variance) ≥ 0
}

// TruncatedNormal computes Truncated for any finite z. The relative error of each field is a few
// units in the last place, growing to 1e-14 (Variance) and 1e-13 (Third) as z falls to -2; below,
// all are again good to the last place, where the formulas as written would cancel (for z → -∞,
// Mean ≈ 1/|z|, Variance ≈ 1/z², Third ≈ 2/|z|³). What lies below the smallest float64 is 0;
// LogMass is -Inf only where z²/2 overflows, z < -1.8e154.
func TruncatedNormal(z float64) Truncated {
	var logMass, r float64
	switch {
	case z < -hazardReach:
		return truncatedTail(-z)
	case z <= hazardReach:
		k := int((z+hazardReach)/logNormSpacing + 0.5)
		u := z - (float64(k)*logNormSpacing - hazardReach)
		logMass, r = LogNormCDF(z), series(&hazardNodes[k], u)
	default: // Φ(-z) by the ratios at z, as in the tail
		a2 := 2 / (z + thirdRatio(z))
		n := normPDF(z)
		q := n / (z + 1/(z+a2))
		logMass, r = logComplement(q), n/(1-q)
	}
	return describe(z, logMass, r)
}

// truncated is TruncatedNormal without tables. The tables are made from it.
func truncated(z float64) Truncated {
	if z < -2 {
		return truncatedTail(-z)
	}
	n := normPDF(z)
	var mass, logMass float64
	if z < 0 {
		mass = normCDF(z, n)
		logMass = math.Log(mass)
	} else {
		q := normCDF(-z, n)
		mass, logMass = 1-q, math.Log1p(-q)
	}
	return describe(z, logMass, n/mass)
}

// describe computes the other fields of Truncated from log Φ(z) and r, for z ≥ -2.
func describe(z, logMass, r float64) Truncated {
	mean := z + r
	variance := 1 - r*mean
	third := r*mean*mean - r*variance // this order, because z² may overflow where r is 0
	return Truncated{logMass, r, mean, variance, third}
}

// logComplement is log(1 - q) for 0 ≤ q ≤ Φ(-2), by its series.
func logComplement(q float64) float64 {
	return -q * (1 + q*(1./2+q*(1./3+q*(1./4+q*(1./5+q*(1./6+q*(1./7+q*(1./8+q*(1./9+q/10)))))))))
}

// truncatedTail is TruncatedNormal(-t) for t ≥ 2. With M_k = ∫₀^∞ x^k exp(-tx - x²/2) dx the ratios
// a_k = M_k/M_{k-1} obey a_k = k/(t + a_{k+1}) (integration by parts), which is Laplace's continued
// fraction for Φ(-t)/N(t) = M₀. The moments of x are the M_k/M₀, so no difference below loses more
// than a factor of three.
func truncatedTail(t float64) Truncated {
	a3 := thirdRatio(t)
	a2 := 2 / (t + a3)
	a1 := 1 / (t + a2)
	r := t + a1 // 1/M₀
	return Truncated{
		LogMass:  -t*(t/2) - logSqrt2Pi - math.Log(r),
		Hazard:   r,
		Mean:     a1,
		Variance: a1 * (a2 - a1),
		Third:    r * a1 * a1 * a2 * (a3 - a2),
	}
}

// thirdRatio is a₃ at t ≥ 2, by a Taylor series up to ratioReach.
func thirdRatio(t float64) float64 {
	if !(t < ratioReach) { // NaN is not in the table either
		return ratio(3, t)
	}
	part := math.Float64bits(t) >> ratioShift
	u := t - math.Float64frombits(part<<ratioShift|1<<(ratioShift-1))
	return series(&ratioNodes[part-math.Float64bits(2)>>ratioShift], u)
}

// ratio is a_k, k ≥ 3, at t ≥ 2 by the fraction. 3 + 100/t terms leave 1e-16 when it starts from
// the expansion of a_n for large n.
func ratio(k int, t float64) float64 {
	n := float64(k) + math.Floor(3+100/t)
	q := math.Sqrt(t*t + 4*n)
	a := (q - t) / 2 * (1 - (1-(1+5*(t/q))/(2*q*q))/(q*q))
	for n--; n >= float64(k); n-- {
		a = n / (t + a)
	}
	return a
}

// Each octave of 2 ≤ t < ratioReach has 16 parts, given by the upper bits of t.
const ratioShift, ratioOctaves, ratioReach = 48, 6, 128

// ratioNodes are the Taylor coefficients of a₃ about the middle of each part of t. A part reaches
// no further than 1/32 of t.
var ratioNodes = func() (nodes [16 * ratioOctaves][12]float64) {
	for i := range nodes {
		part := math.Float64bits(2)>>ratioShift + uint64(i)
		t := math.Float64frombits(part<<ratioShift | 1<<(ratioShift-1))
		// a_k' = a_k(a_k - a_k+1), so that each coefficient takes one less of the next ratio
		const count = len(nodes[i])
		var next [count]float64
		for k := 2 + count; k >= 3; k-- {
			var c [count]float64
			c[0] = ratio(k, t)
			for m := range 2 + count - k {
				for j := range m + 1 {
					c[m+1] += c[j] * (c[m-j] - next[m-j]) / float64(m+1)
				}
			}
			next = c
		}
		nodes[i] = next
	}
	return nodes
}()

// series is Σ_n c_n uⁿ.
func series(c *[12]float64, u float64) float64 {
	v := u * u
	odd := c[1] + v*(c[3]+v*(c[5]+v*(c[7]+v*(c[9]+v*c[11]))))
	even := c[2] + v*(c[4]+v*(c[6]+v*(c[8]+v*c[10])))
	return c[0] + (u*odd + v*even)
}

// normPDF returns N(z) = exp(-z²/2)/√(2π) with a correction for the rounding of z².
func normPDF(z float64) float64 {
	z = min(math.Abs(z), 40) // N(40) is already 0 in float64
	zz := z * z
	return math.Exp(-zz/2) * (1 - math.FMA(z, z, -zz)/2) / math.Sqrt(2*math.Pi)
}

// normCDF returns Φ(z) for z ≤ 2 given n = N(z), by the error function; the rounding of z/√2, which
// would cost a factor z² in the lower tail, is corrected to first order.
func normCDF(z, n float64) float64 {
	x := -z / math.Sqrt2
	return math.Erfc(x)/2 + n*(math.FMA(x, math.Sqrt2, z)+x*sqrt2Low)
}
