package approx_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
)

// expectedLog returns E log p(y|f) and the averages of its first two derivatives, f ~ N(mean, variance), by the
// trapezoidal rule.
func expectedLog(lik likelihood.Differentiable, y, mean, variance float64) (e, d1, d2 float64) {
	const step = 0.05
	for k := -200; k <= 200; k++ {
		x := step * float64(k)
		w := step * math.Exp(-x*x/2) / math.Sqrt(2*math.Pi)
		a, b, c, _ := lik.Derivs(y, mean+x*math.Sqrt(variance))
		e, d1, d2 = e+w*a, d1+w*b, d2+w*c
	}
	return e, d1, d2
}

// oracleVariational halves every natural-gradient step, and evaluates the bound with the Kullback-Leibler divergence
// between two Gaussians written out.
func oracleVariational(t *testing.T, k *mat.SymDense, m, y []float64, lik likelihood.Differentiable) gaussianSites {
	n := len(y)
	tau, nu, x := make([]float64, n), make([]float64, n), make([]float64, n)
	precision := inverse(t, k)
	prior := product(precision, m)
	s := gaussianSites{variance: make([]float64, n), mean: make([]float64, n)}
	for range 200 {
		for i := range x {
			x[i] = nu[i] + prior[i]
		}
		sigma := inverse(t, plusDiag(precision, tau))
		mu := product(sigma, x)
		off := make([]float64, n)
		for i := range off {
			off[i] = mu[i] - m[i]
		}
		var kSigma mat.Dense
		kSigma.Mul(precision, sigma)
		s.logEvidence = -(mat.Trace(&kSigma) + dot(off, product(precision, off)) - float64(n) + logDet(k) - logDet(sigma)) / 2
		s.leaveOneOut = 0
		for i := range n {
			e, d1, d2 := expectedLog(lik, y[i], mu[i], sigma.At(i, i))
			s.logEvidence += e
			v := 1 / (1/sigma.At(i, i) - tau[i])
			logZ, _ := lik.(likelihood.MomentMatcher).Moments(y[i], v*(mu[i]/sigma.At(i, i)-nu[i]), v)
			s.leaveOneOut += logZ
			tau[i] += (-d2 - tau[i]) / 2
			nu[i] += (d1 - d2*mu[i] - nu[i]) / 2
			s.variance[i], s.mean[i] = 1/tau[i], nu[i]/tau[i]
		}
	}
	return s
}

// extendedVariational evaluates the bound and its adjoint at sites computed in doubles. The maximum of the bound is
// higher by half the squared length of the natural-gradient step there.
func extendedVariational(k matrix, y []float64, lik likelihood.LogConcave, start []float64) extended {
	n := len(y)
	tau, nu := vectorOf(start[:n]), vectorOf(start[n:])
	r, logDet := precisionMatrix(k, tau)
	value := -logDet / 2
	kn := k.times(nu)
	mu := k.times(r.times(kn))
	b, adjoint := make(vector, n), zeros(n)
	short, distance := 0.0, 0.0 // half the squared distance to the maximum; the distance due to rounding
	for i := range n {
		mu[i].Sub(kn[i], mu[i])
		b[i] = sub(nu[i], mul(tau[i], mu[i]))
		v := float(sub(k[i][i], inner(k[i], r.times(k[i]))))
		e, d := lik.Expected(y[i], float(mu[i]), v)
		short += (v*math.Pow(d[0]-float(b[i]), 2) + math.Pow(v*(d[1]+float(tau[i])), 2)) / 2
		distance = max(distance, 8*0x1p-52*float(k[i][i])/(v*(1-float(tau[i])*v)))
		value += e + (float(tau[i])*v-float(mul(b[i], mu[i])))/2
	}
	for i := range n {
		for j := range n {
			adjoint[i][j].Mul(number(0.5), sub(mul(b[i], b[j]), r[i][j]))
		}
	}
	return extended{value + short, adjoint.along, algebra(k, r, tau, b) + float64(n)*distance*distance}
}

