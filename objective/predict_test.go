package objective

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

func fitted(t *testing.T, lik likelihood.Likelihood) *Point {
	t.Helper()
	o, err := New(Model{Kernels: []kernel.Kernel{kernel.SE{}}, Mean: Constant{}, Likelihood: lik, Inference: approx.EP{}}, LogEvidence{}, ring(40, 1))
	if err != nil {
		t.Fatal(err)
	}
	p, err := o.At(context.Background(), []float64{1.5, 0.2, 0.4})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func predict(p *Point, z *kernel.Inputs, a Average) *mat.Dense {
	dst := mat.NewDense(z.N(), 2, nil)
	p.PredictProba(dst, z, a)
	return dst
}

func TestAverages(t *testing.T) {
	z := ring(30, 9).X
	mean, variance := make([]float64, 30), make([]float64, 30)
	for name, lik := range map[string]likelihood.Likelihood{"probit": likelihood.Probit{}, "logit": likelihood.Logit{}} {
		p := fitted(t, lik)
		p.Latent(mean, variance, z, 0)
		for _, e := range Averages {
			a, err := e.New(nil)
			if err != nil {
				t.Fatal(err)
			}
			if a.Uses(lik) != nil {
				continue
			}
			proba := predict(p, z, a)
			for i := range mean {
				squash := func(m float64) float64 { return 1 / (1 + math.Exp(-m)) }
				if name == "probit" {
					squash = func(m float64) float64 { return math.Erfc(-m/math.Sqrt2) / 2 }
				}
				want, tolerance := squash(mean[i]), 1e-12
				switch {
				case e.Name == "monte_carlo":
					want, tolerance = predict(p, z, Averaged{}).At(i, 1), 5*0.5/math.Sqrt(1000)
				case e.Name == "mackay":
					want = squash(mean[i] / math.Sqrt(1+math.Pi/8*variance[i]))
				case e.Name == "averaged" && name == "probit":
					want = squash(mean[i] / math.Sqrt(1+variance[i]))
				case e.Name == "averaged": // the trapezoidal rule over ±10 standard deviations
					want = 0
					for k := -1000; k <= 1000; k++ {
						x := 0.01 * float64(k)
						want += 0.01 * math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) * squash(mean[i]+math.Sqrt(variance[i])*x)
					}
				}
				if got := proba.At(i, 1); math.Abs(got-want) > tolerance || math.Abs(got+proba.At(i, 0)-1) > 1e-12 {
					t.Errorf("%s, %s, case %d: p = %v, %v, want %v", name, e.Name, i, proba.At(i, 0), got, want)
				}
			}
		}
	}
}

func TestAveragesAreRefusedWhereTheyAreNotDefined(t *testing.T) {
	if (MacKay{}).Uses(likelihood.Probit{}) == nil || (MacKay{}).Uses(likelihood.Logit{}) != nil {
		t.Error("mackay is for logit")
	}
	if (MacKay{}).Uses(likelihood.Softmax{}) != nil || (MAP{}).Uses(likelihood.Softmax{}) != nil {
		t.Error("map and mackay are for softmax too")
	}
	if (MAP{}).Uses(gaussian{}) == nil || (MonteCarlo{}).Uses(gaussian{}) == nil {
		t.Error("map and monte_carlo are for classes")
	}
	if (MonteCarlo{Samples: -1}).Uses(likelihood.Logit{}) == nil {
		t.Error("samples: -1")
	}
}

func TestPredictionsKnowNoBlocks(t *testing.T) {
	p := fitted(t, likelihood.Logit{})
	many := mat.NewDense(batch+5, 2, nil)
	for i := range batch + 5 {
		many.SetRow(i, []float64{math.Sin(float64(i)), math.Cos(float64(3 * i))})
	}
	all := predict(p, &kernel.Inputs{X: many}, Averaged{})
	last := predict(p, &kernel.Inputs{X: many.Slice(batch-5, batch+5, 0, 2).(*mat.Dense)}, Averaged{})
	for i := range 10 {
		if d := math.Abs(all.At(batch-5+i, 1) - last.At(i, 1)); d > 1e-13 {
			t.Errorf("case %d differs by %v", i, d)
		}
	}
}

