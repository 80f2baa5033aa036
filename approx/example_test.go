package approx_test

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
)

// The posterior of two latent values, correlated by their covariance, given their labels.
func Example() {
	cov := []approx.Cov{{K: mat.NewSymDense(2, []float64{1, 0.8, 0.8, 1})}}
	y := approx.Targets{Classes: 2, Value: []float64{1, 1}}
	for _, method := range []approx.Approximation{approx.Laplace{}, approx.EP{}} {
		p, err := method.Fit(context.Background(), cov, y, likelihood.Probit{}.At(nil), nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%T: log evidence %.4f\n", method, p.Evidence().Value())
	}
	// Output:
	// approx.Laplace: log evidence -1.1664
	// approx.EP: log evidence -1.1544
}

// The adjoint is the derivative of the log evidence by every entry of the covariance.
func ExampleFunctional() {
	cov := []approx.Cov{{K: mat.NewSymDense(2, []float64{1, 0.8, 0.8, 1})}}
	y := approx.Targets{Classes: 2, Value: []float64{1, -1}}
	p, err := approx.EP{}.Fit(context.Background(), cov, y, likelihood.Probit{}.At(nil), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	g := approx.Cov{K: mat.NewSymDense(2, nil)}
	if err := p.Evidence().Adjoint(&g, 0); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.4f\n", mat.Formatted(g.K))
	// Output:
	// ⎡ 0.0939  -0.2347⎤
	// ⎣-0.2347   0.0939⎦
}

// A method says before it runs what it supports with a likelihood, or why it does not support it.
func ExampleApproximation() {
	_, err := approx.Online{}.Uses(likelihood.Softmax{}, 3)
	fmt.Println(err)
	caps, err := approx.Variational{}.Uses(likelihood.Logit{}, 2)
	fmt.Println(caps.LowerBound, err)
	// Output:
	// online has one latent process and this likelihood one for each class; use inference: laplace or ep, or likelihood: probit with classes: one_vs_rest
	// true <nil>
}

// Labels of classes, coded as integers from 0, in the form that methods read.
func ExampleCoded() {
	fmt.Println(approx.Coded(2, []int{0, 1, 1}, nil).Value, approx.Coded(3, []int{0, 2, 1}, nil).Index)
	// Output:
	// [-1 1 1] [0 2 1]
}
