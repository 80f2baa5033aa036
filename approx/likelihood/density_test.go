package likelihood_test

import (
	"math"
	"slices"
	"testing"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/likelihood/likelihoodtest"
	"github.com/gpc-tune/gpc-tune/approx/param"
)

// heavy is p(y|f) = F(yf/s), F the distribution function of Student's t with two degrees of freedom: a threshold with
// heavy-tailed noise, not log-concave. Its parameter is the scale s of the noise.
type heavy struct{ scale float64 }

func (heavy) Domain() likelihood.Domain { return likelihood.Binary }
func (heavy) Params() []param.Spec {
	return []param.Spec{{Name: "scale", Map: param.Log, Init: 4, Lo: 1e-3, Hi: 1e3}}
}
func (heavy) At(theta []float64) likelihood.Bound {
	return likelihood.ByQuadrature(heavy{}, heavy{math.Exp(theta[0])})
}
func (heavy) Shape() likelihood.Shape { return likelihood.Shape{Symmetric: true} }

// derivs returns log F and its derivatives: F = (1 + z/q)/2, F′ = 1/q³, F″ = -3z/q⁵, F‴ = (12z² -
// 6)/q⁷ with q² = 2 + z².
func (heavy) derivs(z float64) (logF, d1, d2, d3 float64) {
	q := math.Sqrt(2 + z*z)
	f := 1 / (q * (q - z)) // (1 + z/q)/2 without cancellation where z < 0
	if z > 0 {
		f = (1 + z/q) / 2
	}
	a, b, c := 1/(q*q*q)/f, -3*z/(q*q*q*q*q)/f, (12*z*z-6)/(q*q*q*q*q*q*q)/f
	return math.Log(f), a, b - a*a, c - 3*a*b + 2*a*a*a
}

func (h heavy) Derivs(y, f float64) (logp, d1, d2, d3 float64) {
	logp, d1, d2, d3 = h.derivs(y * f / h.scale)
	return logp, y * d1 / h.scale, d2 / (h.scale * h.scale), y * d3 / (h.scale * h.scale * h.scale)
}

func (h heavy) ParamDerivs(logp, d1, d2 []float64, y, f float64) {
	_, a, b, c := h.Derivs(y, f)
	logp[0], d1[0], d2[0] = -f*a, -a-f*b, -2*b-f*c
}

// steep is p(y|f) = σ(cyf), the logistic function with a slope, log-concave.
type steep struct{ slope float64 }

func (steep) Domain() likelihood.Domain { return likelihood.Binary }
func (steep) Params() []param.Spec {
	return []param.Spec{{Name: "slope", Map: param.Log, Init: 0.25, Lo: 1e-3, Hi: 1e3}}
}
func (steep) At(theta []float64) likelihood.Bound {
	return likelihood.ByQuadrature(steep{}, steep{math.Exp(theta[0])})
}
func (steep) Shape() likelihood.Shape { return likelihood.Shape{LogConcave: true, Symmetric: true} }

func (s steep) Derivs(y, f float64) (logp, d1, d2, d3 float64) {
	logp, d1, d2, d3 = likelihood.Logit{}.Derivs(y, s.slope*f)
	return logp, d1 * s.slope, d2 * s.slope * s.slope, d3 * s.slope * s.slope * s.slope
}

func (s steep) ParamDerivs(logp, d1, d2 []float64, y, f float64) {
	_, a, b, c := s.Derivs(y, f)
	logp[0], d1[0], d2[0] = f*a, a+f*b, 2*b+f*c
}

// biased is p(y|f) = σ(y(cf + b)), steep with a second parameter b, which treats the labels differently.
type biased struct {
	steep
	bias float64
}

func (biased) Params() []param.Spec {
	return append(steep{}.Params(), param.Spec{Name: "bias", Map: param.Identity, Init: 0.5, Lo: -5, Hi: 5})
}
func (biased) At(theta []float64) likelihood.Bound {
	return likelihood.ByQuadrature(biased{}, biased{steep{math.Exp(theta[0])}, theta[1]})
}
func (biased) Shape() likelihood.Shape { return likelihood.Shape{LogConcave: true} }

func (s biased) Derivs(y, f float64) (logp, d1, d2, d3 float64) {
	return s.steep.Derivs(y, f+s.bias/s.slope)
}

func (s biased) ParamDerivs(logp, d1, d2 []float64, y, f float64) { // cf + b has the slopes cf and 1 of log c and b
	_, a, b, c := s.Derivs(y, f)
	logp[0], d1[0], d2[0] = f*a, a+f*b, 2*b+f*c
	logp[1], d1[1], d2[1] = a/s.slope, b/s.slope, c/s.slope
}

// TestByQuadrature: likelihoods given only as log p pass all checks.
func TestByQuadrature(t *testing.T) {
	traits := likelihoodtest.Traits{AverageError: 1e-11}
	t.Run("heavy", func(t *testing.T) { likelihoodtest.Check(t, heavy{}, traits) })
	t.Run("steep", func(t *testing.T) { likelihoodtest.Check(t, steep{}, traits) })
	t.Run("from its log density", func(t *testing.T) {
		likelihoodtest.Check(t, likelihood.FromLogDensity(likelihood.Binary, steep{}.Shape(), steep{1}.Derivs), traits)
	})
}

