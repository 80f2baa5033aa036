package approx_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
)

func fitOnce(t *testing.T, m approx.Approximation, k *mat.SymDense, y []float64, lik likelihood.Bound) approx.Posterior {
	t.Helper()
	post, err := m.Fit(context.Background(), []approx.Cov{{K: k}}, approx.Targets{Classes: 2, Value: y}, lik, nil)
	if err != nil {
		t.Fatal(err)
	}
	return post
}

// TestNothingStalls: with equal and nearly equal cases and a large amplitude, every schedule converges in a few
// iterations to the same fixed point, with the gradient of differences.
func TestNothingStalls(t *testing.T) {
	const n = 300
	x, y := twoClasses(n/2, 32)
	for i := range n / 2 { // each case again, slightly moved, and some with the other label
		moved := slices.Clone(x[i])
		moved[0] += 1e-3 * float64(i%3)
		x, y = append(x, moved), append(y, y[i])
		if i%7 == 0 {
			y[len(y)-1] = -y[i]
		}
	}
	const logLength, logAmp, step = 0.5, 4.5, 1e-4
	k, _, byAmp := seGram(x, logLength, logAmp)
	above, _, _ := seGram(x, logLength, logAmp+step)
	below, _, _ := seGram(x, logLength, logAmp-step)
	for _, lik := range []likelihood.Bound{likelihood.Probit{}, likelihood.Logit{}} {
		for _, m := range []func(approx.Schedule) approx.Approximation{
			func(s approx.Schedule) approx.Approximation {
				return approx.EP{Iteration: approx.Iteration{Schedule: s}}
			},
			func(s approx.Schedule) approx.Approximation {
				return approx.PL{Iteration: approx.Iteration{Schedule: s}}
			},
			func(approx.Schedule) approx.Approximation { return approx.Variational{} },
		} {
			var values []float64
			var work [][2]int // iterations and factorisations
			for _, schedule := range []approx.Schedule{approx.Sequential, approx.Parallel, approx.Mixed} {
				method := m(schedule)
				at := fmt.Sprintf("%T, %v, %T", method, schedule, lik)
				post := fitOnce(t, method, k, y, lik)
				d := post.Diagnostics()
				t.Logf("%s: %d iterations, %d factorisations, log evidence %.15g", at, d.Iterations, d.Factorizations,
					post.Evidence().Value())
				if !d.Converged || d.Iterations > 40 {
					t.Errorf("%s: converged %v after %d iterations: %v", at, d.Converged, d.Iterations, d.Failure)
				}
				values = append(values, post.Evidence().Value())
				work = append(work, [2]int{d.Iterations, d.Factorizations})
				if schedule != approx.Sequential {
					continue
				}
				dst, slope := approx.Cov{K: mat.NewSymDense(n, nil)}, 0.0
				if err := post.Evidence().Adjoint(&dst, 0); err != nil {
					t.Fatal(err)
				}
				for i := range n {
					for j := range n {
						slope += dst.K.At(i, j) * byAmp.At(i, j)
					}
				}
				rise := fitOnce(t, method, above, y, lik).Evidence().Value() - fitOnce(t, method, below, y, lik).Evidence().Value()
				if !near(slope, rise/(2*step), 1e-6) {
					t.Errorf("%s: slope %v, differences have %v", at, slope, rise/(2*step))
				}
			}
			for i, v := range values {
				if work[i] != work[0] {
					t.Errorf("%T, %T: no schedule is to take more work than another: %v", m(0), lik, work)
				}
				if !near(v, values[0], 1e-11) {
					t.Errorf("%T, %T: log evidences %v", m(0), lik, values)
				}
			}
		}
	}
}
