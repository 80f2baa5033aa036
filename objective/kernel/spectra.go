package kernel

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// mixing implements spectral: the spectral density is normal [GPML 4.11].
func (squaredExponential) mixing() func(u, shape float64) (s, slope float64) { return nil }

// These implement spectral: the spectral density of the Matérn kernel of order ν is Student's t
// with 2ν degrees of freedom [GPML 4.15], a normal divided by √(χ²/2ν).

func (matern12) mixing() func(u, shape float64) (s, slope float64) { return student(1) }
func (matern32) mixing() func(u, shape float64) (s, slope float64) { return student(3) }
func (matern52) mixing() func(u, shape float64) (s, slope float64) { return student(5) }

func student(degrees float64) func(u, shape float64) (s, slope float64) {
	return func(u, _ float64) (s, slope float64) {
		x, _ := gammaQuantile(degrees/2, u)
		return math.Sqrt(degrees / 2 / x), 0
	}
}

// mixing implements spectral: the rational quadratic is a mixture of squared exponentials of
// precision x/α in units of 1/l², with x gamma distributed of shape α [GPML 4.20].
func (rationalQuadratic) mixing() func(u, shape float64) (s, slope float64) {
	return func(u, alpha float64) (s, slope float64) {
		x, slope := gammaQuantile(alpha, u)
		return math.Sqrt(x / alpha), (slope - 1) / 2
	}
}

// gammaQuantile is the quantile x at u of the gamma distribution of shape a and scale 1, with its
// derivative ∂ln x/∂ln a. Both follow from the series
//
//	P(a, x) = xᵃ e⁻ˣ/Γ(a + 1) Σ_n c_n,   c_n = xⁿ/((a + 1) … (a + n))   [DLMF 8.7.1]
//
// as ∂x/∂a = -(∂P/∂a)/(∂P/∂x). Above a = 10⁶ they are the cube of a normal variable (E. B. Wilson
// and M. M. Hilferty, The distribution of chi-square, PNAS 17, 1931).
func gammaQuantile(a, u float64) (x, slope float64) {
	if a > 1e6 {
		z := math.Sqrt2 * math.Erfinv(2*u-1)
		root := 1 - 1/(9*a) + z/(3*math.Sqrt(a))
		return a * root * root * root, 1 + 3*(1/(9*a)-z/(6*math.Sqrt(a)))/root
	}
	lg, _ := math.Lgamma(a + 1)
	if log := (math.Log(u) + lg) / a; log < -40 { // P(a, x) is xᵃ/Γ(a + 1)
		return math.Exp(max(log, -700)), mathext.Digamma(a+1) - log
	}
	x = mathext.GammaIncRegInv(a, u)
	for range 2 { // steps of Newton's method in ln x
		sum, _ := gammaSeries(a, x)
		density := math.Exp(a*math.Log(x) - x - lg) // x/a times the density
		x *= math.Exp((u/density - sum) / a)
	}
	sum, weighted := gammaSeries(a, x)
	return x, weighted - (math.Log(x)-mathext.Digamma(a+1))*sum
}

// gammaSeries returns Σ c_n and Σ c_n Σ_{j≤n} 1/(a + j).
func gammaSeries(a, x float64) (sum, weighted float64) {
	c, harmonic := 1.0, 0.0
	sum = 1
	for n := 1.0; ; n++ {
		c *= x / (a + n)
		harmonic += 1 / (a + n)
		sum += c
		weighted += c * harmonic
		if c*max(1, harmonic) < 1e-17*min(sum, max(weighted, 1e-300)) && a+n > x || c == 0 {
			return sum, weighted
		}
	}
}
