package objective

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// apart makes n cases in the plane, with classes far from each other.
func apart(n, classes int, seed uint64) Data {
	rng := rand.New(rand.NewPCG(seed, 0))
	x, y := mat.NewDense(n, 2, nil), approx.Targets{Classes: classes}
	for i := range n {
		class := i % classes
		angle := 2 * math.Pi * float64(class) / float64(classes)
		x.SetRow(i, []float64{1.5*math.Cos(angle) + 0.3*rng.NormFloat64(), 1.5*math.Sin(angle) + 0.3*rng.NormFloat64()})
		if classes == 2 {
			y.Value = append(y.Value, float64(2*class-1))
		} else {
			y.Index = append(y.Index, class)
		}
	}
	return Data{X: &kernel.Inputs{X: x}, Y: y, Scaled: true}
}

// undeterminedIn are the warnings of an optimum that an amplitude is not determined.
func undeterminedIn(m Optimum) (n int) {
	for _, w := range m.Warnings {
		if w.Kind == cause.Undetermined {
			n++
		}
	}
	return n
}

// Where the classes can be separated the evidence rises with the amplitude without end. The climb
// ends where a factor of e gains 0.01 nats and all other slopes are 0, from every start and with
// every method.
func TestAmplitudesOfSeparatedClasses(t *testing.T) {
	for _, c := range []struct {
		name    string
		lik     likelihood.Likelihood
		method  approx.Approximation
		classes int
		kernel  kernel.Kernel
	}{
		{"ep", likelihood.Probit{}, approx.EP{}, 2, kernel.SE{}},
		{"ep logit", likelihood.Logit{}, approx.EP{}, 2, kernel.Linear{}},
		{"one_vs_rest", likelihood.Probit{}, approx.OneVsRest{Binary: approx.EP{}}, 3, kernel.SE{}},
	} {
		o, err := New(Model{Kernels: []kernel.Kernel{c.kernel}, Likelihood: c.lik, Inference: c.method}, LogEvidence{}, apart(30, c.classes, 1))
		if err != nil {
			t.Fatal(err)
		}
		var first []float64
		for _, method := range []string{"bfgs", "lbfgs", "cg"} {
			for _, start := range [][]float64{{0, 0.3}, {3, 0.5}, {9, 1}} {
				m, err := Optimize(context.Background(), o, start[:len(o.Layout.Free)], Settings{Method: method})
				if err != nil {
					t.Fatal(err)
				}
				if undeterminedIn(m) != 1 || m.Status != Converged || math.Abs(m.Gradient[0]-plateau) > plateau/100 {
					t.Errorf("%s, %s from %v: %+v", c.name, method, start, m)
				}
				for _, g := range m.Gradient[1:] {
					if math.Abs(g) > plateau/100 {
						t.Errorf("%s, %s from %v: gradient %v", c.name, method, start, m.Gradient)
					}
				}
				if first == nil {
					first = m.Theta
				}
				for i, v := range m.Theta {
					if math.Abs(v-first[i]) > 0.01 {
						t.Errorf("%s, %s from %v: ended at %v, and before at %v", c.name, method, start, m.Theta, first)
					}
				}
			}
		}
	}
}

// Amplitudes that the evidence determines stay where it is largest.
func TestDeterminedAmplitudesStay(t *testing.T) {
	noisy := kernel.Sum{{Kind: "se", Kernel: kernel.SE{}}, {Kind: "linear", Kernel: kernel.Linear{}}}
	for _, k := range []kernel.Kernel{kernel.SE{}, noisy} {
		for _, m := range []approx.Approximation{approx.Laplace{}, approx.EP{}} {
			o, err := New(Model{Kernels: []kernel.Kernel{k}, Likelihood: likelihood.Probit{}, Inference: m}, LogEvidence{}, ring(60, 1))
			if err != nil {
				t.Fatal(err)
			}
			best, err := Optimize(context.Background(), o, o.Layout.Pick(o.Layout.Start()), Settings{})
			if err != nil {
				t.Fatal(err)
			}
			if undeterminedIn(best) > 0 || best.Status != Converged || floats.Norm(best.Gradient, math.Inf(1)) > 1e-4 {
				t.Errorf("%T: %+v", m, best)
			}
		}
	}
}

// A climb on a plateau ends early, and at the limit of evaluations.
func TestPlateausTakeFewEvaluations(t *testing.T) {
	o, err := New(Model{Kernels: []kernel.Kernel{kernel.SE{}}, Likelihood: likelihood.Probit{}, Inference: approx.EP{}}, LogEvidence{}, apart(30, 2, 1))
	if err != nil {
		t.Fatal(err)
	}
	m, err := Optimize(context.Background(), o, []float64{0, 0.3}, Settings{})
	if err != nil || m.Evaluations > 40 {
		t.Errorf("%d evaluations, %v", m.Evaluations, err)
	}
	if m, err = Optimize(context.Background(), o, []float64{0, 0.3}, Settings{Evaluations: 10}); err != nil || m.Evaluations > 11 {
		t.Errorf("%d evaluations of at most 10, %v", m.Evaluations, err)
	}
}
