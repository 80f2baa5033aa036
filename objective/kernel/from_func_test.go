package kernel_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/objective/kernel/kerneltest"
)

// cauchy is σ²/(1 + r²/l²).
func cauchy(x, z, h []float64) float64 {
	s := 0.0
	for k := range x {
		s += (x[k] - z[k]) * (x[k] - z[k])
	}
	return h[0] * h[0] / (1 + s/(h[1]*h[1]))
}

func cauchySlope(grad, x, z, h []float64) {
	k := cauchy(x, z, h)
	grad[0] = 2 * k / h[0]
	grad[1] = 2 * k * (1 - k/(h[0]*h[0])) / h[1]
}

var cauchySettings = []kernel.Setting{{Name: "amplitude", Default: 1}, {Name: "length_scale", Default: math.NaN()}}

func TestFromFunc(t *testing.T) {
	kerneltest.Check(t, kernel.FromFunc(cauchy, cauchySlope, cauchySettings...), 3)
	kerneltest.Check(t, kernel.FromFunc(func(x, z, _ []float64) float64 { return 1 + x[0]*z[0] }, nil), 2)
}

// Differences replace derivatives that are not given; the kernel works inside combinations; and this one equals the
// rational quadratic kernel with α = 1.
func TestFromFuncIsTheKernelThatItSays(t *testing.T) {
	of := func(dk func(grad, x, z, h []float64)) kernel.Kernel {
		return kernel.Sum{{Kind: "cauchy", Kernel: kernel.FromFunc(cauchy, dk, cauchySettings...)}, {Kind: "noise", Kernel: kernel.Noise{}}}
	}
	x := &kernel.Inputs{X: mat.NewDense(4, 2, []float64{0, 1, 2, 0.5, -1, 1, 0.3, 0.3})}
	g := mat.NewSymDense(4, []float64{1, 0.3, -2, 0.5, 0.3, 2, 1, 1, -2, 1, 0.7, 0.2, 0.5, 1, 0.2, -1})
	theta := []float64{0.3, -0.2, -1}
	k, same := mat.NewSymDense(4, nil), mat.NewSymDense(4, nil)
	exact, differences := make([]float64, 3), make([]float64, 3)
	kernel.Gram(of(nil), k, theta, x)
	kernel.Pullback(of(cauchySlope), exact, theta, x, nil, g)
	kernel.Pullback(of(nil), differences, theta, x, nil, g)
	for i := range exact {
		if math.Abs(exact[i]-differences[i]) > 1e-8 {
			t.Errorf("derivative %d: %v, by differences %v", i, exact[i], differences[i])
		}
	}
	// r²/(2αl'²) with α = 1 is r²/l² where l' = l/√2
	rational := kernel.Sum{{Kind: "rational_quadratic", Kernel: kernel.RationalQuadratic{}}, {Kind: "noise", Kernel: kernel.Noise{}}}
	kernel.Gram(rational, same, []float64{0.3, -0.2 - math.Log(2)/2, 0, -1}, x)
	if !mat.EqualApprox(k, same, 1e-14) {
		t.Errorf("%v, want %v", mat.Formatted(k), mat.Formatted(same))
	}
}
