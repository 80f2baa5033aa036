package linalg

import "math"

const (
	logSqrt2Pi = 0.918938533204672741780329736405617640 // ½ log 2π
	sqrt2Low   = -9.667293313452913e-17                 // √2 less its float64
)

// LogNormCDF returns log Φ(z) for the standard normal distribution function Φ, with an error below
// 2e-15 |log Φ(z)| + 2e-18, so that Φ(z) is right to its last places. That is all that
// TruncatedNormal gives but for |log Φ(z)| < 1e-3, in a fraction of the time where |z| ≤ 9: there
// it sums the Taylor series about the nearest of logNormNodes.
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
// each term is at most 1/45 of the one before. The coefficients r_n of its derivative r = N/Φ
// follow from r' = -r(z + r).
var logNormNodes = func() (nodes [2*logNormReach/logNormSpacing + 1][10]float64) {
	for k := range nodes {
		z := float64(k)*logNormSpacing - logNormReach
		t := TruncatedNormal(z)
		r := [9]float64{t.Hazard, -t.Hazard * t.Mean}
		for n := 1; n+1 < len(r); n++ {
			sum := z*r[n] + r[n-1]
			for j := range n + 1 {
				sum += r[j] * r[n-j]
			}
			r[n+1] = -sum / float64(n+1)
		}
		nodes[k][0] = t.LogMass
		for n, v := range r {
			nodes[k][n+1] = v / float64(n+1)
		}
	}
	return nodes
}()

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
	r := n / mass
	mean := z + r
	variance := 1 - r*mean
	third := r*mean*mean - r*variance // in this order, for z² may overflow where r is 0
	return Truncated{logMass, r, mean, variance, third}
}

// truncatedTail is TruncatedNormal(-t) for t ≥ 2. With M_k = ∫₀^∞ x^k exp(-tx - x²/2) dx the ratios
// a_k = M_k/M_{k-1} obey a_k = k/(t + a_{k+1}) (integration by parts), which is Laplace's continued
// fraction for Φ(-t)/N(t) = M₀. The moments of x are the M_k/M₀, so no difference below loses more
// than a factor of three.
func truncatedTail(t float64) Truncated {
	// 6 + 100/t terms leave 1e-16 when the fraction starts from the expansion of a_n for large n.
	n := math.Floor(6 + 100/t)
	q := math.Sqrt(t*t + 4*n)
	a3 := (q - t) / 2 * (1 - (1-(1+5*(t/q))/(2*q*q))/(q*q))
	for k := n - 1; k >= 3; k-- {
		a3 = k / (t + a3)
	}
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

// normPDF returns N(z) = exp(-z²/2)/√(2π) with the rounding of z² made good.
func normPDF(z float64) float64 {
	z = min(math.Abs(z), 40) // N(40) is already 0 in float64
	zz := z * z
	return math.Exp(-zz/2) * (1 - math.FMA(z, z, -zz)/2) / math.Sqrt(2*math.Pi)
}

// normCDF returns Φ(z) for z ≤ 2 given n = N(z), by the error function; the rounding of z/√2, which
// would cost a factor z² in the lower tail, is made good to first order.
func normCDF(z, n float64) float64 {
	x := -z / math.Sqrt2
	return math.Erfc(x)/2 + n*(math.FMA(x, math.Sqrt2, z)+x*sqrt2Low)
}
