package objective

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// weightsOf are 0, 1, 2 and 3, and the data with that many equal cases.
func weightsOf(t *testing.T, d Data) (weighted, repeated Data) {
	t.Helper()
	weighted = d
	var rows [][]float64
	repeated = Data{Classes: d.Classes, Y: approx.Targets{Classes: d.Y.Classes}}
	for i := range d.X.N() {
		w := (i*i + i/3) % 4
		weighted.Y.Weight = append(weighted.Y.Weight, float64(w))
		for range w {
			rows = append(rows, slices.Clone(d.X.X.RawRowView(i)))
			if d.Y.Index != nil {
				repeated.Y.Index = append(repeated.Y.Index, d.Y.Index[i])
			} else {
				repeated.Y.Value = append(repeated.Y.Value, d.Y.Value[i])
			}
		}
	}
	var err error
	if repeated.X, err = kernel.NewInputs(rows); err != nil {
		t.Fatal(err)
	}
	return weighted, repeated
}

// TestWeightsAreRepeatedCases: of every method, with and without noise in the kernel.
func TestWeightsAreRepeatedCases(t *testing.T) {
	noisy := kernel.Sum{{Kind: "se", Kernel: kernel.SE{}}, {Kind: "noise", Kernel: kernel.Noise{}}}
	two, three := ring(24, 1), rings(24, 1)
	numbers := Data{X: two.X, Y: approx.Targets{Value: make([]float64, two.X.N())}}
	for i := range numbers.Y.Value {
		numbers.Y.Value[i] = math.Sin(3 * two.X.X.At(i, 0))
	}
	iteration := approx.Iteration{Tolerance: 1e-13}
	for _, c := range []struct {
		lik       likelihood.Likelihood
		inference approx.Approximation
		data      Data
	}{
		{likelihood.Logit{}, approx.Laplace{Tolerance: 1e-13}, two}, {likelihood.Probit{}, approx.EP{Iteration: iteration}, two},
		{likelihood.Probit{}, approx.PL{Iteration: iteration}, two}, {likelihood.Logit{}, approx.Variational{Tolerance: 1e-13}, two},
		{likelihood.Gaussian{}, approx.Exact{}, numbers}, {likelihood.Softmax{}, approx.Laplace{Tolerance: 1e-13}, three},
		{likelihood.Probit{}, approx.OneVsRest{Binary: approx.Laplace{Tolerance: 1e-13}}, three},
		{likelihood.Probit{}, approx.NaiveMeanField{}, two}, {likelihood.Probit{}, approx.EnsembleMeanField{}, two},
		{likelihood.Probit{}, approx.Online{}, two},
	} {
		for _, k := range []kernel.Kernel{kernel.SE{}, noisy} {
			name := fmt.Sprintf("%T %T %T", c.inference, c.lik, k)
			m := Model{Kernels: []kernel.Kernel{k}, Mean: Constant{}, Likelihood: c.lik, Inference: c.inference}
			weighted, repeated := weightsOf(t, c.data)
			var values []float64
			var gradients [][]float64
			var predictions []*mat.Dense
			for _, d := range []Data{weighted, repeated} {
				o, err := New(m, LogEvidence{}, d)
				if err != nil {
					t.Fatal(name, err)
				}
				free := o.Layout.Pick(o.Layout.Start())
				for i := range free {
					free[i] = 0.3 * math.Sin(float64(i+1))
				}
				p, err := o.At(context.Background(), free)
				if err != nil {
					t.Fatal(name, err)
				}
				g := make([]float64, len(free))
				if err := p.Gradient(g); err != nil {
					t.Fatal(name, err)
				}
				values, gradients = append(values, p.Value()), append(gradients, g)
				if c.data.Y.Classes > 0 {
					proba := mat.NewDense(c.data.X.N(), c.data.Y.Classes, nil)
					p.PredictProba(proba, &kernel.Inputs{X: c.data.X.X}, Averaged{})
					predictions = append(predictions, proba)
				}
			}
			if !(math.Abs(values[0]-values[1]) <= 1e-9*max(1, math.Abs(values[1]))) {
				t.Errorf("%s: value %.14g, of repeated cases %.14g", name, values[0], values[1])
			}
			if !floats.EqualApprox(gradients[0], gradients[1], 1e-9*max(1, floats.Norm(gradients[1], math.Inf(1)))) {
				t.Errorf("%s: gradient %v, of repeated cases %v", name, gradients[0], gradients[1])
			}
			if predictions != nil && !mat.EqualApprox(predictions[0], predictions[1], 1e-9) {
				t.Errorf("%s: predictions differ", name)
			}
		}
	}
}

