package prior

import (
	"slices"

	"gonum.org/v1/gonum/mat"
)

// table has the structures of a covariance, in the order in which they are tried. Both
// functions return nil for a Cov of another structure.
var table = []struct {
	// new is K of n cases for one latent process. power is the power α of a correction. merge lets
	// cases share their latent value if their rows of K and their prior means are equal, as for
	// equal inputs and a kernel without noise. count are the numbers of copies of every case; nil:
	// 1.
	new func(work *Work, cov Cov, n int, power float64, merge bool, count []float64) (Prior, error)
	// classes are the priors of the latent processes of several classes, one shared or one per
	// class; nil: there are none.
	classes func(work *Work, cov []Cov, n, classes int, power float64, weight []float64) (Classes, error)
}{
	{new: withFullScale},
	{withInducing, withInducingClasses},
	{withNeighbours, withNeighbourClasses},
	{new: withEqualCases},
	{withMatrix, newDenseClasses},
}

// New is K of n cases as it is given, with a correction of this power if it lacks variance. merge
// lets equal cases share their latent value. Sweeps then visit the cases of a value one after the
// other. weight are the weights of the cases, nil: 1 each; a case is max(1, w) copies with
// independent variances of their own.
func New(work *Work, cov Cov, n int, power float64, merge bool, weight []float64) (k Prior, err error) {
	count := counts(weight)
	if cov.Cross == nil && cov.Neighbours == nil && cov.Noise != nil {
		if count == nil {
			count = slices.Repeat([]float64{1}, n)
		}
		if cov, err = cov.ofMeans(count); err != nil {
			return nil, err
		}
	}
	for _, s := range table {
		if k, err = s.new(work, cov, n, power, merge, count); k != nil || err != nil {
			break
		}
	}
	if k != nil && err == nil && count != nil {
		k = withCopies(k, cov, count)
	}
	return k, err
}

// NewClasses are the priors of n cases as they are given, one shared or one per class. weight are
// the weights of the cases; nil: 1 each.
func NewClasses(work *Work, cov []Cov, n, classes int, power float64, weight []float64) (k Classes, err error) {
	for _, s := range table {
		if s.classes == nil {
			continue
		}
		if k, err = s.classes(work, cov, n, classes, power, weight); k != nil || err != nil {
			break
		}
	}
	return k, err
}

// Sums sets mean[k] and variance[k] of the sums Σ_j s_jk f_j of latent values at new inputs, with
// the other arguments of Prior.Latent. ok is false for a prior with which a sum is like any latent
// value: then Latent gives its moments, for the sums of the covariances.
func Sums(k Prior, b, mean, variance []float64, cross *mat.Dense, diag []float64, s *mat.Dense) (ok bool) {
	if c, is := k.(*copies); is {
		k = c.Prior
	}
	p, ok := k.(interface {
		sums(b, mean, variance []float64, cross *mat.Dense, diag []float64, s *mat.Dense)
	})
	if ok {
		p.sums(b, mean, variance, cross, diag, s)
	}
	return ok
}
