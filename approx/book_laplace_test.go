package approx_test

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
)

// laplaceOfTheBook is GPML Algorithm 3.1 with the logistic likelihood, line by line: the mode of the
// posterior and the approximate log evidence.
func laplaceOfTheBook(K *mat.SymDense, y []float64) (f *mat.VecDense, logQ float64) {
	n := len(y)
	logp := func(f *mat.VecDense) (sum float64) {
		for i := range n {
			sum -= math.Log1p(math.Exp(-y[i] * f.AtVec(i)))
		}
		return sum
	}
	f, objective := mat.NewVecDense(n, nil), math.Inf(-1) // line 2: f = 0
	for {                                                 // line 3
		w, gradient := make([]float64, n), mat.NewVecDense(n, nil)
		for i := range n { // line 4: W = -∇∇ log p(y|f), (3.15)
			p := 1 / (1 + math.Exp(-f.AtVec(i)))
			w[i] = p * (1 - p)
			gradient.SetVec(i, (y[i]+1)/2-p)
		}
		B := mat.NewSymDense(n, nil)
		for i := range n {
			for j := range i + 1 {
				B.SetSym(i, j, math.Sqrt(w[i]*w[j])*K.At(i, j))
			}
			B.SetSym(i, i, 1+B.At(i, i))
		}
		var L mat.Cholesky
		L.Factorize(B)               // line 5: L = cholesky(I + W^½ K W^½)
		b := mat.NewVecDense(n, nil) // line 6: b = W f + ∇ log p(y|f)
		for i := range n {
			b.SetVec(i, w[i]*f.AtVec(i)+gradient.AtVec(i))
		}
		var Kb, a mat.VecDense // line 7: a = b - W^½ Lᵀ\(L\(W^½ K b))
		Kb.MulVec(K, b)
		for i := range n {
			Kb.SetVec(i, math.Sqrt(w[i])*Kb.AtVec(i))
		}
		L.SolveVecTo(&a, &Kb)
		for i := range n {
			a.SetVec(i, b.AtVec(i)-math.Sqrt(w[i])*a.AtVec(i))
		}
		f.MulVec(K, &a) // line 8: f = K a
		before := objective
		if objective = -mat.Dot(&a, f)/2 + logp(f); objective-before < 1e-14 { // line 9
			return f, objective - L.LogDet()/2 // line 10: Σ log L_ii = ½ log|B|
		}
	}
}

// Laplace's method as the book has it, and as the package has it.
func ExampleLaplace() {
	K, y := mat.NewSymDense(8, nil), []float64{-1, -1, 1, -1, 1, 1, -1, 1}
	for i := range y {
		for j := range y {
			K.SetSym(i, j, 9*math.Exp(-float64((i-j)*(i-j))/8))
		}
	}
	f, logQ := laplaceOfTheBook(K, y)

	p, err := approx.Laplace{}.Fit(context.Background(), []approx.Cov{{K: K}}, approx.Targets{Classes: 2, Value: y},
		likelihood.Logit{}.At(nil), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	mean, variance, none := make([]float64, len(y)), make([]float64, len(y)), make([]float64, len(y))
	p.Latent(mean, variance, mat.DenseCopyOf(K), none, 0)
	apart := math.Abs(logQ - p.Evidence().Value())
	for i := range y {
		apart = max(apart, math.Abs(mean[i]-f.AtVec(i)))
	}
	fmt.Printf("log evidence %.6f; the book and the package agree to 1e-10: %v\n", logQ, apart < 1e-10)
	// Output:
	// log evidence -7.503913; the book and the package agree to 1e-10: true
}
