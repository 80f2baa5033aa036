package likelihood

import (
	"math"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/objective/param"
)

// Logit is p(y|f) = σ(yf) with σ(z) = 1/(1 + e^{-z}), the logistic function. It has no parameters.
type Logit struct{}

var (
	_ Differentiable = Logit{}
	_ MomentMatcher  = Logit{}
)

func (Logit) Domain() Domain         { return Binary }
func (Logit) Params() []param.Spec   { return nil }
func (Logit) At([]float64) Bound     { return Logit{} }
func (Logit) Likelihood() Likelihood { return Logit{} }

// Derivs returns log σ(z) at z = yf and its derivatives with respect to f, with σ̄ = 1 - σ = σ(-z):
// d1 = yσ̄, d2 = -σσ̄ [GPML (3.15)], d3 = yσσ̄(σ - σ̄).
func (Logit) Derivs(y, f float64) (logp, d1, d2, d3 float64) {
	z := y * f
	e := math.Exp(-math.Abs(z))
	sigma, complement := 1/(1+e), e/(1+e)
	if z < 0 {
		sigma, complement = complement, sigma
	}
	w := sigma * complement
	return min(z, 0) - math.Log1p(e), y * complement, -w, y * w * math.Tanh(z/2)
}

// LogZ returns log ∫ σ(yf) N(f; mean, variance) df and its derivatives with respect to mean, each with a relative error
// below 2e-13 (mostly 1e-15) at any mean and variance, but a d2Mean above -1e-17 may come out as 0.
//
// With a = y·mean, v = variance, Z(a) that integral at y = 1, s = √v and x ~ N(0, 1),
//
//	Z(a) = E[σ(a + sx)] = exp(-a²/2v)/(s√2π) · E[π/sin πp],  p = c + ix/s,  c = -a/v in (0, 1)
//
// (the second from σ's two-sided Laplace transform π/sin πp, on the line through the saddle point). The trapezoidal
// rule in x converges like exp(-2π·distance/step), so the two complement each other: in the first σ has poles at distance
// π/s from the real x-axis; in the second, once the poles at p = 0 and p = 1 are integrated in closed form, the next
// are at least s away. They meet at v = π. The derivatives are moments under the same sums, arranged so that nothing
// cancels. The symmetries Z(a) = 1 - Z(-a) and Z(a) = exp(a + v/2) Z(-a - v) bring every
// other a to -v ≤ a ≤ 0.
func (l Logit) LogZ(y, mean, variance float64) (logZ, dMean, d2Mean float64) {
	if variance == 0 {
		logZ, dMean, d2Mean, _ = l.Derivs(y, mean)
		return logZ, dMean, d2Mean
	}
	logZ, dMean, d2Mean = logisticNormal(y*mean, variance)
	return logZ, y * dMean, d2Mean
}

// logisticNormal returns log Z(a) and its first two derivatives, v > 0 (see Logit.LogZ).
func logisticNormal(a, v float64) (logZ, d1, d2 float64) {
	switch {
	case a > 0: // Z(a) = 1 - Z(-a)
		logZ, d1, d2 = logisticNormal(-a, v)
		q := math.Exp(logZ)
		odds := q / (1 - q)
		return math.Log1p(-q), odds * d1, -odds*(d2+d1*d1) - odds*odds*d1*d1
	case v < math.Pi:
		return logisticNarrow(a, v)
	case a+1.5*v < -40: // Z(a) = E[exp(a + sx)] to rounding: σ(f) = e^f - e^2f + …
		return a + v/2, 1, 0
	case a < -v: // Z(a) = exp(a + v/2) Z(-a - v)
		logZ, d1, d2 = logisticNormal(-a-v, v)
		return a + v/2 + logZ, 1 - d1, d2
	}
	return logisticWide(a, v)
}

// The nodes of both sums are x = ±(k + ½)·nodeStep with weights nodeStep·N(x). The step leaves 1e-17 at v = π; the range
// of ±10.5 covers 8.7 standard deviations also where the tilted density is shifted by s < √π.
const nodeStep = 0.25

