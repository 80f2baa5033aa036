package approx_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
)

// expectation returns E[g(f)] for f ~ N(mean, variance) by Gauss-Legendre on either side of 0, where g may jump.
func expectation(g func(f float64) float64, mean, variance float64) float64 {
	sd := math.Sqrt(variance)
	lo, hi := mean-13*sd, mean+13*sd
	edges := []float64{lo}
	for z := math.Ceil(lo); z <= math.Floor(hi); z += max(1, math.Ceil((hi-lo)/24)) { // so that 0 is among them, and sigmoids are resolved
		edges = append(edges, z)
	}
	for j := range edges {
		if j > 0 && edges[j-1] < 0 && edges[j] > 0 {
			edges = append(edges[:j], append([]float64{0}, edges[j:]...)...)
			break
		}
	}
	edges = append(edges, hi)
	sum := 0.0
	for j := 1; j < len(edges); j++ {
		sum += quad.Fixed(func(f float64) float64 {
			z := (f - mean) / sd
			return g(f) * math.Exp(-z*z/2)
		}, edges[j-1], edges[j], 24, quad.Legendre{}, 0)
	}
	return sum / (sd * math.Sqrt(2*math.Pi))
}

// oraclePL iterates the paper's equations with explicit inverses: statistical linear regression on the marginals, all
// damped by ½, then the Gaussian posterior of the linearised labels. It evaluates the log evidence (18) as it is printed,
// with a fine quadrature for its integrals.
func oraclePL(t *testing.T, k *mat.SymDense, m, y []float64, lik likelihood.MomentMatcher) gaussianSites {
	n := len(y)
	prob := func(label, f float64) float64 { logp, _, _ := lik.LogZ(label, f, 0); return math.Exp(logp) }
	mu, v := append([]float64(nil), m...), make([]float64, n)
	a, b, omega := make([]float64, n), make([]float64, n), make([]float64, n)
	tau, nu, x := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range v {
		v[i] = k.At(i, i)
	}
	precision := inverse(t, k)
	prior := product(precision, m)
	for range 80 {
		for i := range n {
			label := func(f float64) float64 { return prob(1, f) - prob(-1, f) }
			mean := expectation(label, mu[i], v[i])
			a[i] = expectation(func(f float64) float64 { return (f - mu[i]) * label(f) }, mu[i], v[i]) / v[i]
			b[i] = mean - a[i]*mu[i]
			omega[i] = 1 - mean*mean - a[i]*a[i]*v[i] // Var(y), as y² = 1
			tau[i] += (a[i]*a[i]/omega[i] - tau[i]) / 2
			nu[i] += (a[i]*(y[i]-b[i])/omega[i] - nu[i]) / 2
			x[i] = nu[i] + prior[i]
		}
		sigma := inverse(t, plusDiag(precision, tau))
		mu = product(sigma, x)
		for i := range v {
			v[i] = sigma.At(i, i)
		}
	}
	s := gaussianSites{variance: make([]float64, n), mean: make([]float64, n)}
	c, off := mat.NewDense(n, n, nil), make([]float64, n) // N(y; Am + b, AKA + Ω)
	for i := range n {
		s.variance[i], s.mean[i] = 1/tau[i], nu[i]/tau[i]
		off[i] = y[i] - a[i]*m[i] - b[i]
		for j := range n {
			c.Set(i, j, a[i]*k.At(i, j)*a[j])
		}
	}
	c = plusDiag(c, omega)
	s.logEvidence = -logDet(c)/2 - dot(off, product(inverse(t, c), off))/2 - float64(n)*math.Log(2*math.Pi)/2
	for i := range n {
		s.logEvidence += math.Log(expectation(func(f float64) float64 {
			r := y[i] - a[i]*f - b[i]
			return prob(y[i], f) * math.Exp(r*r/(2*omega[i])) * math.Sqrt(2*math.Pi*omega[i])
		}, mu[i], v[i]))
		cavity := 1 / (1/v[i] - tau[i])
		s.leaveOneOut += math.Log(expectation(func(f float64) float64 { return prob(y[i], f) }, cavity*(mu[i]/v[i]-nu[i]), cavity))
	}
	return s
}

// TestPLIsExactForOneCase: with one site there is nothing to approximate in the evidence.
func TestPLIsExactForOneCase(t *testing.T) {
	for _, p := range pairs(t) {
		if _, ok := p.method.(approx.PL); !ok {
			continue
		}
		for _, variance := range []float64{1e-4, 1, 30, 1e4} {
			for _, mean := range []float64{-20, -1, 0, 0.3, 8} {
				k := p.prior(mat.NewSymDense(1, []float64{variance}))
				want, _, _ := p.lik.(likelihood.MomentMatcher).LogZ(-1, mean, k.At(0, 0))
				for _, schedule := range []approx.Schedule{approx.Sequential, approx.Parallel} {
					p.method = approx.PL{Schedule: schedule}
					post := p.fit(t, mat.NewSymDense(1, []float64{variance}), []float64{mean}, []float64{-1}, nil)
					if got := post.Evidence().Value(); !near(got, want, 1e-9) {
						t.Errorf("%s, prior N(%v, %v): %.13g, want %.13g", p.name, mean, variance, got, want)
					}
				}
			}
		}
	}
}
