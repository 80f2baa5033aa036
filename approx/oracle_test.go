package approx_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
)

// The oracles follow the book's formulas with explicit inverses, at a size and conditioning where these are accurate.

func inverse(t *testing.T, a mat.Matrix) *mat.Dense {
	var inv mat.Dense
	if err := inv.Inverse(a); err != nil {
		t.Fatal(err)
	}
	return &inv
}

// plusDiag returns A + diag(d).
func plusDiag(a mat.Matrix, d []float64) *mat.Dense {
	s := mat.DenseCopyOf(a)
	for i, v := range d {
		s.Set(i, i, s.At(i, i)+v)
	}
	return s
}

func product(a mat.Matrix, x []float64) []float64 {
	var y mat.VecDense
	y.MulVec(a, mat.NewVecDense(len(x), x))
	return y.RawVector().Data
}

func dot(x, y []float64) float64 {
	return mat.Dot(mat.NewVecDense(len(x), x), mat.NewVecDense(len(y), y))
}

func logDet(a mat.Matrix) float64 {
	v, _ := mat.LogDet(a)
	return v
}

// gaussianSites are site variances and means, and the method's log evidence and leave-one-out sum.
type gaussianSites struct {
	variance, mean []float64
	logEvidence    float64
	leaveOneOut    float64 // 0 if the oracle does not compute it
}

// oracleLaplace iterates f = (K⁻¹ + W)⁻¹(Wf + ∇log p + K⁻¹m), GPML (3.18), and evaluates (3.32).
func oracleLaplace(t *testing.T, k *mat.SymDense, m, y []float64, lik likelihood.Differentiable) gaussianSites {
	n := len(y)
	f, w, x := make([]float64, n), make([]float64, n), make([]float64, n)
	precision := inverse(t, k)
	prior := product(precision, m)
	s := gaussianSites{variance: make([]float64, n), mean: make([]float64, n)}
	for range 60 {
		s.logEvidence = 0
		for i := range f {
			logp, g, h, _ := lik.Derivs(y[i], f[i])
			w[i], x[i] = -h, -h*f[i]+g+prior[i]
			s.variance[i], s.mean[i] = -1/h, f[i]-g/h
			s.logEvidence += logp
		}
		f = product(inverse(t, plusDiag(precision, w)), x)
	}
	d := make([]float64, n)
	b := mat.NewDense(n, n, nil) // I + K W
	for i := range n {
		d[i] = f[i] - m[i]
		for j := range n {
			b.Set(i, j, k.At(i, j)*w[j])
		}
	}
	s.logEvidence -= dot(d, product(precision, d))/2 + logDet(plusDiag(b, ones(n)))/2
	return s
}

func ones(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = 1
	}
	return x
}

// oracleEP inverts K⁻¹ + S before every update, GPML (3.53)-(3.59), and evaluates (3.65).
func oracleEP(t *testing.T, k *mat.SymDense, m, y []float64, lik likelihood.MomentMatcher, sweeps int) gaussianSites {
	n := len(y)
	tau, nu, x := make([]float64, n), make([]float64, n), make([]float64, n)
	precision := inverse(t, k)
	prior := product(precision, m)
	cavity := func(i int) (mean, variance float64) {
		sigma := inverse(t, plusDiag(precision, tau))
		for j := range x {
			x[j] = nu[j] + prior[j]
		}
		mu, v := product(sigma, x)[i], sigma.At(i, i)
		variance = 1 / (1/v - tau[i])
		return variance * (mu/v - nu[i]), variance
	}
	for range sweeps {
		for i := range n {
			mean, v := cavity(i)
			_, d1, d2 := matched(lik, y[i], mean, v)
			tiltedMean, tiltedVariance := mean+v*d1, v+v*v*d2
			tau[i] = 1/tiltedVariance - 1/v
			nu[i] = tiltedMean/tiltedVariance - mean/v
		}
	}
	s := gaussianSites{variance: make([]float64, n), mean: make([]float64, n)}
	for i := range n {
		s.variance[i], s.mean[i] = 1/tau[i], nu[i]/tau[i]
		x[i] = s.mean[i] - m[i]
	}
	c := plusDiag(k, s.variance)
	s.logEvidence = -logDet(c)/2 - dot(x, product(inverse(t, c), x))/2
	for i := range n {
		mean, v := cavity(i)
		logZ, _ := lik.Moments(y[i], mean, v)
		s.leaveOneOut += logZ
		s.logEvidence += logZ + math.Log(v+s.variance[i])/2 + (mean-s.mean[i])*(mean-s.mean[i])/(2*(v+s.variance[i]))
	}
	return s
}