func TestWrongWeights(t *testing.T) {
	d := ring(10, 1)
	m := Model{Kernels: []kernel.Kernel{kernel.SE{}}, Likelihood: likelihood.Probit{}, Inference: approx.NaiveMeanField{}}
	for _, w := range [][]float64{
		{1}, slices.Repeat([]float64{0}, 10), append(slices.Repeat([]float64{1}, 9), math.NaN()),
		append(slices.Repeat([]float64{1}, 9), -1), append(slices.Repeat([]float64{1}, 9), math.Inf(1)),
		append(slices.Repeat([]float64{1}, 9), 0.5),
	} {
		d.Y.Weight = w
		if _, err := New(m, LogEvidence{}, d); err == nil {
			t.Errorf("%v are accepted", w)
		}
	}
	m.Inference = approx.EP{}
	if _, err := New(m, LogEvidence{}, d); err != nil {
		t.Error(err)
	}
}

// TestNoiseOfWeights: a weight of 2 is equivalent to two cases with independent noise. This holds
// also if the kernel's noise is not visible at the first case or at the initial values.
func TestNoiseOfWeights(t *testing.T) {
	se, noise := kernel.Named{Kind: "se", Kernel: kernel.SE{}}, kernel.Named{Kind: "noise", Kernel: kernel.Noise{}}
	slope := kernel.Named{Kind: "linear", Kernel: kernel.Linear{Bias: new(bool)}}
	small := 1e-9
	tiny := param.Setting{Init: &small, Bounds: &[2]float64{1e-10, 10}}
	at := func(x float64) Data {
		d, err := NewData([][]float64{{x}, {1}, {2}}, []int{0, 1, 0})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for name, k := range map[string]kernel.Kernel{
		"none at the first case": kernel.Sum{se, {Kernel: kernel.Product{slope, noise}}},
		"little at first":        kernel.Sum{se, {Kind: "noise", Kernel: kernel.Noise{Amplitude: tiny}}},
	} {
		m := Model{Kernels: []kernel.Kernel{k}, Likelihood: likelihood.Probit{}, Inference: approx.EP{}}
		weighted := at(0)
		weighted.Y.Weight = []float64{1, 2, 2}
		repeated, err := weighted.Repeated()
		if err != nil {
			t.Fatal(err)
		}
		var values []float64
		for _, d := range []Data{weighted, repeated} {
			o, err := New(m, LogEvidence{}, d)
			if err != nil {
				t.Fatal(err)
			}
			p, err := o.At(context.Background(), make([]float64, len(o.Layout.Free)))
			if err != nil {
				t.Fatal(err)
			}
			values = append(values, p.Value())
		}
		if math.Abs(values[0]-values[1]) > 1e-9 {
			t.Errorf("%s: log evidence %v weighted, %v repeated", name, values[0], values[1])
		}
	}
}

// TestNoiseOfWeightsAgainstTheRest: one_vs_rest takes weights that are no whole numbers with noise in the kernel too, and has their gradient.
func TestNoiseOfWeightsAgainstTheRest(t *testing.T) {
	noisy := kernel.Sum{{Kind: "se", Kernel: kernel.SE{}}, {Kind: "noise", Kernel: kernel.Noise{}}}
	d := rings(24, 1)
	value := func(weight func(i int) float64, theta []float64) (*Point, float64) {
		weighted := d
		weighted.Y.Weight = nil
		for i := range d.X.N() {
			weighted.Y.Weight = append(weighted.Y.Weight, weight(i))
		}
		m := Model{Kernels: []kernel.Kernel{noisy}, Likelihood: likelihood.Probit{}, Inference: approx.OneVsRest{Binary: approx.EP{}}}
		o, err := New(m, LogEvidence{}, weighted)
		if err != nil {
			t.Fatal(err)
		}
		p, err := o.At(context.Background(), theta)
		if err != nil {
			t.Fatal(err)
		}
		return p, p.Value()
	}
	of := func(extra float64) func(int) float64 { return func(i int) float64 { return float64(1+i%3) + extra } }
	theta := []float64{0.3, -0.2, -0.7}
	_, two := value(of(0), theta)
	_, near := value(of(1e-7), theta)
	if math.Abs(two-near) > 1e-5 {
		t.Errorf("log evidence %v, and %v of weights that are 1e-7 more", two, near)
	}
	p, _ := value(of(0.4), theta)
	gradient := make([]float64, len(theta))
	if err := p.Gradient(gradient); err != nil {
		t.Fatal(err)
	}
	for j, g := range gradient {
		const h = 1e-4
		at := func(by float64) float64 {
			moved := slices.Clone(theta)
			moved[j] += by
			_, v := value(of(0.4), moved)
			return v
		}
		if want := (at(h) - at(-h)) / (2 * h); math.Abs(g-want) > 1e-5 {
			t.Errorf("derivative %d is %v, want %v", j, g, want)
		}
	}
}
