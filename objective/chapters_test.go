package objective_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// spirals draws n points of the plane on the given number of spiral arms; the label is the arm.
func spirals(n, arms int) (x [][]float64, labels []int) {
	for i := range n {
		arm, r := i%arms, 0.3+float64(i)/float64(n)
		angle := 3*r + 2*math.Pi*float64(arm)/float64(arms) + 0.15*math.Sin(17*float64(i))
		x = append(x, []float64{r * math.Cos(angle), r * math.Sin(angle)})
		if i%9 == 4 { // wrong labels, as real data have
			arm = (arm + 1) % arms
		}
		labels = append(labels, arm)
	}
	return x, labels
}

func training(n, arms int) objective.Data {
	d, err := objective.NewData(spirals(n, arms))
	if err != nil {
		log.Fatal(err)
	}
	return d
}

func evidence(m objective.Model, d objective.Data) *objective.Objective {
	o, err := objective.New(m, objective.LogEvidence{}, d)
	if err != nil {
		log.Fatal(err)
	}
	return o
}

func tune(o *objective.Objective) *objective.Point {
	best, err := objective.Maximize(context.Background(), o, objective.Restarts{Count: 2, Seed: 1}, objective.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	p, err := o.At(context.Background(), best.Theta)
	if err != nil {
		log.Fatal(err)
	}
	return p
}

var probit = objective.Model{Kernels: []kernel.Kernel{kernel.SE{}}, Likelihood: likelihood.Probit{}, Inference: approx.EP{}}

// Tune hyperparameters by the log evidence, from several starts.
func ExampleMaximize() {
	o := evidence(probit, training(40, 2))
	best, err := objective.Maximize(context.Background(), o, objective.Restarts{Count: 3, Seed: 1}, objective.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	for i, v := range o.Layout.Natural(o.Layout.Fill(best.Theta)) {
		fmt.Printf("%s %.2f\n", o.Layout.Specs[i].Name, v)
	}
	fmt.Printf("%s: log evidence %.2f\n", best.Status, best.Value)
	// Output:
	// amplitude 1.43
	// length_scale 0.42
	// converged: log evidence -20.29
}

// One local optimisation records its path, and returns warnings.
func ExampleOptimize() {
	o := evidence(probit, training(40, 2))
	best, err := objective.Optimize(context.Background(), o, []float64{0, 0}, objective.Settings{Method: "lbfgs"})
	if err != nil {
		log.Fatal(err)
	}
	first, last := best.Path[0], best.Path[len(best.Path)-1]
	fmt.Printf("from %.2f to %.2f, %d warnings\n", first.Value, last.Value, len(best.Warnings))
	// Output:
	// from -21.77 to -20.29, 0 warnings
}

// The log evidence has an exact gradient.
func ExamplePoint_Gradient() {
	p, err := evidence(probit, training(20, 2)).At(context.Background(), []float64{0.5, -0.5})
	if err != nil {
		log.Fatal(err)
	}
	gradient := make([]float64, 2)
	if err := p.Gradient(gradient); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.4f, by (ln amplitude, ln length scale): %.4f\n", p.Value(), gradient)
	// Output:
	// -11.3359, by (ln amplitude, ln length scale): [-0.0926 -0.3054]
}

// gonum's own optimisers minimise a Problem of the objective, with a gradient threshold that the precision of the
// fits allows. Here the maximum is at an edge of the box: the log amplitude is at most 0.2.
func ExampleRun_Problem() {
	o := evidence(probit, training(40, 2))
	box := objective.Box{Lo: []float64{-3, -3}, Hi: []float64{0.2, 3}}
	for _, method := range []optimize.Method{
		&optimize.BFGS{}, &optimize.LBFGS{}, &optimize.CG{}, &optimize.GradientDescent{},
	} {
		run := objective.NewRun(context.Background(), o)
		result, err := optimize.Minimize(run.Problem(box), box.U([]float64{-1, 0}),
			&optimize.Settings{GradientThreshold: 1e-4}, method)
		if err != nil {
			fmt.Printf("%T: %v\n", method, err)
			continue
		}
		fmt.Printf("%T: %v, log evidence %.3f at %.3f\n", method, result.Status, -result.F, box.Theta(result.X))
	}
	// Output:
	// *optimize.BFGS: GradientThreshold, log evidence -20.345 at [0.200 -0.827]
	// *optimize.LBFGS: GradientThreshold, log evidence -20.345 at [0.200 -0.827]
	// *optimize.CG: GradientThreshold, log evidence -20.345 at [0.200 -0.827]
	// *optimize.GradientDescent: GradientThreshold, log evidence -20.345 at [0.200 -0.827]
}

// Active learning asks for the label of the case with the least certain prediction.
func ExamplePoint_PredictProba() {
	pool, truth := spirals(60, 2)
	known := []int{0, 1, 30, 31}
	for range 4 {
		var x [][]float64
		var labels []int
		for _, i := range known {
			x, labels = append(x, pool[i]), append(labels, truth[i])
		}
		d, err := objective.NewData(x, labels)
		if err != nil {
			log.Fatal(err)
		}
		p := tune(evidence(probit, d))
		z, err := kernel.NewInputs(pool)
		if err != nil {
			log.Fatal(err)
		}
		proba := mat.NewDense(len(pool), 2, nil)
		p.PredictProba(proba, z, objective.Averaged{})
		next, least := 0, math.Inf(1)
		for i := range pool {
			if sure := math.Abs(proba.At(i, 1) - 0.5); sure < least-1e-6 {
				next, least = i, sure
			}
		}
		known = append(known, next)
	}
	fmt.Println(len(known), "labels")
	// Output:
	// 8 labels
}

// A latent function has a mean and a variance at new cases.
func ExamplePoint_Latent() {
	p := tune(evidence(probit, training(40, 2)))
	z, err := kernel.NewInputs([][]float64{{0, 0}, {5, 5}})
	if err != nil {
		log.Fatal(err)
	}
	mean, variance := make([]float64, 2), make([]float64, 2)
	p.Latent(mean, variance, z, 0)
	fmt.Printf("known here: %t\n", variance[0] < variance[1])
	// Output:
	// known here: true
}

// Leave-one-out predictions come from a single fit.
func ExamplePoint_LeaveOneOut() {
	p := tune(evidence(probit, training(40, 2)))
	bits, err := p.LeaveOneOut()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.2f nats a case\n", bits)
	// Output:
	// -0.44 nats a case
}

// With more than two classes, softmax has one latent function per class.
func ExampleModel_multiClass() {
	m := objective.Model{
		Kernels: []kernel.Kernel{kernel.SE{}}, Likelihood: likelihood.Softmax{}, Inference: approx.Laplace{},
	}
	p := tune(evidence(m, training(45, 3)))
	z, err := kernel.NewInputs([][]float64{{0.5, 0.4}})
	if err != nil {
		log.Fatal(err)
	}
	proba := mat.NewDense(1, 3, nil)
	p.PredictProba(proba, z, objective.Averaged{})
	fmt.Printf("%.2f\n", proba.RawRowView(0))
	// Output:
	// [0.30 0.08 0.62]
}

// A binary method predicts several classes by one against the rest.
func ExampleModel_oneVsRest() {
	m := probit
	m.Inference = approx.OneVsRest{Binary: approx.EP{}}
	p := tune(evidence(m, training(30, 3)))
	z, err := kernel.NewInputs([][]float64{{0.5, 0.4}})
	if err != nil {
		log.Fatal(err)
	}
	proba := mat.NewDense(1, 3, nil)
	p.PredictProba(proba, z, objective.Averaged{})
	fmt.Printf("%.2f\n", proba.RawRowView(0))
	// Output:
	// [0.32 0.03 0.65]
}

// Regression: the targets are numbers, and the inference is exact.
func ExamplePoint_PredictMoments() {
	x := mat.NewDense(30, 1, nil)
	var y []float64
	for i := range 30 {
		u := float64(i) / 5
		x.Set(i, 0, u)
		y = append(y, math.Sin(u)+0.2*(math.Mod(0.618*float64(i), 1)-0.5))
	}
	noise := 0.1
	m := objective.Model{
		Kernels: []kernel.Kernel{kernel.SE{}}, Inference: approx.Exact{},
		Likelihood: likelihood.Gaussian{Noise: param.Setting{Init: &noise}},
	}
	p := tune(evidence(m, objective.Data{X: &kernel.Inputs{X: x}, Y: approx.Targets{Value: y}}))
	mean, variance := make([]float64, 1), make([]float64, 1)
	p.PredictMoments(mean, variance, &kernel.Inputs{X: mat.NewDense(1, 1, []float64{math.Pi / 2})})
	fmt.Printf("%.2f ± %.2f\n", mean[0], math.Sqrt(variance[0]))
	// Output:
	// 1.00 ± 0.07
}

// Models are compared by their log evidence: the difference is the logarithm of the Bayes factor.
func ExampleNew_modelComparison() {
	d := training(40, 2)
	for _, k := range []kernel.Named{
		{Kind: "se", Kernel: kernel.SE{}}, {Kind: "matern32", Kernel: kernel.Matern32{}}, {Kind: "linear", Kernel: kernel.Linear{}},
	} {
		m := probit
		m.Kernels = []kernel.Kernel{k.Kernel}
		fmt.Printf("%s %.1f\n", k.Kind, tune(evidence(m, d)).Value())
	}
	// Output:
	// se -20.3
	// matern32 -20.5
	// linear -21.3
}

// A few inducing inputs represent many cases, at a cost that grows with n instead of n³.
func ExampleNew_largeN() {
	m := probit
	m.Inference = approx.EP{Structure: objective.Inducing{Points: 20}}
	p, err := evidence(m, training(300, 2)).At(context.Background(), []float64{1, -0.5})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("log evidence %.1f\n", p.Value())
	// Output:
	// log evidence -125.3
}

// Hyperparameters with priors are sampled instead of maximised.
func ExampleObjective_Sample() {
	prior := param.Setting{Prior: param.LogNormal{Normal: param.Normal{SD: 1}}}
	m := probit
	m.Kernels = []kernel.Kernel{kernel.SE{Amplitude: prior, LengthScale: prior}}
	m.Inference = approx.Laplace{}
	o, err := objective.New(m, objective.LogPosterior{}, training(20, 2))
	if err != nil {
		log.Fatal(err)
	}
	s, err := o.Sample(context.Background(), []float64{0, 0}, objective.Chain{Burn: 20, Samples: 10, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(s.Theta), "samples")
	// Output:
	// 10 samples
}

// The surrogate that Bayesian optimisation evaluates instead of the function.
func ExampleNewSurrogate() {
	x := mat.NewDense(5, 1, []float64{0, 0.25, 0.5, 0.75, 1})
	s, err := objective.NewSurrogate(x, []float64{0, 0.7, 1, 0.7, 0}, 1)
	if err != nil {
		log.Fatal(err)
	}
	mean, sd := make([]float64, 1), make([]float64, 1)
	s.Predict(mean, sd, mat.NewDense(1, 1, []float64{0.6}))
	fmt.Printf("best at %.2f\n", s.Best())
	// Output:
	// best at [0.50]
}

// constantMean is a prior mean defined by another program: b, free, starting at -1.
type constantMean struct{}

func (constantMean) Params(int) []param.Spec {
	return []param.Spec{param.Setting{}.Spec("b", param.Identity, -1)}
}

func (constantMean) At(dst, theta []float64, _ *kernel.Inputs) {
	for i := range dst {
		dst[i] = theta[0]
	}
}

func (constantMean) Pullback(grad, _ []float64, _ *kernel.Inputs, g []float64) {
	for _, v := range g {
		grad[0] += v
	}
}

// A user-defined prior mean has exact gradients too.
func ExampleMean() {
	m := probit
	m.Mean = constantMean{}
	o := evidence(m, training(20, 2))
	for _, s := range o.Layout.Specs {
		fmt.Println(s.Name)
	}
	// Output:
	// amplitude
	// length_scale
	// mean.b
}
