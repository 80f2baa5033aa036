package approx_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/approxtest"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
)

var (
	twoClasses = approxtest.TwoClasses
	seGram     = approxtest.SquaredExponential
)

type pair struct {
	name   string
	method approx.Approximation
	lik    likelihood.Bound
}

// prior is the covariance for the pair's tests: if the likelihood has no noise of its own, the kernel has it.
func (p pair) prior(k *mat.SymDense) *mat.SymDense {
	return approxtest.Prior(p.lik, k)
}

// fickle reports that the method need not have a fixed point: EP with a likelihood that is not log-concave.
func (p pair) fickle() bool {
	_, ep := p.method.(approx.EP)
	_, noisy := p.lik.Likelihood().(likelihood.NoisyThreshold)
	return ep && noisy
}

// formulated lists the pairs whose methods have their own formulas in oracle and extended. Other methods are tested
// by the conformance kit alone.
func formulated(t testing.TB) []pair {
	return slices.DeleteFunc(pairs(t), func(p pair) bool {
		switch p.method.(type) {
		case approx.Laplace, approx.EP, approx.PL, approx.Variational, approx.Online, approx.EnsembleMeanField, approx.NaiveMeanField:
			return false
		}
		return true
	})
}

// pairs lists every method that has a gradient with every likelihood that it supports; a refusal must say why.
// (Methods without a gradient give random results and have their own tests.)
func pairs(t testing.TB) []pair {
	var list []pair
	for _, m := range approx.Table {
		method, err := m.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range likelihood.Table {
			lik, err := l.New(nil)
			if err != nil {
				t.Fatal(err)
			}
			lik = likelihood.On(lik, 2)
			caps, err := approx.Uses(method, lik, 2)
			if err != nil && len(err.Error()) < 20 {
				t.Errorf("%s refuses %s without a reason: %v", m.Name, l.Name, err)
			}
			if err != nil || !caps.Gradient {
				continue
			}
			list = append(list, pair{m.Name + "/" + l.Name, method, approxtest.AtInit(lik)})
		}
	}
	return list
}

// fit fits and requires convergence.
func (p pair) fit(t testing.TB, k *mat.SymDense, mean, y []float64, start approx.State) approx.Posterior {
	t.Helper()
	post, err := p.method.Fit(context.Background(), []approx.Cov{{K: p.prior(k), Mean: mean}}, approx.Targets{Classes: 2, Value: y}, p.lik, start)
	if err != nil {
		t.Fatal(err)
	}
	if !post.Diagnostics().Converged {
		t.Fatalf("not converged: %+v", post.Diagnostics())
	}
	return post
}

func (p pair) adjoint(t testing.TB, post approx.Posterior, n int) approx.Cov {
	t.Helper()
	dst := approx.Cov{K: mat.NewSymDense(n, nil), Mean: make([]float64, n)}
	if err := post.Evidence().Adjoint(&dst, 0); err != nil {
		t.Fatal(err)
	}
	return dst
}

// predict returns the class probabilities at the training inputs.
func predict(post approx.Posterior, k *mat.SymDense, mean []float64) *mat.Dense {
	n := k.SymmetricDim()
	diag := make([]float64, n)
	for i := range diag {
		diag[i] = k.At(i, i)
	}
	var means [][]float64
	if mean != nil {
		means = [][]float64{mean}
	}
	dst := mat.NewDense(n, 2, nil)
	post.PredictProba(dst, []*mat.Dense{mat.DenseCopyOf(k)}, [][]float64{diag}, means)
	return dst
}

// along returns tr(G E).
func along(g, e *mat.SymDense) float64 {
	sum := 0.0
	for i := range g.SymmetricDim() {
		for j := range g.SymmetricDim() {
			sum += g.At(i, j) * e.At(i, j)
		}
	}
	return sum
}

// near reports |got - want| ≤ tol max(1, |want|).
func near(got, want, tol float64) bool { return math.Abs(got-want) <= tol*max(1, math.Abs(want)) }

func TestExtrapolate(t *testing.T) {
	a, b := approx.State{1, 2, -1, 3, 0, 5, -2}, approx.State{2, 1, -4, -1, 7, 0, -200}
	weights := []float64{1.5, -0.5}
	for _, c := range []struct {
		method approx.Approximation
		want   approx.State
	}{
		{approx.EP{}, approx.State{2 * math.Sqrt2, math.Sqrt(0.5), -8, -3, 7, 0, -800}},
		{approx.OneVsRest{Binary: approx.EP{}}, approx.State{2 * math.Sqrt2, math.Sqrt(0.5), -8, -3, 7, 0, -800}},
		{approx.Laplace{}, approx.State{2.5, 0.5, -5.5, -3, 7, 0, -299}},
	} {
		if got := approx.Extrapolate(c.method, []approx.State{b, a}, weights); !floats.EqualApprox(got, c.want, 1e-12) {
			t.Errorf("%T: got %v, want %v", c.method, got, c.want)
		}
		if got := approx.Extrapolate(c.method, []approx.State{b, a}, []float64{1, 0}); !slices.Equal(got, b) {
			t.Errorf("%T at the first: %v, want %v", c.method, got, b)
		}
	}
	// Three points of exp(2x), whose logarithm is linear, and of a parabola.
	at := func(x float64) approx.State { return approx.State{math.Exp(2 * x), 1 + x*x} }
	for i, m := range []approx.Approximation{approx.EP{}, approx.Laplace{}} {
		got := approx.Extrapolate(m, []approx.State{at(0.2), at(0.1), at(0)}, []float64{3, -3, 1})
		if want := at(0.3); math.Abs(got[i]-want[i]) > 1e-14 {
			t.Errorf("%T: got %v, want %v", m, got, want)
		}
	}
}
