package approx_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/approxtest"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
)

// powers are power EP with every binary likelihood.
func powers(t *testing.T) (list []pair) {
	for _, alpha := range []float64{0.9, 0.5, 0.1} {
		for _, e := range likelihood.Table {
			lik, err := e.New(nil)
			if err != nil {
				t.Fatal(err)
			}
			if lik.Domain() == likelihood.Binary {
				list = append(list, pair{fmt.Sprintf("ep of power %v/%s", alpha, e.Name), approx.EP{Alpha: alpha}, approxtest.AtInit(lik)})
			}
		}
	}
	return list
}

// moments returns the logarithm of the mass of exp(g) N(mean, variance), and the mean and the variance of the
// normalised product, by Gauss-Legendre quadrature on both sides of 0, where g may jump.
func moments(g func(f float64) float64, mean, variance float64) (log, m, v float64) {
	const order, panels = 20, 40
	var nodes, weights [order]float64
	quad.Legendre{}.FixedLocations(nodes[:], weights[:], 0, 1)
	sd := math.Sqrt(variance)
	from, to := mean-12*sd, mean+12*sd
	ends := []float64{from, to}
	if from < 0 && to > 0 {
		ends = []float64{from, 0, to}
	}
	var f, w []float64
	top := math.Inf(-1)
	for i, a := range ends[1:] {
		width := (a - ends[i]) / panels
		for k := range panels {
			for j, x := range nodes {
				at := ends[i] + width*(float64(k)+x)
				z := (at - mean) / sd
				f, w = append(f, at), append(w, math.Log(weights[j]*width/(sd*math.Sqrt(2*math.Pi)))-z*z/2+g(at))
				top = max(top, w[len(w)-1])
			}
		}
	}
	mass := 0.0
	for i, x := range f {
		w[i] = math.Exp(w[i] - top)
		mass, m = mass+w[i], m+w[i]*x
	}
	m /= mass
	for i, x := range f {
		v += w[i] * (x - m) * (x - m) / mass
	}
	return top + math.Log(mass), m, v
}

// oraclePowerEP inverts K⁻¹ + S before every update, halves the update, and evaluates, with q the posterior and t_i
// = exp(ν_i f - ½ τ_i f²),
//
//	log ∫ N(f; m, K) Π_i t_i(f_i) df + Σ_i 1/α log ∫ q(f_i) (p(y_i|f_i)/t_i(f_i))^α df_i.
func oraclePowerEP(t *testing.T, k *mat.SymDense, m, y []float64, lik likelihood.MomentMatcher, alpha float64) gaussianSites {
	n := len(y)
	tau, nu, x := make([]float64, n), make([]float64, n), make([]float64, n)
	precision := inverse(t, k)
	prior := product(precision, m)
	marginals := func() (mu []float64, sigma *mat.Dense) {
		sigma = inverse(t, plusDiag(precision, tau))
		for j := range x {
			x[j] = nu[j] + prior[j]
		}
		return product(sigma, x), sigma
	}
	without := func(i int, mu, v, power float64) (mean, variance float64) {
		variance = 1 / (1/v - power*tau[i])
		return variance * (mu/v - power*nu[i]), variance
	}
	for range 200 {
		for i := range n {
			mu, sigma := marginals()
			mean, v := without(i, mu[i], sigma.At(i, i), alpha)
			_, tiltedMean, tiltedVariance := moments(func(f float64) float64 { return alpha * lik.LogProb(y[i], f) }, mean, v)
			tau[i] += ((1/tiltedVariance-1/v)/alpha - tau[i]) / 2
			nu[i] += ((tiltedMean/tiltedVariance-mean/v)/alpha - nu[i]) / 2
		}
	}
	mu, sigma := marginals()
	s := gaussianSites{variance: make([]float64, n), mean: make([]float64, n)}
	s.logEvidence = (logDet(sigma) - logDet(k) + dot(mu, x) - dot(m, prior)) / 2
	for i := range n {
		s.variance[i], s.mean[i] = 1/tau[i], nu[i]/tau[i]
		log, _, _ := moments(func(f float64) float64 {
			return alpha * (lik.LogProb(y[i], f) - nu[i]*f + tau[i]*f*f/2)
		}, mu[i], sigma.At(i, i))
		s.logEvidence += log / alpha
		mean, v := without(i, mu[i], sigma.At(i, i), 1)
		log, _, _ = moments(func(f float64) float64 { return lik.LogProb(y[i], f) }, mean, v)
		s.leaveOneOut += log
	}
	return s
}

