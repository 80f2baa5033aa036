package approx_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
)

// oracleQuadrature makes the given number of parallel updates of EP, or of posterior linearisation, with the logistic
// likelihood, moments by sums over Gauss-Hermite nodes, and explicit inverses. It evaluates GPML (3.65) with the same
// sums.
func oracleQuadrature(t *testing.T, k *mat.SymDense, m, y []float64, order, updates int, linearise bool, damping float64) (logEvidence float64, tau []float64) {
	n := len(y)
	nodes, weights := make([]float64, order), make([]float64, order)
	quad.Hermite{}.FixedLocations(nodes, weights, math.Inf(-1), math.Inf(1))
	average := func(g func(f float64) float64, mean, variance float64) float64 {
		sum := 0.0
		for i, z := range nodes {
			sum += weights[i] / math.Sqrt(math.Pi) * g(mean+math.Sqrt(2*variance)*z)
		}
		return sum
	}
	sigmoid := func(f float64) float64 { return 1 / (1 + math.Exp(-f)) }
	tau, nu, x := make([]float64, n), make([]float64, n), make([]float64, n)
	precision := inverse(t, k)
	prior := product(precision, m)
	marginals := func() (mean, variance []float64) {
		for i := range x {
			x[i] = nu[i] + prior[i]
		}
		sigma := inverse(t, plusDiag(precision, tau))
		return product(sigma, x), diagonalOf(sigma)
	}
	cavity := func(i int, mean, variance float64) (float64, float64) {
		c := 1 / (1/variance - tau[i])
		return c * (mean/variance - nu[i]), c
	}
	for range updates {
		mean, variance := marginals()
		for i := range n {
			var newTau, newNu float64
			if linearise {
				label := func(f float64) float64 { return 2*sigmoid(f) - 1 }
				e := average(label, mean[i], variance[i])
				a := average(func(f float64) float64 { return (f - mean[i]) * (label(f) - e) }, mean[i], variance[i]) / variance[i]
				spread := average(func(f float64) float64 { return (label(f) - e) * (label(f) - e) }, mean[i], variance[i])
				noise := average(func(f float64) float64 { return 4 * sigmoid(f) * sigmoid(-f) }, mean[i], variance[i])
				omega := noise + spread - a*a*variance[i]
				newTau, newNu = a*a/omega, a*(y[i]-e+a*mean[i])/omega
			} else {
				c, v := cavity(i, mean[i], variance[i])
				p := func(f float64) float64 { return sigmoid(y[i] * f) }
				z := average(p, c, v)
				first := average(func(f float64) float64 { return p(f) * f }, c, v) / z
				second := average(func(f float64) float64 { return p(f) * (f - first) * (f - first) }, c, v) / z
				newTau, newNu = 1/second-1/v, first/second-c/v
			}
			tau[i] += damping * (newTau - tau[i])
			nu[i] += damping * (newNu - nu[i])
		}
	}
	mean, variance := marginals()
	sites, off := make([]float64, n), make([]float64, n)
	for i := range n {
		sites[i], off[i] = 1/tau[i], nu[i]/tau[i]-m[i]
	}
	c := plusDiag(k, sites)
	logEvidence = -logDet(c)/2 - dot(off, product(inverse(t, c), off))/2
	for i := range n {
		m, v := cavity(i, mean[i], variance[i])
		z := average(func(f float64) float64 { return sigmoid(y[i] * f) }, m, v)
		apart := m - nu[i]/tau[i]
		logEvidence += math.Log(z) + math.Log(v+sites[i])/2 + apart*apart/(2*(v+sites[i]))
	}
	return logEvidence, tau
}

// diagonalOf returns the diagonal of a square matrix.
func diagonalOf(a *mat.Dense) []float64 {
	n, _ := a.Dims()
	d := make([]float64, n)
	for i := range d {
		d[i] = a.At(i, i)
	}
	return d
}

// quadratures are EP and posterior linearisation with a quadrature rule.
func quadratures(order, maxIterations int, s approx.Schedule, u approx.Unconverged) map[string]approx.Approximation {
	q := approx.Quadrature{Order: order}
	return map[string]approx.Approximation{
		"ep": approx.EP{Iteration: approx.Iteration{Schedule: s, MaxIterations: maxIterations, Unconverged: u}, Quadrature: q},
		"pl": approx.PL{Iteration: approx.Iteration{Schedule: s, MaxIterations: maxIterations, Unconverged: u}, Quadrature: q},
	}
}

