package objective

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// Structure declares a representation of the prior covariance in place of its matrix. It is a row
// of Structures.
type Structure interface {
	approx.Structure
	// Check returns an error if the declaration is incomplete, or if the structure cannot represent
	// one of the kernels, or this number of latent processes that are fitted together. dim is the
	// number of inputs; 0: not known.
	Check(kernels []kernel.Kernel, together, dim int) error
	// Rank is the rank of the covariance of n cases. If it is not less than n, the matrix is used.
	Rank(n int) int
	// Width is the number of numbers that a factor has for each of n cases with dim inputs, for
	// estimates of times: an evaluation takes O(n w²).
	Width(n, dim int) int
	// Memory is the memory of a fit in bytes.
	Memory(m approx.Approximation, s approx.Size, dim int) int64
	// of is the structure of these cases under these kernels, which Check accepts.
	of(x *kernel.Inputs, kernels []kernel.Kernel) structure
}

// structureOf is the structure that a method declares for n cases; nil: the method uses their
// matrix.
func structureOf(m approx.Approximation, n int) Structure {
	s := approx.StructureOf(m)
	if s == nil || s.(Structure).Rank(n) >= n {
		return nil
	}
	return s.(Structure)
}

// structure is a representation of the prior covariance of the training cases. An inference method
// receives the covariance from it, and its adjoint goes back through it. It also computes the
// covariances with new cases.
type structure interface {
	// prepare makes the choices that the structure needs, once, for a kernel at its initial
	// hyperparameters. It is called before the other methods.
	prepare(ctx context.Context, k kernel.Kernel, theta []float64) error
	// room makes the memory of a covariance, which a fit may overwrite.
	room() approx.Cov
	// prior sets cov, of room, to the prior under a kernel at theta.
	prior(cov approx.Cov, k kernel.Kernel, theta []float64)
	// adjoint makes the memory of an adjoint, perhaps in w.
	adjoint(w *approx.Work) approx.Cov
	// pullback adds to grad the derivative with respect to theta for an adjoint, which fill fills.
	// own is the covariance that prior set.
	pullback(
		grad []float64, k kernel.Kernel, theta []float64, own approx.Cov, adjoint *approx.Cov,
		fill func(*approx.Cov) error,
	) error
	// cross sets dst, rows() × m, to the covariances with the m cases of z.
	cross(dst *mat.Dense, k kernel.Kernel, theta []float64, z *kernel.Inputs)
	rows() int
	// among sets dst, m×m, to the prior covariances, without noise, of the m cases of z with each
	// other.
	among(dst *mat.Dense, k kernel.Kernel, theta []float64, z *kernel.Inputs)
}

// byKernel implements among for structures that give new cases the covariances of the kernel.
type byKernel struct{}

func (byKernel) among(dst *mat.Dense, k kernel.Kernel, theta []float64, z *kernel.Inputs) {
	kernel.Cross(k, dst, theta, z, z)
}
