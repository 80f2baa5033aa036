package approx_test

import (
	"context"
	"testing"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
)

// TestTiedCasesStartWarm: a fit that merges equal cases and starts from its own state converges in at most one
// iteration.
func TestTiedCasesStartWarm(t *testing.T) {
	x, y := twoClasses(20, 8)
	for i := range 12 {
		x, y = append(x, x[i/2]), append(y, y[i])
	}
	k, _, _ := seGram(x, 1, 3)
	cov, targets := []approx.Cov{{K: k}}, approx.Targets{Classes: 2, Value: y}
	for _, lik := range []likelihood.Bound{likelihood.Logit{}, likelihood.Probit{}} {
		cold, err := approx.Laplace{}.Fit(context.Background(), cov, targets, lik, nil)
		if err != nil {
			t.Fatal(err)
		}
		warm, err := approx.Laplace{}.Fit(context.Background(), cov, targets, lik, cold.State())
		if err != nil {
			t.Fatal(err)
		}
		if c, w := cold.Diagnostics().Iterations, warm.Diagnostics().Iterations; w > 1 || c < 4 {
			t.Errorf("%T: %d iterations from the fit's own state, %d from nothing", lik, w, c)
		}
	}
}

// TestSamplesOnRecord: the state of a sampled posterior, which is written to model files, is two numbers and every
// sample.
func TestSamplesOnRecord(t *testing.T) {
	x, y := twoClasses(6, 3)
	k, _, _ := seGram(x, 0, 1)
	post := sample(t, approx.Sampling{Chains: 5, Samples: 7, Temperatures: 20}, k, nil, y, likelihood.Logit{})
	if got, want := len(post.State()), 2+5*7*6; got != want {
		t.Errorf("%d numbers, want %d", got, want)
	}
}