// TestPowerEPConformance runs the conformance kit. (For smaller powers EP with noisy_threshold has several fixed points
// on its data.)
func TestPowerEPConformance(t *testing.T) { approxtest.Check(t, approx.EP{Alpha: 0.9}) }

// TestPowerEPGradients compares gradients with differences from narrow to wide priors, for small powers.
func TestPowerEPGradients(t *testing.T) {
	const h = 2e-5
	x, y := twoClasses(20, 2)
	for i, lik := range []likelihood.Bound{likelihood.Probit{}, likelihood.Logit{}, likelihood.Step{}} {
		for k, alpha := range []float64{0.3, 0.003} {
			p := pair{"ep", approx.EP{Alpha: alpha, Iteration: approx.Iteration{Tolerance: 1e-12}}, lik}
			for j, theta := range [][2]float64{{-5, -5}, {-5, 5}, {0, 0}, {0.5, 2.5}, {0, 6}, {5, 0}, {5, 5}} {
				if !exhaustive.Tries(2, i, k, j) {
					continue
				}
				fit := func(dl, da float64) approx.Posterior {
					k, _, _ := seGram(x, theta[0]+dl, theta[1]+da)
					return p.fit(t, k, nil, y, nil)
				}
				_, byLength, byAmp := seGram(x, theta[0], theta[1])
				post := fit(0, 0)
				g := p.adjoint(t, post, len(y))
				// in a direction between the axes
				const dl, da = 1, -1.5
				got := dl*along(g.K, byLength) + da*along(g.K, byAmp)
				want := (fit(dl*h, da*h).Evidence().Value() - fit(-dl*h, -da*h).Evidence().Value()) / (2 * h)
				if !(math.Abs(got-want) <= 1e-6*max(1, math.Abs(want), math.Abs(post.Evidence().Value()))) {
					t.Errorf("%T, power %v, log l, log sf = %v: slope %.10g, differences give %.10g", lik, alpha, theta, got, want)
				}
			}
		}
	}
}

// TestPowerEPApproachesEP: the evidence is smooth in α up to 1, where it is EP's. Extrapolated from three values below
// 1 - h its error is h³ times a third derivative.
func TestPowerEPApproachesEP(t *testing.T) {
	x, y := twoClasses(20, 14)
	for _, theta := range [][2]float64{{0, 0}, {0.5, 2}} {
		k, _, _ := seGram(x, theta[0], theta[1])
		for _, p := range powers(t)[:4] {
			at := func(alpha float64) float64 {
				return pair{p.name, approx.EP{Alpha: alpha}, p.lik}.fit(t, k, nil, y, nil).Evidence().Value()
			}
			const h = 1e-3
			got, want := 3*at(1-h)-3*at(1-2*h)+at(1-3*h), at(1)
			if !near(got, want, 1e-8) {
				t.Errorf("%s, %v: %.12g, of power 1 %.12g", p.name, theta, got, want)
			}
			if zero := (pair{p.name, approx.EP{}, p.lik}).fit(t, k, nil, y, nil).Evidence().Value(); zero != want {
				t.Errorf("%s: %.17g without alpha, %.17g with 1", p.name, zero, want)
			}
		}
	}
}

// TestPowerEPApproachesVariational: the limit for α → 0 is the variational method's bound L. With q its posterior and t
// its sites 1/α log E_q (p/t)^α = E_q log p/t + α/2 Var_q log p/t + O(α²), and L is stationary in the sites. So the
// difference is α/2 Σ_i Var_q log p/t, with an error of O(α²), which is removed by the value at 2α.
func TestPowerEPApproachesVariational(t *testing.T) {
	x, y := twoClasses(20, 14)
	for _, theta := range [][2]float64{{-1, -2}, {0, 0}, {0.5, 1}} {
		k, _, _ := seGram(x, theta[0], theta[1])
		for _, lik := range []likelihood.Differentiable{likelihood.Probit{}, likelihood.Logit{}} {
			v := pair{"variational", approx.Variational{}, lik}.fit(t, k, nil, y, nil)
			tau, nu, slope := v.State()[:len(y)], v.State()[len(y):], 0.0
			precision := inverse(t, k)
			sigma := inverse(t, plusDiag(precision, tau))
			mu := product(sigma, nu)
			for i := range y {
				ratio := func(f float64) float64 { return lik.LogProb(y[i], f) - nu[i]*f + tau[i]*f*f/2 }
				first := integrate(ratio, mu[i], sigma.At(i, i))
				slope += integrate(func(f float64) float64 { return math.Pow(ratio(f)-first, 2) }, mu[i], sigma.At(i, i)) / 2
			}
			by := func(alpha float64) float64 {
				power := pair{"ep", approx.EP{Alpha: alpha}, lik}.fit(t, k, nil, y, nil)
				for i, want := range v.State() {
					if !near(power.State()[i], want, 10*alpha) {
						t.Errorf("%T, %v: site parameter %d of power %v is %v, variational %v", lik, theta, i, alpha, power.State()[i], want)
					}
				}
				return (power.Evidence().Value() - v.Evidence().Value()) / alpha
			}
			const alpha = 1e-3
			got, rough := 2*by(alpha)-by(2*alpha), by(alpha)
			if !(math.Abs(got-slope) <= 1e-4*slope+1e-8/alpha) || !(math.Abs(rough-slope) <= 0.05*slope+1e-8/alpha) {
				t.Errorf("%T, %v: the evidence rises by %.9g α, extrapolated %.9g α, want %.9g α", lik, theta, rough, got, slope)
			}
		}
	}
}

