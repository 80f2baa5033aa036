package objective_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// centralDifferences compares the gradient at free hyperparameters with a central difference, in the
// direction whose components are 1, -3/2, 2, -5/2, …: an error in one component is no smaller in the
// direction.
func centralDifferences(t *testing.T, o *objective.Objective, at []float64) {
	t.Helper()
	p, err := o.At(context.Background(), at)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]float64, len(at))
	if err := p.Gradient(got); err != nil {
		t.Fatal(err)
	}
	direction := make([]float64, len(at))
	for j := range direction {
		direction[j] = (1 + float64(j)/2) * math.Cos(math.Pi*float64(j))
	}
	h := 1e-4 / floats.Norm(direction, 2)
	value := func(step float64) float64 {
		u := make([]float64, len(at))
		floats.AddScaledTo(u, at, step, direction)
		p, err := o.At(context.Background(), u)
		if err != nil {
			t.Fatal(err)
		}
		return p.Value()
	}
	along, want := floats.Dot(got, direction), (value(h)-value(-h))/(2*h)
	if !(math.Abs(along-want) <= 1e-6*max(1, math.Abs(p.Value()))) {
		t.Errorf("gradient %.10g: %.10g in the direction %v, differences give %.10g", got, along, direction, want)
	}
}

// TestInducingGradients compares gradients with inducing inputs, for kernels with noise, sums and products, with
// central differences; there are more cases than one part has.
func TestInducingGradients(t *testing.T) {
	const n = 2100
	rng := rand.New(rand.NewPCG(1, 1))
	x, y := mat.NewDense(n, 2, nil), make([]float64, n)
	for i := range n {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		x.SetRow(i, []float64{a, b})
		y[i] = math.Copysign(1, math.Sin(2*a)+b+rng.NormFloat64())
	}
	data := objective.Data{X: &kernel.Inputs{X: x}, Y: approx.Targets{Classes: 2, Value: y}, Scaled: true}
	noise := kernel.Named{Kind: "noise", Kernel: kernel.Noise{}}
	se := kernel.Named{Kind: "se", Kernel: kernel.SE{}}
	vfe, half := approx.Correction{Form: approx.VFE}, approx.Correction{Power: 0.5}
	// the methods and corrections themselves are tested in package approx
	for name, of := range map[string]struct {
		k kernel.Kernel
		m approx.Approximation
	}{
		"ard":   {kernel.SE{ARD: true}, approx.Laplace{Structure: objective.Inducing{Points: 12}}},
		"noise": {kernel.Sum{se, noise}, approx.Variational{Structure: objective.Inducing{Points: 12, Select: objective.Selection(1), Correction: vfe}}},
		"product": {
			kernel.Product{se, kernel.Named{Kind: "linear", Kernel: kernel.Linear{}}},
			approx.Laplace{Structure: objective.Inducing{Points: 12, Select: objective.Selection(2), Correction: half}},
		},
	} {
		k, m := of.k, of.m
		t.Run(name, func(t *testing.T) {
			o, err := objective.New(objective.Model{
				Kernels: []kernel.Kernel{k}, Likelihood: likelihood.Logit{}, Inference: m,
			}, objective.LogEvidence{}, data)
			if err != nil {
				t.Fatal(err)
			}
			at := make([]float64, len(o.Layout.Free))
			for j := range at {
				at[j] = 0.3 - 0.1*float64(j)
			}
			centralDifferences(t, o, at)
		})
	}
}

