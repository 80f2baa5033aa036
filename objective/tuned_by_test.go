package objective

import (
	"context"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// Laplace's method tunes multinomial probit by softmax with covariances π²/6 times as large, the
// variance of a Gumbel variate: its value and gradient at an amplitude a equal the value and
// gradient of softmax at a π/√6. The hyperparameters keep their names.
func TestLaplaceTunesMultinomialProbit(t *testing.T) {
	d := rings(60, 3)
	for name, kernels := range map[string][]kernel.Kernel{
		"one":       {kernel.SE{ARD: true}},
		"per class": {kernel.PerClass{Kernel: kernel.SE{ARD: true}}},
		"sum":       {kernel.Sum{{Kind: "linear", Kernel: kernel.Linear{}}, {Kind: "noise", Kernel: kernel.Noise{}}}},
	} {
		probit := Model{Kernels: kernels, Likelihood: likelihood.MultinomialProbit{}, Inference: approx.EP{}}
		softmax := probit
		softmax.Likelihood, softmax.Inference = likelihood.Softmax{}, approx.Laplace{}
		objectives := make([]*Objective, 3)
		for i, m := range []Model{probit, probit.TunedBy(approx.Laplace{}, 3), softmax} {
			var err error
			if objectives[i], err = New(m, LogEvidence{}, d); err != nil {
				t.Fatal(name, err)
			}
		}
		for i, s := range objectives[1].Layout.Specs {
			if own := objectives[0].Layout.Specs[i]; s.Name != own.Name || s.Init != own.Init || s.Lo != own.Lo {
				t.Errorf("%s: %+v, want %+v", name, s, own)
			}
		}
		theta := slices.Clone(objectives[1].Layout.Start())
		floats.AddConst(0.3, theta)
		scaled := slices.Clone(theta)
		for i, s := range objectives[0].Layout.Specs {
			if s.Column == 0 { // amplitudes
				scaled[i] += math.Log(math.Pi / math.Sqrt(6))
			}
		}
		got, err := objectives[1].At(context.Background(), theta)
		want, other := objectives[2].At(context.Background(), scaled)
		if err != nil || other != nil {
			t.Fatal(name, err, other)
		}
		slope, wanted := make([]float64, len(theta)), make([]float64, len(theta))
		if err := got.Gradient(slope); err != nil {
			t.Fatal(name, err)
		}
		if err := want.Gradient(wanted); err != nil {
			t.Fatal(name, err)
		}
		if !(math.Abs(got.Value()-want.Value()) < 1e-8) || !floats.EqualApprox(slope, wanted, 1e-6) {
			t.Errorf("%s: %v and %v, want %v and %v", name, got.Value(), slope, want.Value(), wanted)
		}
	}
}

// The optimum of Laplace's method is within half a nat of the optimum of EP. Without the factor
// π²/6 classes that overlap, whose amplitude the evidence determines, would lose more than with it.
func TestOptimumForMultinomialProbit(t *testing.T) {
	d := rings(90, 5)
	for i := range d.Y.Index { // every fifth label is another one
		if i%5 == 0 {
			d.Y.Index[i] = (d.Y.Index[i] + 1) % 3
		}
	}
	probit := Model{Kernels: []kernel.Kernel{kernel.SE{}}, Likelihood: likelihood.MultinomialProbit{}, Inference: approx.EP{}}
	softmax := probit
	softmax.Likelihood, softmax.Inference = likelihood.Softmax{}, approx.Laplace{}
	ep, err := New(probit, LogEvidence{}, d)
	if err != nil {
		t.Fatal(err)
	}
	var values []float64
	for _, m := range []Model{probit, probit.TunedBy(approx.Laplace{}, 3), softmax} {
		o, err := New(m, LogEvidence{}, d)
		if err != nil {
			t.Fatal(err)
		}
		best, err := Optimize(context.Background(), o, []float64{0, 0}, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		at, err := ep.At(context.Background(), best.Theta)
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, at.Value())
	}
	if own, mapped, same := values[0], values[1], values[2]; !(own-mapped < 0.5) || !(same < mapped) {
		t.Errorf("log evidence of EP %v at its optimum, %v at that of Laplace's method, %v without the factor", own, mapped, same)
	}
}

// A method that supports neither the likelihood nor softmax returns its own error.
func TestTunedByOthers(t *testing.T) {
	probit := Model{Kernels: []kernel.Kernel{kernel.SE{}}, Likelihood: likelihood.MultinomialProbit{}, Inference: approx.EP{}}
	for _, a := range []approx.Approximation{approx.PL{}, approx.NaiveMeanField{}, approx.OneVsRest{Binary: approx.Laplace{}}} {
		if m := probit.TunedBy(a, 3); m.Likelihood != likelihood.Likelihood(likelihood.MultinomialProbit{}) || m.Inference != a {
			t.Errorf("%T: %+v", a, m)
		}
	}
	step := Model{Kernels: probit.Kernels, Likelihood: likelihood.Step{}, Inference: approx.EP{}}
	if m := step.TunedBy(approx.Laplace{}, 2); m.Likelihood != likelihood.Likelihood(likelihood.Step{}) {
		t.Errorf("%+v", m)
	}
}
