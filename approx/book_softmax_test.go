package approx_test

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
)

// softmaxOfTheBook is GPML Algorithm 3.3, line by line, with two corrections: in lines 15 and 16 the
// term log Σ exp has a minus, as in (3.35) and (3.44), and ½ log|B| includes Σ log M_ii. f[c] and y[c]
// are the latent values and the indicators of class c.
func softmaxOfTheBook(K *mat.SymDense, y []*mat.VecDense) (f []*mat.VecDense, logQ float64) {
	n, classes := K.SymmetricDim(), len(y)
	f = make([]*mat.VecDense, classes) // line 2: f = 0
	for c := range f {
		f[c] = mat.NewVecDense(n, nil)
	}
	for last := math.Inf(-1); ; { // line 3
		pi, logSum := make([]*mat.VecDense, classes), 0.0 // line 4: π, (3.34)
		for c := range pi {
			pi[c] = mat.NewVecDense(n, nil)
		}
		for i := range n {
			latent := make([]float64, classes)
			for c := range latent {
				latent[c] = f[c].AtVec(i)
			}
			for c := range pi {
				pi[c].SetVec(i, math.Exp(latent[c]-floats.LogSumExp(latent)))
			}
		}
		E, sum, z := make([]*mat.SymDense, classes), mat.NewSymDense(n, nil), 0.0
		for c := range E { // line 5
			root := mat.NewDiagDense(n, nil) // D_c^½
			for i := range n {
				root.SetDiag(i, math.Sqrt(pi[c].AtVec(i)))
			}
			E[c] = mat.NewSymDense(n, nil)
			B := mat.NewSymDense(n, nil)
			for i := range n {
				for j := range i + 1 {
					B.SetSym(i, j, root.At(i, i)*K.At(i, j)*root.At(j, j))
				}
				B.SetSym(i, i, 1+B.At(i, i))
			}
			var L mat.Cholesky
			L.Factorize(B) // line 6: L = cholesky(I + D_c^½ K_c D_c^½)
			var inverse mat.SymDense
			if err := L.InverseTo(&inverse); err != nil {
				panic(err)
			}
			for i := range n { // line 7: E_c = D_c^½ Lᵀ\(L\D_c^½)
				for j := range i + 1 {
					E[c].SetSym(i, j, root.At(i, i)*inverse.At(i, j)*root.At(j, j))
				}
			}
			z += L.LogDet() / 2 // line 8: z_c = Σ log L_ii
			sum.AddSym(sum, E[c])
		} // line 9
		var M mat.Cholesky
		M.Factorize(sum) // line 10: M = cholesky(Σ_c E_c)
		b, Rc := make([]*mat.VecDense, classes), mat.NewVecDense(n, nil)
		Ec := make([]*mat.VecDense, classes)
		for k := range b { // line 11: b = (D - ΠΠᵀ) f + y - π
			b[k] = mat.NewVecDense(n, nil)
			for i := range n {
				mean := 0.0
				for c := range f {
					mean += pi[c].AtVec(i) * f[c].AtVec(i)
				}
				b[k].SetVec(i, pi[k].AtVec(i)*(f[k].AtVec(i)-mean)+y[k].AtVec(i)-pi[k].AtVec(i))
			}
			var Kb mat.VecDense // line 12: c = E K b
			Kb.MulVec(K, b[k])
			Ec[k] = mat.NewVecDense(n, nil)
			Ec[k].MulVec(E[k], &Kb)
			Rc.AddVec(Rc, Ec[k]) // Rᵀ sums over the classes
		}
		var solved mat.VecDense // line 13: a = b - c + E R Mᵀ\(M\(Rᵀ c))
		if err := M.SolveVecTo(&solved, Rc); err != nil {
			panic(err)
		}
		objective := 0.0
		for c := range f {
			var a, back mat.VecDense
			back.MulVec(E[c], &solved)
			a.SubVec(b[c], Ec[c])
			a.AddVec(&a, &back)
			f[c].MulVec(K, &a) // line 14: f = K a
			objective += mat.Dot(y[c], f[c]) - mat.Dot(&a, f[c])/2
		}
		for i := range n {
			latent := make([]float64, classes)
			for c := range latent {
				latent[c] = f[c].AtVec(i)
			}
			logSum += floats.LogSumExp(latent)
		}
		objective -= logSum
		if objective-last < 1e-14 { // line 15
			return f, objective - z - M.LogDet()/2 // line 16
		}
		last = objective
	}
}

// Laplace's method for three classes as the book has it, and as the package has it.
func ExampleLaplace_softmax() {
	index := []int{0, 0, 1, 0, 1, 2, 2, 1}
	K, y := mat.NewSymDense(len(index), nil), make([]*mat.VecDense, 3)
	for c := range y {
		y[c] = mat.NewVecDense(len(index), nil)
	}
	for i, class := range index {
		y[class].SetVec(i, 1)
		for j := range index {
			K.SetSym(i, j, 9*math.Exp(-float64((i-j)*(i-j))/8))
		}
	}
	f, logQ := softmaxOfTheBook(K, y)

	p, err := approx.Laplace{}.Fit(context.Background(), []approx.Cov{{K: K}}, approx.Targets{Classes: 3, Index: index},
		likelihood.Softmax{}.At(nil), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	apart := math.Abs(logQ - p.Evidence().Value())
	for c := range y {
		mean, variance, prior := make([]float64, len(index)), make([]float64, len(index)), make([]float64, len(index))
		p.Latent(mean, variance, mat.DenseCopyOf(K), prior, c)
		for i := range index {
			apart = max(apart, math.Abs(mean[i]-f[c].AtVec(i)))
		}
	}
	fmt.Printf("log evidence %.6f; the book and the package agree to 1e-10: %v\n", logQ, apart < 1e-10)
	// Output:
	// log evidence -10.784793; the book and the package agree to 1e-10: true
}