// TestBatchesAreBounded: a set of up to batch cases is taken whole, the same inputs, so that they keep their
// distances; a larger one in parts of that many.
func TestBatchesAreBounded(t *testing.T) {
	for _, n := range []int{batch, 2*batch + 5} {
		all := &kernel.Inputs{X: mat.NewDense(n, 1, nil)}
		next := 0
		batches(all, func(first int, z *kernel.Inputs) {
			if first != next || z.N() != min(batch, n-first) || n == batch && z != all {
				t.Errorf("of %d cases %d from %d on", n, z.N(), first)
			}
			next += z.N()
		})
		if next != n {
			t.Errorf("%d of %d cases", next, n)
		}
	}
}

func TestClassifierLearns(t *testing.T) {
	train, test := ring(150, 1), ring(300, 2)
	c := Classifier{
		Model:    Model{Kernels: []kernel.Kernel{kernel.SE{}}, Likelihood: likelihood.Probit{}, Inference: approx.Laplace{}},
		Restarts: 2,
	}
	var l Learner = c
	fit, err := l.Fit(context.Background(), train, 1)
	if err != nil {
		t.Fatal(err)
	}
	proba := mat.NewDense(300, 2, nil)
	fit.PredictProba(proba, test.X)
	errors := 0
	for i, y := range test.Y.Value {
		if (proba.At(i, 1) > 0.5) != (y > 0) {
			errors++
		}
	}
	if errors > 30 { // 2 % of the labels are flipped, and the boundary is learned from 150 cases
		t.Errorf("%d of 300 wrong", errors)
	}
	if tuned := fit.(*Tuned); tuned.Tuning.Status != Converged || math.Abs(tuned.Point.Value()-tuned.Tuning.Value) > 1e-8 {
		t.Errorf("%s with %v, fitted with %v", tuned.Tuning.Status, tuned.Tuning.Value, tuned.Point.Value())
	}
	c.Average = MacKay{}
	if _, err := c.Fit(context.Background(), train, 1); err == nil {
		t.Error("mackay with probit was not refused")
	}
}

// The latent means without variances are the same to the last bit, for every inference method, also in several
// blocks.
func TestLatentMeans(t *testing.T) {
	many := ring(batch+3, 4).X
	tested := 0
	for _, classes := range []int{0, 2, 3} {
		d := ring(12, 3)
		switch classes {
		case 0:
			d.Y.Classes = 0
		case 3:
			d = rings(12, 3)
		}
		for _, a := range approx.Table {
			method, _ := a.New(nil)
			if a.Name == "sampling" {
				method = approx.Sampling{Chains: 4, Samples: 2, Temperatures: 20, Burn: 2}
			}
			for _, inference := range []approx.Approximation{method, approx.OneVsRest{Binary: method}} {
				for _, l := range likelihood.Table {
					lik, _ := l.New(nil)
					m := Model{Kernels: []kernel.Kernel{kernel.SE{}}, Mean: Constant{}, Likelihood: lik, Inference: inference}
					if l.Name == "step" {
						m.Kernels[0] = kernel.Sum{{Kind: "se", Kernel: kernel.SE{}}, {Kind: "noise", Kernel: kernel.Noise{}}}
					}
					if _, err := m.Check(classes); err != nil {
						continue
					}
					o, err := New(m, nil, d)
					if err != nil {
						t.Fatal(err)
					}
					p, err := o.Fit(context.Background(), o.Layout.Start(), nil)
					if err != nil {
						t.Errorf("%s, %s, %d classes: %v", a.Name, l.Name, classes, err)
						continue
					}
					tested++
					z := d.X.Fresh()
					if tested == 1 {
						z = many
					}
					want, _ := p.Latents(z)
					for c, means := range p.LatentMeans(z) {
						for i, v := range means {
							if v != want[c][i] {
								t.Fatalf("%s, %s, %d classes: mean %d of process %d is %v, want %v", a.Name, l.Name, classes, i, c, v, want[c][i])
							}
						}
					}
				}
			}
		}
	}
	if tested < 25 {
		t.Errorf("only %d models", tested)
	}
}
