package approx_test

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
)

// epOfTheBook is GPML Algorithm 3.5 with the probit likelihood, line by line: the site parameters and
// the approximate log evidence. Its sites are νᵢ and τᵢ, their cavities have a minus in the name.
func epOfTheBook(K *mat.SymDense, y []float64) (nu, tau *mat.VecDense, logZ float64) {
	n, normal := len(y), distuv.UnitNormal
	nu, tau = mat.NewVecDense(n, nil), mat.NewVecDense(n, nil) // line 2: ν = 0, τ = 0, Σ = K, μ = 0
	sigma, mu := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
	sigma.CopySym(K)
	var L mat.Cholesky
	for change := 1.0; change > 1e-24; { // line 3
		change = 0
		for i := range n { // line 4
			v := sigma.At(i, i)
			tauMinus := 1/v - tau.AtVec(i) // line 5: the cavity, (3.56)
			nuMinus := mu.AtVec(i)/v - nu.AtVec(i)
			// line 7: the moments of the tilted distribution, (3.58)
			mean, variance := nuMinus/tauMinus, 1/tauMinus
			z := y[i] * mean / math.Sqrt(1+variance)
			ratio := normal.Prob(z) / normal.CDF(z)
			muHat := mean + y[i]*variance*ratio/math.Sqrt(1+variance)
			sigmaHat := variance - variance*variance*ratio/(1+variance)*(z+ratio)
			// lines 8 and 9: the new site, (3.59)
			delta := 1/sigmaHat - tauMinus - tau.AtVec(i)
			tau.SetVec(i, tau.AtVec(i)+delta)
			change += delta * delta
			nu.SetVec(i, muHat/sigmaHat-nuMinus)
			// line 10: the rank-one update Σ - sᵢ sᵢᵀ / (1/Δτ + Σᵢᵢ), (3.70)
			s := mat.NewVecDense(n, mat.Col(nil, i, sigma))
			sigma.SymRankOne(sigma, -delta/(1+delta*v), s)
			mu.MulVec(sigma, nu) // line 11: μ = Σ ν
		} // line 12
		B, V := mat.NewSymDense(n, nil), mat.NewDense(n, n, nil)
		for i := range n {
			for j := range n {
				V.Set(i, j, math.Sqrt(tau.AtVec(i))*K.At(i, j))
				B.SetSym(i, j, math.Sqrt(tau.AtVec(i)*tau.AtVec(j))*K.At(i, j))
			}
			B.SetSym(i, i, 1+B.At(i, i))
		}
		L.Factorize(B) // line 13: L = cholesky(I + S^½ K S^½)
		var lower mat.TriDense
		L.LTo(&lower)
		V.Solve(&lower, V) // line 14: V = L \ S^½ K
		var product mat.Dense
		product.Mul(V.T(), V) // line 15: Σ = K - Vᵀ V, μ = Σ ν
		for i := range n {
			for j := range i + 1 {
				sigma.SetSym(i, j, K.At(i, j)-product.At(i, j))
			}
		}
		mu.MulVec(sigma, nu)
	} // line 16
	// line 17: (3.65); (3.73) and (3.74) are the same formula without cancellation
	logZ = -L.LogDet()/2 + mat.Dot(nu, mu)/2
	for i := range n {
		tauMinus := 1/sigma.At(i, i) - tau.AtVec(i)
		nuMinus := mu.AtVec(i)/sigma.At(i, i) - nu.AtVec(i)
		mean, variance := nuMinus/tauMinus, 1/tauMinus
		logZ += math.Log(normal.CDF(y[i]*mean/math.Sqrt(1+variance))) + math.Log1p(tau.AtVec(i)/tauMinus)/2
		logZ += (mean*(tau.AtVec(i)*mean-2*nu.AtVec(i)) - nu.AtVec(i)*nu.AtVec(i)*variance) /
			(2 * (1 + tau.AtVec(i)*variance))
	}
	return nu, tau, logZ
}

// Expectation propagation as the book has it, and as the package has it.
func ExampleEP() {
	K, y := mat.NewSymDense(8, nil), []float64{-1, -1, 1, -1, 1, 1, -1, 1}
	for i := range y {
		for j := range y {
			K.SetSym(i, j, 9*math.Exp(-float64((i-j)*(i-j))/8))
		}
	}
	nu, tau, logZ := epOfTheBook(K, y)

	p, err := approx.EP{}.Fit(context.Background(), []approx.Cov{{K: K}}, approx.Targets{Classes: 2, Value: y},
		likelihood.Probit{}.At(nil), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	// The posterior of the sites: covariance (K⁻¹ + S)⁻¹ and mean (K⁻¹ + S)⁻¹ ν.
	mean, variance, prior := make([]float64, len(y)), make([]float64, len(y)), make([]float64, len(y))
	for i := range y {
		prior[i] = K.At(i, i)
	}
	p.Latent(mean, variance, mat.DenseCopyOf(K), prior, 0)
	var inverse, sigma mat.Dense
	var mu mat.VecDense
	if err := inverse.Inverse(K); err != nil {
		fmt.Println(err)
		return
	}
	for i := range y {
		inverse.Set(i, i, inverse.At(i, i)+tau.AtVec(i))
	}
	if err := sigma.Inverse(&inverse); err != nil {
		fmt.Println(err)
		return
	}
	mu.MulVec(&sigma, nu)
	apart := math.Abs(logZ - p.Evidence().Value())
	for i := range y {
		apart = max(apart, math.Abs(mean[i]-mu.AtVec(i)), math.Abs(variance[i]-sigma.At(i, i)))
	}
	fmt.Printf("log evidence %.6f; the book and the package agree to 1e-10: %v\n", logZ, apart < 1e-10)
	// Output:
	// log evidence -8.558964; the book and the package agree to 1e-10: true
}
