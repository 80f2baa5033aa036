package objective_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/optimize"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// All of gonum's methods that use a gradient and no second derivatives converge to the same maximum from starts all
// over a box, with no failure of the line search: for maxima inside the box, at its edges, and in a corner.
func TestGonumMethodsConverge(t *testing.T) {
	for name, model := range map[string]objective.Model{
		"ep": {Kernels: []kernel.Kernel{kernel.SE{ARD: true}}, Likelihood: likelihood.Probit{}, Inference: approx.EP{}},
		"laplace": {
			Kernels: []kernel.Kernel{kernel.Matern52{}}, Likelihood: likelihood.Logit{}, Inference: approx.Laplace{},
		},
		"softmax": {Kernels: []kernel.Kernel{kernel.SE{}}, Likelihood: likelihood.Softmax{}, Inference: approx.Laplace{}},
	} {
		arms := 2
		if name == "softmax" {
			arms = 3
		}
		o := evidence(model, training(60, arms))
		dim := len(o.Layout.Free)
		rng := rand.New(rand.NewPCG(1, 2))
		for _, hi := range [][]float64{{5, 3, 3}, {0, 3, 3}, {-1, -1, -1}} {
			box := objective.Box{Lo: []float64{-3, -3, -3}[:dim], Hi: hi[:dim]}
			best := math.NaN()
			for range exhaustive.Of(2, 5) {
				start := make([]float64, dim)
				for i := range start {
					start[i] = box.Lo[i] + (box.Hi[i]-box.Lo[i])*rng.Float64()
				}
				for _, method := range []optimize.Method{
					&optimize.BFGS{}, &optimize.LBFGS{}, &optimize.CG{}, &optimize.GradientDescent{},
				} {
					run := objective.NewRun(context.Background(), o)
					result, err := optimize.Minimize(run.Problem(box), box.U(start), &optimize.Settings{GradientThreshold: 1e-4}, method)
					if err != nil || result.Status != optimize.GradientThreshold || math.Abs(result.F-best) > 1e-6 {
						t.Fatalf("%s to %v, %T from %v: %v, %v, %v at %v, before %v", name, hi[:dim], method, start, err, result.Status,
							result.F, box.Theta(result.X), best)
					}
					best = result.F
				}
			}
		}
	}
}

// The derivatives by u agree with differences of the value, and U is the inverse of Theta, except
// at the edges.
func TestBox(t *testing.T) {
	o := evidence(probit, training(20, 2))
	box := objective.Box{Lo: []float64{-3, -1}, Hi: []float64{5, 0.5}}
	p := objective.NewRun(context.Background(), o).Problem(box)
	for _, u := range [][]float64{{0.3, 0.2}, {-7, 1.5}, {40, -0.6}} {
		const step = 1e-5
		grad := make([]float64, 2)
		p.Grad(grad, u)
		for i := range u {
			v := u[i]
			u[i] = v + step
			above := p.Func(u)
			u[i] = v - step
			below := p.Func(u)
			u[i] = v
			if want := (above - below) / (2 * step); math.Abs(grad[i]-want) > 1e-5 {
				t.Errorf("at %v derivative %d is %v, want %v", u, i, grad[i], want)
			}
		}
	}
	for _, c := range [][2][]float64{
		{{1, 0}, {1, 0}}, {{-3, 0.5}, {-2.92, 0.485}}, {{-9, 9}, {-2.92, 0.485}},
	} {
		for i, v := range box.Theta(box.U(c[0])) {
			if math.Abs(v-c[1][i]) > 1e-12 {
				t.Errorf("%v goes to %v, want %v", c[0][i], v, c[1][i])
			}
		}
	}
	for _, bad := range []objective.Box{
		{Lo: []float64{1}, Hi: []float64{2, 3}}, {Lo: []float64{1, 1}, Hi: []float64{2, 1}},
		{Lo: []float64{1, 1}, Hi: []float64{2, math.Inf(1)}},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%v is taken", bad)
				}
			}()
			objective.NewRun(context.Background(), o).Problem(bad)
		}()
	}
}