var nodeWeights = func() (w [42]float64) {
	for k := range w {
		x := (float64(k) + 0.5) * nodeStep
		w[k] = nodeStep * math.Exp(-x*x/2) / math.Sqrt(2*math.Pi)
	}
	return w
}()

// logisticNarrow sums E[σ(a + sx)] for a ≤ 0, v < π. The tilted density gives d1 = E[σ̄] and
// d2 = Var[σ] - E[σσ̄] = -E[σ](1 + E[σ]) + 2E[σ²].
func logisticNarrow(a, v float64) (logZ, d1, d2 float64) {
	s := math.Sqrt(v)
	ea := math.Exp(a)
	g := math.Exp(s * nodeStep / 2) // exp(sx)
	step := g * g
	var sum, sum1, sumS, sumSS float64
	for _, w := range nodeWeights {
		up, down := ea*g, ea/g // exp(f) at ±x
		complementUp, complementDown := 1/(1+up), 1/(1+down)
		sigmaUp, sigmaDown := up*complementUp, down*complementDown
		// σ(f)/exp(a), which does not underflow
		wUp, wDown := w*g*complementUp, w/g*complementDown
		sum += wUp + wDown
		sum1 += wUp*complementUp + wDown*complementDown
		sumS += wUp*sigmaUp + wDown*sigmaDown
		sumSS += wUp*sigmaUp*sigmaUp + wDown*sigmaDown*sigmaDown
		g *= step
	}
	p := sumS / sum
	return a + math.Log(sum), sum1 / sum, 2*sumSS/sum - p*(1+p)
}

// logisticWide sums E[P(p)], P = π/sin πp, for -v ≤ a ≤ 0 and v ≥ π. A derivative with respect to a multiplies the
// integrand by p, so d1 and d2 are the mean and the variance of p under the complex weight P, or
//
//	d1 = c + A1/(sA0),  d2 = -(A2/A0 + (A1/A0)²)/v,  A0 = E[P]/s,  A1 = E[(p-c)P],  A2 = -sE[(p-c)²P]
//
// with A0, A2 > 0. The pole 1/p contributes M₀(t), M₁(t) and tM₁(t) at t = cs, where M_k = ∫₀^∞ x^k exp(-tx - x²/2) dx,
// and the pole 1/(1-p) likewise, A1 with the other sign, at u = (1-c)s. The rest of P is analytic for -1 < Re p < 2.
func logisticWide(a, v float64) (logZ, d1, d2 float64) {
	s := math.Sqrt(v)
	t, u := -a/s, (a+v)/s
	pt, pu := linalg.TruncatedNormal(-t), linalg.TruncatedNormal(-u)
	m1t, m1u := pt.Mean/pt.Hazard, pu.Mean/pu.Hazard // M₀ = 1/Hazard, M₁ = Mean/Hazard
	a0 := 1/pt.Hazard + 1/pu.Hazard
	a1 := m1t - m1u
	a2 := t*m1t + u*m1u

	// |sin πp|² = sin²πc + sinh²(πx/s); the hyperbolic functions step along the nodes by their addition theorems.
	sin, cos := math.Sincos(math.Pi * min(t, u) / s)
	if t > u {
		cos = -cos
	}
	delta := math.Pi * nodeStep / s
	sinh, cosh := math.Sinh(delta/2), math.Cosh(delta/2)
	sinhDelta, coshDelta := math.Sinh(delta), math.Cosh(delta)
	for k, w := range nodeWeights {
		x := (float64(k) + 0.5) * nodeStep
		p := math.Pi / (s * (sin*sin + sinh*sinh))
		qt, qu := 1/(t*t+x*x), 1/(u*u+x*x)
		re := p*sin*cosh - t*qt - u*qu // Re P/s, less the poles
		im := p*cos*sinh - x*qt + x*qu // -Im P/s, less the poles
		a0 += 2 * w * re
		a1 += 2 * w * x * im
		a2 += 2 * w * x * x * re
		sinh, cosh = sinh*coshDelta+cosh*sinhDelta, cosh*coshDelta+sinh*sinhDelta
	}
	shift := a1 / a0
	return pt.LogMass + math.Log(pt.Hazard*a0), (t + shift) / s, -(a2/a0 + shift*shift) / v
}