// TestVariationalIsALowerBound: it is below the evidence and never falls from one sweep to the next.
func TestVariationalIsALowerBound(t *testing.T) {
	x, labels := twoClasses(3, 30)
	for _, n := range []int{1, 2, 3} {
		for _, y := range [][]float64{{1, 1, 1}, {1, -1, 1}, labels} {
			for _, logLength := range []float64{-1, 1, 3} {
				for _, logAmp := range []float64{-2, 0, 3, 8} {
					k, _, _ := seGram(x[:n], logLength, logAmp)
					truth := orthant(pair{lik: likelihood.Step{}}.prior(k), y[:n])
					post := pair{"variational", approx.Variational{}, likelihood.Probit{}}.fit(t, k, nil, y[:n], nil)
					if bound := post.Evidence().Value(); bound > truth+1e-12 {
						t.Errorf("n = %d, labels %v, log l = %v, log sf = %v: log evidence %v, bound %v", n, y[:n], logLength, logAmp, truth, bound)
					}
				}
			}
		}
	}
	x, y := twoClasses(40, 50)
	for _, lik := range []likelihood.Bound{likelihood.Probit{}, likelihood.Logit{}} {
		for _, logAmp := range []float64{0, 3, 8} {
			k, _, _ := seGram(x, 0.5, logAmp)
			last, state := math.Inf(-1), approx.State(nil)
			for sweep := range 25 {
				post, err := approx.Variational{MaxIterations: 1}.Fit(context.Background(), []approx.Cov{{K: k}}, approx.Targets{Classes: 2, Value: y}, lik, state)
				if err != nil {
					t.Fatal(err)
				}
				v := post.Evidence().Value()
				if v < last-1e-10*math.Abs(last) {
					t.Errorf("%T, log sf = %v: the bound fell from %.14g to %.14g in sweep %d", lik, logAmp, last, v, sweep)
				}
				last, state = v, post.State()
			}
		}
	}
}

// TestVariationalOfOneCase: no Gaussian of a grid around the result has a higher bound, however wide the prior.
func TestVariationalOfOneCase(t *testing.T) {
	for _, lik := range []likelihood.Differentiable{likelihood.Probit{}, likelihood.Logit{}} {
		for _, variance := range []float64{1e-4, 1, 100, 1e4} {
			for _, mean := range []float64{-5, 0, 3} {
				post := pair{"variational", approx.Variational{}, lik}.fit(t, mat.NewSymDense(1, []float64{variance}), []float64{mean}, []float64{1}, nil)
				bound := func(mu, s float64) float64 {
					e, _, _ := expectedLog(lik, 1, mu, s*s)
					return e - (s*s/variance+(mu-mean)*(mu-mean)/variance-1-math.Log(s*s/variance))/2
				}
				var at, spread [1]float64
				post.Latent(at[:], spread[:], mat.NewDense(1, 1, []float64{variance}), []float64{variance}, 0)
				mu, s := at[0]+mean, math.Sqrt(spread[0])
				got := post.Evidence().Value()
				// The trapezoidal rule has a step of 0.05 s, which is coarse for p(y|f) if s is large.
				tolerance := 1e-9 + 1e-6*s*s
				if want := bound(mu, s); math.Abs(got-want) > tolerance {
					t.Errorf("%T, prior N(%v, %v): bound %v, want %v", lik, mean, variance, got, want)
				}
				for i := -3; i <= 3; i++ {
					for j := -3; j <= 3; j++ {
						if other := bound(mu+0.1*float64(i)*s, s*math.Exp(0.1*float64(j))); other > got+tolerance {
							t.Errorf("%T, prior N(%v, %v): bound %v, and %v nearby", lik, mean, variance, got, other)
						}
					}
				}
			}
		}
	}
}

