package objective

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// Value and gradient equal, to the last bit, the value and gradient with the chosen likelihood
// alone. The gradient by parameters of the others is 0. The restarts take the likelihoods in turn,
// and end at the same points as restarts with each likelihood alone.
func TestChoiceOfALikelihood(t *testing.T) {
	ctx, d, epsilon := context.Background(), ring(40, 2), 0.1
	threshold := likelihood.NoisyThreshold{Epsilon: param.Setting{Init: &epsilon}}
	step := likelihood.NoisyThreshold{}
	c := likelihood.Choice{{Kind: "probit", Likelihood: likelihood.Probit{}}, {Kind: "noisy_threshold", Likelihood: threshold},
		{Kind: "logit", Likelihood: likelihood.Logit{}}, {Kind: "noisy_threshold", Likelihood: step}}
	of := func(l likelihood.Likelihood) *Objective {
		o, err := New(Model{Kernels: []kernel.Kernel{kernel.SE{}}, Likelihood: l, Inference: approx.EP{}}, LogEvidence{}, d)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	evaluate := func(o *Objective, theta, grad []float64) float64 {
		p, err := o.At(ctx, theta)
		if err == nil && grad != nil {
			err = p.Gradient(grad)
		}
		if err != nil {
			t.Fatal(err)
		}
		return p.Value()
	}
	chosen := of(c)
	tuned, err := Maximize(ctx, chosen, Restarts{Count: 4, Seed: 3}, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	best := math.Inf(-1)
	for i, n := range c {
		alone := of(n.Likelihood)
		theta := []float64{0.5, 1.2, float64(i), -3}
		own := theta[:2]
		if i == 1 {
			own = []float64{0.5, 1.2, -3}
		}
		got, want := make([]float64, 4), make([]float64, len(own))
		value, of := evaluate(chosen, theta, got), evaluate(alone, own, want)
		if i != 1 {
			want = append(want, 0)
		}
		if want = slices.Insert(want, 2, 0); value != of || !slices.Equal(got, want) {
			t.Errorf("%s: %v %v, alone %v %v", n.Kind, value, got, of, want)
		}
		top, err := Maximize(ctx, alone, Restarts{}, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		best = max(best, top.Value)
		if end := tuned.All[i].Optimum; end.Theta[2] != float64(i) || math.Abs(end.Value-top.Value) > 1e-6 {
			t.Errorf("%s: %v at %v, alone %v", n.Kind, end.Value, end.Theta, top.Value)
		}
	}
	if math.Abs(tuned.Value-best) > 1e-6 {
		t.Errorf("%v at %v, the best alone is %v", tuned.Value, tuned.Theta, best)
	}
	// The gradient by epsilon, by differences.
	at := func(h float64) float64 { return evaluate(chosen, []float64{0.5, 1.2, 1, -3 + h}, nil) }
	grad := make([]float64, 4)
	evaluate(chosen, []float64{0.5, 1.2, 1, -3}, grad)
	if want := (at(2e-5) - at(-2e-5)) / 4e-5; math.Abs(grad[3]-want) > 1e-6*math.Abs(want) {
		t.Errorf("by epsilon %v, differences give %v", grad[3], want)
	}
}

// A choice has the capabilities that all its likelihoods have. A choice without likelihoods is an
// error.
func TestChoiceCanWhatAllCan(t *testing.T) {
	m := Model{Kernels: []kernel.Kernel{kernel.SE{}}, Inference: approx.Laplace{}, Likelihood: likelihood.Choice{
		{Kind: "probit", Likelihood: likelihood.Probit{}}, {Kind: "noisy_threshold", Likelihood: likelihood.NoisyThreshold{}}}}
	if _, err := m.Check(2); err == nil {
		t.Error("Laplace's method takes a likelihood without derivatives")
	}
	empty := m
	empty.Likelihood = likelihood.Choice{}
	if _, err := New(empty, LogEvidence{}, ring(9, 1)); err == nil || !strings.Contains(err.Error(), "give at least two likelihoods") {
		t.Error(err)
	}
	m.Inference = approx.EP{}
	if caps, err := m.Check(2); err != nil || !caps.Gradient || !caps.LeaveOneOut {
		t.Errorf("%+v, %v", caps, err)
	}
	m.Inference = approx.EP{NegativeSites: approx.KeepNegative}
	all, err := m.Check(2)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range likelihood.Alternatives(m.Likelihood) {
		caps, err := m.Inference.Uses(l, 2)
		if err != nil || all.Gradient && !caps.Gradient || all.LeaveOneOutGradient && !caps.LeaveOneOutGradient {
			t.Errorf("%T alone %+v, the choice %+v: %v", l, caps, all, err)
		}
	}
	if (MacKay{}).Uses(likelihood.Choice{{Kind: "logit", Likelihood: likelihood.Logit{}}}) != nil || (MacKay{}).Uses(m.Likelihood) == nil {
		t.Error("MacKay's average is that of logit alone")
	}
}
