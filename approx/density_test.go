package approx_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/param"
)

// sloped is p(y|f) = g(cyf) with one parameter log c, given only as log p: g is the logistic function, or the
// distribution function of Student's t with two degrees of freedom, whose heavy tails are not log-concave.
type sloped struct {
	slope float64
	heavy bool
}

func (sloped) Domain() likelihood.Domain { return likelihood.Binary }
func (sloped) Params() []param.Spec {
	return []param.Spec{{Name: "slope", Map: param.Log, Init: 1, Lo: 1e-3, Hi: 1e3}}
}
func (l sloped) At(theta []float64) likelihood.Bound {
	l.slope = math.Exp(theta[0])
	return likelihood.ByQuadrature(sloped{heavy: l.heavy}, l)
}
func (l sloped) Shape() likelihood.Shape {
	return likelihood.Shape{LogConcave: !l.heavy, Symmetric: true}
}

func (l sloped) Derivs(y, f float64) (logp, d1, d2, d3 float64) {
	z := y * l.slope * f
	if !l.heavy {
		logp, d1, d2, d3 = likelihood.Logit{}.Derivs(1, z)
	} else { // F = (1 + z/q)/2, F′ = 1/q³, q² = 2 + z²
		q := math.Sqrt(2 + z*z)
		mass := 1 / (q * (q - z))
		if z > 0 {
			mass = (1 + z/q) / 2
		}
		a, b, c := 1/math.Pow(q, 3)/mass, -3*z/math.Pow(q, 5)/mass, (12*z*z-6)/math.Pow(q, 7)/mass
		logp, d1, d2, d3 = math.Log(mass), a, b-a*a, c-3*a*b+2*a*a*a
	}
	return logp, y * d1 * l.slope, d2 * l.slope * l.slope, y * d3 * l.slope * l.slope * l.slope
}

func (l sloped) ParamDerivs(logp, d1, d2 []float64, y, f float64) {
	_, a, b, c := l.Derivs(y, f)
	logp[0], d1[0], d2[0] = f*a, a+f*b, 2*b+f*c
}

// TestDensityAlone: a likelihood given only as log p works with every method that has sites. The gradients of the
// evidence and of the leave-one-out sum with respect to the amplitude and its own parameter are right.
func TestDensityAlone(t *testing.T) {
	const n, h = 12, 1e-4
	x, y := twoClasses(n, 31)
	y[3] = -y[3]
	for _, heavy := range []bool{false, true} {
		for name, method := range map[string]approx.Approximation{
			"laplace": approx.Laplace{}, "ep": approx.EP{Iteration: approx.Iteration{Tolerance: 1e-12}},
			"pl": approx.PL{Iteration: approx.Iteration{Tolerance: 1e-12}}, "variational": approx.Variational{},
			"online": approx.Online{},
		} {
			t.Run(fmt.Sprintf("%s, heavy %v", name, heavy), func(t *testing.T) {
				caps, err := method.Uses(sloped{heavy: heavy}, 2)
				if heavy && name == "variational" {
					if err == nil {
						t.Error("variational inference takes a likelihood that is not log-concave")
					}
					return
				}
				if err != nil || !caps.Gradient || !caps.LeaveOneOutGradient {
					t.Fatalf("%+v, %v", caps, err)
				}
				fit := func(da, ds float64) (out [2]approx.Functional) {
					k, _, _ := seGram(x, 0.3, 0.7+da)
					post, err := method.Fit(context.Background(), []approx.Cov{{K: k}},
						approx.Targets{Classes: 2, Value: y}, sloped{heavy: heavy}.At([]float64{0.4 + ds}), nil)
					if err != nil || !post.Diagnostics().Converged {
						t.Fatal(err, post.Diagnostics())
					}
					out[0] = post.Evidence()
					if out[1], err = post.(approx.LeaveOneOut).LeaveOneOut(); err != nil {
						t.Fatal(err)
					}
					return out
				}
				_, _, byAmp := seGram(x, 0.3, 0.7)
				at, aUp, aDown, sUp, sDown := fit(0, 0), fit(h, 0), fit(-h, 0), fit(0, h), fit(0, -h)
				for i, f := range at {
					g, grad := approx.Cov{K: mat.NewSymDense(n, nil)}, make([]float64, 1)
					if err := f.Adjoint(&g, 0); err != nil {
						t.Fatal(err)
					}
					if err := f.Likelihood(grad); err != nil {
						t.Fatal(err)
					}
					got := [2]float64{along(g.K, byAmp), grad[0]}
					want := [2]float64{
						(aUp[i].Value() - aDown[i].Value()) / (2 * h), (sUp[i].Value() - sDown[i].Value()) / (2 * h),
					}
					for j := range got {
						if !(math.Abs(got[j]-want[j]) <= 1e-6*max(math.Abs(want[j]), 0.1)) {
							t.Errorf("scalar %d by hyperparameter %d: %.10g, differences give %.10g", i, j, got[j], want[j])
						}
					}
				}
			})
		}
	}
}

// TestDensityAloneIsTheLikelihood: averages by quadrature agree with the closed forms of the logit likelihood.
func TestDensityAloneIsTheLikelihood(t *testing.T) {
	x, y := twoClasses(20, 5)
	k, _, _ := seGram(x, 0.2, 1)
	for _, method := range []approx.Approximation{approx.Laplace{}, approx.EP{}, approx.PL{}, approx.Variational{}} {
		got := pair{"", method, sloped{}.At([]float64{0})}.fit(t, k, nil, y, nil).Evidence().Value()
		want := pair{"", method, likelihood.Logit{}}.fit(t, k, nil, y, nil).Evidence().Value()
		if !near(got, want, 1e-10) {
			t.Errorf("%T: log evidence %.13g, with closed forms %.13g", method, got, want)
		}
	}
}
