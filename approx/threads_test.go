package approx_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
)

// TestBitsWithThreads: states, values and derivatives are the same bits for 1, 2, 3 and 16 threads, with matrices
// large enough to be split among threads.
func TestBitsWithThreads(t *testing.T) {
	const n = 339
	x, y := twoClasses(n, 51)
	r := newRegression(n, 52)
	three := approx.Targets{Classes: 3, Index: make([]int, n)}
	for i, v := range y {
		three.Index[i] = i%2 + int(v+1)/2
	}
	k, _, _ := seGram(x, 0.5, 1)
	noisy := mat.NewSymDense(n, nil)
	for i := range n {
		noisy.SetSym(i, i, 0.5)
	}
	noisy.AddSym(noisy, k)
	tied, _, _ := seGram(append(slices.Clone(x[:n-40]), x[:40]...), 0.5, 1)
	parallel := approx.Iteration{Schedule: approx.Parallel}
	mixed := approx.Iteration{Schedule: approx.Mixed, Damping: 0.9}
	binary, numeric := approx.Targets{Classes: 2, Value: y}, approx.Targets{Value: r.y}
	for _, p := range []struct {
		name   string
		method approx.Approximation
		lik    likelihood.Bound
		k      *mat.SymDense
		y      approx.Targets
	}{
		{"laplace", approx.Laplace{}, likelihood.Logit{}, k, binary},
		{"laplace of ties", approx.Laplace{}, likelihood.Logit{}, tied, binary},
		{"ep", approx.EP{}, likelihood.Probit{}, k, binary},
		{"ep parallel", approx.EP{Iteration: parallel}, likelihood.Logit{}, k, binary},
		{"ep floored", approx.EP{Iteration: approx.Iteration{Damping: 0.8}}, likelihood.NoisyThreshold{}.At([]float64{-5}),
			k, binary},
		{"pl", approx.PL{}, likelihood.Probit{}, k, binary},
		{"pl mixed", approx.PL{Iteration: mixed}, likelihood.Probit{}, k, binary},
		{"variational", approx.Variational{}, likelihood.Probit{}, k, binary},
		{"ensemble_mean_field", approx.EnsembleMeanField{}, likelihood.Probit{}, k, binary},
		{"naive_mean_field", approx.NaiveMeanField{}, likelihood.Step{}, noisy, binary},
		{"online", approx.Online{}, likelihood.Probit{}, k, binary},
		{"exact", approx.Exact{}, likelihood.Gaussian{}.At([]float64{-1}), k, numeric},
		{"one_vs_rest", approx.OneVsRest{Binary: approx.Online{}}, likelihood.Probit{}, k, three},
	} {
		t.Run(p.name, func(t *testing.T) {
			numbers := func(threads int) (all []float64) {
				linalg.SetThreads(threads)
				defer linalg.SetThreads(1)
				post, err := p.method.Fit(context.Background(), []approx.Cov{{K: p.k, Mean: r.mean}}, p.y, p.lik, nil)
				if err != nil {
					t.Fatal(err)
				}
				left, err := post.(approx.LeaveOneOut).LeaveOneOut()
				if err != nil {
					t.Fatal(err)
				}
				functionals := []approx.Functional{post.Evidence(), left}
				if l, ok := post.(approx.LeaveGroupOut); ok {
					var groups [][]int
					for i := range n / 3 {
						groups = append(groups, []int{i, i + n/3, i + 2*(n/3)})
					}
					f, err := l.LeaveGroupOut(groups)
					if err != nil {
						t.Fatal(err)
					}
					functionals = append(functionals, f)
				}
				all = slices.Clone(post.State())
				for _, f := range functionals {
					dst := approx.Cov{K: mat.NewSymDense(n, nil), Mean: make([]float64, n)}
					if err := f.Adjoint(&dst, 0); err != nil {
						t.Fatal(err)
					}
					all = slices.Concat(append(all, f.Value()), dst.Mean, dst.K.RawSymmetric().Data)
				}
				return all
			}
			want := numbers(1)
			for _, threads := range []int{2, 3, 16}[exhaustive.Of(1, 0):] {
				got := numbers(threads)
				for i, v := range got {
					if math.Float64bits(v) != math.Float64bits(want[i]) {
						t.Fatalf("%d threads: number %d is %v, and %v with one", threads, i, v, want[i])
					}
				}
			}
		})
	}
}
