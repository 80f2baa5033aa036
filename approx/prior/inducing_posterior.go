package prior

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// InducingPosterior predicts at new inputs from the posterior of one process' inducing variables.
// With k = K(Z, new),
//
//	mean  kᵀ w,   w = U⁻¹ V b = K_zz⁻¹ E[f_z]
//	variance  K(new, new) - |U⁻ᵀk|² + |U_M⁻ᵀU⁻ᵀk|²
//
// A new input takes O(m) for the mean and O(m²) for the variance.
type InducingPosterior struct {
	u, um   blas64.Triangular // factors of K_zz and of M
	weights []float64         // w
}

// posterior returns the posterior of the inducing variables, given b with f = m + K̂ b at the
// cases.
func (p *inducingSites) posterior(b []float64) InducingPosterior {
	t := InducingPosterior{u: p.u, um: p.um, weights: make([]float64, p.points())}
	p.project(t.weights, b)
	linalg.SolveTriVec(blas.NoTrans, p.u, t.weights)
	return t
}

func (p *inducingSites) Latent(b, mean, variance []float64, cross *mat.Dense, diag []float64) {
	p.posterior(b).Latent(mean, variance, cross, diag)
}

func (p *inducingSites) Condensed(b []float64) ([]float64, bool) {
	return p.posterior(b).Condensed(), true
}

// Latent sets mean[j] and, unless it is nil, variance[j] of f at new inputs, given cross = K(Z,
// new) and their prior variances.
func (t InducingPosterior) Latent(mean, variance []float64, cross *mat.Dense, diag []float64) {
	m, k := cross.Dims()
	if m != len(t.weights) || len(diag) != k {
		panic(fmt.Sprintf("prior: cross is %d×%d and diag has %d entries, want %d×m and m", m, k, len(diag),
			len(t.weights)))
	}
	CheckLatent(mean, variance, k)
	linalg.Gemv(blas.Trans, 1, cross.RawMatrix(), t.weights, 0, mean)
	if variance == nil {
		return
	}
	w, giveBack := scaledColumns(cross.RawMatrix(), 0, k, nil)
	defer giveBack()
	linalg.SolveTri(blas.Trans, t.u, w)
	copy(variance, diag)
	linalg.AddSquares(-1, w, variance)
	linalg.SolveTri(blas.Trans, t.um, w)
	linalg.AddSquares(1, w, variance)
	for j, x := range variance {
		variance[j] = max(x, 0)
	}
}

// Condensed returns w and then the rows of U_M, m (m+3)/2 of them.
func (t InducingPosterior) Condensed() []float64 {
	m := len(t.weights)
	s := append(make([]float64, 0, m*(m+3)/2), t.weights...)
	for i := range m {
		s = append(s, t.um.Data[i*t.um.Stride+i:i*t.um.Stride+m]...)
	}
	return s
}

// Read rebuilds the InducingPosterior from K_zz and its Condensed numbers, bit for bit.
func Read(k *mat.SymDense, numbers []float64) (InducingPosterior, error) {
	t, err := readNumbers(numbers, k.SymmetricDim())
	if err != nil {
		return InducingPosterior{}, err
	}
	var p inducing
	err = p.factorInducing(k.RawSymmetric())
	t.u = p.u
	return t, err
}

// readNumbers reads weights and a factor, of m inducing inputs.
func readNumbers(numbers []float64, m int) (t InducingPosterior, err error) {
	if len(numbers) != m*(m+3)/2 {
		return t, fmt.Errorf("a state of %d numbers for %d inducing inputs, want %d; it belongs to other inputs "+
			"or another method", len(numbers), m, m*(m+3)/2)
	}
	if i := slices.IndexFunc(numbers, func(v float64) bool { return !finite(v) }); i >= 0 {
		return t, fmt.Errorf("number %d of the state is %v; it was changed", i, numbers[i])
	}
	t.um = blas64.Triangular{Uplo: blas.Upper, Diag: blas.NonUnit, N: m, Stride: max(1, m), Data: make([]float64, m*m)}
	t.weights, numbers = numbers[:m], numbers[m:]
	for i := range m {
		if !(numbers[0] > 0) {
			return t, fmt.Errorf("diagonal element %d of the factor in the state is %v, want more than 0",
				i, numbers[0])
		}
		copy(t.um.Data[i*m+i:], numbers[:m-i])
		numbers = numbers[m-i:]
	}
	return t, nil
}
