package approx

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
)

// TestJointOfTwoClasses: with two classes the multinomial probit model is probit of (f_1 - f_0)/√2, and so is EP. As PL
// depends on what is a latent value, it is that of probit of f_1 - f_0 plus the noise of one utility.
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
	p.rule = epRule{p, FloorNegative, 1}
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
