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

// flipped is p(y|f) = ε + (1-2ε)Φ(yf): probit with labels that are exchanged with probability ε. It is smooth and not
// log-concave. Its parameter is ε itself, declared only if it is free.
type flipped struct {
	epsilon float64
	free    bool
}

func (flipped) Domain() likelihood.Domain { return likelihood.Binary }
func (l flipped) Params() []param.Spec {
	if !l.free {
		return nil
	}
	return []param.Spec{{Name: "epsilon", Init: 0.1, Lo: 0, Hi: 0.5}}
}
func (l flipped) At(theta []float64) likelihood.Bound {
	if l.free {
		l.epsilon = theta[0]
	}
	return l
}
func (l flipped) Likelihood() likelihood.Likelihood { return flipped{0.1, l.free} }

// parts returns Z, its first three derivatives with respect to z over Z, ∂Z/∂ε over Z, and N(z) over Z.
func (l flipped) parts(z float64) (mass, a1, a2, a3, byEpsilon, density float64) {
	mass = l.epsilon + (1-2*l.epsilon)*math.Erfc(-z/math.Sqrt2)/2
	density = math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) / mass
	a1 = (1 - 2*l.epsilon) * density
	return mass, a1, -z * a1, (z*z - 1) * a1, (1 - math.Erfc(-z/math.Sqrt2)) / mass, density
}

func (l flipped) Derivs(y, f float64) (logp, d1, d2, d3 float64) {
	mass, a1, a2, a3, _, _ := l.parts(y * f)
	return math.Log(mass), y * a1, a2 - a1*a1, y * (a3 - 3*a2*a1 + 2*a1*a1*a1)
}

func (l flipped) paramDerivs(logp, d1, d2 []float64, y, f float64) {
	if len(logp) == 0 {
		return
	}
	_, a1, a2, _, e, density := l.parts(y * f)
	by1 := -2*density - a1*e
	by2 := 2*y*f*density - a2*e
	logp[0], d1[0], d2[0] = e, y*by1, by2-2*a1*by1
}

func (l flipped) LogProb(y, f float64) float64 {
	logp, _, _, _ := l.Derivs(y, f)
	return logp
}

func (l flipped) Moments(y, mean, variance float64) (logZ float64, d [4]float64) {
	s := math.Sqrt(1 + variance)
	logZ, d1, d2, third := l.Derivs(y, mean/s)
	z := y * mean / s
	_, a1, a2, a3, _, _ := l.parts(z)
	a4 := (3*z - z*z*z) * a1
	fourth := a4 - 4*a3*a1 - 3*a2*a2 + 12*a2*a1*a1 - 6*a1*a1*a1*a1
	return logZ, [4]float64{d1 / s, d2 / (s * s), third / (s * s * s), fourth / (s * s * s * s)}
}

func (l flipped) DMoments(logZ, dMean, d2Mean []float64, y, mean, variance float64) {
	if len(logZ) == 0 {
		return
	}
	s := math.Sqrt(1 + variance)
	l.paramDerivs(logZ, dMean, d2Mean, y, mean/s)
	dMean[0] /= s
	d2Mean[0] /= s * s
}

// TestLaplaceWhereCurvatureIsFloored compares the derivatives of the evidence and of the leave-one-out sum with
// differences where some W_i are floored at 0, also with cases that share their latent value.
func TestLaplaceWhereCurvatureIsFloored(t *testing.T) {
	const n, h = 24, 1e-4
	x, y := twoClasses(n, 3)
	for i := 0; i < n; i += 4 {
		y[i] = -y[i]
	}
	twins := append(x[:0:0], x...)
	for i := 0; i+1 < n; i += 3 {
		twins[i+1] = twins[i]
	}
	for name, x := range map[string][][]float64{"apart": x, "shared": twins} {
		for _, free := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%v", name, free), func(t *testing.T) {
				floors := 0
				for _, theta := range [][3]float64{{0.3, 1, 0.1}, {0, 2, 0.05}, {0.7, 1.5, 0.2}, {-0.5, 1, 0.02}} {
					fit := func(dl, da, de float64) approx.Posterior {
						k, _, _ := seGram(x, theta[0]+dl, theta[1]+da)
						var lik likelihood.Bound = flipped{theta[2], false}
						if free {
							lik = flipped{free: true}.At([]float64{theta[2] + de})
						}
						p, err := approx.Laplace{}.Fit(context.Background(), []approx.Cov{{K: k}}, approx.Targets{Classes: 2, Value: y}, lik, nil)
						if err != nil || !p.Diagnostics().Converged {
							t.Fatalf("%v: %v", theta, err)
						}
						return p
					}
					post := fit(0, 0, 0)
					floors += post.Diagnostics().Floors
					of := map[string]func(p approx.Posterior) approx.Functional{
						"evidence": approx.Posterior.Evidence,
						"leave one out": func(p approx.Posterior) approx.Functional {
							f, err := p.(approx.LeaveOneOut).LeaveOneOut()
							if err != nil {
								t.Fatal(err)
							}
							return f
						},
					}
					for what, of := range of {
						g := approx.Cov{K: mat.NewSymDense(n, nil)}
						if err := of(post).Adjoint(&g, 0); err != nil {
							t.Fatal(what, err)
						}
						_, byLength, byAmp := seGram(x, theta[0], theta[1])
						got := []float64{along(g.K, byLength), along(g.K, byAmp)}
						directions := [][3]float64{{h, 0, 0}, {0, h, 0}}
						if free {
							byEpsilon := make([]float64, 1)
							if err := of(post).Likelihood(byEpsilon); err != nil {
								t.Fatal(what, err)
							}
							got, directions = append(got, byEpsilon[0]), append(directions, [3]float64{0, 0, h / 10})
						}
						for i, d := range directions {
							value := func(c float64) float64 { return of(fit(c*d[0], c*d[1], c*d[2])).Value() }
							step := d[0] + d[1] + d[2]
							want := (8*(value(1)-value(-1)) - (value(2) - value(-2))) / (12 * step)
							if !near(got[i], want, 1e-6) {
								t.Errorf("%s at %v with %d floors: derivative %d is %.9g, differences say %.9g", what, theta, post.Diagnostics().Floors, i, got[i], want)
							}
						}
					}
				}
				if floors == 0 {
					t.Error("nothing was floored")
				}
			})
		}
	}
}
