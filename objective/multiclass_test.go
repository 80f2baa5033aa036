package objective

import (
	"context"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// rings labels points of the plane by their distance from the origin.
func rings(n int, seed uint64) Data {
	d := ring(n, seed)
	d.Classes = []string{"a", "b", "c"}
	d.Y = approx.Targets{Classes: 3, Index: make([]int, n)}
	for i := range n {
		switch r := floats.Norm(d.X.X.RawRowView(i), 2); {
		case r > 1.5:
			d.Y.Index[i] = 2
		case r > 0.9:
			d.Y.Index[i] = 1
		}
	}
	return d
}

func TestSoftmaxThroughTheWholeChain(t *testing.T) {
	train, test := rings(60, 1), rings(100, 2)
	noisy := kernel.Sum{{Kind: "se", Kernel: kernel.SE{}}, {Kind: "noise", Kernel: kernel.Noise{}}}
	for _, m := range []Model{
		{Kernels: []kernel.Kernel{noisy}, Mean: Constant{}},
		{Kernels: []kernel.Kernel{kernel.SE{}, kernel.Linear{}, kernel.SE{}}, Mean: Constant{}},
	} {
		m.Likelihood, m.Inference = likelihood.Softmax{}, approx.Laplace{}
		o, err := New(m, LogEvidence{}, train)
		if err != nil {
			t.Fatal(err)
		}
		free := o.Layout.Pick(o.Layout.Start())
		for i := range free {
			free[i] += 0.3 * math.Sin(float64(i+1))
		}
		differences(t, o, free, 1e-5)
		p, err := o.At(context.Background(), free)
		if err != nil {
			t.Fatal(err)
		}
		g := make([]float64, len(free))
		if err := p.Gradient(g); err != nil {
			t.Fatal(err)
		}
		names := o.Layout.FreeSpecs()
		i := slices.IndexFunc(g, func(v float64) bool { return math.Abs(v) < 1e-9 })
		if i < 0 || names[i].Name != "mean.constant" { // common to all classes; softmax depends on differences only
			t.Errorf("gradient %v, want 0 by the mean alone", g)
		}
		proba := mat.NewDense(100, 3, nil)
		p.PredictProba(proba, test.X, Averaged{})
		for i := range 100 {
			if row := proba.RawRowView(i); math.Abs(floats.Sum(row)-1) > 1e-12 {
				t.Errorf("probabilities %v", row)
			}
		}
		mean, variance := make([]float64, 100), make([]float64, 100)
		for c := range 3 {
			if p.Latent(mean, variance, test.X, c); !(slices.Min(variance) > 0) {
				t.Errorf("latent variance %v of class %d", slices.Min(variance), c)
			}
		}
		again, err := o.Restore(p.Theta, p.Posterior.State())
		if err != nil {
			t.Fatal(err)
		}
		if again.Value() != p.Value() {
			t.Errorf("restored %v, fitted %v", again.Value(), p.Value())
		}
	}
}

func TestSoftmaxClassifierLearns(t *testing.T) {
	train, test := rings(90, 3), rings(200, 4)
	fit, err := Classifier{
		Model: Model{Kernels: []kernel.Kernel{kernel.SE{}}, Likelihood: likelihood.Softmax{}, Inference: approx.Laplace{}},
	}.Fit(context.Background(), train, 1)
	if err != nil {
		t.Fatal(err)
	}
	proba, right := mat.NewDense(200, 3, nil), 0
	fit.PredictProba(proba, test.X)
	for i, y := range test.Y.Index {
		if floats.MaxIdx(proba.RawRowView(i)) == y {
			right++
		}
	}
	if right < 170 {
		t.Errorf("%d of 200 right", right)
	}
	if s := fit.(*Tuned).Tuning.Status; s != Converged {
		t.Errorf("tuning ended with %s", s)
	}
}

// TestAveragesOfSeveralClasses: probabilities of softmax, and of logit against the rest, from the latent means and
// variances.
func TestAveragesOfSeveralClasses(t *testing.T) {
	const n = 40
	train, z := rings(60, 3), rings(n, 4).X
	for name, m := range map[string]Model{
		"softmax":     {Likelihood: likelihood.Softmax{}, Inference: approx.Laplace{}},
		"ep":          {Likelihood: likelihood.Softmax{}, Inference: approx.EP{}},
		"one_vs_rest": {Likelihood: likelihood.Logit{}, Inference: approx.OneVsRest{Binary: approx.EP{}}},
	} {
		m.Kernels, m.Mean = []kernel.Kernel{kernel.SE{}}, Constant{}
		o, err := New(m, LogEvidence{}, train)
		if err != nil {
			t.Fatal(err)
		}
		free := []float64{1.5, 0.2, 0.4}
		differences(t, o, free, 1e-5)
		p, err := o.At(context.Background(), free)
		if err != nil {
			t.Fatal(err)
		}
		proba := func(a Average) *mat.Dense {
			dst := mat.NewDense(n, 3, nil)
			p.PredictProba(dst, z, a)
			return dst
		}
		average, mode, mackay, random := proba(Averaged{}), proba(MAP{}), proba(MacKay{}), proba(MonteCarlo{Samples: 20000})
		few := MonteCarlo{Samples: 500}
		if !mat.Equal(proba(few), proba(few)) || mat.Equal(proba(few), proba(MonteCarlo{Samples: 500, Seed: 1})) {
			t.Errorf("%s: the seed does not fix the draws", name)
		}
		means, variances := make([][]float64, 3), make([][]float64, 3)
		for c := range means {
			means[c], variances[c] = make([]float64, n), make([]float64, n)
			p.Latent(means[c], variances[c], z, c)
		}
		for i := range n {
			var want [2][3]float64 // map, mackay
			var sums [2]float64
			for c := range 3 {
				for k, kappa := range []float64{1, 1 / math.Sqrt(1+math.Pi*variances[c][i]/8)} {
					f := kappa * means[c][i]
					want[k][c] = math.Exp(f)
					if name == "one_vs_rest" {
						want[k][c] = 1 / (1 + math.Exp(-f))
					}
					sums[k] += want[k][c]
				}
			}
			for c := range 3 {
				if got, want := mode.At(i, c), want[0][c]/sums[0]; math.Abs(got-want) > 1e-12 {
					t.Errorf("%s, map: p = %v, want %v", name, got, want)
				}
				if got, want := mackay.At(i, c), want[1][c]/sums[1]; math.Abs(got-want) > 1e-12 {
					t.Errorf("%s, mackay: p = %v, want %v", name, got, want)
				}
				if got, want := random.At(i, c), average.At(i, c); math.Abs(got-want) > 5*0.5/math.Sqrt(20000) {
					t.Errorf("%s, monte_carlo: p = %v, average %v", name, got, want)
				}
			}
		}
	}
}

// TestJointMethods: gradients of joint methods for several classes, with a matrix and with inducing inputs, a kernel
// for all classes or one each.
func TestJointMethods(t *testing.T) {
	train := rings(30, 3)
	for i, lik := range []likelihood.Likelihood{likelihood.Softmax{}, likelihood.MultinomialProbit{}} {
		for j, inference := range []approx.Approximation{approx.EP{}, approx.Variational{}, approx.PL{}} {
			for k, structured := range []bool{false, true} {
				for n, kernels := range []int{1, 3} {
					if !exhaustive.Tries(2, i, j, k, n) {
						continue
					}
					m := Model{
						Kernels: slices.Repeat([]kernel.Kernel{kernel.SE{}}, kernels), Mean: Constant{}, Likelihood: lik,
						Inference: inference,
					}
					if structured {
						with, ok := approx.With(inference, Inducing{Points: 8, Correction: approx.Correction{Form: approx.FITC}})
						if !ok {
							t.Fatal("no inducing inputs")
						}
						m.Inference = with
					}
					o, err := New(m, LogEvidence{}, train)
					if err != nil {
						t.Fatal(err)
					}
					free := []float64{1.5, 0.2}
					for c := 1; c < kernels; c++ {
						free = append(free, 1, 0.5)
					}
					differences(t, o, append(free, 0.4), 1e-4)
				}
			}
		}
	}
}