// TestInputGradients compares derivatives by inducing inputs with central differences of the log
// evidence. Some of the inducing inputs are cases. It covers kernels with noise, sums and products,
// every method and every correction.
func TestInputGradients(t *testing.T) {
	const m, h = 6, 1e-4
	many, few := sums(2060), sums(400) // more cases than a block has, and fewer
	z := mat.NewDense(m, 2, nil)
	for i := range m {
		z.SetRow(i, many.X.X.RawRowView(60*i))
		z.Set(i, i%2, z.At(i, i%2)+0.1*float64(i))
	}
	named := func(kind string, k kernel.Kernel) kernel.Named { return kernel.Named{Kind: kind, Kernel: k} }
	for name, k := range map[string]kernel.Kernel{
		"ard": kernel.SE{ARD: true},
		"sum": kernel.Sum{named("m", kernel.Matern32{}), named("n", kernel.Noise{}), named("l", kernel.Linear{})},
		"product": kernel.Product{named("se", kernel.SE{}), named("a", kernel.Active{Dims: []int{2},
			Named: named("nn", kernel.NeuralNetwork{})})},
	} {
		methods := []approx.Approximation{approx.Laplace{Structure: objective.Inducing{Points: m}}}
		if name == "sum" {
			for _, c := range []approx.Correction{{Form: approx.FITC}, {Form: approx.VFE}, {Power: 0.5}} {
				option := objective.Inducing{Points: m, Correction: c}
				methods = append(methods, approx.EP{Structure: option}, approx.Variational{Structure: option},
					approx.Laplace{Structure: option})
			}
		}
		for _, method := range methods {
			model := objective.Model{Kernels: []kernel.Kernel{k}, Likelihood: likelihood.Logit{}, Inference: method}
			data := few
			if _, laplace := method.(approx.Laplace); laplace {
				data = many
			}
			at := func() *objective.Point {
				o, err := objective.New(model, objective.LogEvidence{}, data)
				if err != nil {
					t.Fatal(err)
				}
				p, err := objective.WithInducing(o, z).At(t.Context(), make([]float64, len(o.Layout.Free)))
				if err != nil {
					t.Fatal(err)
				}
				return p
			}
			p, got := at(), mat.NewDense(m, 2, nil)
			if err := p.InputGradient(got); err != nil {
				t.Fatal(err)
			}
			for _, e := range [][2]int{{0, 0}, {3, 1}} {
				moved := func(step float64) float64 {
					was := z.At(e[0], e[1])
					defer z.Set(e[0], e[1], was)
					z.Set(e[0], e[1], was+step)
					return at().Value()
				}
				want := (moved(h) - moved(-h)) / (2 * h)
				if v := got.At(e[0], e[1]); !(math.Abs(v-want) <= 1e-6*max(1, math.Abs(want), math.Abs(p.Value()))) {
					t.Errorf("%s %T %+v: derivative by input %v is %.10g, differences give %.10g", name, method,
						objective.InducingOf(method).Correction, e, v, want)
				}
			}
		}
	}
}

// TestInducingOneVsRest compares the gradient of three classes, each against the rest, with one shared prior, with
// central differences.
func TestInducingOneVsRest(t *testing.T) {
	const n, h = 60, 1e-4
	rng := rand.New(rand.NewPCG(2, 1))
	x, y := mat.NewDense(n, 1, nil), make([]int, n)
	for i := range n {
		x.Set(i, 0, 3*rng.NormFloat64())
		y[i] = i % 3
	}
	o, err := objective.New(objective.Model{
		Kernels: []kernel.Kernel{kernel.SE{}}, Likelihood: likelihood.Probit{},
		Inference: approx.OneVsRest{Binary: approx.EP{Structure: objective.Inducing{Points: 7}}},
	}, objective.LogEvidence{}, objective.Data{X: &kernel.Inputs{X: x}, Y: approx.Targets{Classes: 3, Index: y}})
	if err != nil {
		t.Fatal(err)
	}
	at, got := []float64{0.5, 0.2}, make([]float64, 2)
	value := func(u []float64) float64 {
		p, err := o.At(context.Background(), u)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Gradient(got); err != nil {
			t.Fatal(err)
		}
		return p.Value()
	}
	up, down := value([]float64{at[0] + h, at[1]}), value([]float64{at[0] - h, at[1]})
	longer, shorter := value([]float64{at[0], at[1] + h}), value([]float64{at[0], at[1] - h})
	l := value(at)
	for j, want := range []float64{(up - down) / (2 * h), (longer - shorter) / (2 * h)} {
		if !(math.Abs(got[j]-want) <= 1e-6*max(1, math.Abs(want), math.Abs(l))) {
			t.Errorf("derivative %d is %.10g, differences give %.10g", j, got[j], want)
		}
	}
}

// sums draws n cases of two inputs; labels are the sign of a smooth function plus noise.
func sums(n int) objective.Data {
	rng := rand.New(rand.NewPCG(5, 1))
	x, y := mat.NewDense(n, 2, nil), make([]float64, n)
	for i := range n {
		a, b := 3*rng.NormFloat64(), rng.NormFloat64()
		x.SetRow(i, []float64{a, b})
		y[i] = math.Copysign(1, math.Sin(a)+b+rng.NormFloat64()/2)
	}
	return objective.Data{X: &kernel.Inputs{X: x}, Y: approx.Targets{Classes: 2, Value: y}, Scaled: true}
}

