package approx_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
)

// orderedClasses draws inputs in the plane and classes 0 … C-1 that rise along a curve.
func orderedClasses(n, classes int, seed uint64) (x [][]float64, y []int) {
	rng := rand.New(rand.NewPCG(seed, 0))
	for range n {
		p := []float64{rng.NormFloat64(), rng.NormFloat64()}
		f := p[0] + math.Sin(2*p[1]) + 0.5*rng.NormFloat64()
		x, y = append(x, p), append(y, min(max(int(math.Floor(f))+classes/2, 0), classes-1))
	}
	return x, y
}

// hermite returns the nodes and weights of Gauss-Hermite quadrature for N(0, 1), from the eigenvectors of the matrix of
// the recurrence (Golub & Welsch 1969).
func hermite(order int) (nodes, weights []float64) {
	jacobi := mat.NewSymDense(order, nil)
	for i := 1; i < order; i++ {
		jacobi.SetSym(i-1, i, math.Sqrt(float64(i)))
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(jacobi, true) {
		panic("no eigenvalues")
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	for k := range order {
		weights = append(weights, vectors.At(0, k)*vectors.At(0, k))
	}
	return eigen.Values(nil), weights
}

// betweenCuts is log(Φ(b - f) - Φ(a - f)) by complementary error functions of the side where they are small.
func betweenCuts(a, b, f float64) float64 {
	a, b = (a-f)/math.Sqrt2, (b-f)/math.Sqrt2
	if a+b < 0 {
		a, b = -b, -a
	}
	return math.Log((math.Erfc(a) - math.Erfc(b)) / 2)
}

// ordinalOracle maximises the lower bound E_q[log p(y|f)] - KL(q, N(0, K)) by damped natural-gradient steps with dense
// inverses: the averages by Gauss-Hermite quadrature of log p alone, with E[∂log p] = E[x log p]/s and so on. It returns
// the bound and the marginals of q.
func ordinalOracle(t *testing.T, k *mat.SymDense, y []int, cuts []float64) (bound float64, mean, variance []float64) {
	edges := slices.Concat([]float64{math.Inf(-1)}, cuts, []float64{math.Inf(1)})
	nodes, weights := hermite(40)
	n := len(y)
	tau, nu := make([]float64, n), make([]float64, n)
	precision := inverse(t, k)
	mean, variance = make([]float64, n), make([]float64, n)
	for range 400 {
		sigma := inverse(t, plusDiag(precision, tau))
		mu := product(sigma, nu)
		var ratio mat.Dense
		ratio.Mul(precision, sigma)
		bound = -(mat.Trace(&ratio) + dot(mu, product(precision, mu)) - float64(n) + logDet(k) - logDet(sigma)) / 2
		for i, c := range y {
			m, s := mu[i], math.Sqrt(sigma.At(i, i))
			mean[i], variance[i] = m, s*s
			var e, slope, curvature float64
			for j, x := range nodes {
				v := weights[j] * betweenCuts(edges[c], edges[c+1], m+s*x)
				e, slope, curvature = e+v, slope+v*x/s, curvature+v*(x*x-1)/(s*s)
			}
			bound += e
			tau[i] += (-curvature - tau[i]) / 2
			nu[i] += (slope - curvature*m - nu[i]) / 2
		}
	}
	return bound, mean, variance
}

// TestOrdinalVariational compares evidence, gradient over cut points, marginals and predictions with the oracle.
func TestOrdinalVariational(t *testing.T) {
	const n = 25
	x, y := orderedClasses(n, 4, 5)
	for i, logAmp := range []float64{0.3, -1, 1} {
		if !exhaustive.Tries(3, i) {
			continue
		}
		k, _, _ := seGram(x, 0.2, logAmp)
		for i := range n {
			k.SetSym(i, i, k.At(i, i)+1e-4) // so that the oracle can invert K
		}
		at := func(first, second, third float64) []float64 { return []float64{first, second, third} }
		theta := []float64{-0.9, math.Log(0.8), math.Log(1.3)}
		cuts := func(theta []float64) []float64 {
			b := at(theta[0], theta[0]+math.Exp(theta[1]), 0)
			b[2] = b[1] + math.Exp(theta[2])
			return b
		}
		lik := likelihood.Ordinal{}.On(4).At(theta)
		post, err := approx.Variational{}.Fit(context.Background(), []approx.Cov{{K: k}}, approx.Targets{Classes: 4, Index: y}, lik, nil)
		if err != nil || !post.Diagnostics().Converged {
			t.Fatalf("%v, %+v", err, post)
		}
		want, mean, variance := ordinalOracle(t, k, y, cuts(theta))
		if got := post.Evidence().Value(); !(math.Abs(got-want) <= 1e-8*math.Abs(want)) {
			t.Errorf("log sf = %v: log evidence %.12g, want %.12g", logAmp, got, want)
		}
		grad := make([]float64, 3)
		if err := post.Evidence().Likelihood(grad); err != nil {
			t.Fatal(err)
		}
		const h = 1e-3
		for j := range theta {
			value := func(step float64) float64 {
				moved := slices.Clone(theta)
				moved[j] += step
				bound, _, _ := ordinalOracle(t, k, y, cuts(moved))
				return bound
			}
			if want := (value(h) - value(-h)) / (2 * h); !near(grad[j], want, 2e-6) {
				t.Errorf("log sf = %v: gradient[%d] = %.9g, differences of the oracle give %.9g", logAmp, j, grad[j], want)
			}
		}
		got, v := make([]float64, n), make([]float64, n)
		cross := mat.DenseCopyOf(k)
		post.Latent(got, v, cross, diagonal(k), 0)
		proba := mat.NewDense(n, 4, nil)
		post.PredictProba(proba, []*mat.Dense{cross}, [][]float64{diagonal(k)}, nil)
		edges := slices.Concat([]float64{math.Inf(-1)}, cuts(theta), []float64{math.Inf(1)})
		for i := range n {
			if !near(got[i], mean[i], 1e-7) || !near(v[i], variance[i], 1e-7) {
				t.Errorf("log sf = %v, case %d: N(%v, %v), want N(%v, %v)", logAmp, i, got[i], v[i], mean[i], variance[i])
			}
			for c := range 4 { // f plus noise is N(mean, 1 + variance)
				s := math.Sqrt(1 + variance[i])
				want := math.Exp(betweenCuts(edges[c]/s, edges[c+1]/s, mean[i]/s))
				if !near(proba.At(i, c), want, 1e-7) {
					t.Errorf("log sf = %v, case %d: p(%d) = %v, want %v", logAmp, i, c, proba.At(i, c), want)
				}
			}
		}
	}
}

// TestOrdinalGradients compares gradients over cut points and amplitude with differences: narrow and wide gaps, cut
// points far from all cases, and a class in the middle without cases.
func TestOrdinalGradients(t *testing.T) {
	const n = 20
	for i, link := range []likelihood.Link{likelihood.ProbitLink, likelihood.LogitLink} {
		for k, method := range []approx.Approximation{approx.Laplace{}, approx.EP{}, approx.Variational{}, approx.PL{}} {
			for j, theta := range [][]float64{ // log sf, first cut, log gaps
				{0.3, -0.7, 0, 0.2}, {1.5, -2, -1, 1}, {0, -0.4, math.Log(1e-6), 1}, {0.5, -25, 3, 3}, {2, 1, -4, -4},
			} {
				if !exhaustive.Tries(3, i, k, j) {
					continue
				}
				name := fmt.Sprintf("link %d, %T, %v", link, method, theta)
				x, y := orderedClasses(n, 4, 6)
				if theta[2] < -10 || theta[1] > 0 {
					for i, c := range y {
						if c == 1 {
							y[i] = 2 // none is left
						}
					}
				}
				fit := func(theta []float64) approx.Posterior {
					k, _, _ := seGram(x, 0.2, theta[0])
					for i := range n {
						k.SetSym(i, i, k.At(i, i)+0.01*math.Exp(2*theta[0]))
					}
					lik := likelihood.Ordinal{Link: link}.On(4).At(theta[1:])
					post, err := method.Fit(context.Background(), []approx.Cov{{K: k}}, approx.Targets{Classes: 4, Index: y}, lik, nil)
					if err != nil || !post.Diagnostics().Converged {
						t.Fatalf("%s: %v, %+v", name, err, post)
					}
					return post
				}
				post := fit(theta)
				g := approx.Cov{K: mat.NewSymDense(n, nil)}
				if err := post.Evidence().Adjoint(&g, 0); err != nil {
					t.Fatal(err)
				}
				grad := make([]float64, 4)
				if err := post.Evidence().Likelihood(grad[1:]); err != nil {
					t.Fatal(err)
				}
				_, _, byAmp := seGram(x, 0.2, theta[0])
				for i := range n {
					byAmp.SetSym(i, i, byAmp.At(i, i)+0.02*math.Exp(2*theta[0]))
				}
				grad[0] = along(g.K, byAmp)
				const h = 1e-4
				direction, moved := []float64{1, -1.5, 2, -2.5}, make([]float64, 4)
				value := func(step float64) float64 {
					floats.AddScaledTo(moved, theta, step/floats.Norm(direction, 2), direction)
					return fit(moved).Evidence().Value()
				}
				got := floats.Dot(grad, direction)
				want := (8*(value(h)-value(-h)) - (value(2*h) - value(-2*h))) / (12 * h) * floats.Norm(direction, 2)
				scale := max(1, floats.Norm(grad, math.Inf(1)), math.Abs(post.Evidence().Value()))
				if !(math.Abs(got-want) <= 1e-6*scale) {
					t.Errorf("%s: gradient %.10g, %.10g in the direction %v, differences give %.10g", name, grad, got, direction, want)
				}
			}
		}
	}
}
