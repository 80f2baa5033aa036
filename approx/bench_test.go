package approx_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
)

// BenchmarkEvidence fits a model of two classes in the plane at length scale 1 and amplitude 3; "+adjoint" also
// computes the adjoint.
func BenchmarkEvidence(b *testing.B) {
	for _, of := range []struct {
		suffix string
		lik    likelihood.Bound
		sizes  []int
	}{
		{"", likelihood.Probit{}, []int{200, 767, 2000}},
		{"/logit", likelihood.Logit{}, []int{100, 200, 400}},
	} {
		for _, m := range approx.Table {
			method, err := m.New(nil)
			if err != nil {
				b.Fatal(err)
			}
			benchmarkMethod(b, m.Name+of.suffix, method, of.lik, of.sizes)
		}
	}
	parallel := approx.Table.Default("ep").(approx.EP)
	parallel.Schedule = approx.Parallel
	benchmarkMethod(b, "ep parallel/logit", parallel, likelihood.Logit{}, []int{100, 200, 400})
}

func benchmarkMethod(b *testing.B, name string, method approx.Approximation, lik likelihood.Bound, sizes []int) {
	caps, err := method.Uses(lik.(likelihood.Likelihood), 2)
	if err != nil {
		return
	}
	for _, n := range sizes {
		x, y := twoClasses(n, 1)
		k, _, _ := seGram(x, 0, 1.1)
		for _, gradient := range []bool{false, true} {
			if gradient && !caps.Gradient {
				continue
			}
			name := fmt.Sprintf("%s/n=%d", name, n)
			if gradient {
				name += "+adjoint"
			}
			b.Run(name, func(b *testing.B) {
				dst := approx.Cov{K: mat.NewSymDense(n, nil)}
				for b.Loop() {
					post, err := method.Fit(context.Background(), []approx.Cov{{K: k}},
						approx.Targets{Classes: 2, Value: y}, lik, nil)
					if err != nil {
						b.Fatal(err)
					}
					if gradient {
						if err := post.Evidence().Adjoint(&dst, 0); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(float64(post.Diagnostics().Iterations), "iterations")
				}
			})
		}
	}
}

// BenchmarkJoint is a fit of five classes with its gradient, by joint methods and by Laplace's.
func BenchmarkJoint(b *testing.B) {
	for _, n := range []int{200, 500, 1000} {
		const classes = 5
		rng := rand.New(rand.NewPCG(1, 2))
		x, y := make([][]float64, n), make([]int, n)
		for i := range x {
			x[i] = []float64{rng.NormFloat64(), rng.NormFloat64()}
			y[i] = min(classes-1, max(0, int(2*x[i][0]+0.5*rng.NormFloat64()+2.5)))
		}
		k, _, _ := seGram(x, 0, 1)
		for _, m := range []struct {
			name   string
			method approx.Approximation
			lik    likelihood.Bound
		}{
			{"laplace", approx.Laplace{}, likelihood.Softmax{}},
			{"ep/softmax", approx.EP{}, likelihood.Softmax{}},
			{"ep/probit", approx.EP{}, likelihood.MultinomialProbit{}},
			{"pl/softmax", approx.PL{}, likelihood.Softmax{}},
			{"variational/softmax", approx.Variational{}, likelihood.Softmax{}},
		} {
			b.Run(fmt.Sprintf("%s/n=%d", m.name, n), func(b *testing.B) {
				for b.Loop() {
					post := fitJoint(b, m.method, []approx.Cov{{K: k}}, y, classes, m.lik)
					adjointsOf(b, post, 1, n)
					b.ReportMetric(float64(post.Diagnostics().Factorizations), "factors")
				}
			})
		}
	}
}
