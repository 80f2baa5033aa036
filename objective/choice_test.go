package objective

import (
	"context"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

func chosenAmong(kernels ...kernel.Kernel) Model {
	var c kernel.Choice
	for _, k := range kernels {
		c = append(c, kernel.Named{Kind: kernel.Table.NameOf(k), Kernel: k})
	}
	return Model{Kernels: []kernel.Kernel{c}, Likelihood: likelihood.Probit{}, Inference: approx.Laplace{}}
}

// A choice of kernels has the standard errors of the chosen kernel, and no further warning.
func TestCurvatureOfAChoice(t *testing.T) {
	d := ring(40, 2)
	alone, err := New(Model{Kernels: []kernel.Kernel{kernel.SE{}}, Likelihood: likelihood.Probit{}, Inference: approx.Laplace{}}, LogEvidence{}, d)
	if err != nil {
		t.Fatal(err)
	}
	top, err := Optimize(context.Background(), alone, []float64{1, 0}, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	want, err := alone.Curvature(context.Background(), top.Theta)
	if err != nil {
		t.Fatal(err)
	}
	o, err := New(chosenAmong(kernel.Linear{}, kernel.SE{}, kernel.Matern32{}), LogEvidence{}, d)
	if err != nil {
		t.Fatal(err)
	}
	free := []float64{1, 0, top.Theta[0], top.Theta[1], 0, 0.5}
	got, err := o.Curvature(context.Background(), free)
	if err != nil {
		t.Fatal(err)
	}
	if len(want.StandardErrors) != 2 || !floats.EqualApprox(got.StandardErrors, want.StandardErrors, 1e-12) || len(got.Warnings) > 0 {
		t.Errorf("%v, want %v; %v", got.StandardErrors, want.StandardErrors, got.Warnings)
	}
	// A climb stays with its choice.
	climbed, err := Optimize(context.Background(), o, []float64{1, 0, 1, 0, 0, 0.5}, Settings{})
	if err != nil || climbed.Theta[0] != 1 || climbed.Theta[1] != 0 || climbed.Theta[5] != 0.5 || climbed.Value != top.Value {
		t.Errorf("%v at %v, alone %v: %v", climbed.Value, climbed.Theta, top.Value, err)
	}
}

// Cases with equal inputs are not merged if a kernel that can be chosen, however deep, has noise.
func TestNoiseOfAChoice(t *testing.T) {
	noise := kernel.Sum{{Kind: "se", Kernel: kernel.SE{}}, {Kind: "noise", Kernel: kernel.Noise{}}}
	inner := kernel.Choice{{Kind: "se", Kernel: kernel.SE{}}, {Kind: "sum", Kernel: noise}}
	for name, c := range map[string]struct {
		k    []kernel.Kernel
		want bool
	}{
		"none": {[]kernel.Kernel{kernel.SE{}, kernel.Linear{}}, true}, "second": {[]kernel.Kernel{kernel.SE{}, noise}, false},
		"inside": {[]kernel.Kernel{kernel.SE{}, kernel.Linear{}, inner}, false},
	} {
		o, err := New(chosenAmong(c.k...), LogEvidence{}, ring(9, 1))
		if err != nil {
			t.Fatal(err)
		}
		if got := o.MergesEqual(); got != c.want {
			t.Errorf("%s: merges %v", name, got)
		}
	}
}

// Operations that a choice does not allow are errors: too few restarts of a climb, priors of
// hyperparameters that may not matter, or a value between two choices.
func TestChoiceRefusals(t *testing.T) {
	m := chosenAmong(kernel.SE{}, kernel.Linear{})
	o, err := New(m, LogEvidence{}, ring(9, 1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Maximize(context.Background(), o, Restarts{}, Settings{}); err == nil || !strings.Contains(err.Error(), "write restarts: 2, or more") {
		t.Error(err)
	}
	if err := o.Layout.Set(o.Layout.Start(), "choice", 0.5); err == nil || !strings.Contains(err.Error(), "whole number") {
		t.Error(err)
	}
	prior := param.Setting{Prior: param.Gamma{Shape: 2, Rate: 1}}
	if _, err := New(chosenAmong(kernel.SE{}, kernel.Linear{Amplitude: prior}), LogPosterior{}, ring(9, 1)); err == nil ||
		!strings.Contains(err.Error(), "2.linear.amplitude has a prior and matters for one choice only") {
		t.Error(err)
	}
	m.Mean = Constant{param.Setting{Prior: param.Normal{SD: 1}}}
	if _, err := New(m, LogPosterior{}, ring(9, 1)); err != nil {
		t.Error(err)
	}
}

// The restarts of a climb take the kernels in turn, and end at the same points as the restarts with
// each kernel alone.
func TestRestartsOfAChoice(t *testing.T) {
	kernels := []kernel.Kernel{kernel.Linear{}, kernel.SE{}, kernel.Matern12{}}
	o, err := New(chosenAmong(kernels...), LogEvidence{}, ring(40, 2))
	if err != nil {
		t.Fatal(err)
	}
	got, err := Maximize(context.Background(), o, Restarts{Count: 5, Seed: 3}, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	best := math.Inf(-1)
	for i, k := range kernels {
		m := Model{Kernels: []kernel.Kernel{k}, Likelihood: likelihood.Probit{}, Inference: approx.Laplace{}}
		alone, err := New(m, LogEvidence{}, ring(40, 2))
		if err != nil {
			t.Fatal(err)
		}
		want, err := Maximize(context.Background(), alone, Restarts{}, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		best = max(best, want.Value)
		if of := got.All[i].Optimum; of.Theta[0] != float64(i) || math.Abs(of.Value-want.Value) > 1e-6 || len(of.AtBound) != len(want.AtBound) {
			t.Errorf("%d: %v at %v, %v; alone %v", i, of.Value, of.Theta, of.AtBound, want.Value)
		}
	}
	if got.Theta[0] != 1 || math.Abs(got.Value-best) > 1e-6 || got.All[3].Start[0] != 0 || got.All[4].Start[0] != 1 {
		t.Errorf("%v at %v, the best alone is %v", got.Value, got.Theta, best)
	}
}

// Messages have the hyperparameters that matter.
func TestChoiceInMessages(t *testing.T) {
	m := chosenAmong(kernel.SE{}, kernel.Linear{})
	l := m.Layout(1, nil, 1)
	if got := l.describe([]float64{1, 0, 0, 2}); got != "choice=1, 2.linear.log_amplitude=2" {
		t.Error(got)
	}
	if got := l.describe([]float64{0, 1, 3, 2}); got != "choice=0, 1.se.log_amplitude=1, 1.se.log_length_scale=3" {
		t.Error(got)
	}
}
