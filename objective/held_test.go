package objective_test

import (
	"testing"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/testing/allocated"
	"github.com/gpc-tune/gpc-tune/internal/testing/needs"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// TestInducedMemoryOfNumbers: one more input takes 8 bytes a case, one more case to predict 8 bytes an inducing input.
func TestInducedMemoryOfNumbers(t *testing.T) {
	m := objective.Model{Kernels: []kernel.Kernel{kernel.SE{}}, Likelihood: likelihood.Logit{},
		Inference: approx.Laplace{Structure: objective.Inducing{Points: 70}}}
	of := func(held, dim int) int64 {
		return m.Memory(approx.Size{Cases: 3000, Distinct: 3000, New: held, Classes: 2}, dim, objective.LogEvidence{}, true)
	}
	if got := of(9, 6) - of(9, 5); got != 8*3000 {
		t.Errorf("an input takes %d bytes", got)
	}
	if got := of(10, 5) - of(9, 5); got != 8*70 {
		t.Errorf("a case to predict takes %d bytes", got)
	}
}

// TestExactMemory: an exact evaluation with its gradient holds a few n×n matrices: K, distances, a factor and the
// adjoint. EP's adjoint reuses memory that the fit no longer needs.
func TestExactMemory(t *testing.T) {
	needs.That(t, allocated.Pools, "pools of memory that keep what is returned: go test ./objective -run ExactMemory, without -race")
	const n = 1000
	for _, test := range []struct {
		method approx.Approximation
		most   float64
	}{{approx.Laplace{}, 4}, {approx.EP{}, 4}} {
		kept, passing := allocated.Large(func() any {
			o, err := objective.New(objective.Model{Kernels: []kernel.Kernel{kernel.SE{}}, Likelihood: likelihood.Logit{},
				Inference: test.method}, objective.LogEvidence{}, sums(n))
			if err != nil {
				t.Fatal(err)
			}
			run, at := objective.NewRun(t.Context(), o), o.Layout.Pick(o.Layout.Start())
			if err := run.Gradient(make([]float64, len(at)), at); err != nil {
				t.Fatal(err)
			}
			return run
		})
		const matrix = 8 * n * n
		if float64(kept) > (test.most+0.2)*matrix || passing > matrix {
			t.Errorf("%T: %.2f n² numbers are held, want %v, and %.2f n² in passing", test.method,
				float64(kept)/matrix, test.most, float64(passing)/matrix)
		}
	}
}
