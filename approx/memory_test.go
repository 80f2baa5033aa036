package approx_test

import (
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/approxtest"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
)

// TestMemory compares the memory that methods state with what they allocate, for problems that the conformance kit
// does not cover: equal cases, other options, and more than two classes.
func TestMemory(t *testing.T) {
	const n, held = 160, 80
	x, y := twoClasses(n, 30)
	k, _, _ := seGram(x, 0.5, 1)
	twice := append(x[:n/2:n/2], x[:n/2]...)
	tied, _, _ := seGram(twice, 0.5, 1)
	index := make([]int, n)
	for i := range index {
		index[i] = i % 4
	}
	binary, four := approx.Targets{Classes: 2, Value: y}, approx.Targets{Classes: 4, Index: index}
	apart := approx.Size{Cases: n, Distinct: n, New: held, Classes: 2, Kernels: 1}
	pairs, joint := apart, approx.Size{Cases: n, Distinct: n, Classes: 4, Kernels: 1}
	pairs.Distinct = n / 2
	each := joint
	each.Kernels = 4
	for _, p := range []struct {
		name    string
		method  approx.Approximation
		lik     likelihood.Likelihood
		k       *mat.SymDense
		targets approx.Targets
		size    approx.Size
		times   int
	}{
		{"laplace of ties", approx.Laplace{}, likelihood.Logit{}, tied, binary, pairs, 1},
		{"variational of ties", approx.Variational{}, likelihood.Probit{}, tied, binary, pairs, 1},
		{"parallel", approx.EP{Iteration: approx.Iteration{Schedule: approx.Parallel}}, likelihood.Probit{}, k, binary, apart, 1},
		{"one_vs_rest ep", approx.OneVsRest{Binary: approx.EP{}}, likelihood.Probit{}, k, four, joint, 4},
		{"one_vs_rest pl", approx.OneVsRest{Binary: approx.PL{}}, likelihood.Probit{}, k, four, joint, 4},
		{"softmax", approx.Laplace{Points: 64}, likelihood.Softmax{}, k, four, joint, 1},
		{"joint ep", approx.EP{}, likelihood.MultinomialProbit{}, k, four, joint, 5},
		{"joint pl", approx.PL{}, likelihood.MultinomialProbit{}, k, four, joint, 8},
		{"joint variational, per class", approx.Variational{}, likelihood.Softmax{}, k, four, each, 5},
		{"softmax, per class", approx.Laplace{Points: 64}, likelihood.Softmax{}, k, four, each, 1},
	} {
		t.Run(p.name, func(t *testing.T) {
			cov := slices.Repeat([]approx.Cov{{K: p.k}}, p.size.Kernels)
			approxtest.CheckMemory(t, approxtest.MemoryProblem{
				Method: p.method, Lik: p.lik, Cov: cov, Targets: p.targets, Size: p.size, Times: p.times,
			})
		})
	}
}
