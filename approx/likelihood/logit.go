package likelihood

import (
	"math"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// Logit is p(y|f) = σ(yf) with σ(z) = 1/(1 + e^{-z}), the logistic function. It has no parameters.
type Logit struct{}

var (
	_ LogConcave        = Logit{}
	_ WithoutClosedForm = Logit{}
	_ Complementary     = Logit{}
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
	difference := sigma - complement // replaced below if that cancels
	if e > 0.25 {
		difference = math.Tanh(math.Abs(z) / 2)
	}
	w := sigma * complement
	if z < 0 {
		complement, difference = sigma, -difference
	}
	return min(z, 0) - log1p(e), y * complement, -w, y * w * difference
}

func (Logit) LogProb(y, f float64) float64 {
	z := y * f
	return min(z, 0) - log1p(math.Exp(-math.Abs(z)))
}

// log1p is log(1 + e) for 0 ≤ e ≤ 1, equal to math.Log1p except for the last digit, in a third of
// the time. It sums the series of log(1 + t), t = (e - e₀)/(1 + e₀), with e₀ the nearest of
// log1pNodes. The tenth term of the series is 1e-19.
func log1p(e float64) float64 {
	if math.IsNaN(e) { // NaN is in no table
		return e
	}
	k := int(e*log1pSteps + 0.5)
	at := &log1pNodes[k]
	t := (e - float64(k)/log1pSteps) * at.inverse
	u := t * t
	odd := 1 + u*(1./3+u*(1./5+u*(1./7+u/9)))
	even := 1./2 + u*(1./4+u*(1./6+u/8))
	return at.log + (t*odd - u*even)
}

const log1pSteps = 32

var log1pNodes = func() (nodes [log1pSteps + 1]struct{ log, inverse float64 }) {
	for k := range nodes {
		e := float64(k) / log1pSteps
		nodes[k].log, nodes[k].inverse = math.Log1p(e), 1/(1+e)
	}
	return nodes
}()

// Moments returns log ∫ σ(yf) N(f; mean, variance) df and its derivatives with respect to mean: log
// Z, d[0] and d[1] with a relative error below 2e-13 (mostly 1e-15) at any mean and variance, but a
// d[1] above -1e-17 may become 0; d[2] and d[3] have an error of about 1e-14 of the largest product
// of lower derivatives of the same order.
//
// With a = y·mean, v = variance, Z(a) that integral at y = 1, s = √v and x ~ N(0, 1),
//
//	Z(a) = E[σ(a + sx)] = exp(-a²/2v)/(s√2π) · E[π/sin πp],  p = c + ix/s,  c = -a/v in (0, 1)
//
// (the second from σ's two-sided Laplace transform π/sin πp, on the line through the saddle point).
// The trapezoidal rule in x converges like exp(-2π·distance/step), so the two complement each
// other: in the first σ has poles at distance π/s from the real x-axis; in the second, once the
// poles at p = 0 and p = 1 are integrated in closed form, the next are at least s away. They are
// equally accurate at v = π. The derivatives are moments under the same sums, arranged so that
// nothing cancels. The symmetries Z(a) = 1 - Z(-a) and Z(a) = exp(a + v/2) Z(-a - v) bring every
// other a to -v ≤ a ≤ 0.
func (l Logit) Moments(y, mean, variance float64) (logZ float64, d [4]float64) {
	if variance == 0 {
		logZ, d[0], d[1], d[2] = l.Derivs(y, mean)
		return logZ, d
	}
	logZ, d = logisticNormal(y*mean, variance)
	d[0], d[2] = y*d[0], y*d[2]
	return logZ, d
}

// MomentsOfBoth implements Complementary. It computes Z of the less likely label; Z of the other is
// 1 - Z.
func (l Logit) MomentsOfBoth(mean, variance float64) (logZ [2]float64, d [2][4]float64) {
	if variance == 0 || mean == 0 {
		for k, y := range [2]float64{-1, 1} {
			logZ[k], d[k] = l.Moments(y, mean, variance)
		}
		return logZ, d
	}
	likelier := 0
	if mean > 0 {
		likelier = 1
	}
	logZ[1-likelier], d[1-likelier] = logisticNormal(-math.Abs(mean), variance)
	logZ[likelier], d[likelier] = complement(logZ[1-likelier], d[1-likelier])
	d[0][0], d[0][2] = -d[0][0], -d[0][2]
	return logZ, d
}

// Expected returns ∫ log σ(yf) N(f; mean, variance) df and its derivatives, by quadrature to about
// 1e-14 of their size (the fourth: of the third over √variance).
func (l Logit) Expected(y, mean, variance float64) (e float64, d [4]float64) {
	return expected(l, y, mean, variance, sigmoidStep, 0)
}

func (Logit) around(float64) []float64 { return []float64{0} }

// DExpected implements LogConcave.
func (Logit) DExpected(_, _, _ []float64, _, _, _ float64) {}

// Quadrature implements WithoutClosedForm.
func (l Logit) Quadrature(order int) MomentRule { return newSummed(l, order) }

// logisticNormal returns log Z(a) and its first four derivatives (see Logit.Moments).
func logisticNormal(a, v float64) (logZ float64, d [4]float64) {
	switch {
	case a > 0: // Z(a) = 1 - Z(-a)
		return complement(logisticNormal(-a, v))
	case v < math.Pi:
		return logisticNarrow(a, v)
	case a+1.5*v < -40: // Z(a) = E[exp(a + sx)] to rounding: σ(f) = e^f - e^2f + …
		return a + v/2, [4]float64{1}
	case a < -v: // Z(a) = exp(a + v/2) Z(-a - v)
		logZ, d = logisticNormal(-a-v, v)
		return a + v/2 + logZ, [4]float64{1 - d[0], d[1], -d[2], d[3]}
	}
	return logisticWide(a, v)
}

// complement returns log(1 - Z(-a)) and its derivatives by a, given log Z(-a) and its own.
func complement(logZ float64, d [4]float64) (float64, [4]float64) {
	q := math.Exp(logZ)
	odds, z := q/(1-q), ratios(d)
	return math.Log1p(-q), cumulants(odds*z[0], -odds*z[1], odds*z[2], -odds*z[3])
}

// ratios returns the derivatives of Z divided by Z, given the derivatives of log Z: the inverse of
// cumulants.
func ratios(d [4]float64) [4]float64 {
	return [4]float64{d[0], d[1] + d[0]*d[0], d[2] + 3*d[0]*d[1] + d[0]*d[0]*d[0],
		d[3] + 4*d[0]*d[2] + 3*d[1]*d[1] + 6*d[0]*d[0]*d[1] + d[0]*d[0]*d[0]*d[0]}
}

// cumulants returns the cumulants for the moments m1 … m4: the derivatives of log Z, given the
// derivatives of Z divided by Z.
func cumulants(m1, m2, m3, m4 float64) [4]float64 {
	square := m1 * m1
	return [4]float64{m1, m2 - square, m3 - 3*m1*m2 + 2*m1*square,
		m4 - 4*m1*m3 - 3*m2*m2 + 12*square*m2 - 6*square*square}
}

// trapezoid is a rule for averages over N(0, 1): nodes ±(k + ½)·step with weights step·N(x).
type trapezoid struct {
	least   float64 // smallest distance of poles for which it is accurate
	step    float64
	weights []float64
}

// trapezoids are the rules of both sums, from fine to coarse. With poles at distance h the error is
// about h⁴ exp(h²/2 - 2πh/step), where exp(h²/2) is the growth of N(ih). The largest error is
// 1e-18, with step 0.25 at v = π. The range of 10.5 covers 8.7 standard deviations also where the
// tilted density is shifted by s < √π.
var trapezoids = func() (rules [4]trapezoid) {
	for i := range rules {
		const reach = 10.5
		r := &rules[i]
		r.least, r.step = [...]float64{0, 3, 4.5, 7}[i], [...]float64{0.25, 0.375, 0.5, 0.625}[i]
		for x := r.step / 2; x < reach; x += r.step {
			r.weights = append(r.weights, r.step*math.Exp(-x*x/2)/math.Sqrt(2*math.Pi))
		}
	}
	return rules
}()

// trapezoidFor is the coarsest rule that is accurate with poles at a distance.
func trapezoidFor(distance float64) *trapezoid {
	i := len(trapezoids) - 1
	for distance < trapezoids[i].least {
		i--
	}
	return &trapezoids[i]
}

// logisticNarrow sums E[σ(a + sx)] for a ≤ 0, v < π. The tilted density gives d1 = E[σ̄] and d2 =
// Var[σ] - E[σσ̄] = -E[σ](1 + E[σ]) + 2E[σ²]. With p_k = E[σ^k] further derivatives follow from
// dp_k/da = k p_k - (k+1) p_k+1 + p_k p_1.
func logisticNarrow(a, v float64) (logZ float64, d [4]float64) {
	s := math.Sqrt(v)
	rule := trapezoidFor(math.Pi / s)
	ea := math.Exp(a)
	g := math.Exp(s * rule.step / 2) // exp(sx)
	step := g * g
	var sum, sum1, sumS, sumSS, sumS3, sumS4 float64
	for _, w := range rule.weights {
		up, down := ea*g, ea/g // exp(f) at ±x
		complementUp, complementDown := 1/(1+up), 1/(1+down)
		sigmaUp, sigmaDown := up*complementUp, down*complementDown
		// σ(f)/exp(a), which does not underflow
		wUp, wDown := w*g*complementUp, w/g*complementDown
		sum += wUp + wDown
		sum1 += wUp*complementUp + wDown*complementDown
		wUp, wDown = wUp*sigmaUp, wDown*sigmaDown
		sumS += wUp + wDown
		wUp, wDown = wUp*sigmaUp, wDown*sigmaDown
		sumSS += wUp + wDown
		wUp, wDown = wUp*sigmaUp, wDown*sigmaDown
		sumS3 += wUp + wDown
		sumS4 += wUp*sigmaUp + wDown*sigmaDown
		g *= step
	}
	p1, p2, p3, p4 := sumS/sum, sumSS/sum, sumS3/sum, sumS4/sum
	d1p1, d1p2, d1p3 := p1-2*p2+p1*p1, 2*p2-3*p3+p2*p1, 3*p3-4*p4+p3*p1
	d2p1, d2p2 := d1p1-2*d1p2+2*p1*d1p1, 2*d1p2-3*d1p3+d1p2*p1+p2*d1p1
	return a + math.Log(sum), [4]float64{
		sum1 / sum,
		2*p2 - p1*(1+p1),
		2*d1p2 - (1+2*p1)*d1p1,
		2*d2p2 - (1+2*p1)*d2p1 - 2*d1p1*d1p1,
	}
}

// logisticWide sums E[P(p)], P = π/sin πp, for -v ≤ a ≤ 0 and v ≥ π. A derivative with respect to a
// multiplies the integrand by p, so d1 and d2 are the mean and the variance of p under the complex
// weight P, or
//
//	d1 = c + A1/(sA0),  d2 = -(A2/A0 + (A1/A0)²)/v
//	A0 = E[P]/s,  A1 = E[(p-c)P],  A2 = -sE[(p-c)²P]
//
// with A0, A2 > 0. The pole 1/p contributes M₀(t), M₁(t) and tM₁(t) at t = cs, where M_k = ∫₀^∞ x^k
// exp(-tx - x²/2) dx. The pole 1/(1-p) contributes the same functions of u = (1-c)s, to A1 with the
// other sign. The rest of P is analytic for -1 < Re p < 2. The third and fourth cumulants need A3 =
// vE[(p-c)³P] and A4 = s³E[(p-c)⁴P] too, to which 1/p contributes t²M₁(t) - 1 and t(1 - t²M₁(t)).
func logisticWide(a, v float64) (logZ float64, d [4]float64) {
	s := math.Sqrt(v)
	t, u := -a/s, (a+v)/s
	pt, pu := linalg.TruncatedNormal(-t), linalg.TruncatedNormal(-u)
	m1t, m1u := pt.Mean/pt.Hazard, pu.Mean/pu.Hazard // M₀ = 1/Hazard, M₁ = Mean/Hazard
	a0 := 1/pt.Hazard + 1/pu.Hazard
	a1 := m1t - m1u
	a2 := t*m1t + u*m1u
	a3 := t*t*m1t - u*u*m1u
	a4 := t*(1-t*t*m1t) + u*(1-u*u*m1u)

	// |sin πp|² = sin²πc + sinh²(πx/s); the hyperbolic functions step along the nodes by their
	// addition theorems.
	sin, cos := math.Sincos(math.Pi * min(t, u) / s)
	if t > u {
		cos = -cos
	}
	rule := trapezoidFor(s)
	delta := math.Pi * rule.step / s
	sinh, cosh := math.Sinh(delta/2), math.Cosh(delta/2)
	sinhDelta, coshDelta := math.Sinh(delta), math.Cosh(delta)
	for k, w := range rule.weights {
		x := (float64(k) + 0.5) * rule.step
		p := math.Pi / (s * (sin*sin + sinh*sinh))
		qt, qu := 1/(t*t+x*x), 1/(u*u+x*x)
		re := p*sin*cosh - t*qt - u*qu // Re P/s, less the poles
		im := p*cos*sinh - x*qt + x*qu // -Im P/s, less the poles
		w *= 2
		a0 += w * re
		w *= x
		a1 += w * im
		w *= x
		a2 += w * re
		w *= x
		a3 -= w * im
		a4 += w * x * re
		sinh, cosh = sinh*coshDelta+cosh*sinhDelta, cosh*coshDelta+sinh*sinhDelta
	}
	d = cumulants(a1/a0, -a2/a0, a3/a0, a4/a0) // cumulants of s(p - c)
	return pt.LogMass + math.Log(pt.Hazard*a0), [4]float64{(t + d[0]) / s, d[1] / v, d[2] / (s * v), d[3] / (v * v)}
}
