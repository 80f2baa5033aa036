package approx_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/approxtest"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
)

// TestEqualCasesShareTheirLatentValue: cases with equal rows of K are merged. Changing the last bit of a variance
// prevents this; evidence, adjoint, predictions and leave-one-out must be the same without merging.
func TestEqualCasesShareTheirLatentValue(t *testing.T) {
	x, y := twoClasses(20, 8)
	for i := range 12 { // up to four equal cases, with equal and different labels
		x = append(x, x[i/2*(i%3)])
		y = append(y, math.Copysign(1, float64(i%4)-1.5)*y[i])
	}
	mean := make([]float64, len(y))
	for i, v := range x {
		mean[i] = v[0] / 3
	}
	for _, c := range []struct {
		method  approx.Approximation
		lik     likelihood.Likelihood
		classes int
	}{
		{approx.Laplace{}, likelihood.Probit{}, 2}, {approx.Laplace{}, likelihood.Logit{}, 2},
		{approx.EP{}, likelihood.Probit{}, 2}, {approx.EP{}, likelihood.Logit{}, 2},
		{approx.EP{Alpha: 0.3}, likelihood.Probit{}, 2}, {approx.PL{}, likelihood.Logit{}, 2},
		{approx.Variational{}, likelihood.Probit{}, 2}, {approx.Exact{}, likelihood.Gaussian{}, 0},
	} {
		lik, name := approxtest.AtInit(c.lik), fmt.Sprintf("%T %T", c.method, c.lik)
		for _, theta := range [][2]float64{{0, 0}, {-1, 2}, {1, 3}, {3, -2}, {-6, 1}} {
			k, _, _ := seGram(x, theta[0], theta[1])
			apart := mat.NewSymDense(len(y), nil)
			apart.CopySym(k)
			for i := 20; i < len(y); i++ {
				for range i - 19 {
					apart.SetSym(i, i, math.Nextafter(apart.At(i, i), math.Inf(1)))
				}
			}
			targets := approx.Targets{Classes: c.classes, Value: y}
			fit := func(k *mat.SymDense) approx.Posterior {
				post, err := c.method.Fit(context.Background(), []approx.Cov{{K: k, Mean: mean}}, targets, lik, nil)
				if err != nil || !post.Diagnostics().Converged {
					t.Fatal(err, post.Diagnostics())
				}
				return post
			}
			merged, each := fit(k), fit(apart)
			compare := func(what string, got, want approx.Functional, tol float64) {
				if !near(got.Value(), want.Value(), tol) {
					t.Errorf("%s %v: %s %v, unmerged %v", name, theta, what, got.Value(), want.Value())
				}
				g, w := approx.Cov{K: mat.NewSymDense(len(y), nil), Mean: make([]float64, len(y))}, approx.Cov{K: mat.NewSymDense(len(y), nil), Mean: make([]float64, len(y))}
				if err := got.Adjoint(&g, 0); err != nil {
					t.Fatal(err)
				}
				if err := want.Adjoint(&w, 0); err != nil {
					t.Fatal(err)
				}
				if !mat.EqualApprox(g.K, w.K, tol*max(1, mat.Max(w.K), -mat.Min(w.K))) || !floats.EqualApprox(g.Mean, w.Mean, tol) {
					t.Errorf("%s %v: the adjoints of the %s differ", name, theta, what)
				}
			}
			compare("log evidence", merged.Evidence(), each.Evidence(), 1e-9)
			loo := func(p approx.Posterior) approx.Functional {
				f, err := p.(approx.LeaveOneOut).LeaveOneOut()
				if err != nil {
					t.Fatal(err)
				}
				return f
			}
			compare("leave-one-out sum", loo(merged), loo(each), 1e-8)
			if c.classes == 2 && !mat.EqualApprox(predict(merged, k, mean), predict(each, apart, mean), 1e-10) {
				t.Errorf("%s %v: the predictions differ", name, theta)
			}
		}
	}
}

// TestEqualCasesFarFromTheBoundary: where all the curvature of log p underflows to 0, the fit must still converge.
func TestEqualCasesFarFromTheBoundary(t *testing.T) {
	var x [][]float64
	var y []float64
	for i := range 40 {
		v := float64(i%20) - 9.5
		x, y = append(x, []float64{v * math.Abs(v)}), append(y, math.Copysign(1, v))
	}
	for _, name := range []string{"probit", "logit"} {
		lik, vanished := boundLikelihood(t, name).(likelihood.Differentiable), 0
		for _, theta := range [][2]float64{{2, 4}, {3, 5}, {4, 6}, {4, 8}, {5, 8}} {
			k, _, _ := seGram(x, theta[0], theta[1])
			post, err := approx.Laplace{}.Fit(context.Background(), []approx.Cov{{K: k}}, approx.Targets{Classes: 2, Value: y}, lik, nil)
			if err != nil || !post.Diagnostics().Converged {
				t.Errorf("%s %v: %v %+v", name, theta, err, post.Diagnostics())
			}
			for i, f := range post.State()[len(y):] {
				if _, _, d2, _ := lik.Derivs(y[i], f); d2 == 0 {
					vanished++
				}
			}
		}
		if name == "probit" && vanished == 0 {
			t.Error("no curvature underflows")
		}
	}
}

// boundLikelihood returns the named likelihood, which has no parameters.
func boundLikelihood(t *testing.T, name string) likelihood.Bound {
	e, err := likelihood.Table.Lookup("likelihood", name)
	if err != nil {
		t.Fatal(err)
	}
	l, err := e.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return l.At(nil)
}
