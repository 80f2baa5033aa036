package kernel

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/param"
)

// Scaled is the covariance Factor · k(x, x'), with the hyperparameters of k under their names.
type Scaled struct {
	Factor float64 // greater than 0
	Named
}

// Params implements Kernel: the hyperparameters of k.
func (s Scaled) Params(dim int) []param.Spec { return s.Kernel.Params(dim) }

func (s Scaled) parts(dim int) ([]Named, int) { return []Named{s.Named}, dim }
func (s Scaled) with(parts []Named) Kernel    { return Scaled{s.Factor, parts[0]} }
func (s Scaled) checkDim(dim int) error       { return CheckDim(s.Kernel, dim) }

// Memory implements Kernel: the memory of k, and its covariances in Pull.
func (s Scaled) Memory(n, m, dim int) int64 { return s.Kernel.Memory(n, m, dim) + words(n*n) }

// Fill implements Kernel.
func (s Scaled) Fill(dst Block, theta []float64) {
	s.Kernel.Fill(dst, theta)
	dst.each(func(_ int, row []float64) { floats.Scale(s.Factor, row) })
}

// Pull implements Kernel: Factor times the derivatives of k.
func (s Scaled) Pull(grad, theta []float64, own, g Block) {
	if own.known() {
		scaled := own
		own = own.like()
		own.zip(scaled, func(own, scaled []float64) { floats.ScaleTo(own, 1/s.Factor, scaled) })
	}
	of := make([]float64, len(grad))
	s.Kernel.Pull(of, theta, own, g)
	floats.AddScaled(grad, s.Factor, of)
}

// pullInputs implements inputPuller: Factor times the derivatives of k.
func (s Scaled) pullInputs(dst *mat.Dense, theta []float64, g Block) {
	n, d := dst.Dims()
	of := mat.NewDense(n, d, nil)
	pullInputs(s.Kernel, of, theta, g)
	of.Scale(s.Factor, of)
	dst.Add(dst, of)
}