// TestPowerEPOfNumbers: with Gaussian noise every power gives the exact evidence, and its gradient over the noise.
func TestPowerEPOfNumbers(t *testing.T) {
	x, y := twoClasses(15, 3)
	lik := likelihood.Gaussian{}.At([]float64{-0.5})
	targets := approx.Targets{Value: y}
	for _, theta := range [][2]float64{{0, 0}, {1, 2}, {-2, -3}} {
		k, _, _ := seGram(x, theta[0], theta[1])
		var want, got [2]float64
		for _, m := range []approx.Approximation{approx.Exact{}, approx.EP{Alpha: 0.3}} {
			post, err := m.Fit(context.Background(), []approx.Cov{{K: k}}, targets, lik, nil)
			if err != nil || !post.Diagnostics().Converged {
				t.Fatal(err, post.Diagnostics())
			}
			grad := make([]float64, 1)
			if err := post.Evidence().Likelihood(grad); err != nil {
				t.Fatal(err)
			}
			want, got = got, [2]float64{post.Evidence().Value(), grad[0]}
		}
		if !near(got[0], want[0], 1e-10) || !near(got[1], want[1], 1e-9) {
			t.Errorf("%v: %.12g, exactly %.12g", theta, got, want)
		}
	}
}

// TestPowerEPWherePriorsAreWide: fits converge wherever EP does, and the log evidence rises with α.
func TestPowerEPWherePriorsAreWide(t *testing.T) {
	x, y := twoClasses(25, 2)
	for _, lik := range []likelihood.Bound{likelihood.Probit{}, likelihood.Logit{}} {
		for _, logLength := range []float64{-5, 0, 5} {
			for _, logAmp := range []float64{2.5, 8} {
				k, _, _ := seGram(x, logLength, logAmp)
				last := math.Inf(-1)
				for _, alpha := range []float64{1e-3, 0.1, 1} {
					post := pair{"ep", approx.EP{Alpha: alpha}, lik}.fit(t, k, nil, y, nil)
					if post.Diagnostics().Iterations > 20 || !(post.Evidence().Value() > last) {
						t.Errorf("%T, log l = %v, log sf = %v, power %v: %v, log evidence %v, with less power %v", lik, logLength,
							logAmp, alpha, post.Diagnostics(), post.Evidence().Value(), last)
					}
					last = post.Evidence().Value()
				}
			}
		}
	}
}

// TestPowerEPRefuses what it cannot do, before a fit and in it.
func TestPowerEPRefuses(t *testing.T) {
	for _, m := range []approx.EP{
		{Alpha: -0.5}, {Alpha: 1.5}, {Alpha: 1e-4}, {Alpha: math.NaN()},
		{Alpha: 0.5, Evidence: approx.PosteriorForm}, {Alpha: 0.5, Quadrature: approx.Quadrature{Order: 10}},
	} {
		if _, err := m.Uses(likelihood.Logit{}, 2); err == nil {
			t.Errorf("%+v is accepted", m)
		}
	}
	half := approx.EP{Alpha: 0.5}
	if _, err := half.Uses(outlier{}, 2); err == nil {
		t.Error("a jump whose powers are not known is accepted")
	}
	_, err := half.Fit(context.Background(), []approx.Cov{{K: mat.NewSymDense(1, []float64{1})}}, approx.Targets{Classes: 2, Value: []float64{1}}, outlier{}, nil)
	if err == nil {
		t.Error("Fit with powers that are not known")
	}
}