// oracle returns what the pair's method should find.
func (p pair) oracle(t *testing.T, k *mat.SymDense, m, y []float64) gaussianSites {
	switch p.method.(type) {
	case approx.Laplace:
		return oracleLaplace(t, k, m, y, p.lik.(likelihood.Differentiable))
	case approx.EP:
		if alpha := p.method.(approx.EP).Alpha; alpha < 1 {
			return oraclePowerEP(t, k, m, y, p.lik.(likelihood.MomentMatcher), alpha)
		}
		return oracleEP(t, k, m, y, p.lik.(likelihood.MomentMatcher), 60)
	case approx.PL:
		return oraclePL(t, k, m, y, p.lik.(likelihood.MomentMatcher), expectation)
	case approx.Variational:
		return oracleVariational(t, k, m, y, p.lik.(likelihood.Differentiable))
	case approx.Online:
		return oracleOnline(t, k, m, y, p.lik.(likelihood.MomentMatcher), 1)
	case approx.EnsembleMeanField:
		return oracleMeanField(t, k, m, y, p.lik.(likelihood.GaussianNoise), false)
	case approx.NaiveMeanField:
		return oracleMeanField(t, k, m, y, p.lik.(likelihood.GaussianNoise), true)
	}
	t.Fatalf("no oracle for %s", p.name)
	return gaussianSites{}
}

// TestOracle compares evidence, predictions and leave-one-out, with a nonzero prior mean.
func TestOracle(t *testing.T) {
	const n, m = 6, 5
	x, y := twoClasses(n+m, 9)
	joint, _, _ := seGram(x, -0.7, 0.8)
	k := mat.NewSymDense(n, nil)
	k.CopySym(joint)
	cross := mat.DenseCopyOf(joint.SliceSym(0, n+m)).Slice(0, n, n, n+m).(*mat.Dense)
	mean, meanZ, diag := make([]float64, n), make([]float64, m), make([]float64, m)
	for i := range mean {
		mean[i] = 0.3 - 0.4*x[i][0]
	}
	for j := range diag {
		meanZ[j], diag[j] = 0.3-0.4*x[n+j][0], joint.At(n+j, n+j)
	}
	list := formulated(t)
	for i, p := range powers(t) {
		if exhaustive.Tries(4, i) { // the longest
			list = append(list, p)
		}
	}
	for _, p := range list {
		t.Run(p.name, func(t *testing.T) {
			post := p.fit(t, k, mean, y[:n], nil)
			k := p.prior(k)
			want := p.oracle(t, k, mean, y[:n])
			if got := post.Evidence().Value(); !near(got, want.logEvidence, 1e-9) {
				t.Errorf("log evidence %.13g, want %.13g", got, want.logEvidence)
			}
			if l, ok := post.(approx.LeaveOneOut); ok && want.leaveOneOut != 0 {
				f, err := l.LeaveOneOut()
				if err != nil {
					t.Fatal(err)
				}
				if !near(f.Value(), want.leaveOneOut, 1e-9) {
					t.Errorf("leave-one-out %.13g, want %.13g", f.Value(), want.leaveOneOut)
				}
			}
			if err := post.Evidence().Likelihood(nil); err != nil {
				t.Errorf("a likelihood without parameters: error %v", err)
			}

			// GPML (3.60) and (3.61), which hold for any Gaussian sites.
			c := inverse(t, plusDiag(k, want.variance))
			off := make([]float64, n)
			for i := range off {
				off[i] = want.mean[i] - mean[i]
			}
			latent, variance, prob := make([]float64, m), make([]float64, m), mat.NewDense(m, 2, nil)
			post.Latent(latent, variance, cross, diag, 0)
			post.PredictProba(prob, []*mat.Dense{cross}, [][]float64{diag}, [][]float64{meanZ})
			floored := make([]float64, m)
			post.Latent(latent, floored, cross, make([]float64, m), 0) // k** smaller than is possible
			if slices.Max(floored) != 0 || slices.Min(floored) != 0 {
				t.Errorf("variances %v, want 0", floored)
			}
			for j := range m {
				column := mat.Col(nil, j, cross)
				wantMean, wantVariance := dot(column, product(c, off)), diag[j]-dot(column, product(c, column))
				if !near(latent[j], wantMean, 1e-9) || !near(variance[j], wantVariance, 1e-9) {
					t.Errorf("latent %d: N(%.12g, %.12g), want N(%.12g, %.12g)", j, latent[j], variance[j], wantMean, wantVariance)
				}
				wantProb := averaged(p.lik, wantMean+meanZ[j], wantVariance)
				if !near(prob.At(j, 1), wantProb, 1e-9) || !near(prob.At(j, 0), 1-wantProb, 1e-9) {
					t.Errorf("probabilities %v, want %.12g of +1", prob.RawRowView(j), wantProb)
				}
			}
		})
	}
}

