package objective

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// A failed optimisation has the value NaN instead of 0, which would be a good value.
func TestFailedOptimisationsHaveNoValue(t *testing.T) {
	m := Model{Kernels: []kernel.Kernel{kernel.SE{}}, Likelihood: likelihood.Probit{}, Inference: approx.Laplace{}}
	o, err := New(m, LogEvidence{}, ring(20, 1))
	if err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	for name, s := range map[string]Settings{"unknown": {Method: "no_such"}, "ended": {}} {
		one, err := Optimize(ended, o, []float64{0, 0}, s)
		all, several := Maximize(ended, o, Restarts{Count: 2}, s)
		if err == nil || several == nil || !math.IsNaN(one.Value) || !math.IsNaN(all.Value) || all.Theta != nil {
			t.Errorf("%s: %v and %v, errors %v, %v", name, one.Value, all.Value, err, several)
		}
	}
}

// If all latent values are independent, the evidence is constant and equal to that of equal class
// probabilities. The result then has a warning and is no optimum.
func TestAPlateauIsTold(t *testing.T) {
	for _, c := range []struct {
		likelihood likelihood.Likelihood
		data       Data
		guess      float64
	}{
		{likelihood.Probit{}, ring(30, 1), -30 * math.Ln2},
		{likelihood.Softmax{}, rings(30, 1), -30 * math.Log(3)},
	} {
		tiny := 1e-4 // a length scale far below the distance between any two cases
		m := Model{Kernels: []kernel.Kernel{kernel.SE{Amplitude: param.Setting{Fixed: &tiny}, LengthScale: param.Setting{Init: &tiny}}},
			Likelihood: c.likelihood, Inference: approx.Laplace{}}
		o, err := New(m, LogEvidence{}, c.data)
		if err != nil {
			t.Fatal(err)
		}
		best, err := Optimize(t.Context(), o, []float64{math.Log(tiny)}, Settings{})
		if err != nil || math.Abs(best.Value-c.guess) > 1e-4 {
			t.Fatalf("%v, want %v, error %v", best.Value, c.guess, err)
		}
		if len(best.AtBound) > 0 || !strings.Contains(strings.Join(cause.Texts(best.Warnings), "; "), "ended on a plateau") {
			t.Errorf("%v, at a bound: %v", best.Warnings, best.AtBound)
		}
		m.Kernels = []kernel.Kernel{kernel.SE{}}
		if o, err = New(m, LogEvidence{}, c.data); err != nil {
			t.Fatal(err)
		}
		if best, err = Optimize(t.Context(), o, []float64{0, 0}, Settings{}); err != nil || strings.Contains(strings.Join(cause.Texts(best.Warnings), "; "), "plateau") {
			t.Errorf("%v, error %v", best.Warnings, err)
		}
	}
}
