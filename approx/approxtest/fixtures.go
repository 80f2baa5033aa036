package approxtest

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
)

// AtInit is a likelihood with its parameters at their initial values.
func AtInit(lik likelihood.Likelihood) likelihood.Bound {
	theta := make([]float64, len(lik.Params()))
	for i, s := range lik.Params() {
		theta[i] = s.Map.Theta(s.Init)
	}
	return lik.At(theta)
}

// TwoClasses draws two overlapping classes in the plane, labelled ±1.
func TwoClasses(n int, seed uint64) (x [][]float64, y []float64) {
	rng := rand.New(rand.NewPCG(seed, 0))
	for range n {
		p := []float64{rng.NormFloat64(), rng.NormFloat64()}
		x = append(x, p)
		y = append(y, math.Copysign(1, p[0]+p[1]*p[1]/2+0.7*rng.NormFloat64()-0.3))
	}
	return x, y
}

// SquaredExponential returns σ² exp(-|x_i - x_j|²/2l²) over x, n×n, and its derivatives with
// respect to log l and log σ.
func SquaredExponential(x [][]float64, logLength, logAmp float64) (k, byLength, byAmp *mat.SymDense) {
	n := len(x)
	k, byLength, byAmp = mat.NewSymDense(n, nil), mat.NewSymDense(n, nil), mat.NewSymDense(n, nil)
	for i := range x {
		for j := i; j < n; j++ {
			d := 0.0
			for c := range x[i] {
				d += (x[i][c] - x[j][c]) * (x[i][c] - x[j][c])
			}
			v := math.Exp(2*logAmp - d/2*math.Exp(-2*logLength))
			k.SetSym(i, j, v)
			byAmp.SetSym(i, j, 2*v)
			byLength.SetSym(i, j, v*d*math.Exp(-2*logLength))
		}
	}
	return k, byLength, byAmp
}

// Prior is the covariance for tests of lik: k, plus noise of variance 1 on the diagonal if the
// likelihood jumps and has no noise of its own.
func Prior(lik likelihood.Bound, k *mat.SymDense) *mat.SymDense {
	if _, smooth := lik.(likelihood.Differentiable); smooth || lik.Likelihood().Domain() != likelihood.Binary {
		return k
	}
	noisy := mat.NewSymDense(k.SymmetricDim(), nil)
	noisy.CopySym(k)
	for i := range k.SymmetricDim() {
		noisy.SetSym(i, i, k.At(i, i)+1)
	}
	return noisy
}
