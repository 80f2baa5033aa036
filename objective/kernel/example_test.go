package kernel_test

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// The covariance matrix of three cases.
func ExampleGram() {
	x, err := kernel.NewInputs([][]float64{{0}, {1}, {3}})
	if err != nil {
		fmt.Println(err)
		return
	}
	k := mat.NewSymDense(3, nil)
	kernel.Gram(kernel.SE{}, k, []float64{0, 0}, x) // ln amplitude, ln length scale
	fmt.Printf("%.3f\n", mat.Formatted(k))
	// Output:
	// ⎡1.000  0.607  0.011⎤
	// ⎢0.607  1.000  0.135⎥
	// ⎣0.011  0.135  1.000⎦
}

// Kernels can be added and multiplied; each uses the columns that it is given.
func ExampleSum() {
	k := kernel.Sum{
		{Kind: "se", Kernel: kernel.SE{ARD: true}},
		{Kernel: kernel.Active{Dims: []int{2}, Named: kernel.Named{Kind: "linear", Kernel: kernel.Linear{}}}},
	}
	for _, s := range k.Params(2) {
		fmt.Println(s.Name)
	}
	// Output:
	// 1.se.amplitude
	// 1.se.length_scale[1]
	// 1.se.length_scale[2]
	// 2.linear.amplitude
}

// A hyperparameter may be fixed, have another start, bounds and a prior.
func ExampleSE() {
	held, start := 1.0, 0.5
	k := kernel.SE{
		Amplitude:   param.Setting{Fixed: &held},
		LengthScale: param.Setting{Init: &start, Bounds: &[2]float64{0.1, 10}, Prior: param.InverseGamma{Shape: 3, Scale: 2}},
	}
	for _, s := range k.Params(1) {
		fmt.Println(s.Name, s.Init, s.Fixed)
	}
	// Output:
	// amplitude 1 true
	// length_scale 0.5 false
}

// The kernel of Brownian motion, given by the covariance of two cases. Derivatives are by
// differences.
func ExampleFromFunc() {
	k := kernel.FromFunc(func(x, z, h []float64) float64 {
		return h[0] * h[0] * min(x[0], z[0])
	}, nil, kernel.Setting{Name: "amplitude", Default: 2})
	x, err := kernel.NewInputs([][]float64{{0.5}})
	if err != nil {
		fmt.Println(err)
		return
	}
	variance, slope := make([]float64, 1), make([]float64, 1)
	kernel.Diag(k, variance, []float64{0}, x)
	kernel.PullbackDiag(k, slope, []float64{0}, x, []float64{1})
	fmt.Printf("%.3f, by ln amplitude %.3f\n", variance, slope)
	// Output:
	// [0.500], by ln amplitude [1.000]
}

// lorentzian is 1/(1 + s) as a function of the squared distance s in length scales.
type lorentzian struct{}

func (lorentzian) Kappa(k, s []float64, c, _ float64) {
	for j, v := range s {
		k[j] = 1 / (1 + c*v)
	}
}

func (lorentzian) Weigh(m, s []float64, c, _ float64) { // -2κ'/κ
	for j, v := range s {
		m[j] *= 2 / (1 + c*v)
	}
}

// A stationary kernel defined by its profile has an amplitude, length scales, ARD and gradients.
func ExampleStationary() {
	k := kernel.Stationary[lorentzian]{ARD: true}
	fmt.Println(len(k.Params(3)), "hyperparameters")
	// Output:
	// 4 hyperparameters
}
