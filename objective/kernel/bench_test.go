package kernel_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// benchmark runs f for the most important kernels, on n cases with 256 columns, the number of pixels of a digit.
func benchmark(b *testing.B, f func(b *testing.B, k kernel.Kernel, theta []float64, x *kernel.Inputs)) {
	const dim = 256
	for _, k := range []struct {
		name string
		k    kernel.Kernel
	}{{"se", kernel.SE{}}, {"se_ard", kernel.SE{ARD: true}}, {"matern52", kernel.Matern52{}}} {
		for _, n := range []int{200, 767, 2000} {
			b.Run(fmt.Sprintf("%s/n=%d", k.name, n), func(b *testing.B) {
				rng := rand.New(rand.NewPCG(1, 2))
				x := &kernel.Inputs{X: mat.NewDense(n, dim, nil)}
				for i := range n {
					for j := range dim {
						x.X.Set(i, j, rng.NormFloat64())
					}
				}
				theta := make([]float64, len(k.k.Params(dim)))
				for j := 1; j < len(theta); j++ {
					theta[j] = 2.5
				}
				f(b, k.k, theta, x)
			})
		}
	}
}

// BenchmarkGram times K(X, X) at a new theta; the distances are already stored in Inputs.
func BenchmarkGram(b *testing.B) {
	benchmark(b, func(b *testing.B, k kernel.Kernel, theta []float64, x *kernel.Inputs) {
		dst := mat.NewSymDense(x.N(), nil)
		kernel.Gram(k, dst, theta, x)
		for b.Loop() {
			kernel.Gram(k, dst, theta, x)
		}
	})
}

// BenchmarkPullback times the gradient given K.
func BenchmarkPullback(b *testing.B) {
	benchmark(b, func(b *testing.B, k kernel.Kernel, theta []float64, x *kernel.Inputs) {
		own, grad := mat.NewSymDense(x.N(), nil), make([]float64, len(theta))
		kernel.Gram(k, own, theta, x)
		for b.Loop() {
			kernel.Pullback(k, grad, theta, x, own, own)
		}
	})
}

// BenchmarkDistances times what new Inputs compute before the first theta.
func BenchmarkDistances(b *testing.B) {
	benchmark(b, func(b *testing.B, k kernel.Kernel, theta []float64, x *kernel.Inputs) {
		dst := mat.NewSymDense(x.N(), nil)
		for b.Loop() {
			kernel.Gram(k, dst, theta, &kernel.Inputs{X: x.X})
		}
	})
}
