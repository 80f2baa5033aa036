package objective_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/optimize"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// gonum's methods with a gradient end, from starts all over the box, without a failure of the line search under the settings that
// docs/go.md recommends.
func TestGonumMethods(t *testing.T) {
	models := map[string]objective.Model{
		"ep": {Kernels: []kernel.Kernel{kernel.SE{ARD: true}}, Likelihood: likelihood.Probit{}, Inference: approx.EP{}},
		"laplace": {
			Kernels: []kernel.Kernel{kernel.Matern52{}}, Likelihood: likelihood.Logit{}, Inference: approx.Laplace{},
		},
		"softmax": {Kernels: []kernel.Kernel{kernel.SE{}}, Likelihood: likelihood.Softmax{}, Inference: approx.Laplace{}},
	}
	for name, model := range models {
		arms := 2
		if name == "softmax" {
			arms = 3
		}
		o := evidence(model, training(200, arms))
		rng := rand.New(rand.NewPCG(1, 2))
		for range 8 {
			lo, hi, start := []float64{-3, -3, -3}, []float64{0.05, 3, 3}, make([]float64, 3)
			for i := range start {
				start[i] = lo[i] + (hi[i]-lo[i])*rng.Float64()
			}
			dim := len(o.Layout.Pick(o.Layout.Start()))
			for method, m := range map[string]optimize.Method{
				"BFGS": &optimize.BFGS{}, "LBFGS": &optimize.LBFGS{}, "CG": &optimize.CG{}, "GradientDescent": &optimize.GradientDescent{},
			} {
				run := objective.NewRun(context.Background(), o)
				result, err := optimize.Minimize(run.Problem(lo[:dim], hi[:dim]), start[:dim], &optimize.Settings{GradientThreshold: 1e-4}, m)
				fmt.Println(name, method, start[:dim], err, result.Status, result.F, math.NaN(), result.FuncEvaluations, result.X)
			}
		}
	}
}