// averaged returns ∫ p(1|f) N(f; mean, variance) df.
func averaged(lik likelihood.Bound, mean, variance float64) float64 {
	if g, ok := lik.(likelihood.GaussianNoise); ok {
		return math.Erfc(-mean/math.Sqrt(2*(g.NoiseVariance()+variance))) / 2
	}
	if _, ok := lik.Likelihood().(likelihood.NoisyThreshold); ok {
		return 0.01 + 0.98*math.Erfc(-mean/math.Sqrt(2*variance))/2
	}
	return integrate(func(f float64) float64 {
		logp, _, _, _ := lik.(likelihood.Differentiable).Derivs(1, f)
		return math.Exp(logp)
	}, mean, variance)
}

// integrate returns ∫ p(f) N(f; mean, variance) df by the trapezoidal rule, for a smooth p.
func integrate(p func(float64) float64, mean, variance float64) float64 {
	const steps, reach = 800, 12.0
	sum, sd := 0.0, math.Sqrt(variance)
	for i := range steps + 1 {
		z := reach * (2*float64(i)/steps - 1)
		sum += math.Exp(-z*z/2) * p(mean+sd*z)
	}
	return sum * 2 * reach / steps / math.Sqrt(2*math.Pi)
}

// TestEPIsExactForOneCase: with one site EP's evidence is exact.
func TestEPIsExactForOneCase(t *testing.T) {
	for _, p := range pairs(t) {
		if _, ok := p.method.(approx.EP); !ok {
			continue
		}
		lik := p.lik.(likelihood.MomentMatcher)
		for _, variance := range []float64{1e-4, 1, 30, 1e3} {
			for _, mean := range []float64{-20, -1, 0, 0.3, 8} {
				k := mat.NewSymDense(1, []float64{variance})
				want := math.Log(adaptive(func(f float64) float64 {
					logp, _ := lik.Moments(-1, f, 0)
					return math.Exp(logp)
				}, mean, p.prior(k).At(0, 0)))
				for _, schedule := range []approx.Schedule{approx.Sequential, approx.Parallel} {
					p.method = approx.EP{Iteration: approx.Iteration{Schedule: schedule}}
					if got := p.fit(t, k, []float64{mean}, []float64{-1}, nil).Evidence().Value(); !near(got, want, 1e-9) {
						t.Errorf("%s, prior N(%v, %v): %.13g, want %.13g", p.name, mean, variance, got, want)
					}
				}
			}
		}
	}
}

// TestEPAgainstItsPrior: the label contradicts the prior mean by hundreds of standard deviations.
// With one case the log evidence and its derivatives equal the likelihood's log Z and its
// derivatives.
func TestEPAgainstItsPrior(t *testing.T) {
	for _, variance := range []float64{1e2, 1e6, 1e8} {
		for _, z := range []float64{-3, -30, -300} {
			mean := z * math.Sqrt(variance)
			p := pair{"ep", approx.EP{}, likelihood.Probit{}}
			post := p.fit(t, mat.NewSymDense(1, []float64{variance}), []float64{mean}, []float64{1}, nil)
			logZ, d1, d2 := matched(likelihood.Probit{}, 1, mean, variance)
			g := p.adjoint(t, post, 1)
			for _, c := range []struct{ got, want float64 }{
				{post.Evidence().Value(), logZ}, {g.Mean[0], d1}, {g.K.At(0, 0), (d1*d1 + d2) / 2}, // heat equation
			} {
				if math.Abs(c.got-c.want) > 1e-12*math.Abs(c.want) {
					t.Errorf("prior N(%v, %v): %.16g, want %.16g", mean, variance, c.got, c.want)
				}
			}
		}
	}
}

