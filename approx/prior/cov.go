package prior

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// ErrNotPositiveDefinite: a matrix that must be positive definite is not, or contains NaN or Inf.
var ErrNotPositiveDefinite error = cause.NotPositiveDefinite.New("matrix is not positive definite")

// Cov is the prior of one latent process at the training inputs: covariance and mean. An adjoint
// has the same shape.
type Cov struct {
	// K is n×n over the training inputs; or m×m over inducing inputs, without noise.
	K *mat.SymDense
	// With inducing inputs, their covariance m×n with the training inputs, and the prior variances
	// at the training inputs: without noise, and of the independent noise of every case (nil:
	// none). Without inducing inputs Noise is nil and K includes the noise. Copies of a weighted
	// case have independent noise: then Noise has it, and K does not.
	Cross       *mat.Dense
	Diag, Noise []float64
	Mean        []float64 // n; nil means zero
	// With neighbours, Blocks has for each case the covariances of its neighbours and itself,
	// without noise: the upper triangle, row by row. Noise has the noise, and K is empty. In an
	// adjoint an entry off the diagonal has the derivative of both triangles.
	Neighbours *Neighbours
	Blocks     [][]float64
	// Scratch lets a fit overwrite the memory of Cross, which then contains no covariance any more.
	Scratch bool
	// Part, of an adjoint with inducing inputs, receives the columns of the adjoint of Cross from
	// case from on, PartSize at a time, in any order and concurrently; Cross is then nil. If a
	// column is passed more than once, the derivative is the sum. Part must not keep the matrix.
	Part func(part *mat.Dense, from int)
}

// PartSize is the number of columns per call of Cov.Part.
const PartSize = 2048

// checkMean returns an error if the prior mean of n cases is not finite.
func (c Cov) checkMean(n int) error {
	if c.Mean != nil && len(c.Mean) != n {
		panic(fmt.Sprintf("prior: the mean has %d entries, want %d", len(c.Mean), n))
	}
	for i, m := range c.Mean {
		if !finite(m) {
			return fmt.Errorf("prior mean of case %d is %v: the mean's hyperparameters are out of range", i, m)
		}
	}
	return nil
}

// Check returns an error if the prior, a matrix K of n cases, is invalid.
func (c Cov) Check(n int) error {
	if r := c.K.SymmetricDim(); r != n {
		panic(fmt.Sprintf("prior: K is %d×%d, want %d×%d", r, r, n, n))
	}
	if err := c.checkMean(n); err != nil {
		return err
	}
	k := c.K.RawSymmetric()
	row := func(i int) []float64 { return k.Data[i*k.Stride+i : i*k.Stride+n] }
	wrong := make([]bool, n)
	eachRow(n, func(i int) { wrong[i] = !linalg.AllFinite(row(i)) || row(i)[0] < 0 })
	i := slices.Index(wrong, true)
	if i < 0 {
		return nil
	}
	if j := slices.IndexFunc(row(i), func(v float64) bool { return !finite(v) }); j >= 0 {
		return fmt.Errorf("%w: K[%d,%d] = %v; an input or a hyperparameter is out of range",
			ErrNotPositiveDefinite, i, i+j, row(i)[j])
	}
	return fmt.Errorf("%w: K[%d,%d] = %v, want a variance", ErrNotPositiveDefinite, i, i, row(i)[0])
}

// checkInducing returns an error if the prior of n cases, with inducing inputs, is invalid, except
// for K_zx, which is checked by its product.
func (c Cov) checkInducing(n int) error {
	m, columns := c.Cross.Dims()
	if r := c.K.SymmetricDim(); r != m || columns != n || len(c.Diag) != n || c.Noise != nil && len(c.Noise) != n {
		panic(fmt.Sprintf("prior: K is %d×%d, Cross %d×%d, and Diag and Noise have %d and %d entries, want m×m, "+
			"m×%d and %d", r, r, m, columns, len(c.Diag), len(c.Noise), n, n))
	}
	for i, v := range c.Diag {
		noise := 0.0
		if c.Noise != nil {
			noise = c.Noise[i]
		}
		if !finite(v+noise) || v < 0 || noise < 0 {
			return fmt.Errorf("%w: the prior variance of case %d is %v, and that of its noise %v; an input or a "+
				"hyperparameter is out of range", ErrNotPositiveDefinite, i, v, noise)
		}
	}
	for j := range m {
		for l := range j + 1 {
			if v := c.K.At(l, j); !finite(v) {
				return fmt.Errorf("%w: the covariance of inducing inputs %d and %d is %v; an input or a "+
					"hyperparameter is out of range", ErrNotPositiveDefinite, l, j, v)
			}
		}
	}
	return c.checkMean(n)
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