// TestVariationalRefuses likelihoods whose logarithm has no average or is not concave.
func TestVariationalRefuses(t *testing.T) {
	for _, lik := range []likelihood.Likelihood{likelihood.Step{}, likelihood.NoisyThreshold{}} {
		if _, err := (approx.Variational{}).Uses(lik, 2); err == nil || !strings.Contains(err.Error(), "ep") {
			t.Errorf("%T: error %v", lik, err)
		}
	}
}

// TestVariationalRefusesVastVariances, for which the result would be wrong.
func TestVariationalRefusesVastVariances(t *testing.T) {
	x, y := twoClasses(10, 3)
	for _, lik := range []likelihood.Bound{likelihood.Probit{}, likelihood.Logit{}} {
		for _, logAmp := range []float64{22, 50, 300} {
			k, _, _ := seGram(x, 0, logAmp)
			if _, err := (approx.Variational{}).Fit(context.Background(), []approx.Cov{{K: k}}, approx.Targets{Classes: 2, Value: y}, lik, nil); !errors.Is(err, approx.ErrNotConverged) {
				t.Errorf("%T, log sf = %v: error %v", lik, logAmp, err)
			}
		}
	}
}

// TestVariationalLeaveOneOutGradient compares it with central differences.
func TestVariationalLeaveOneOutGradient(t *testing.T) {
	const n, h = 20, 2e-5
	x, y := twoClasses(n, 51)
	for _, lik := range []likelihood.Bound{likelihood.Probit{}, likelihood.Logit{}} {
		for _, at := range [][2]float64{{0, 0}, {0.5, 2}, {-1, 3}, {2, 1}} {
			t.Run(fmt.Sprintf("%T/%v", lik, at), func(t *testing.T) {
				p := pair{"variational", approx.Variational{}, lik}
				loo := func(dl, da float64) approx.Functional {
					k, _, _ := seGram(x, at[0]+dl, at[1]+da)
					return functionals(t, p.fit(t, k, nil, y, nil))["leave-one-out"]
				}
				f := loo(0, 0)
				g := approx.Cov{K: mat.NewSymDense(n, nil)}
				if err := f.Adjoint(&g, 0); err != nil {
					t.Fatal(err)
				}
				_, byLength, byAmp := seGram(x, at[0], at[1])
				got := []float64{along(g.K, byLength), along(g.K, byAmp)}
				want := []float64{(loo(h, 0).Value() - loo(-h, 0).Value()) / (2 * h), (loo(0, h).Value() - loo(0, -h).Value()) / (2 * h)}
				for i := range got {
					if !(math.Abs(got[i]-want[i]) <= 1e-6*max(1, math.Abs(want[0]), math.Abs(want[1]), math.Abs(f.Value()))) {
						t.Errorf("gradient[%d] = %.10g, differences give %.10g", i, got[i], want[i])
					}
				}
			})
		}
	}
}

// TestVariationalStopsWhereRoundingDoes: small noise magnifies the rounding errors of the means. The fit must end at
// the maximum when sweeps no longer reduce the distance.
func TestVariationalStopsWhereRoundingDoes(t *testing.T) {
	for seed := range uint64(6) {
		x, y := twoClasses(20, 70+seed)
		copy(x[10:], x[:10])
		k, _, _ := seGram(x, 3, 2)
		targets, lik := approx.Targets{Value: y}, likelihood.Gaussian{}.At([]float64{-5})
		post, err := approx.Variational{}.Fit(context.Background(), []approx.Cov{{K: k}}, targets, lik, nil)
		if err != nil {
			t.Fatal(err)
		}
		if d := post.Diagnostics(); !d.Converged || d.Iterations > 300 {
			t.Errorf("seed %d: %+v", seed, d)
		}
		want := extendedRegression(exactly(k, 0), y, -5)
		if got := post.Evidence().Value(); !(math.Abs(got-want.logEvidence) <= 1e-9*math.Abs(want.logEvidence)+want.uncertainty) {
			t.Errorf("seed %d: bound %v, log evidence %v", seed, got, want.logEvidence)
		}
	}
}