// TestTwoCases: with two cases the evidence is a double integral, and EP's error is less than a
// third of the error of Laplace's method.
func TestTwoCases(t *testing.T) {
	for _, l := range []likelihood.Bound{likelihood.Probit{}, likelihood.Logit{}} {
		p := func(y, f float64) float64 {
			logp, _, _, _ := l.(likelihood.Differentiable).Derivs(y, f)
			return math.Exp(logp)
		}
		for i, correlation := range []float64{-0.5, 0.6, 0.95} {
			const variance = 9.0
			for j, y := range [][]float64{{1, 1}, {1, -1}} {
				if !exhaustive.Tries(2, i, j) {
					continue
				}
				k := mat.NewSymDense(2, []float64{variance, variance * correlation, variance * correlation, variance})
				exact := math.Log(integrate(func(f float64) float64 {
					return p(y[0], f) * integrate(func(g float64) float64 { return p(y[1], g) }, correlation*f, variance*(1-correlation*correlation))
				}, 0, variance))
				ep := pair{"ep", approx.EP{}, l}.fit(t, k, nil, y, nil).Evidence().Value() - exact
				laplace := pair{"laplace", approx.Laplace{}, l}.fit(t, k, nil, y, nil).Evidence().Value() - exact
				if 3*math.Abs(ep) > math.Abs(laplace) {
					t.Errorf("%T, correlation %v, labels %v: EP is off by %v, Laplace by %v", l, correlation, y, ep, laplace)
				}
			}
		}
	}
}

// TestSweep compares the blocked sweep with rank-one updates of the whole covariance, over several blocks, with and
// without damping.
func TestSweep(t *testing.T) {
	const n = 75
	x, y := twoClasses(n, 10)
	k, _, _ := seGram(x, 0.2, 1)
	lik := likelihood.Probit{}
	for _, damping := range []float64{1, 0.6} {
		state := make([]float64, 2*n)
		tau, nu := state[:n], state[n:]
		sigma, mu := mat.NewSymDense(n, nil), make([]float64, n)
		sigma.CopySym(k)
		for sweep := 1; sweep <= 2; sweep++ {
			for i := range n {
				v := sigma.At(i, i)
				cavity := 1 / (1/v - tau[i])
				m := cavity * (mu[i]/v - nu[i])
				_, d1, d2 := matched(lik, y[i], m, cavity)
				dTau := damping * (-d2/(1+d2*cavity) - tau[i])
				nu[i] += damping * ((d1-m*d2)/(1+d2*cavity) - nu[i])
				tau[i] += dTau
				sigma.SymRankOne(sigma, -dTau/(1+dTau*v), mat.NewVecDense(n, mat.Col(nil, i, sigma)))
				mu = product(sigma, nu)
			}
			post, err := approx.EP{Iteration: approx.Iteration{MaxIterations: sweep, Damping: damping}}.Fit(context.Background(), []approx.Cov{{K: k}}, approx.Targets{Classes: 2, Value: y}, lik, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i, got := range post.State() {
				if !near(got, state[i], 1e-11) {
					t.Fatalf("damping %v, sweep %d: state[%d] = %.14g, want %.14g", damping, sweep, i, got, state[i])
				}
			}
		}
	}
}

// TestDamping: the damped fit reaches the same fixed point.
func TestDamping(t *testing.T) {
	x, y := twoClasses(50, 11)
	k, _, _ := seGram(x, 0, 2)
	plain := pair{"ep", approx.EP{}, likelihood.Probit{}}.fit(t, k, nil, y, nil)
	damped := pair{"ep", approx.EP{Iteration: approx.Iteration{Damping: 0.5}}, likelihood.Probit{}}.fit(t, k, nil, y, nil)
	if !near(damped.Evidence().Value(), plain.Evidence().Value(), 1e-10) || damped.Diagnostics().Iterations <= plain.Diagnostics().Iterations {
		t.Errorf("damped %v %+v, plain %v %+v", damped.Evidence().Value(), damped.Diagnostics(), plain.Evidence().Value(), plain.Diagnostics())
	}
}

// outlier is p(y|f) = ε + (1-2ε)[yf > 0] with ε = 0.05: not log-concave, and without useful derivatives.
type outlier struct{}

func (outlier) Domain() likelihood.Domain         { return likelihood.Binary }
func (outlier) Params() []param.Spec              { return nil }
func (outlier) At([]float64) likelihood.Bound     { return outlier{} }
func (outlier) Likelihood() likelihood.Likelihood { return outlier{} }

func (l outlier) LogProb(y, f float64) float64 {
	logp, _ := l.Moments(y, f, 0)
	return logp
}

func (outlier) Moments(y, mean, variance float64) (logZ float64, d [4]float64) {
	const eps = 0.05
	s := math.Sqrt(max(variance, 1e-300))
	z := y * mean / s
	mass := eps + (1-2*eps)*math.Erfc(-z/math.Sqrt2)/2
	density := (1 - 2*eps) * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) / mass
	a := [4]float64{density, -z * density, (z*z - 1) * density, (3*z - z*z*z) * density} // derivatives of Z by z, over Z
	return math.Log(mass), [4]float64{
		y * a[0] / s, (a[1] - a[0]*a[0]) / (s * s), y * (a[2] - 3*a[1]*a[0] + 2*a[0]*a[0]*a[0]) / (s * s * s),
		(a[3] - 4*a[2]*a[0] - 3*a[1]*a[1] + 12*a[1]*a[0]*a[0] - 6*a[0]*a[0]*a[0]*a[0]) / (s * s * s * s),
	}
}

