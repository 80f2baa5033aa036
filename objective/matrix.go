package objective

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// matrix is the structure that holds the whole covariance matrix of the cases.
type matrix struct {
	byKernel
	x     *kernel.Inputs
	apart bool // the kernels' noise is in Cov.Noise, not in K
}

func (s matrix) room() approx.Cov {
	n := s.x.N()
	return approx.Cov{K: mat.NewSymDense(n, linalg.Floats(n*n)), Noise: s.noise()}
}

// noise makes the memory for the noise; nil if it is in K.
func (s matrix) noise() []float64 {
	if s.apart {
		return make([]float64, s.x.N())
	}
	return nil
}

func (s matrix) prior(cov approx.Cov, k kernel.Kernel, theta []float64) {
	kernel.Gram(k, cov.K, theta, s.x)
	if !s.apart {
		return
	}
	smooth := make([]float64, s.x.N())
	kernel.SmoothDiag(k, smooth, theta, s.x)
	for i, v := range smooth {
		cov.Noise[i] = max(cov.K.At(i, i)-v, 0) // below 0 only by rounding
		cov.K.SetSym(i, i, v)
	}
}

func (s matrix) adjoint(w *approx.Work) approx.Cov {
	return approx.Cov{K: w.Symmetric(s.x.N()), Noise: s.noise()}
}

func (s matrix) pullback(
	grad []float64, k kernel.Kernel, theta []float64, own approx.Cov, adjoint *approx.Cov,
	fill func(*approx.Cov) error,
) error {
	if err := fill(adjoint); err != nil {
		return err
	}
	if !s.apart {
		kernel.Pullback(k, grad, theta, s.x, own.K, adjoint.K)
		return nil
	}
	// As if the noise were in K; the loop below corrects this.
	kernel.Pullback(k, grad, theta, s.x, nil, adjoint.K)
	more, less := make([]float64, s.x.N()), make([]float64, s.x.N())
	for i, v := range adjoint.Noise {
		more[i] = v - adjoint.K.At(i, i)
		less[i] = -more[i]
	}
	kernel.PullbackDiag(k, grad, theta, s.x, more)
	kernel.PullbackSmoothDiag(k, grad, theta, s.x, less)
	return nil
}

func (s matrix) cross(dst *mat.Dense, k kernel.Kernel, theta []float64, z *kernel.Inputs) {
	kernel.Cross(k, dst, theta, s.x, z)
}

func (s matrix) rows() int { return s.x.N() }

func (matrix) prepare(context.Context, kernel.Kernel, []float64) error { return nil }
