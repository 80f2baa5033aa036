package approx

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"

	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
)

// TestJointOfTwoClasses: with two classes the multinomial probit model is probit of (f_1 - f_0)/√2,
// and EP gives the same result for both. PL depends on the choice of the latent value: it agrees
// with PL of probit for the latent value f_1 - f_0 plus the noise of one utility.
func TestJointOfTwoClasses(t *testing.T) {
	for _, noise := range []float64{0, 1} {
		t.Run(fmt.Sprint(noise), func(t *testing.T) { jointOfTwoClasses(t, noise) })
	}
}

func jointOfTwoClasses(t *testing.T, noise float64) {
	const n = 15
	index, value := make([]int, n), make([]float64, n)
	k0, k1, both := mat.NewSymDense(n, nil), mat.NewSymDense(n, nil), mat.NewSymDense(n, nil)
	for i := range n {
		index[i] = i % 3 % 2
		value[i] = float64(2*index[i] - 1)
		for j := i; j < n; j++ {
			d := float64(i - j)
			k0.SetSym(i, j, 4*math.Exp(-d*d/8))
			k1.SetSym(i, j, 2*math.Exp(-math.Abs(d)/3))
			both.SetSym(i, j, (k0.At(i, j)+k1.At(i, j))/(2-noise))
		}
		both.SetSym(i, i, both.At(i, i)+noise)
	}
	var method Approximation = EP{}
	if noise > 0 {
		method = PL{}
	}
	binary, err := method.Fit(t.Context(), []Cov{{K: both}}, Targets{Classes: 2, Value: value}, likelihood.Probit{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := newJoint("ep", Iteration{}, 1, []Cov{{K: k0}, {K: k1}}, Targets{Classes: 2, Index: index}, likelihood.MultinomialProbit{})
	if err != nil {
		t.Fatal(err)
	}
	p.rule = epRule{p, FloorNegative}
	if noise > 0 {
		p.rule = newPLUtilities(p, likelihood.MultinomialProbit{})
	}
	start := make(State, 4*n)
	for j := range 2 * n {
		start[j] = 1
	}
	f, err := p.run(t.Context(), start)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.finish(f); err != nil || !p.diagnostics.Converged {
		t.Fatal(err, p.diagnostics)
	}
	if got, want := p.evidence.value, binary.Evidence().Value(); math.Abs(got-want) > 1e-8 {
		t.Errorf("log evidence %.12g, want %.12g", got, want)
	}
}

// TestJointStart: a fit of many cases takes few factorisations, whose number does not depend on the machine, and a
// fit from elsewhere has the same log evidence, at ordinary and at large amplitudes.
func TestJointStart(t *testing.T) {
	const n, classes = 400, 3
	rng := rand.New(rand.NewPCG(1, 2))
	x, y := make([]float64, n), Targets{Classes: classes, Index: make([]int, n)}
	for i := range x {
		x[i] = 3 * rng.NormFloat64()
		y.Index[i] = min(classes-1, max(0, int(1.5+math.Sin(x[i])+0.5*rng.NormFloat64())))
	}
	for a, amplitude := range []float64{1, 20} {
		k := mat.NewSymDense(n, nil)
		for i := range n {
			for j := i; j < n; j++ {
				d := x[i] - x[j]
				k.SetSym(i, j, amplitude*amplitude*math.Exp(-d*d/2))
			}
		}
		cov := []Cov{{K: k}}
		methods := []siteMethod{EP{}, Variational{}, PL{}}
		if amplitude > 1 {
			methods = methods[:1]
		}
		for i, m := range methods {
			for k, lik := range []likelihood.Bound{likelihood.Softmax{}, likelihood.MultinomialProbit{}} {
				if !exhaustive.Tries(3, a, i, k) {
					continue
				}
				post, err := fitSites(t.Context(), m, cov, y, lik, nil)
				if err != nil {
					t.Fatal(err)
				}
				if d := post.Diagnostics(); !d.Converged || d.Factorizations > 6 {
					t.Errorf("%T with %T, amplitude %v: %+v", m, lik, amplitude, d)
				}
				p, err := m.begin(cov, y, lik)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := p.run(t.Context(), nil); err != nil {
					t.Fatal(err)
				}
				if a, b := post.Evidence().Value(), p.evidence.value; math.Abs(a-b) > 1e-9*math.Abs(b) {
					t.Errorf("%T with %T, amplitude %v: %.12g, from elsewhere %.12g", m, lik, amplitude, a, b)
				}
			}
		}
	}
}

// TestPLSitesAreNotNegative: where a case is certain, the slope of a probability is rounding error, which gives no site
// of negative precision.
func TestPLSitesAreNotNegative(t *testing.T) {
	k := mat.NewSymDense(2, []float64{1, 0, 0, 1})
	for _, lik := range []likelihood.RandomUtility{likelihood.Softmax{}, likelihood.MultinomialProbit{}} {
		p, err := PL{}.begin([]Cov{{K: k}}, Targets{Classes: 3, Index: []int{0, 1}}, lik)
		if err != nil {
			t.Fatal(err)
		}
		negative, k := 0, 0
		for mean := -200.0; mean <= 1000; mean += 0.37 { // below, exp(-x) squared overflows
			k++
			for j, v := range []float64{1e-3, 0.1, 1, 3, 30, 1e3, 2e4, 1e6} {
				if !exhaustive.Tries(5, k, j) {
					continue
				}
				for _, i := range []int{0, 1} { // a case of the class, and a case of another class
					p.mu[i] = mean
					s, err := p.rule.match(i, v, 0)
					if err != nil {
						t.Fatal(err)
					}
					if !(s.tau >= 0) || math.IsNaN(s.offset) || math.IsInf(s.offset, 0) {
						negative++
						t.Logf("%T: N(%v, %v) has the site %v, %v", lik, mean, v, s.tau, s.offset)
					}
				}
			}
		}
		if negative > 0 {
			t.Errorf("%T: %d sites", lik, negative)
		}
	}
}
