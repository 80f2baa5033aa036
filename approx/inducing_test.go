package approx_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
)

// inducedMethods are those with the option inducing, with a correction.
func inducedMethods(c approx.Correction) map[string]approx.Approximation {
	option := approx.Inducing{Points: 1, Correction: c}
	return map[string]approx.Approximation{
		"laplace":     approx.Laplace{Inducing: option},
		"ep":          approx.EP{Inducing: option},
		"pl":          approx.PL{Inducing: option},
		"variational": approx.Variational{Inducing: option},
	}
}

var corrections = map[string]approx.Correction{
	"fitc": {Form: approx.FITC}, "half": {Power: 0.5}, "vfe": {Form: approx.VFE},
}

// inducedCases is a problem of n cases in the plane with inducing inputs of its own.
type inducedCases struct {
	x, z [][]float64
	y    []float64
}

func newInducedCases(n, m int) inducedCases {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(m)))
	var c inducedCases
	for i := range n {
		p := []float64{2 * rng.NormFloat64(), 2 * rng.NormFloat64()}
		c.x = append(c.x, p)
		c.y = append(c.y, math.Copysign(1, math.Sin(p[0])+0.5*rng.NormFloat64()))
		if i < m {
			c.z = append(c.z, []float64{2 * rng.NormFloat64(), 2 * rng.NormFloat64()})
		}
	}
	return c
}

// cross is the squared exponential of log length scale and log amplitude, and its derivatives.
func cross(x, z [][]float64, theta [3]float64) (k *mat.Dense, d [3]*mat.Dense) {
	k = mat.NewDense(len(x), len(z), nil)
	for p := range d {
		d[p] = mat.NewDense(len(x), len(z), nil)
	}
	for i, a := range x {
		for j, b := range z {
			s := ((a[0]-b[0])*(a[0]-b[0]) + (a[1]-b[1])*(a[1]-b[1])) / math.Exp(2*theta[0])
			v := math.Exp(2*theta[1] - s/2)
			k.Set(i, j, v)
			d[0].Set(i, j, v*s)
			d[1].Set(i, j, 2*v)
		}
	}
	return k, d
}

// prior is the covariance at (log length scale, log amplitude, log noise), with a prior mean.
func (c inducedCases) prior(theta [3]float64, mean float64) approx.Cov {
	n, m := len(c.x), len(c.z)
	k, _ := cross(c.z, c.z, theta)
	kzx, _ := cross(c.z, c.x, theta)
	cov := approx.Cov{K: mat.NewSymDense(m, nil), Cross: kzx}
	for i := range m {
		for j := i; j < m; j++ {
			cov.K.SetSym(i, j, k.At(i, j))
		}
	}
	for range n {
		cov.Diag = append(cov.Diag, math.Exp(2*theta[1]))
		cov.Noise = append(cov.Noise, math.Exp(2*theta[2]))
		cov.Mean = append(cov.Mean, mean)
	}
	return cov
}

// gradient is that over theta and the mean which an adjoint makes.
func (c inducedCases) gradient(t *testing.T, f approx.Functional, theta [3]float64) (g [4]float64) {
	t.Helper()
	n, m := len(c.x), len(c.z)
	dst := approx.Cov{K: mat.NewSymDense(m, nil), Cross: mat.NewDense(m, n, nil), Diag: make([]float64, n),
		Noise: make([]float64, n), Mean: make([]float64, n)}
	if err := f.Adjoint(&dst, 0); err != nil {
		t.Fatal(err)
	}
	_, dzz := cross(c.z, c.z, theta)
	_, dzx := cross(c.z, c.x, theta)
	for p := range 2 {
		for i := range m {
			for j := range m {
				g[p] += dst.K.At(i, j) * dzz[p].At(i, j)
			}
			for j := range n {
				g[p] += dst.Cross.At(i, j) * dzx[p].At(i, j)
			}
		}
	}
	for i := range n {
		g[1] += dst.Diag[i] * 2 * math.Exp(2*theta[1])
		g[2] += dst.Noise[i] * 2 * math.Exp(2*theta[2])
		g[3] += dst.Mean[i]
	}
	return g
}