// TestQuadratureOracle: the fixed points of both methods with a quadrature rule, for either schedule.
func TestQuadratureOracle(t *testing.T) {
	const n = 8
	x, y := twoClasses(n, 9)
	mean := make([]float64, n)
	for i := range mean {
		mean[i] = 0.3 - 0.4*x[i][0]
	}
	for _, theta := range [][2]float64{{-0.7, 0.8}, {0.4, 1.3}} {
		k, _, _ := seGram(x, theta[0], theta[1])
		for _, order := range []int{3, 10} {
			for _, s := range []approx.Schedule{approx.Sequential, approx.Parallel} {
				for name, method := range quadratures(order, 0, s, approx.RefuseUnconverged) {
					want, tau := oracleQuadrature(t, k, mean, y, order, 120, name == "pl", 0.5)
					post := pair{name, method, likelihood.Logit{}}.fit(t, k, mean, y, nil)
					if got := post.Evidence().Value(); !near(got, want, 1e-8) {
						t.Errorf("%s, %v, order %d, schedule %d: %.12g, want %.12g", name, theta, order, s, got, want)
					}
					for i, v := range tau {
						if got := post.State()[i]; !near(got, v, 1e-8) {
							t.Errorf("%s, %v, order %d, schedule %d: site %d has precision %v, want %v", name, theta, order, s, i, got, v)
						}
					}
				}
			}
		}
	}
}

// TestQuadratureApproachesExactMoments: for narrow cavities the rule gives the exact moments; probit always uses its
// closed form.
func TestQuadratureApproachesExactMoments(t *testing.T) {
	x, y := twoClasses(30, 19)
	k, _, _ := seGram(x, 0, -0.3)
	for name, exact := range quadratures(0, 0, approx.Sequential, approx.RefuseUnconverged) {
		want := pair{name, exact, likelihood.Logit{}}.fit(t, k, nil, y, nil).Evidence().Value()
		for _, order := range []int{32, 100} {
			rule := quadratures(order, 0, approx.Sequential, approx.RefuseUnconverged)[name]
			if got := (pair{name, rule, likelihood.Logit{}}).fit(t, k, nil, y, nil).Evidence().Value(); !near(got, want, 1e-10) {
				t.Errorf("%s, order %d: %.13g, exact moments give %.13g", name, order, got, want)
			}
			probit := pair{name, rule, likelihood.Probit{}}.fit(t, k, nil, y, nil).Evidence().Value()
			if want := (pair{name, exact, likelihood.Probit{}}).fit(t, k, nil, y, nil).Evidence().Value(); probit != want {
				t.Errorf("%s with probit: %v with a rule, %v without", name, probit, want)
			}
		}
	}
}