// matched returns log Z and its two derivatives from which sites are computed.
func matched(lik likelihood.MomentMatcher, y, mean, variance float64) (logZ, d1, d2 float64) {
	logZ, d := lik.Moments(y, mean, variance)
	return logZ, d[0], d[1]
}

// TestNegativeSites: sites of negative precision are floored and counted.
func TestNegativeSites(t *testing.T) {
	const n = 60
	x, y := twoClasses(n, 12)
	k, _, _ := seGram(x, 0.5, 0.5)
	cov, targets := []approx.Cov{{K: k}}, approx.Targets{Classes: 2, Value: y}
	if _, err := (approx.Laplace{}).Uses(outlier{}, 2); err == nil || !strings.Contains(err.Error(), "ep") {
		t.Errorf("laplace on a likelihood without derivatives: error %v", err)
	}
	if _, err := (approx.EP{}).Uses(outlier{}, 2); err != nil {
		t.Error(err)
	}
	post, err := approx.EP{Iteration: approx.Iteration{Damping: 0.5}}.Fit(context.Background(), cov, targets, outlier{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := post.Diagnostics()
	if d.Floors == 0 || math.IsNaN(post.Evidence().Value()) {
		t.Errorf("%+v, log evidence %v", d, post.Evidence().Value())
	}
	for _, tau := range post.State()[:n] {
		if tau < 0 {
			t.Errorf("site precision %v", tau)
		}
	}
	g := approx.Cov{K: mat.NewSymDense(n, nil)}
	if err := post.Evidence().Adjoint(&g, 0); err != nil {
		t.Fatal(err)
	}
	const h = 1e-4
	evidence := func(h float64) float64 {
		k, _, _ := seGram(x, 0.5, 0.5+h)
		post, err := approx.EP{Iteration: approx.Iteration{Damping: 0.5}}.Fit(context.Background(), []approx.Cov{{K: k}}, targets, outlier{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return post.Evidence().Value()
	}
	_, _, byAmp := seGram(x, 0.5, 0.5)
	if got, want := along(g.K, byAmp), (evidence(h)-evidence(-h))/(2*h); !near(got, want, 1e-6) {
		t.Errorf("with floored sites the derivative over the amplitude is %.10g, differences give %.10g", got, want)
	}
}
