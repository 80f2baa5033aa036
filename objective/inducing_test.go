package objective_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/inducing"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// TestInducingGradients holds gradients with inducing inputs, through kernels with noise, sums and
// products, to central differences; cases are more than one part of them.
func TestInducingGradients(t *testing.T) {
	const n, h = 2100, 1e-4
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
		"ard":   {kernel.SE{ARD: true}, approx.Laplace{Inducing: approx.Inducing{Points: 12}}},
		"noise": {kernel.Sum{se, noise}, approx.Variational{Inducing: approx.Inducing{Points: 12, Select: approx.KMeans, Correction: vfe}}},
		"product": {
			kernel.Product{se, kernel.Named{Kind: "linear", Kernel: kernel.Linear{}}},
			approx.Laplace{Inducing: approx.Inducing{Points: 12, Select: approx.Random, Correction: half}},
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
			value := func(j int, step float64) float64 {
				u := append([]float64{}, at...)
				u[j] += step
				p, err := o.At(context.Background(), u)
				if err != nil {
					t.Fatal(err)
				}
				return p.Value()
			}
			p, err := o.At(context.Background(), at)
			if err != nil {
				t.Fatal(err)
			}
			got := make([]float64, len(at))
			if err := p.Gradient(got); err != nil {
				t.Fatal(err)
			}
			for j := range got {
				want := (value(j, h) - value(j, -h)) / (2 * h)
				if !(math.Abs(got[j]-want) <= 1e-6*max(1, math.Abs(want), math.Abs(p.Value()))) {
					t.Errorf("derivative %d is %.10g, differences give %.10g", j, got[j], want)
				}
			}
		})
	}
}

// TestInducingOneVsRest holds the gradient of three classes, each against the rest, with one shared
// prior to central differences.
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
		Inference: approx.OneVsRest{Binary: approx.EP{Inducing: approx.Inducing{Points: 7}}},
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

// TestSelectionsAreMethods: every name that a file may give is a method of the table.
func TestSelectionsAreMethods(t *testing.T) {
	if got, want := approx.Greedy.Names(), inducing.Table.Names(); !slices.Equal(got, want) {
		t.Errorf("selections %v, methods %v", got, want)
	}
}

// sums draws n cases of two inputs with the labels of a smooth function, and noise.
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

// TestDoublings: there are as many inducing inputs as it takes, by evidences of numbers that are given.
func TestDoublings(t *testing.T) {
	data := sums(300)
	at := []float64{0.7, 0.6}
	build := func(option approx.Inducing) *objective.Objective {
		o, err := objective.New(objective.Model{Kernels: []kernel.Kernel{kernel.SE{}}, Likelihood: likelihood.Probit{},
			Inference: approx.Variational{Inducing: option}}, objective.LogEvidence{}, data)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	for tolerance, ends := range map[float64]bool{1e-3: true, 1e-9: false} {
		o, err := objective.Rechosen(t.Context(), build(approx.Inducing{Points: 200, Tolerance: tolerance, Rechoose: true}), at)
		if err != nil {
			t.Fatal(err)
		}
		p, err := o.At(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		c := p.Choice()
		found, _ := c.Z.Dims()
		for k, d := range c.Doublings {
			for points, value := range map[int]float64{d.Points: d.LogEvidence, min(2*d.Points, 200): d.Doubled} {
				other, err := objective.Rechosen(t.Context(), build(approx.Inducing{Points: points, Rechoose: true}), at)
				if err != nil {
					t.Fatal(err)
				}
				q, err := other.At(t.Context(), at)
				if err != nil {
					t.Fatal(err)
				}
				if !(math.Abs(q.Value()-value) <= 1e-8*math.Abs(value)) {
					t.Errorf("with %d inputs the bound is %v, and on record %v", points, q.Value(), value)
				}
			}
			enough, last := math.Abs(d.Doubled-d.LogEvidence) <= tolerance*300, k == len(c.Doublings)-1
			if enough != (ends && last) || enough && found != d.Points {
				t.Errorf("tolerance %v: %d inputs after doubling %d, %+v", tolerance, found, k, d)
			}
		}
		if !ends && (found != 165 || len(c.Doublings) != 2 || !strings.Contains(c.Fewer, "165 of 200")) { // of full rank
			t.Errorf("tolerance %v: %d inputs, %v, %q", tolerance, found, c.Doublings, c.Fewer)
		}
	}
}

// TestDoublingClimbs: where nothing is said of theta, the number is that at hyperparameters that explain the cases.
func TestDoublingClimbs(t *testing.T) {
	data := sums(250)
	model := objective.Model{Kernels: []kernel.Kernel{kernel.SE{ARD: true}}, Likelihood: likelihood.Logit{},
		Inference: approx.Laplace{Inducing: approx.Inducing{Points: 100, Tolerance: 0.01}}}
	var choices [2]*objective.Choice
	kept := new(objective.Choices)
	for i := range choices {
		o, err := objective.New(model, objective.LogEvidence{}, data)
		if err == nil {
			err = objective.Choose(t.Context(), o, kept)
		}
		if err != nil {
			t.Fatal(err)
		}
		p, err := o.At(t.Context(), []float64{0, 0, 0})
		if err != nil {
			t.Fatal(err)
		}
		choices[i] = p.Choice()
	}
	if choices[0] != choices[1] {
		t.Error("a choice that was kept is made again")
	}
	model.Inference = approx.Laplace{}
	o, err := objective.New(model, objective.LogEvidence{}, data)
	if err != nil {
		t.Fatal(err)
	}
	best, err := objective.Optimize(t.Context(), o, []float64{0, 0, 0}, objective.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if d := choices[0].Doublings; len(d) == 0 || !(d[0].LogEvidence > best.Value-0.05*250) {
		t.Errorf("doublings %+v, the optimum %v", d, best.Value)
	}
}

// TestInducingIncomplete: what says how inducing inputs are chosen and not how many is an error.
func TestInducingIncomplete(t *testing.T) {
	_, err := objective.New(objective.Model{Kernels: []kernel.Kernel{kernel.SE{}}, Likelihood: likelihood.Logit{},
		Inference: approx.Laplace{Inducing: approx.Inducing{Select: approx.KMeans}}}, nil, sums(20))
	if err == nil || !strings.Contains(err.Error(), "points is missing") {
		t.Errorf("%v", err)
	}
}