func (c inducedCases) fit(
	t *testing.T, m approx.Approximation, cov approx.Cov, lik likelihood.Likelihood,
) approx.Posterior {
	t.Helper()
	p, err := m.Fit(context.Background(), []approx.Cov{cov}, approx.Targets{Classes: 2, Value: c.y}, lik.At(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := p.Diagnostics(); !d.Converged {
		t.Fatalf("not converged: %+v", d)
	}
	return p
}

// TestInducingGradients holds the adjoints of every method with every correction to central
// differences, at ordinary and at extreme hyperparameters.
func TestInducingGradients(t *testing.T) {
	const h = 2e-5
	c := newInducedCases(60, 8)
	for correction, form := range corrections {
		for name, m := range inducedMethods(form) {
			for _, lik := range []likelihood.Likelihood{likelihood.Probit{}, likelihood.Logit{}} {
				for _, theta := range [][3]float64{{0, 1, -2}, {1, 0, 0}, {-1, 2, -8}, {1.5, 3, -1}, {0, -3, -3}, {4, 1, -5}} {
					t.Run(fmt.Sprintf("%s %s %T %v", name, correction, lik, theta), func(t *testing.T) {
						value := func(theta [3]float64, mean float64) float64 {
							return c.fit(t, m, c.prior(theta, mean), lik).Evidence().Value()
						}
						p := c.fit(t, m, c.prior(theta, 0.3), lik)
						got := c.gradient(t, p.Evidence(), theta)
						for j := range got {
							up, down, mean := theta, theta, [2]float64{0.3, 0.3}
							if j < 3 {
								up[j], down[j] = theta[j]+h, theta[j]-h
							} else {
								mean = [2]float64{0.3 + h, 0.3 - h}
							}
							want := (value(up, mean[0]) - value(down, mean[1])) / (2 * h)
							scale := max(1, math.Abs(want), math.Abs(p.Evidence().Value()))
							if !(math.Abs(got[j]-want) <= 1e-6*scale) {
								t.Errorf("derivative %d is %.10g, differences give %.10g", j, got[j], want)
							}
						}
					})
				}
			}
		}
	}
}

// TestInducingAtAllCases: with Z = X every method gives its exact values.
func TestInducingAtAllCases(t *testing.T) {
	c := newInducedCases(50, 0)
	c.z = c.x
	fresh := newInducedCases(7, 7)
	for _, theta := range [][3]float64{{-1, 1, -2}, {-1, 3, -5}, {-2, 0, 1}} {
		cov := c.prior(theta, -0.2)
		k, _ := cross(c.x, c.x, theta)
		dense := approx.Cov{K: mat.NewSymDense(len(c.x), nil), Mean: cov.Mean}
		for i := range c.x {
			for j := i; j < len(c.x); j++ {
				dense.K.SetSym(i, j, k.At(i, j))
			}
			dense.K.SetSym(i, i, k.At(i, i)+math.Exp(2*theta[2]))
		}
		news, _ := cross(c.x, fresh.x, theta)
		for correction, form := range corrections {
			for name, m := range inducedMethods(form) {
				for _, lik := range []likelihood.Likelihood{likelihood.Probit{}, likelihood.Logit{}} {
					got := c.fit(t, m, c.prior(theta, -0.2), lik)
					want := c.fit(t, approx.Exactly(m), dense, lik)
					a, b := got.Evidence().Value(), want.Evidence().Value()
					if !(math.Abs(a-b) <= 1e-8*max(1, math.Abs(b))) {
						t.Errorf("%s %s %T at %v: log evidence %.12g, exactly %.12g", name, correction, lik, theta, a, b)
					}
					diag := make([]float64, len(fresh.x))
					for j := range diag {
						diag[j] = math.Exp(2*theta[1]) + math.Exp(2*theta[2])
					}
					pa, pb := mat.NewDense(len(diag), 2, nil), mat.NewDense(len(diag), 2, nil)
					got.PredictProba(pa, []*mat.Dense{news}, [][]float64{diag}, nil)
					want.PredictProba(pb, []*mat.Dense{news}, [][]float64{diag}, nil)
					for j := range diag {
						if !(math.Abs(pa.At(j, 1)-pb.At(j, 1)) <= 1e-8) {
							t.Errorf("%s %s %T at %v: p = %.12g, exactly %.12g",
								name, correction, lik, theta, pa.At(j, 1), pb.At(j, 1))
						}
					}
				}
			}
		}
	}
}

// TestInducingBound: the variational bound with inducing inputs is never above the one without, and
// never falls as inputs are added; duplicates, one input and more inputs than cases answer.
func TestInducingBound(t *testing.T) {
	c := newInducedCases(40, 40)
	all := append(append([][]float64{}, c.z...), c.x...)
	lik := likelihood.Logit{}
	for _, theta := range [][3]float64{{0, 1, -4}, {1, 2, -4}, {-1, 0, -4}} {
		k, _ := cross(c.x, c.x, theta)
		dense := approx.Cov{K: mat.NewSymDense(len(c.x), nil)}
		for i := range c.x {
			for j := i; j < len(c.x); j++ {
				dense.K.SetSym(i, j, k.At(i, j))
			}
			dense.K.SetSym(i, i, k.At(i, i)+math.Exp(2*theta[2]))
		}
		exact := c.fit(t, approx.Variational{}, dense, lik).Evidence().Value()
		last := math.Inf(-1)
		m := inducedMethods(approx.Correction{})["variational"]
		for _, points := range [][][]float64{all[:1], all[:2], append(all[:2:2], all[:2]...), all[:5], all[:20], all[:40], all} {
			c.z = points
			now := c.fit(t, m, c.prior(theta, 0), lik).Evidence().Value()
			if slack := 1e-6; !(now >= last-slack) || !(now <= exact+slack) { // what jitter of 1e-8 may do
				t.Errorf("%v: %d points give the bound %.10g after %.10g with fewer; without, %.10g",
					theta, len(points), now, last, exact)
			}
			last = now
		}
	}
}
