package likelihood_test

import (
	"fmt"
	"testing"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/likelihood/likelihoodtest"
)

// traits are exceptions for entries of the table, by name, such as {AverageError: 1e-11} for one by quadrature.
var traits = map[string]likelihoodtest.Traits{}

func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range likelihood.Table {
		if seen[e.Name] {
			t.Errorf("%s appears twice", e.Name)
		}
		seen[e.Name] = true
		lik, err := e.New(nil)
		if err != nil {
			t.Fatalf("%s: %v", e.Name, err)
		}
		t.Run(e.Name, func(t *testing.T) { likelihoodtest.Check(t, lik, traits[e.Name]) })
	}
}

// FuzzLikelihood: every likelihood gives finite values for any arguments and, where EP can use it, proper tilted
// variances.
func FuzzLikelihood(f *testing.F) {
	for _, a := range both([]float64{0, 1, 1e8, 1e155}) {
		f.Add(a, 1e-8)
		f.Add(a, 745.)
	}
	f.Fuzz(func(t *testing.T, mean, variance float64) {
		for _, m := range bound(t) {
			likelihoodtest.Total(t, m, mean, variance)
		}
	})
}

// bound returns every likelihood of one latent value, by name.
func bound(t testing.TB) map[string]likelihood.MomentMatcher {
	all := map[string]likelihood.MomentMatcher{}
	for _, e := range likelihood.Table {
		lik, err := e.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		var theta []float64
		for _, p := range lik.Params() {
			theta = append(theta, p.Map.Theta(p.Init))
		}
		if m, ok := lik.At(theta).(likelihood.MomentMatcher); ok {
			all[e.Name] = m
		}
	}
	return all
}

const epsilon = 0x1p-52

var latents = []float64{0, 1e-9, 0.01, 0.3, 0.7, 1, 1.3, 1.9, 2.1, 3, 5, 8, 13, 21, 36, 40, 100, 710, 1e4}

// both returns each value with both signs.
func both(values []float64) []float64 {
	var all []float64
	for _, v := range values {
		all = append(all, v, -v)
	}
	return all
}

// slope is the derivative of f at x by the fourth-order central difference, error O(h⁴).
func slope(f func(x float64) float64, x, h float64) float64 {
	return (8*(f(x+h)-f(x-h)) - (f(x+2*h) - f(x-2*h))) / (12 * h)
}

// matched returns log Z and its two derivatives from which sites are computed.
func matched(m likelihood.MomentMatcher, y, mean, variance float64) (logZ, d1, d2 float64) {
	logZ, d := m.Moments(y, mean, variance)
	return logZ, d[0], d[1]
}

func BenchmarkDerivs(b *testing.B) {
	for name, m := range bound(b) {
		d, ok := m.(likelihood.Differentiable)
		if !ok {
			continue
		}
		for _, f := range []float64{-3, 1} {
			b.Run(fmt.Sprintf("%s/f=%v", name, f), func(b *testing.B) {
				for b.Loop() {
					d.Derivs(1, f)
				}
			})
		}
	}
}

func BenchmarkMoments(b *testing.B) {
	for name, m := range bound(b) {
		for _, c := range [][2]float64{{1, 0.5}, {-3, 1}, {2, 30}, {-20, 100}, {100, 1e6}} {
			b.Run(fmt.Sprintf("%s/mean=%v/variance=%v", name, c[0], c[1]), func(b *testing.B) {
				for b.Loop() {
					m.Moments(1, c[0], c[1])
				}
			})
		}
	}
}

func BenchmarkExpected(b *testing.B) {
	for name, m := range bound(b) {
		e, ok := m.(likelihood.LogConcave)
		if !ok {
			continue
		}
		for _, c := range [][2]float64{{1, 0.1}, {1, 1}, {-3, 9}, {-20, 100}, {100, 1e8}} {
			b.Run(fmt.Sprintf("%s/mean=%v/variance=%v", name, c[0], c[1]), func(b *testing.B) {
				for b.Loop() {
					e.Expected(1, c[0], c[1])
				}
			})
		}
	}
}
