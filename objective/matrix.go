package objective

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// matrix is the structure of all cases with each other.
type matrix struct{ x *kernel.Inputs }

func (s matrix) room() approx.Cov {
	n := s.x.N()
	return approx.Cov{K: mat.NewSymDense(n, linalg.Floats(n*n))}
}

func (s matrix) prior(cov approx.Cov, k kernel.Kernel, theta []float64) {
	kernel.Gram(k, cov.K, theta, s.x)
}

func (s matrix) adjoint(w *approx.Work) approx.Cov { return approx.Cov{K: w.Symmetric(s.x.N())} }

func (s matrix) pullback(
	grad []float64, k kernel.Kernel, theta []float64, own approx.Cov, adjoint *approx.Cov,
	fill func(*approx.Cov) error,
) error {
	if err := fill(adjoint); err != nil {
		return err
	}
	kernel.Pullback(k, grad, theta, s.x, own.K, adjoint.K)
	return nil
}

func (s matrix) cross(dst *mat.Dense, k kernel.Kernel, theta []float64, z *kernel.Inputs) {
	kernel.Cross(k, dst, theta, s.x, z)
}

func (s matrix) rows() int { return s.x.N() }

func (matrix) prepare(context.Context, kernel.Kernel, []float64) error { return nil }
