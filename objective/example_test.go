package objective_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// Two overlapping classes of shells, by width and depth: tune the hyperparameters of a Gaussian-process classifier with
// a squared exponential kernel, a probit likelihood and expectation propagation, and predict three new cases.
func Example() {
	const n = 40
	x, y := mat.NewDense(n, 2, nil), make([]float64, n)
	for i := range n {
		width := 1.8 * math.Sin(float64(i))
		depth := 0.6*width + 0.7*math.Cos(3*float64(i)) // depth of the first kind
		y[i] = -1
		if i%2 == 1 {
			depth += 1.2
			y[i] = +1
		}
		x.SetRow(i, []float64{width, depth})
	}
	data := objective.Data{X: &kernel.Inputs{X: x}, Y: approx.Targets{Classes: 2, Value: y}, Scaled: true}
	model := objective.Model{
		Kernels:    []kernel.Kernel{kernel.SE{}},
		Likelihood: likelihood.Probit{},
		Inference:  approx.EP{},
	}
	ctx := context.Background()

	evidence, err := objective.New(model, objective.LogEvidence{}, data)
	if err != nil {
		log.Fatal(err)
	}
	tuning, err := objective.Maximize(ctx, evidence, objective.Restarts{Count: 3, Seed: 1}, objective.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	point, err := evidence.At(ctx, tuning.Theta)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s, log evidence %.2f\n", tuning.Status, point.Value())
	natural := evidence.Layout.Natural(point.Theta)
	for i, s := range evidence.Layout.Specs {
		fmt.Printf("%s %.2f\n", s.Name, natural[i])
	}

	z := &kernel.Inputs{X: mat.NewDense(3, 2, []float64{0, -0.8, 0, 0.6, 0, 2})}
	proba := mat.NewDense(3, 2, nil)
	point.PredictProba(proba, z, objective.Averaged{})
	for i := range 3 {
		fmt.Printf("p(+1) = %.2f\n", proba.At(i, 1))
	}
	// Output:
	// converged, log evidence -15.73
	// amplitude 12.63
	// length_scale 5.05
	// p(+1) = 0.00
	// p(+1) = 0.43
	// p(+1) = 1.00
}
