package approx_test

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/allocated"
)

// TestMemory holds what every method says of its memory to what it allocates, by a factor of 1.5 and a quarter of a matrix.
func TestMemory(t *testing.T) {
	const n, held = 160, 80
	x, y := twoClasses(n, 30)
	k, _, _ := seGram(x, 0.5, 1)
	twice := append(x[:n/2:n/2], x[:n/2]...)
	tied, _, _ := seGram(twice, 0.5, 1)
	index := make([]int, n)
	for i := range index {
		index[i] = i % 4
	}
	shared, perClass := []approx.Cov{{K: k}}, []approx.Cov{{K: k}, {K: k}, {K: k}, {K: k}}
	type problem struct {
		name   string
		method approx.Approximation
		lik    likelihood.Likelihood
		cov    []approx.Cov
		y      approx.Targets
		size   approx.Size
		times  int // that memory in passing is needed, one after the other
	}
	size := approx.Size{Cases: n, Distinct: n, New: held, Classes: 2, Kernels: 1}
	binary := approx.Targets{Classes: 2, Value: y}
	var problems []problem
	for _, m := range approx.Table {
		for _, l := range likelihood.Table {
			method, _ := m.New(nil)
			lik, _ := l.New(nil)
			if _, sampled := method.(approx.Sampling); sampled {
				if l.Name != "probit" {
					continue // the same, and slow
				}
				method = approx.Sampling{Temperatures: 10, Burn: 2}
			}
			numbers := approx.Targets{Value: y}
			if _, err := method.Uses(lik, 2); err == nil {
				problems = append(problems, problem{m.Name + "/" + l.Name, method, lik, []approx.Cov{{K: pair{lik: atInit(lik)}.prior(k)}}, binary, size, 1})
			}
			if _, err := method.Uses(lik, 0); err == nil {
				size := size
				size.Classes = 0
				problems = append(problems, problem{m.Name + "/" + l.Name + ", numbers", method, lik, shared, numbers, size, 1})
			}
		}
	}
	size.Distinct = n / 2
	problems = append(problems, problem{"laplace of ties", approx.Laplace{}, likelihood.Logit{}, []approx.Cov{{K: tied}}, binary, size, 1})
	size = approx.Size{Cases: n, Distinct: n, Classes: 4, Kernels: 1}
	four := approx.Targets{Classes: 4, Index: index}
	problems = append(problems,
		problem{"parallel", approx.EP{Schedule: approx.Parallel}, likelihood.Probit{}, shared, binary, approx.Size{Cases: n, Distinct: n, New: held, Classes: 2, Kernels: 1}, 1},
		problem{"one_vs_rest ep", approx.OneVsRest{Binary: approx.EP{}}, likelihood.Probit{}, shared, four, size, 4},
		problem{"one_vs_rest pl", approx.OneVsRest{Binary: approx.PL{}}, likelihood.Probit{}, shared, four, size, 4},
		problem{"softmax", approx.Laplace{Points: 64}, likelihood.Softmax{}, shared, four, size, 1})
	size.Kernels = 4
	problems = append(problems, problem{"softmax, per class", approx.Laplace{Points: 64}, likelihood.Softmax{}, perClass, four, size, 1})

	cross := mat.NewDense(n, held, nil)
	for i := range n {
		for j := range held {
			cross.Set(i, j, k.At(i, j)/2)
		}
	}
	diag := make([]float64, held)
	for j := range diag {
		diag[j] = k.At(j, j)
	}
	const matrix = 8 * n * n
	for _, p := range problems {
		t.Run(p.name, func(t *testing.T) {
			caps, err := p.method.Uses(p.lik, p.y.Classes)
			if err != nil {
				t.Fatal(err)
			}
			lik := atInit(p.lik)
			stated := p.method.Memory(p.size)
			p.size.New = 0
			silent := p.method.Memory(p.size)
			adjoint := approx.Cov{K: mat.NewSymDense(n, nil)}
			grad := make([]float64, len(p.lik.Params()))
			fit := func() approx.Posterior {
				post, err := p.method.Fit(context.Background(), p.cov, p.y, lik, nil)
				if err != nil {
					t.Fatal(err)
				}
				return post
			}
			check := func(what string, stated approx.Bytes, f func() any) {
				t.Helper()
				kept, passing := allocated.Large(f)
				for _, c := range []struct {
					name        string
					got, stated int64
				}{{"kept", kept, stated.Kept}, {"kept and in passing", kept + passing, stated.Kept + stated.Passing*int64(p.times)}} {
					got, stated := float64(c.got)/matrix, float64(c.stated)/matrix
					if math.Abs(got-stated) > 0.25 && !(got < 1.5*stated && stated < 1.5*got) {
						t.Errorf("%s, %s: %.2f matrices, stated %.2f", what, c.name, got, stated)
					}
				}
			}
			check("fit", stated.Fit, func() any {
				post := fit()
				switch p.y.Classes {
				case 0:
					post.Latent(make([]float64, held), make([]float64, held), cross, diag, 0)
				case 2:
					post.PredictProba(mat.NewDense(held, 2, nil), []*mat.Dense{cross}, [][]float64{diag}, nil)
				}
				return post
			})
			if caps.Gradient && !(pair{method: p.method, lik: lik}).fickle() { // floors decide how much it is
				check("fit and adjoint", silent.Fit.And(silent.Evidence), func() any {
					post := fit()
					for j := range p.cov {
						if err := post.Evidence().Adjoint(&adjoint, j); err != nil {
							t.Fatal(err)
						}
					}
					if err := post.Evidence().Likelihood(grad); err != nil {
						t.Fatal(err)
					}
					return post
				})
			}
			if caps.LeaveOneOut {
				check("fit and leave-one-out", silent.Fit.And(silent.LeaveOneOut), func() any {
					post := fit()
					f, err := post.(approx.LeaveOneOuter).LeaveOneOut()
					if err != nil {
						t.Fatal(err)
					}
					if caps.LeaveOneOutGradient {
						if err := f.Adjoint(&adjoint, 0); err != nil {
							t.Fatal(err)
						}
					}
					return []any{post, f}
				})
			}
		})
	}
}

// atInit is a likelihood at the start of its parameters.
func atInit(lik likelihood.Likelihood) likelihood.Bound {
	theta := make([]float64, len(lik.Params()))
	for i, s := range lik.Params() {
		theta[i] = s.Map.Theta(s.Init)
	}
	return lik.At(theta)
}