// TestByQuadratureOfTwoParameters: the derivatives of averages with respect to either parameter agree with
// differences.
func TestByQuadratureOfTwoParameters(t *testing.T) {
	const h = 1e-3
	theta := []float64{0.2, 0.5}
	at := func(j int, by float64) likelihood.LogConcave {
		moved := slices.Clone(theta)
		moved[j] += by
		return biased{}.At(moved).(likelihood.LogConcave)
	}
	byMoments, byExpected := [3][]float64{{0, 0}, {0, 0}, {0, 0}}, [3][]float64{{0, 0}, {0, 0}, {0, 0}}
	for _, y := range []float64{1, -1} {
		lik := at(0, 0).(interface {
			likelihood.Parametric
			likelihood.LogConcave
		})
		lik.DMoments(byMoments[0], byMoments[1], byMoments[2], y, 0.7, 2)
		lik.DExpected(byExpected[0], byExpected[1], byExpected[2], y, 0.7, 2)
		for j := range theta {
			for k := range 3 {
				want := slope(func(x float64) float64 {
					log, d := at(j, x).Moments(y, 0.7, 2)
					return [...]float64{log, d[0], d[1]}[k]
				}, 0, h)
				if got := byMoments[k][j]; !(math.Abs(got-want) <= 1e-9) {
					t.Errorf("y = %v, parameter %d: d%d of log Z is %v, want %v", y, j, k, got, want)
				}
				want = slope(func(x float64) float64 {
					e, d := at(j, x).Expected(y, 0.7, 2)
					return [...]float64{e, d[0], d[1]}[k]
				}, 0, h)
				if got := byExpected[k][j]; !(math.Abs(got-want) <= 1e-9) {
					t.Errorf("y = %v, parameter %d: d%d of the expected log p is %v, want %v", y, j, k, got, want)
				}
			}
		}
	}
}

// TestByQuadratureAgainstLogit: σ(cf) averaged over N(m, v) is σ(f) averaged over N(cm, c²v).
func TestByQuadratureAgainstLogit(t *testing.T) {
	for _, slope := range []float64{0.01, 1, 300} {
		s := likelihood.ByQuadrature(steep{}, steep{slope}).(likelihood.LogConcave)
		for _, mean := range both([]float64{0, 0.3, 4, 70}) {
			for _, variance := range []float64{1e-4, 0.5, 9, 1e4} {
				got, d := s.Moments(1, mean, variance)
				want, e := likelihood.Logit{}.Moments(1, slope*mean, slope*slope*variance)
				if !near(got, want, 1e-12) {
					t.Errorf("slope %v, N(%v, %v): %v, want %v", slope, mean, variance, got, want)
				}
				for k := range d { // derivatives in units of the standard deviation
					unit := math.Pow(variance, float64(k+1)/2)
					e[k] *= math.Pow(slope, float64(k+1))
					// size of the terms that cancel in d[k]
					size := max(1, math.Pow(math.Abs(e[0])*math.Sqrt(variance), float64(k+1)))
					if math.Abs(d[k]-e[k])*unit > 1e-9*size {
						t.Errorf("slope %v, N(%v, %v): d[%d] = %v, want %v", slope, mean, variance, k, d[k], e[k])
					}
				}
				got, _ = s.Expected(1, mean, variance)
				want, _ = likelihood.Logit{}.Expected(1, slope*mean, slope*slope*variance)
				if !near(got, want, 1e-12*max(1, math.Abs(want))) {
					t.Errorf("slope %v, N(%v, %v): expected %v, want %v", slope, mean, variance, got, want)
				}
			}
		}
	}
}

// TestByQuadratureOfNumbers: the averages of a normal density of a number, given only as log p,
// agree with the closed form. The number may be far from the mean and from 0, and the density may
// be much narrower than the Gaussian.
func TestByQuadratureOfNumbers(t *testing.T) {
	for _, sd := range []float64{1e-3, 1, 30} {
		normal := likelihood.FromLogDensity(likelihood.Numeric, likelihood.Shape{LogConcave: true},
			func(y, f float64) (logp, d1, d2, d3 float64) {
				u := (y - f) / sd
				return -u*u/2 - math.Log(sd*math.Sqrt(2*math.Pi)), u / sd, -1 / (sd * sd), 0
			}).At(nil).(likelihood.MomentMatcher)
		for _, y := range []float64{0, 0.7, -50, 1e3} {
			for _, mean := range []float64{0, 2, -40} {
				for _, variance := range []float64{1e-4, 1, 900} {
					got, d := normal.Moments(y, mean, variance)
					all := variance + sd*sd
					want := -(y-mean)*(y-mean)/(2*all) - math.Log(2*math.Pi*all)/2
					if !near(got, want, 1e-9*max(1, math.Abs(want))) || !near(d[0], (y-mean)/all, 1e-7*(1+math.Abs(y-mean)/all)) {
						t.Errorf("sd %v, y %v, N(%v, %v): %v, %v, want %v, %v", sd, y, mean, variance, got, d[0], want, (y-mean)/all)
					}
				}
			}
		}
	}
}

// TestStep: the sign of f alone tells the class, and at 0 both are equally likely.
func TestStep(t *testing.T) {
	for _, f := range []float64{0, math.Copysign(0, -1), 5e-324, 0.3, 1e300} {
		positive, negative := 1.0, 0.0
		if f == 0 {
			positive, negative = 0.5, 0.5
		}
		for _, c := range []struct{ y, f, want float64 }{{1, f, positive}, {-1, f, negative}, {1, -f, negative}, {-1, -f, positive}} {
			if p := math.Exp((likelihood.Step{}).LogProb(c.y, c.f)); !near(p, c.want, 1e-15) {
				t.Errorf("p(%v|%v) = %v, want %v", c.y, c.f, p, c.want)
			}
		}
	}
}