// TestEnough: the number of inducing inputs is doubled until the log evidence of an optimum
// improves by less than the tolerance. The values in Tried equal the optima of separate
// optimisations.
func TestEnough(t *testing.T) {
	const n = 300
	data := sums(n)
	build := func(option objective.Inducing) *objective.Objective {
		o, err := objective.New(objective.Model{Kernels: []kernel.Kernel{kernel.Matern32{}}, Likelihood: likelihood.Probit{},
			Inference: approx.Variational{Structure: option}}, objective.LogEvidence{}, data)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	climbed := map[int]float64{}
	for _, points := range []int{50, 100, 200} {
		o := build(objective.Inducing{Points: points})
		best, err := objective.Optimize(t.Context(), o, o.Layout.Pick(o.Layout.Start()), objective.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		climbed[points] = best.Value
	}
	for _, test := range []struct {
		most, want int
		tolerance  float64
		tried      []int
	}{
		{100, 50, 10, []int{50, 100}},
		{200, 200, 1e-9, []int{50, 100, 200}},
		{50, 50, 10, []int{50}},
	} {
		kept := new(objective.Choices)
		var choices [2]*objective.Choice
		for i := range choices {
			o := build(objective.Inducing{Points: test.most, Tolerance: test.tolerance})
			if err := objective.Choose(t.Context(), o, kept); err != nil {
				t.Fatal(err)
			}
			p, err := o.At(t.Context(), o.Layout.Pick(o.Layout.Start()))
			if err != nil {
				t.Fatal(err)
			}
			choices[i] = p.Choice()
		}
		c := choices[0]
		if choices[1] != c {
			t.Error("a choice that was kept is made again")
		}
		var tried []int
		for _, of := range c.Tried {
			tried = append(tried, of.Points)
			if !(math.Abs(of.LogEvidence-climbed[of.Points]) <= 1e-3) {
				t.Errorf("%d points: %v on record, a climb comes to %v", of.Points, of.LogEvidence, climbed[of.Points])
			}
		}
		if found, _ := c.Z.Dims(); found != test.want || !slices.Equal(tried, test.tried) ||
			!c.Fewer.IsZero() != (test.tolerance < 1) {
			t.Errorf("%+v: %d inducing inputs after %v, %q", test, found, tried, c.Fewer)
		}
	}
}

// TestRechosen: Rechosen at a theta chooses the same inputs as an objective whose hyperparameters
// start there.
func TestRechosen(t *testing.T) {
	at, data := []float64{0.4, -0.7}, sums(200)
	z := func(option objective.Inducing, start bool) *mat.Dense {
		k := kernel.SE{}
		if start {
			k.Amplitude.Init, k.LengthScale.Init = new(math.Exp(at[0])), new(math.Exp(at[1]))
		}
		o, err := objective.New(objective.Model{Kernels: []kernel.Kernel{k}, Likelihood: likelihood.Logit{},
			Inference: approx.Laplace{Structure: option}}, nil, data)
		if err == nil {
			o, err = objective.Rechosen(t.Context(), o, at)
		}
		if err != nil {
			t.Fatal(err)
		}
		p, err := o.At(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		return p.Choice().Z
	}
	started, again := z(objective.Inducing{Points: 30}, true), z(objective.Inducing{Points: 30, Rechoose: true}, false)
	if !mat.Equal(started, again) || mat.Equal(started, z(objective.Inducing{Points: 30}, false)) {
		t.Error("the inputs are not those of the greedy choice there")
	}
}

// TestInducingIncomplete: the selection method without a number of inducing inputs, or with a negative one, is an error.
func TestInducingIncomplete(t *testing.T) {
	for _, points := range []int{0, -5} {
		_, err := objective.New(objective.Model{Kernels: []kernel.Kernel{kernel.SE{}}, Likelihood: likelihood.Logit{},
			Inference: approx.Laplace{Structure: objective.Inducing{Points: points, Select: objective.Selection(1)}}}, nil, sums(20))
		if err == nil || !strings.Contains(err.Error(), "points is missing, or below 1; write how many") {
			t.Errorf("%v", err)
		}
	}
}

// TestTuneInputs: inducing inputs optimised with the hyperparameters reach a higher bound than fixed ones, at a
// stationary point of both.
func TestTuneInputs(t *testing.T) {
	data := sums(200)
	build := func(tunes bool) *objective.Objective {
		o, err := objective.New(objective.Model{Kernels: []kernel.Kernel{kernel.SE{}}, Likelihood: likelihood.Probit{},
			Inference: approx.Variational{Structure: objective.Inducing{Points: 6, TuneInputs: tunes}}}, objective.LogEvidence{}, data)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	chosen, err := objective.Optimize(t.Context(), build(false), []float64{0, 0}, objective.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	tuned, err := objective.Optimize(t.Context(), build(true), []float64{0, 0}, objective.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if tuned.Status != objective.Converged || len(tuned.Inputs) != 12 || len(tuned.Theta) != 2 || !(tuned.Value > chosen.Value+0.1) {
		t.Errorf("%s with %d inputs at %v, %v; %v without", tuned.Status, len(tuned.Inputs), tuned.Theta, tuned.Value, chosen.Value)
	}
	o := objective.WithInducing(build(false), mat.NewDense(6, 2, tuned.Inputs))
	p, err := o.At(t.Context(), tuned.Theta)
	if err != nil {
		t.Fatal(err)
	}
	if !(math.Abs(p.Value()-tuned.Value) <= 1e-6) {
		t.Errorf("the bound there is %v, the optimum %v", p.Value(), tuned.Value)
	}
	g := mat.NewDense(6, 2, nil)
	if err := p.InputGradient(g); err != nil || !(mat.Norm(g, math.Inf(1)) <= 1e-3*math.Abs(tuned.Value)) {
		t.Errorf("gradient %v, %v", mat.Formatted(g), err)
	}
}
