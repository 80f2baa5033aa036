package objective

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// One evidence with its gradient from a cold start, in the steady state of a Run.
func BenchmarkEvidenceAndGradient(b *testing.B) {
	for _, inference := range []approx.Approximation{approx.Laplace{}, approx.EP{}} {
		for _, n := range []int{200, 767, 2000} {
			b.Run(fmt.Sprintf("%T/n=%d", inference, n), func(b *testing.B) {
				rng := rand.New(rand.NewPCG(1, 1))
				x, y := mat.NewDense(n, 16, nil), make([]float64, n)
				for i := range n {
					for j := range 16 {
						x.Set(i, j, rng.NormFloat64())
					}
					y[i] = 1
					if x.At(i, 0)*x.At(i, 1)+x.At(i, 2)+0.5*rng.NormFloat64() < 0 {
						y[i] = -1
					}
				}
				d := Data{X: &kernel.Inputs{X: x}, Y: approx.Targets{Classes: 2, Value: y}, Scaled: true}
				o, err := New(Model{Kernels: []kernel.Kernel{kernel.SE{}}, Likelihood: likelihood.Probit{}, Inference: inference}, LogEvidence{}, d)
				if err != nil {
					b.Fatal(err)
				}
				r, free, grad := NewRun(context.Background(), o), []float64{1, 1.5}, make([]float64, 2)
				for b.Loop() {
					r.Reset()
					if err := r.Gradient(grad, free); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