// TestUnconverged: a fit accepted after a few updates is the result of exactly these updates, has a warning and no
// gradient, and predicts; the default refuses it.
func TestUnconverged(t *testing.T) {
	const n = 8
	x, y := twoClasses(n, 9)
	mean := make([]float64, n)
	k, _, _ := seGram(x, 0.3, 1.2)
	for _, updates := range []int{1, 2, 3, 10} {
		for name, method := range quadratures(10, updates, approx.Parallel, approx.AcceptUnconverged) {
			want, _ := oracleQuadrature(t, k, mean, y, 10, updates, name == "pl", 1)
			post, err := method.Fit(context.Background(), []approx.Cov{{K: k}}, approx.Targets{Classes: 2, Value: y}, likelihood.Logit{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			d := post.Diagnostics()
			if got := post.Evidence().Value(); d.Iterations != updates || !near(got, want, 1e-10) {
				t.Errorf("%s: %.13g after %d of %d updates, want %.13g", name, got, d.Iterations, updates, want)
			}
			if d.Converged || !slices.ContainsFunc(d.Warnings, func(w approx.Warning) bool { return strings.Contains(w.Text, "used as it is") }) {
				t.Errorf("%s: %+v", name, d)
			}
			if err := post.Evidence().Adjoint(&approx.Cov{K: mat.NewSymDense(n, nil)}, 0); !errors.Is(err, approx.ErrNoGradient) {
				t.Errorf("%s: adjoint: error %v", name, err)
			}
			if f, err := post.(approx.LeaveOneOut).LeaveOneOut(); err != nil || math.IsNaN(f.Value()) {
				t.Errorf("%s: leave-one-out: error %v", name, err)
			}
			caps, err := method.Uses(likelihood.Logit{}, 2)
			if err != nil || caps.Gradient || caps.LeaveOneOutGradient || !caps.Unconverged {
				t.Errorf("%s: %+v, error %v", name, caps, err)
			}
			again, err := method.Restore([]approx.Cov{{K: k}}, approx.Targets{Classes: 2, Value: y}, likelihood.Logit{}, post.State())
			if err != nil || again.Evidence().Value() != post.Evidence().Value() {
				t.Errorf("%s: restored: error %v", name, err)
			}
			refused, err := quadratures(10, updates, approx.Parallel, approx.RefuseUnconverged)[name].Fit(context.Background(), []approx.Cov{{K: k}}, approx.Targets{Classes: 2, Value: y}, likelihood.Logit{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := refused.(approx.LeaveOneOut).LeaveOneOut(); !errors.Is(err, approx.ErrNotConverged) {
				t.Errorf("%s refused: leave-one-out: error %v", name, err)
			}
		}
	}
}

// TestPlainSweeps: an accepted unconverged fit makes sequential sweeps with exact moments only, and none of the steps
// of Newton's method that would follow.
func TestPlainSweeps(t *testing.T) {
	const n = 8
	x, y := twoClasses(n, 9)
	k, _, _ := seGram(x, 0.3, 1.2)
	for _, lik := range []likelihood.MomentMatcher{likelihood.Logit{}, likelihood.Probit{}} {
		for _, sweeps := range []int{1, 3} {
			want := oracleEP(t, k, make([]float64, n), y, lik, sweeps).logEvidence
			post, err := approx.EP{Iteration: approx.Iteration{MaxIterations: sweeps, Unconverged: approx.AcceptUnconverged}}.Fit(context.Background(), []approx.Cov{{K: k}}, approx.Targets{Classes: 2, Value: y}, lik, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := post.Evidence().Value(); !near(got, want, 1e-10) {
				t.Errorf("%T after %d sweeps: %.13g, want %.13g", lik, sweeps, got, want)
			}
		}
	}
}

// TestPlainUpdates: updates that overshoot are reverted, except if an unconverged fit is accepted.
func TestPlainUpdates(t *testing.T) {
	const n, updates = 8, 6
	x, y := twoClasses(n, 9)
	found := 0
	for _, amplitude := range []float64{2, 3, 4} {
		k, _, _ := seGram(x, 1, amplitude)
		for i := range n {
			k.SetSym(i, i, k.At(i, i)+0.1)
		}
		for name, plain := range quadratures(32, updates, approx.Parallel, approx.AcceptUnconverged) {
			fit := func(m approx.Approximation) float64 {
				post, err := m.Fit(context.Background(), []approx.Cov{{K: k}}, approx.Targets{Classes: 2, Value: y}, likelihood.Logit{}, nil)
				if err != nil {
					t.Fatal(err)
				}
				return post.Evidence().Value()
			}
			want, _ := oracleQuadrature(t, k, make([]float64, n), y, 32, updates, name == "pl", 1)
			got, safe := fit(plain), fit(quadratures(32, updates, approx.Parallel, approx.RefuseUnconverged)[name])
			if !near(got, want, 1e-8) {
				t.Errorf("%s, amplitude e^%v: %.12g, want %.12g", name, amplitude, got, want)
			}
			if !near(safe, want, 1e-6) {
				found++
			}
		}
	}
	if found == 0 {
		t.Error("no update overshot; the test shows nothing")
	}
}

// TestDivergedUpdates: labels have a probability of at most 1. Updates that give a positive log evidence are refused,
// or accepted with the option that trusts them.
func TestDivergedUpdates(t *testing.T) {
	const n = 40
	x, y := twoClasses(n, 9)
	k, _, _ := seGram(x, 1.5, 6)
	for i := range n {
		k.SetSym(i, i, k.At(i, i)+0.1)
	}
	refused := 0
	for updates := 1; updates <= 10; updates++ {
		method := approx.EP{Iteration: approx.Iteration{Schedule: approx.Parallel, MaxIterations: updates, Unconverged: approx.AcceptUnconverged}, Quadrature: approx.Quadrature{Order: 10}}
		post, err := method.Fit(context.Background(), []approx.Cov{{K: k}}, approx.Targets{Classes: 2, Value: y}, likelihood.Logit{}, nil)
		switch {
		case errors.Is(err, approx.ErrNotConverged) && strings.Contains(err.Error(), "diverge"):
			refused++
			method.Unconverged = approx.TrustUnconverged
			post, err := method.Fit(context.Background(), []approx.Cov{{K: k}}, approx.Targets{Classes: 2, Value: y}, likelihood.Logit{}, nil)
			if err != nil || !(post.Evidence().Value() > 0) || post.Diagnostics().Converged {
				t.Errorf("after %d updates that are trusted: error %v, log evidence %v", updates, err, post)
			}
		case err != nil:
			t.Fatal(err)
		case post.Evidence().Value() > 0:
			t.Errorf("after %d updates %v", updates, post.Evidence().Value())
		}
	}
	if refused == 0 {
		t.Error("nothing diverged; the test shows nothing")
	}
}

// TestUnconvergedNames checks the values of the option.
func TestUnconvergedNames(t *testing.T) {
	var u approx.Unconverged
	if u.UnmarshalText([]byte("accept")) != nil || u != approx.AcceptUnconverged || u.UnmarshalText([]byte("error")) != nil || u != approx.RefuseUnconverged {
		t.Error("unconverged names")
	}
	if err := u.UnmarshalText([]byte("acept")); err == nil || !strings.Contains(err.Error(), "accept") {
		t.Errorf("a wrong name: error %v", err)
	}
}
