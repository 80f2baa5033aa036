package approx

import (
	"context"
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
)

// TestWork fits a sequence of amplitudes in shared memory that was filled with NaN, and compares every bit with fits
// that allocate their own memory.
func TestWork(t *testing.T) {
	const n, m = 40, 50
	y, cross, diag := make([]float64, n), mat.NewDense(n, m, nil), make([]float64, m)
	at := func(i, j float64) float64 { return math.Exp(-0.02 * (i - j) * (i - j)) }
	for i := range n {
		y[i] = math.Copysign(1, math.Sin(float64(i))+math.Cos(3*float64(i*i)))
		for j := range m {
			cross.Set(i, j, at(float64(i), float64(j)+0.5))
			diag[j] = 1
		}
	}
	targets := Targets{Classes: 2, Value: y}
	three := Targets{Classes: 3, Index: make([]int, n)}
	for i := range n {
		three.Index[i] = i * i % 3
	}
	for _, c := range []struct {
		method Approximation
		lik    likelihood.Likelihood
		y      Targets
	}{
		{Laplace{}, likelihood.Probit{}, targets}, {EP{}, likelihood.Probit{}, targets}, {EP{Iteration: Iteration{Schedule: Parallel}}, likelihood.Probit{}, targets},
		{EP{Iteration: Iteration{Schedule: Mixed}}, likelihood.Probit{}, targets}, {PL{}, likelihood.Probit{}, targets}, {Variational{}, likelihood.Probit{}, targets},
		{NaiveMeanField{}, likelihood.Probit{}, targets}, {OneVsRest{Binary: EP{}}, likelihood.Probit{}, three}, {Laplace{}, likelihood.Softmax{}, three},
	} {
		method, y, lik := c.method, c.y, bound(c.lik)
		work := new(Work)
		within := In(work, method)
		var start State
		for _, lnSigma := range []float64{-1, 0, 1, 2} {
			k := mat.NewSymDense(n, nil)
			for i := range n {
				for j := i; j < n; j++ {
					k.SetSym(i, j, math.Exp(2*lnSigma)*at(float64(i/2), float64(j/2))) // pairs of equal cases
				}
			}
			work.Reset()
			for range 30 { // blocks of work; blocks not needed yet are empty
				b := work.Take(0)
				for i := range b[:cap(b)] {
					b[:cap(b)][i] = math.NaN()
				}
			}
			results := make([]string, 2)
			for i, a := range []Approximation{method, within} {
				p, err := a.Fit(context.Background(), []Cov{{K: k}}, y, lik, start)
				if err != nil {
					t.Fatal(err)
				}
				proba := mat.NewDense(m, y.Classes, nil)
				for range 2 {
					p.PredictProba(proba, []*mat.Dense{cross}, [][]float64{diag}, nil)
				}
				adjoint := Cov{K: mat.NewSymDense(n, nil)}
				if err := p.Evidence().Adjoint(&adjoint, 0); err != nil {
					t.Fatal(err)
				}
				loo, err := p.(LeaveOneOut).LeaveOneOut()
				if err != nil {
					t.Fatal(err)
				}
				results[i] = fmt.Sprint(p.Evidence().Value(), loo.Value(), p.State(), proba.RawMatrix().Data, adjoint.K.RawSymmetric().Data)
				if i == 1 {
					start = p.State()
				}
			}
			if results[0] != results[1] {
				t.Errorf("%T of %d classes at ln σ = %v: other numbers in a Work", method, y.Classes, lnSigma)
			}
		}
	}
}
